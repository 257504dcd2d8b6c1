import { isObject, tryParseJson } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import {
  type AnswerReader,
  countsLike,
  newStreamProgress,
  type StreamState,
  saidIn,
  type UpstreamFormat,
} from '../format.ts'
import { converseErrors, exceptionIn, readError } from './errors.ts'
import { eventStreamFraming } from './event-stream.ts'
import { brokenBy, converseUsage } from './fields.ts'
import { converseTranslator } from './translator.ts'

const answers: AnswerReader = {
  isAnswer: ({ output, stopReason }) => isObject(output) || Boolean(stopReason),
  isEmpty: () => false, // such answers occur in recordings of good ones
  errorIn(answer) {
    if (isObject(answer) && 'output' in answer) return isEmpty(answer.output) ? brokenBy(answer.stopReason) : undefined
    const { message } = isObject(answer) ? readError(answer) : {}
    return message === undefined ? undefined : { message, status: 502, error: answer }
  },
  usageOf: (answer) => (isObject(answer) ? converseUsage(answer.usage) : undefined),
  watchStream: createConverseStreamState,
  isOwnEvent: () => true, // its streams are never passed through
  gathersEvents: true,
  said: saidIn('text', 'toolUse'),
}

/** Converse of AWS Bedrock: one format for the models of many vendors, which only providers speak. */
export const bedrockConverse: UpstreamFormat = {
  name: 'bedrock-converse',
  auth: 'bearer',
  defaultHeaders: {},
  framing: eventStreamFraming,
  errors: converseErrors,
  answers: { generate: answers, 'count-tokens': countsLike(answers) },
  loadTranslator: async () => converseTranslator,
}

function isEmpty(output: unknown): boolean {
  const content = isObject(output) && isObject(output.message) ? output.message.content : undefined
  return !Array.isArray(content) || content.length === 0
}

/** Follows a stream of events from `messageStart` to `metadata`, which comes after the end and has the token usage. */
function createConverseStreamState(): StreamState {
  const state = { ...newStreamProgress(), observe }

  function observe({ event, data }: SseEvent) {
    switch (event) {
      case 'messageStart':
      case 'contentBlockStop':
        return
      case 'messageStop': {
        const payload = state.started ? undefined : tryParseJson(data)
        state.error ??= isObject(payload) ? brokenBy(payload.stopReason) : undefined
        state.started ||= !state.error
        state.ended = true
        return
      }
      case 'metadata': {
        const payload = tryParseJson(data)
        state.usage = isObject(payload) ? converseUsage(payload.usage) : undefined
        state.closed = state.ended
        return
      }
      case 'contentBlockStart':
      case 'contentBlockDelta':
        state.started = true
        return
      default:
        state.error ??= exceptionIn(event, data)
    }
  }

  return state
}
