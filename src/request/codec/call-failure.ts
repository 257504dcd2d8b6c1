import { type ErrorCode, type GatewayError, gatewayError, toGatewayError } from '../../errors.ts'
import type { ErrorMeaning } from '../../protocols/formats/errors/error-kinds.ts'
import { errorReaders } from '../../protocols/formats/errors/load-error-readers.ts'
import type { EmbeddedError } from '../../protocols/formats/format.ts'
import type { FailureClass, HealthLevel } from '../routing/failure-class.ts'

/** The failure of one attempt. */
export interface Failure {
  class: FailureClass
  /** Whether and when another request may succeed, according to the provider's error. Default: by its class. */
  retry?: ErrorMeaning['retry']
  /** The level that the failure counts against, if it isn't its class's default. */
  level?: HealthLevel
  /** Whether every other call to the target would fail as well. */
  isCertain?: boolean
  /** The HTTP status; 502 or 504 if the provider sent none. */
  status: number
  /** The provider's status, if the client gets a different one. */
  upstreamStatus?: number
  /** The provider's message, or a description. Safe to show to the client: it contains no secret. */
  message: string
  /** Whether the message is the provider's own. */
  isQuoted?: boolean
  retryAfterMs?: number | undefined
  /** The context window that the provider named, in tokens. */
  window?: number | undefined
  /** Whether the provider has no endpoint for the operation, for any model. */
  lacksEndpoint?: true
  /** Whether the provider wasn't called, because there was no credential. */
  lacksCredential?: true
  /** Whether the response is complete, but lacks the requested content. */
  lacksContent?: true
  /** Whether the response meets one of a combo's `on` conditions. The client gets it if no other target responds. */
  isUnwanted?: true
  /** Set if another target may accept what this one rejected, such as a file that is too large. */
  tryOthers?: true
  /** Whether the response suggests retrying the same target. */
  invitesRetry?: boolean
  /** The network error's code, such as `ECONNREFUSED`. */
  code?: unknown
  /** The unexpected error, if the gateway itself failed. */
  cause?: unknown
  /** The provider's JSON error body, which may go to the client. */
  body?: Uint8Array
  /** The headers of a translated error; they replace the provider's. */
  headers?: Record<string, string>
}

/** Converts an error that a call threw. */
export function toFailure(cause: unknown): Failure {
  const error = toGatewayError(cause)
  if (error.code === 'INTERNAL') return { class: 'internal', status: 500, message: error.message, cause }
  const failureClass = classesByCode.get(error.code) ?? 'network'
  const { code } = error.data
  const isUnreachable = failureClass === 'network' && typeof code === 'string' && !BROKEN_CONNECTION_PATTERN.test(code)
  return {
    class: failureClass,
    ...(isUnreachable && { level: 'connection', isCertain: !TIMED_OUT_PATTERN.test(code) }),
    status: error.status,
    message: error.message,
    code,
  }
}

/**
 * Codes of connections that broke after they were established. With any other code, there was no connection: the host name, the port, or the
 * certificate is wrong.
 */
const BROKEN_CONNECTION_PATTERN =
  /^(?:ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_(?!CONNECT_)|ERR_HTTP2_|ConnectionClosed|HPE_)/

/** Connection timeouts: weaker evidence of an unreachable server than a refused connection, an unknown host name, or an invalid certificate. */
const TIMED_OUT_PATTERN = /TIMEDOUT|TIMEOUT/

const classesByCode: ReadonlyMap<string, FailureClass> = new Map<ErrorCode, FailureClass>([
  ['INVALID_REQUEST', 'client'],
  ['UPSTREAM_TIMEOUT', 'timeout'],
  ['UPSTREAM_INVALID', 'content'],
  ['UPSTREAM_CREDENTIALS', 'credentials'],
])

/** The failure for a connection whose credential is damaged or was encrypted with another secret. */
export const unreadableCredentialFailure: Failure = {
  class: 'credentials',
  lacksCredential: true,
  status: 500,
  message: 'The connection\'s credential cannot be decrypted. Set its "apiKey" again.',
}

/** Creates the failure for a response that can't be used. */
export const createContentFailure = (message: string): Failure => ({ class: 'content', status: 502, message })

/** Creates the failure for a complete response without the requested content, such as "an image". */
export const createMissingContentFailure = (missingContent: string): Failure => ({
  ...createContentFailure(`The provider returned a response without ${missingContent}.`),
  lacksContent: true,
})

/** The failure for a response without any content. */
export const emptyResponseFailure: Failure = {
  ...createContentFailure('The provider returned an empty response.'),
  lacksContent: true,
}

/**
 * Returns whether the provider may have done the work and charge for it. It hasn't if there was no connection, if it specified when to retry, if it
 * rejected the request, or if the response is complete except for the requested content.
 */
export function isAmbiguous({ class: failureClass, retryAfterMs, isCertain, lacksContent, code }: Failure): boolean {
  if (lacksContent || retryAfterMs !== undefined || isCertain || code === 'UND_ERR_CONNECT_TIMEOUT') return false
  return AMBIGUOUS_CLASSES.has(failureClass)
}

const AMBIGUOUS_CLASSES: ReadonlySet<FailureClass> = new Set(['server', 'network', 'timeout', 'content', 'internal'])

/** The error that ended a stream: the provider's, or the gateway's with its class. */
export type StreamError = EmbeddedError | { status: number; class: FailureClass }

/** Converts a gateway error. An error that doesn't concern the provider, such as `CLOSED`, doesn't count against the target. */
export const toStreamError = ({ status, code = '' }: { status: number; code?: string | undefined }): StreamError => ({
  status,
  class: classesByCode.get(code) ?? (code.startsWith('UPSTREAM_') ? 'network' : 'internal'),
})

/** Why a stream was cut off. */
export type StreamFailure = Pick<Failure, 'class' | 'level' | 'retryAfterMs'>

/** Classifies a stream error. Without a class, it is `server` until the error readers are loaded. */
export function toStreamFailure(error: StreamError, nowMs: number): StreamFailure {
  if (error.class) return { class: error.class }
  if (!errorReaders) return { class: 'server' }
  const { readErrorResponse, getErrorMeaning, isModelSpecific } = errorReaders
  const { status, error: body } = error
  const errorReading = readErrorResponse({ status, body: { error: body }, header: () => undefined, nowMs })
  const { kind, retryAfterMs } = errorReading
  return { class: getErrorMeaning(kind).class, ...(isModelSpecific(errorReading) && { level: 'model' }), retryAfterMs }
}

/** Replaces statuses of 600 and above, which HTTP doesn't define and platforms don't send. */
export const toSendableStatus = (status: number): number => (status > 599 ? 502 : status)

/** Creates the error for a request if all its targets are draining. */
export const createDrainingError = (model: string): GatewayError =>
  gatewayError('DRAINING', {
    message: `All connections for the model "${model}" are draining: they finish in-flight requests and accept no new ones. Ask the operator of this gateway to set "draining" to false on one of them or to add a connection.`,
  })
