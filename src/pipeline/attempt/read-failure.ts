import { contentFailure, type Failure, levelOf, statusFor } from '../../codec/failure.ts'
import type { FailedResponse } from '../../codec/response.ts'
import { operatorAdvice } from '../../formats/errors/advice.ts'
import { meaningOf, readErrorAnswer } from '../../formats/errors/kinds.ts'
import { contextWindowIn } from '../../formats/errors/window.ts'
import type { EmbeddedError, ErrorReader } from '../../formats/format.ts'
import type { Operation } from '../../formats/operations.ts'
import { concatBytes, decodeUtf8Lenient, encodeUtf8 } from '../../lib/bytes.ts'
import type { ByteStream, UpstreamAnswer } from '../../lib/exchange.ts'
import { isObject, tryParseShallow, tryStringify } from '../../lib/json.ts'
import type { Expected } from './receive.ts'

/** Error bodies are read up to this size, as the status and the beginning suffice. */
const MAX_ERROR_BYTES = 64 * 1024

/** The failure that an error status stands for. */
export async function readErrorStatus(
  head: UpstreamAnswer,
  { format, operation, answers, clock }: Expected,
): Promise<FailedResponse> {
  const bytes = await readError(head.body)
  const failure = failureOfStatus(head, bytes, { reader: format.errors, operation, now: clock.now() })
  return { kind: 'failure', failure, head, usage: answers.usageOf(tryParseShallow(decodeUtf8Lenient(bytes))) }
}

/** The failure that an error in a 200 stands for. */
export function readEmbeddedError(
  error: EmbeddedError,
  head: UpstreamAnswer,
  { format, clock }: Pick<Expected, 'format' | 'clock'>,
): FailedResponse {
  if (error.class) return { kind: 'failure', failure: contentFailure(error.message) }
  const failure = failureOfEmbedded(error, { head, reader: format.errors, now: clock.now() })
  return { kind: 'failure', failure, head }
}

/** As much of an error body as arrives; a body that breaks off, is silent, slow or large does not hide the status. */
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

/** The failure that an error status and its (bounded) body stand for. */
export function failureOfStatus(
  answer: UpstreamAnswer,
  bytes: Uint8Array,
  { reader, operation, now }: { reader: ErrorReader; operation: Operation; now: number },
): Failure {
  const { status: sent } = answer
  const status = statusFor(sent)
  const text = decodeUtf8Lenient(bytes)
  const json = tryParseShallow(text)
  const body = json ?? text
  const { missing } = operation
  if (missing?.isMeant({ status, body, reader }))
    return {
      class: missing.class,
      status,
      message: `The provider does not ${missing.what} (status ${status}).`,
      lacksEndpoint: true,
    }
  const own = reader.read(body).message
  const message = own ?? `The provider answered with status ${sent}.`
  const known = failureOf({
    status,
    message,
    isQuoted: own !== undefined,
    body,
    header: (name) => answer.header(name),
    now,
  })
  const failure = sent === status ? known : { ...known, upstreamStatus: sent }
  return json === undefined || failure.message !== message ? failure : { ...failure, body: bytes }
}

/** The failure that an error in a 200 stands for. */
function failureOfEmbedded(
  { status, message, error }: EmbeddedError,
  { head, reader, now }: { head: UpstreamAnswer; reader: ErrorReader; now: number },
): Failure {
  const body = { error }
  const failure = failureOf({ status, message, isQuoted: true, body, header: (name) => head.header(name), now })
  if (!isObject(error) || failure.message !== message) return failure
  const text = tryStringify(reader.bodyOf(error, status))
  return text === undefined ? failure : { ...failure, body: encodeUtf8(text) }
}

interface ErrorSource {
  status: number
  message: string
  isQuoted: boolean
  body: unknown
  header(name: string): string | undefined
  now: number
}

function failureOf({ status, message, isQuoted, body, header, now }: ErrorSource): Failure {
  const reading = readErrorAnswer({ status, body, header, now })
  const { kind, error, retryAfterMs } = reading
  const { class: failureClass, retry } = meaningOf(kind)
  const advice = operatorAdvice(kind, status, error)
  if (advice) {
    const isOfNetwork = failureClass === 'network' // it concerns each call of the connection
    return {
      class: failureClass,
      retry,
      ...(isOfNetwork && { level: 'connection', isCertain: true }),
      upstreamStatus: status,
      ...advice,
    }
  }
  return {
    class: failureClass,
    retry,
    ...levelOf(reading),
    status,
    message,
    isQuoted,
    retryAfterMs,
    window: kind === 'context-overflow' ? contextWindowIn(message) : undefined,
    isInviting: retry === 'soon' && invitesRetry(header, retryAfterMs),
  }
}

/** Does the answer invite a retry? `x-should-retry` decides, otherwise a retry-after header; a wait that only rate-limit headers name does not. */
function invitesRetry(header: ErrorSource['header'], retryAfterMs: number | undefined): boolean {
  const shouldRetry = header('x-should-retry')
  if (shouldRetry === 'true' || shouldRetry === 'false') return shouldRetry === 'true'
  return retryAfterMs !== undefined && (header('retry-after') ?? header('retry-after-ms')) !== undefined
}
