import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import { getErrorObject, readMessage } from '../errors/read-error.ts'
import type { ErrorDetails, FormatErrors, StreamPosition } from '../format.ts'
import { getErrorType, toOpenAICode, writeOpenAIErrorBody } from '../openai-errors.ts'
import { echoDefaults, IN_PROGRESS_OUTCOME, STATELESS_FIELDS } from './responses-stream-state.ts'

/** Reads and writes OpenAI Responses errors. */
export const responseErrors: FormatErrors = {
  createBody: writeOpenAIErrorBody,
  createEvent: writeErrorEvents,
  isReadable: (body) => getErrorObject(body) !== undefined,
  isErrorEvent: (event) => getEventType(event) === 'response.failed',
  isOverflowError: ({ code }) => code === 'context_length_exceeded',
  read: readMessage,
  /** Writes the error body. Error events and failed responses contain all fields of an error object except its type. */
  writeBody(error, status) {
    const { type, sequence_number: _, message, code = null, param = null, ...rest } = error
    const errorType = typeof type === 'string' && type !== 'error' ? type : getErrorType(status)
    return { error: { message, type: errorType, param, code, ...rest } }
  },
}

/**
 * Writes the events that end a stream: `error`, and `response.failed` with the response so far, because clients listen for one or the other. Doesn't
 * repeat an `error` event that the provider sent and the client already received.
 */
function writeErrorEvents(
  details: ErrorDetails,
  { sequenceNumber = -1, response, forwardedError }: StreamPosition = {},
): string {
  const error = { code: toOpenAICode(details.code), message: details.message }
  const failedResponse = {
    object: 'response',
    ...STATELESS_FIELDS,
    ...echoDefaults,
    ...response,
    ...IN_PROGRESS_OUTCOME,
    status: 'failed',
    error,
  }
  if (forwardedError && getEventType(forwardedError) === 'error')
    return writeEvent('response.failed', sequenceNumber + 1, { response: failedResponse })
  return (
    writeEvent('error', sequenceNumber + 1, { ...error, param: null, ...writeOpenAIErrorBody(details) }) +
    writeEvent('response.failed', sequenceNumber + 2, { response: failedResponse })
  )
}

function getEventType({ event, data }: SseEvent): unknown {
  const message = tryParseJson(data)
  return isObject(message) ? (message.type ?? event) : undefined
}

const writeEvent = (type: string, sequence_number: number, fields: JsonObject) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...fields })}\n\n`
