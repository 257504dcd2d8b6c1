import { isObject } from '../../lib/json.ts'
import { embeddedError } from '../embedded-error.ts'
import type { ErrorFacts, Format } from '../format.ts'
import { openaiErrorBody } from '../openai-error-body.ts'
import { KEEP_ALIVE } from './keep-alive.ts'
import { watchResponseStream } from './stream.ts'
import { responseUsage } from './usage.ts'

/** OpenAI Responses. */
export const openaiResponses: Format = {
  name: 'openai-responses',
  auth: 'bearer',
  defaultHeaders: {},
  errorBody: openaiErrorBody,
  errorEvent,
  keepAlive: KEEP_ALIVE,
  watchStream: watchResponseStream,
  usageOf: (answer) => (isObject(answer) ? responseUsage(answer.usage) : undefined),
  errorIn: (answer) =>
    isObject(answer) && (answer.status === 'failed' || !Array.isArray(answer.output))
      ? embeddedError(answer.error)
      : undefined,
  isAnswer: ({ output, status }) => Array.isArray(output) && (output.length > 0 || typeof status === 'string'),
  loadTranslator: async () => (await import('./translator.ts')).responsesTranslator,
}

/** Some clients listen for the error, others for the end of the response. */
function errorEvent(facts: ErrorFacts): string {
  const error = { code: facts.code.toLowerCase(), message: facts.message }
  const failed = { object: 'response', status: 'failed', error, output: [] }
  return (
    event('error', { ...error, param: null, ...openaiErrorBody(facts) }) +
    event('response.failed', { response: failed })
  )
}

const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
