import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { errorObjectIn, readMessage } from '../errors/read.ts'
import type { ErrorFacts, FormatErrors, StreamPosition } from '../format.ts'
import { errorTypeOf, openaiErrorBody } from '../openai-errors.ts'
import { echoDefaults, inProgress, stateless } from './stream-state.ts'

/** Errors of Responses. */
export const responseErrors: FormatErrors = {
  body: openaiErrorBody,
  event: errorEvents,
  isReadable: (body) => errorObjectIn(body) !== undefined,
  isErrorEvent: (event) => eventType(event) === 'response.failed',
  read: readMessage,
  /** The members of an error event are those of an error object without its type; so are those of a response's error. */
  bodyOf(error, status) {
    const { type, sequence_number: _, message, code = null, param = null, ...rest } = error
    const errorType = typeof type === 'string' && type !== 'error' ? type : errorTypeOf(status)
    return { error: { message, type: errorType, param, code, ...rest } }
  },
}

/**
 * The events that end a stream: `error`, and `response.failed` with the response that has begun, since clients listen for one or the other. An
 * `error` event of the provider that the client has got is not repeated.
 */
function errorEvents(facts: ErrorFacts, { sequence = -1, response, passedError }: StreamPosition = {}): string {
  const error = { code: facts.code.toLowerCase(), message: facts.message }
  const failed = {
    object: 'response',
    ...stateless,
    ...echoDefaults,
    ...response,
    ...inProgress,
    status: 'failed',
    error,
  }
  if (passedError && eventType(passedError) === 'error')
    return eventText('response.failed', sequence + 1, { response: failed })
  return (
    eventText('error', sequence + 1, { ...error, param: null, ...openaiErrorBody(facts) }) +
    eventText('response.failed', sequence + 2, { response: failed })
  )
}

function eventType({ event, data }: SseEvent): unknown {
  const message = tryParseJson(data)
  return isObject(message) ? (message.type ?? event) : undefined
}

const eventText = (type: string, sequence_number: number, fields: JsonObject) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...fields })}\n\n`
