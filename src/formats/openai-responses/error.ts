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

/** Some clients listen for the error, others for the end of the response, which is still the one that has begun. */
function event(facts: ErrorFacts, { sequence = -1, response }: StreamPlace = {}): string {
  const error = { code: facts.code.toLowerCase(), message: facts.message }
  const failed = { object: 'response', ...stateless, ...unsaid, ...response, ...unfinished, status: 'failed', error }
  return (
    tell('error', sequence + 1, { ...error, param: null, ...openaiErrorBody(facts) }) +
    tell('response.failed', sequence + 2, { response: failed })
  )
}

function isErrorEvent({ data }: SseEvent): boolean {
  const event = tryParseJson(data)
  return isObject(event) && event.type === 'response.failed'
}

const tell = (type: string, sequence_number: number, fields: JsonObject) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...fields })}\n\n`
