import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { errorObjectIn } from '../error-object.ts'
import type { ErrorFacts, ErrorTelling, StreamPlace } from '../format.ts'
import { openaiErrorBody } from '../openai-error-body.ts'
import { unsaid } from './echo.ts'
import { stateless, unfinished } from './response.ts'

export const responseErrors: ErrorTelling = {
  body: openaiErrorBody,
  event,
  isReadable: (body) => errorObjectIn(body) !== undefined,
  isErrorEvent,
}

/**
 * Some clients listen for the error, others for the end of the response, which is still the one that has begun. An `error` event that the
 * provider has sent itself is not repeated.
 */
function event(facts: ErrorFacts, { sequence = -1, response, passedError }: StreamPlace = {}): string {
  const error = { code: facts.code.toLowerCase(), message: facts.message }
  const failed = { object: 'response', ...stateless, ...unsaid, ...response, ...unfinished, status: 'failed', error }
  if (passedError && typeOf(passedError) === 'error') return tell('response.failed', sequence + 1, { response: failed })
  return (
    tell('error', sequence + 1, { ...error, param: null, ...openaiErrorBody(facts) }) +
    tell('response.failed', sequence + 2, { response: failed })
  )
}

function isErrorEvent(event: SseEvent): boolean {
  return typeOf(event) === 'response.failed'
}

function typeOf({ event, data }: SseEvent): unknown {
  const message = tryParseJson(data)
  return isObject(message) ? (message.type ?? event) : undefined
}

const tell = (type: string, sequence_number: number, fields: JsonObject) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...fields })}\n\n`
