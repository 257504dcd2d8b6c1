import { decodeUtf8Lenient, readAll, toBase64 } from '../../lib/bytes.ts'
import type { UpstreamResponse } from '../../lib/exchange.ts'
import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import { once } from '../../lib/promises.ts'
import { addCharges } from '../../protocols/formats/canonical/reported-cost.ts'
import { hasText } from '../../protocols/formats/errors/empty-responses.ts'
import { loadErrorReaders } from '../../protocols/formats/errors/load-error-readers.ts'
import type { ResponseReader, TokenUsage } from '../../protocols/formats/format.ts'
import { type BufferedResponse, createTooLargeError, type FailedResponse } from '../codec/response.ts'
import { loadFailureCode } from '../routing/target-health.ts'
import type { ReceiveOptions } from './receive.ts'

/** Reads a response's bytes. Rejects if reading its body fails, or if it is too large. */
export const readBytes = ({ body }: UpstreamResponse, { limits }: ReceiveOptions): Promise<Uint8Array> =>
  readAll(body, limits.maxResponseBytes, createTooLargeError)

/** Lazy-loads the code that handles failed calls. */
export const loadFailedCalls = once(async () => {
  const [failedCalls] = await Promise.all([import('./failed-call.ts'), loadFailureCode()])
  return failedCalls
})

/** Lazy-loads the failure readers. */
export const loadFailureReader = once(async () => {
  const [failureReader] = await Promise.all([import('./read-failure.ts'), loadErrorReaders()])
  return failureReader
})

/** If the bytes contain a JSON object, returns the response or its failure. Otherwise, returns `undefined`. */
export function readResponse(
  bytes: Uint8Array,
  head: UpstreamResponse,
  options: ReceiveOptions,
): BufferedResponse | FailedResponse | Promise<FailedResponse> | undefined {
  const { reader } = options
  const contentType = head.header('content-type') ?? ''
  const isMedia = reader.bytesField !== undefined && !/json|html|text|xml|^$/i.test(contentType)
  const text = isMedia
    ? JSON.stringify({ [reader.bytesField ?? '']: toBase64(bytes), type: contentType })
    : decodeUtf8Lenient(bytes)
  const json = reader.skim?.(text) ?? wrapText(text, head, reader) ?? toObject(tryParseJson(text), reader)
  if (!json) return undefined
  const header = (name: string) => head.header(name)
  const usage = addCharges(reader.getUsage(json, header), json, header)
  if (reader.getError(json) || !reader.isResponse(json)) return readFailedResponse(json, head, { options, usage })
  const response: BufferedResponse = { kind: 'whole', head, bytes, json, usage }
  const isEmpty = reader.isEmpty !== undefined && !hasText(text) && reader.isEmpty(json)
  return isEmpty ? failEmptyResponse(response) : response
}

/** Reads a JSON object that is an error, or isn't a response. */
async function readFailedResponse(
  json: JsonObject,
  head: UpstreamResponse,
  { options, usage }: { options: ReceiveOptions; usage: TokenUsage | undefined },
): Promise<FailedResponse> {
  const { reader } = options
  const { readEmbeddedError, createNoResponseFailure } = await loadFailureReader()
  const { readUnnamedError } = await loadErrorReaders()
  const error = readUnnamedError(json, reader.getError(json))
  if (error) return { ...(await readEmbeddedError(error, head, options)), usage }
  return { kind: 'failure', failure: createNoResponseFailure(json, reader), usage }
}

async function failEmptyResponse(unusedResponse: BufferedResponse): Promise<FailedResponse> {
  const { emptyResponseFailure } = await loadFailedCalls()
  return { kind: 'failure', failure: emptyResponseFailure, unusedResponse }
}

/** Wraps plain text in an object, for operations that return text. */
function wrapText(text: string, head: UpstreamResponse, { textField }: ResponseReader): JsonObject | undefined {
  if (textField === undefined || /json|html/i.test(head.header('content-type') ?? 'json')) return undefined
  return { [textField]: text }
}

/** Returns the object in a parsed body, or in an array if the operation may return one. */
function toObject(json: unknown, { arrayField }: ResponseReader): JsonObject | undefined {
  if (isObject(json)) return json
  return arrayField !== undefined && Array.isArray(json) ? { [arrayField]: json } : undefined
}
