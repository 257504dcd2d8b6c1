import { concatBytes, decodeUtf8Lenient, encodeUtf8 } from '../../lib/bytes.ts'
import type { ByteStream, UpstreamResponse } from '../../lib/exchange.ts'
import { isObject, type JsonObject, tryParseShallow, tryStringify } from '../../lib/json.ts'
import { addCharges } from '../../protocols/formats/canonical/reported-cost.ts'
import {
  getErrorMeaning,
  isModelSpecific,
  lacksCompaction,
  type ParsedError,
  readErrorResponse,
} from '../../protocols/formats/errors/error-kinds.ts'
import { isFileTooLarge, isOnlyTooLarge } from '../../protocols/formats/errors/error-words.ts'
import type { EmbeddedError, ErrorReader, ResponseReader } from '../../protocols/formats/format.ts'
import type { Operation } from '../../protocols/formats/model-operations.ts'
import {
  createContentFailure,
  createMissingContentFailure,
  emptyResponseFailure,
  type Failure,
  toSendableStatus,
} from '../codec/call-failure.ts'
import type { FailedResponse } from '../codec/response.ts'
import type { ReceiveOptions } from './receive.ts'

/** Maximum bytes of an error body to read. The status and the start are enough. */
const MAX_ERROR_BYTES = 64 * 1024

/** Converts an error status to a failure. */
export async function readErrorStatus(
  head: UpstreamResponse,
  { format, operation, reader: responseReader, clock }: ReceiveOptions,
): Promise<FailedResponse> {
  const bytes = await readError(head.body)
  const reader = await format.loadErrors()
  const failure = await readStatusFailure(head, bytes, { reader, operation, now: clock.now() })
  const json = tryParseShallow(decodeUtf8Lenient(bytes))
  return { kind: 'failure', failure, head, usage: addCharges(responseReader.getUsage(json), json) }
}

/** Converts an error in a response with status 200 to a failure. */
export async function readEmbeddedError(
  error: EmbeddedError,
  head: UpstreamResponse,
  { format, operation, clock }: Pick<ReceiveOptions, 'format' | 'operation' | 'clock'>,
): Promise<FailedResponse> {
  if (error.class) return { kind: 'failure', failure: createContentFailure(error.message) }
  const reader = await format.loadErrors()
  const failure = await readEmbeddedFailure(error, { head, reader, operation, now: clock.now() })
  return { kind: 'failure', failure, head }
}

/** Creates the failure for a JSON object that isn't a valid response. */
export function createNoResponseFailure(json: JsonObject, { describeMissing }: ResponseReader): Failure {
  const missingContent = describeMissing?.(json)
  return missingContent === undefined ? emptyResponseFailure : createMissingContentFailure(missingContent)
}

/** Reads as much of an error body as possible. The status counts even if the body can't be read. */
async function readError(body: ByteStream): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for (let chunk = await body.next(); chunk; chunk = await body.next()) {
      parts.push(chunk)
      size += chunk.length
      if (size >= MAX_ERROR_BYTES) {
        body.cancel()
        break
      }
    }
  } catch {} // the bytes that have arrived may be all that the provider sends
  return concatBytes(parts).subarray(0, MAX_ERROR_BYTES)
}

/** Converts an error status and the start of its body to a failure. */
export async function readStatusFailure(
  response: UpstreamResponse,
  bytes: Uint8Array,
  { reader, operation, now }: { reader: ErrorReader; operation: Operation; now: number },
): Promise<Failure> {
  const { status: sentStatus } = response
  const status = toSendableStatus(sentStatus)
  const text = decodeUtf8Lenient(bytes)
  const json = tryParseShallow(text)
  const body = json ?? text
  const { missing } = operation
  if (missing?.matches({ status, body, reader, lacksCompaction }))
    return {
      class: missing.class,
      status,
      message: `The provider cannot ${missing.capability} (status ${status}).`,
      lacksEndpoint: true,
    }
  const providerMessage = reader.read(body).message
  const message = providerMessage ?? `The provider returned status ${sentStatus}.`
  const parsedFailure = await toFailure({
    status,
    message,
    isQuoted: providerMessage !== undefined,
    body,
    header: (name) => response.header(name),
    operation,
    now,
  })
  const failure = sentStatus === status ? parsedFailure : { ...parsedFailure, upstreamStatus: sentStatus }
  return json === undefined || failure.message !== message ? failure : { ...failure, body: bytes }
}

