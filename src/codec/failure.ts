import { type ErrorCode, type GatewayError, gatewayError, toGatewayError } from '../errors.ts'
import { type ErrorMeaning, type ErrorReading, meaningOf, readErrorAnswer } from '../formats/errors/kinds.ts'
import { isLimitOfOneModel } from '../formats/errors/words.ts'
import type { EmbeddedError } from '../formats/format.ts'
import type { FailureClass, HealthLevel } from '../routing/failure-class.ts'

/** The failure of one attempt. */
export interface Failure {
  class: FailureClass
  /** When another request may succeed, by the provider's error; absent: by its class. */
  retry?: ErrorMeaning['retry']
  /** What it counts against, where that differs from its class's default. */
  level?: HealthLevel
  /** Would every other call of the target fail as well? */
  isCertain?: boolean
  /** The HTTP status of the failure; 502 or 504 where the provider gave none. */
  status: number
  /** The provider's status, where the client gets another one. */
  upstreamStatus?: number
  /** The provider's message, or what happened. Fit for the client: it contains no secret. */
  message: string
  /** Is the message the provider's own? */
  isQuoted?: boolean
  retryAfterMs?: number | undefined
  /** The context window that the provider named, in tokens. */
  window?: number | undefined
  /** Has the provider no endpoint for what it was asked, be it of this model? */
  lacksEndpoint?: true
  /** Is it that of a whole answer in which what was asked for is missing? */
  isBare?: true
  /** Is it that of an answer that a combo does not want, which the client gets if there is no other? */
  isUnwanted?: true
  /** Does the answer invite a retry of the same target? */
  isInviting?: boolean
  /** The network error's code, such as `ECONNREFUSED`. */
  code?: unknown
  /** The unexpected error of a failure that is the gateway's own. */
  cause?: unknown
  /** The provider's JSON error body, which may go to the client. */
  body?: Uint8Array
  /** The headers of a translated error, in place of the provider's. */
  headers?: Record<string, string>
}

/** The failure that an error thrown by a call stands for. */
export function failureOfError(thrown: unknown): Failure {
  const error = toGatewayError(thrown)
  if (error.code === 'INTERNAL') return { class: 'internal', status: 500, message: error.message, cause: thrown }
  const failureClass = classOfCode.get(error.code) ?? 'network'
  const { code } = error.data
  const isOfAddress = failureClass === 'network' && typeof code === 'string' && !OF_ONE_CALL.test(code)
  return {
    class: failureClass,
    ...(isOfAddress && { level: 'connection', isCertain: !TIMED_OUT.test(code) }),
    status: error.status,
    message: error.message,
    code,
  }
}

/**
 * Codes of connections that were made and broke off. Any other code means that no connection was made: name, port or certificate are wrong.
 */
const OF_ONE_CALL = /^(?:ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_(?!CONNECT_)|ERR_HTTP2_|ConnectionClosed|HPE_)/

/** No connection was made in time, which says less than one that was refused, a name that is unknown, or a certificate that is wrong. */
const TIMED_OUT = /TIMEDOUT|TIMEOUT/

const classOfCode: ReadonlyMap<string, FailureClass> = new Map<ErrorCode, FailureClass>([
  ['INVALID_REQUEST', 'client'],
  ['UPSTREAM_TIMEOUT', 'timeout'],
  ['UPSTREAM_INVALID', 'content'],
  ['UPSTREAM_CREDENTIALS', 'credentials'],
])

/** The connection's own credential is damaged, or sealed with another secret. */
export const unreadableCredential: Failure = {
  class: 'credentials',
  status: 500,
  message: 'The credential of the connection cannot be opened: give the connection its "apiKey" again.',
}

/** The failure of an answer that cannot be used. */
export const contentFailure = (message: string): Failure => ({ class: 'content', status: 502, message })

/** The failure of a whole answer in which something is missing, in words. */
export const bareAnswer = (lacking: string): Failure => ({
  ...contentFailure(`The provider sent an answer without ${lacking}.`),
  isBare: true,
})

/** The failure of an answer in which there is nothing. */
export const emptyAnswer: Failure = { ...contentFailure('The provider sent an empty answer.'), isBare: true }

/**
 * May the provider have done the work, and charge for it? Not if no connection was made, it names the time for a retry, it refuses the request, or
 * its answer is whole but for what was asked for.
 */
export function isAmbiguous({ class: failureClass, retryAfterMs, isCertain, isBare, code }: Failure): boolean {
  if (isBare || retryAfterMs !== undefined || isCertain || code === 'UND_ERR_CONNECT_TIMEOUT') return false
  return AMBIGUOUS.has(failureClass)
}

const AMBIGUOUS: ReadonlySet<FailureClass> = new Set(['server', 'network', 'timeout', 'content', 'internal'])

/** The `UPSTREAM_INVALID` for an answer that is larger than what is kept of one. */
export const answerTooLarge = (maxBytes: number): GatewayError =>
  gatewayError('UPSTREAM_INVALID', { message: `The provider's answer is larger than ${maxBytes} bytes.` })

/** What a failure counts against, by the provider's error: a rate limit may be that of one model. */
export const levelOf = ({ kind, error }: ErrorReading): Pick<Failure, 'level'> =>
  meaningOf(kind).class === 'rate-limit' && isLimitOfOneModel(error) ? { level: 'model' } : {}

/** The error that a stream ended with: the provider's, or the gateway's with its class. */
export type StreamError = EmbeddedError | { status: number; class: FailureClass }

/** An error of the gateway that ends a stream. One that does not concern the provider, such as `CLOSED`, does not count against the target. */
export const streamError = ({ status, code = '' }: { status: number; code?: string | undefined }): StreamError => ({
  status,
  class: classOfCode.get(code) ?? (code.startsWith('UPSTREAM_') ? 'network' : 'internal'),
})

/** What the error of a stream counts as. `now`: epoch ms, for the wait that the provider asks for. */
export function failureOfStream(error: StreamError, now: number): Pick<Failure, 'class' | 'level' | 'retryAfterMs'> {
  if (error.class) return { class: error.class }
  const { status, error: body } = error
  const reading = readErrorAnswer({ status, body: { error: body }, header: () => undefined, now })
  const { kind, retryAfterMs } = reading
  return { class: meaningOf(kind).class, ...levelOf(reading), retryAfterMs }
}

/** HTTP has no statuses from 600 on, and platforms do not send them. */
export const statusFor = (sent: number): number => (sent > 599 ? 502 : sent)

/** The error for a request whose targets are all draining. */
export const allDraining = (model: string): GatewayError =>
  gatewayError('DRAINING', {
    message: `All connections for the model "${model}" are draining: they finish what is under way and take no new requests. Set "draining" of one to false, or add another connection.`,
  })
