import type { ErrorCode } from '../../errors.ts'
import type { AttemptRecord, RequestRecord } from '../../request/hook-records.ts'
import type { AttemptEnd } from './observer.ts'

const operationNames: Partial<Record<string, string>> = {
  generate: 'chat',
  complete: 'text_completion',
  embed: 'embeddings',
}

/** Returns an operation's name in the conventions or, if it has none, the gateway's own name for it. */
export const getOperationName = (operation: string): string =>
  operationNames[operation] ?? operation.replaceAll('-', '_')

const OUTCOMES_WITHOUT_STATUS: ReadonlySet<string> = new Set(['timeout', 'network', 'content', 'format', 'internal'])

/** Returns the `error.type` of a failed attempt: the provider's status or, if there is none, the failure class. */
export function getAttemptErrorType({ outcome, status }: AttemptRecord, { isCut }: AttemptEnd): string | undefined {
  if (outcome === 'answered') return isCut ? 'cut' : undefined
  if (outcome === 'cancelled' || outcome === 'outrun' || outcome === 'refused') return undefined
  return OUTCOMES_WITHOUT_STATUS.has(outcome) ? outcome : String(status)
}

/**
 * Returns the `error.type` of a request: the gateway's error code, `cut`, or a 5xx status. Returns `undefined` for any other request, even if the
 * client disconnected.
 */
export function getRequestErrorType({ status, end, error }: RequestRecord): string | undefined {
  if (end === 'cut') return 'cut'
  if (end === 'aborted') return undefined
  if (error !== undefined) return error.toLowerCase()
  return status >= 500 ? String(status) : undefined
}

/** Returns the status that the client received, even if the stream was cut off. Returns 499 if the client disconnected before a response. */
export const getSentStatus = ({ status, sentStatus = status }: RequestRecord): number => sentStatus

const rejectionReasons: Partial<Record<ErrorCode, string>> = {
  KEY_MISSING: 'key',
  KEY_UNKNOWN: 'key',
  KEY_PAUSED: 'paused',
  IDENTITY_REQUIRED: 'identity',
  IDENTITY_CONFLICT: 'identity',
  IDENTITY_UNAVAILABLE: 'identity',
  CROSS_SITE: 'cross_site',
  ACCOUNT_PAUSED: 'paused',
  ACCOUNT_NOT_ALLOWED: 'identity',
  TOO_MANY_NEW_ACCOUNTS: 'busy',
  KEY_EXPIRED: 'expired',
  TOKEN_INVALID: 'key',
  TOKEN_EXPIRED: 'expired',
  TOKEN_REVOKED: 'key',
  TOKEN_NOT_ALLOWED: 'key',
  MODEL_NOT_ALLOWED: 'model',
  NO_COMPLIANT_TARGET: 'model',
  RATE_LIMIT_EXCEEDED: 'rate',
  BUDGET_EXCEEDED: 'budget',
  REQUEST_TOO_EXPENSIVE: 'budget',
  ROUTE_FAILED: 'route',
  PAYLOAD_TOO_LARGE: 'too_large',
  TOO_BUSY: 'busy',
  CLOSED: 'closing',
}

/** Returns why a request was rejected: its key, model, limits, or size. Returns `undefined` if it wasn't rejected for any of these. */
export const getRejectionReason = ({ end, error }: RequestRecord): string | undefined =>
  end === 'refused' && error !== undefined ? rejectionReasons[error] : undefined
