import { isObject } from '../../lib/json.ts'
import { once } from '../../lib/once.ts'
import type { UpstreamFormat } from '../format.ts'
import { readError } from './error.ts'
import { eventStreamFraming } from './event-stream.ts'
import { brokenBy } from './stop-reason.ts'
import { watchConverseStream } from './stream.ts'
import { converseUsage } from './usage.ts'

/** Converse of AWS Bedrock: one format for the models of many vendors, which only providers speak. */
export const bedrockConverse: UpstreamFormat = {
  name: 'bedrock-converse',
  auth: 'bearer',
  defaultHeaders: {},
  framing: eventStreamFraming,
  loadFailures: once(async () => (await import('./failures.ts')).converseFailures),
  watchStream: watchConverseStream,
  usageOf: (answer) => (isObject(answer) ? converseUsage(answer.usage) : undefined),
  errorIn(answer) {
    if (isObject(answer) && 'output' in answer)
      return holdsNothing(answer.output) ? brokenBy(answer.stopReason) : undefined
    const { message } = isObject(answer) ? readError(answer) : {}
    return message === undefined ? undefined : { message, status: 502, error: answer }
  },
  isAnswer: ({ output, stopReason }) => isObject(output) || Boolean(stopReason),
  loadTranslator: once(async () => (await import('./translator.ts')).converseTranslator),
}

function holdsNothing(output: unknown): boolean {
  const content = isObject(output) && isObject(output.message) ? output.message.content : undefined
  return !Array.isArray(content) || content.length === 0
}