/** Converts an error in a response with status 200 to a failure. */
async function readEmbeddedFailure(
  { status, message, error }: EmbeddedError,
  {
    head,
    reader,
    operation,
    now,
  }: { head: UpstreamResponse; reader: ErrorReader; operation: Pick<Operation, 'kind' | 'tryOthers'>; now: number },
): Promise<Failure> {
  const body = { error }
  const failure = await toFailure({
    status,
    message,
    isQuoted: true,
    body,
    header: (name) => head.header(name),
    operation,
    now,
  })
  if (!isObject(error) || failure.message !== message) return failure
  const text = tryStringify(reader.writeBody(error, status))
  return text === undefined ? failure : { ...failure, body: encodeUtf8(text) }
}

interface ErrorSource {
  status: number
  message: string
  isQuoted: boolean
  body: unknown
  header(name: string): string | undefined
  operation: Pick<Operation, 'kind' | 'tryOthers'>
  now: number
}

async function toFailure({
  status: sentStatus,
  message,
  isQuoted,
  body,
  header,
  operation,
  now: nowMs,
}: ErrorSource): Promise<Failure> {
  const errorReading = readErrorResponse({ status: sentStatus, body, header, nowMs })
  const { kind, status, error, retryAfterMs } = errorReading
  const { class: failureClass, retry } = getErrorMeaning(kind)
  const { getOperatorAdvice } =
    failureClass === 'server' ? {} : await import('../../protocols/formats/errors/error-advice.ts')
  const advice = getOperatorAdvice?.(kind, status, error)
  if (advice) {
    const isNetworkFailure = failureClass === 'network' // a network failure affects every call on the connection
    return {
      class: failureClass,
      retry,
      ...(isNetworkFailure && { level: 'connection', isCertain: true }),
      upstreamStatus: status,
      ...advice,
    }
  }
  return {
    class: failureClass,
    retry,
    ...(isModelSpecific(errorReading) && { level: 'model' }),
    status,
    ...(status !== sentStatus && { upstreamStatus: sentStatus }),
    message,
    isQuoted,
    retryAfterMs,
    window:
      kind === 'context-overflow'
        ? (await import('../../protocols/formats/errors/context-window.ts')).readContextWindow(message)
        : undefined,
    ...(canOthersAccept(errorReading, operation) && { tryOthers: true }),
    invitesRetry: retry === 'soon' && invitesRetry(header, retryAfterMs),
  }
}

/** Returns whether another target may accept what this one rejected. In chat, a 413 may be about something other than file size. */
function canOthersAccept({ kind, error }: ParsedError, operation: ErrorSource['operation']): boolean {
  if (getErrorMeaning(kind).class !== 'client') return false
  if (operation.tryOthers) return kind !== 'content-refused'
  return isFileTooLarge(error) || (kind === 'too-large' && (operation.kind !== 'llm' || isOnlyTooLarge(error)))
}

/** Returns whether the response suggests a retry, by `x-should-retry` or else a retry-after header. Waits in rate-limit headers alone don't count. */
function invitesRetry(header: ErrorSource['header'], retryAfterMs: number | undefined): boolean {
  const shouldRetry = header('x-should-retry')
  if (shouldRetry === 'true' || shouldRetry === 'false') return shouldRetry === 'true'
  return retryAfterMs !== undefined && (header('retry-after') ?? header('retry-after-ms')) !== undefined
}
