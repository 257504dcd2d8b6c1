import type { ErrorCode } from '../errors.ts'
import type { AttemptEnd } from '../pipeline/observing.ts'
import type { AttemptRecord, RequestRecord } from '../pipeline/records.ts'

const operationNames: Partial<Record<string, string>> = {
  generate: 'chat',
  complete: 'text_completion',
  embed: 'embeddings',
}

/** The conventions' name of an operation; where they have none, the gateway's own. */
export const operationName = (operation: string): string => operationNames[operation] ?? operation.replaceAll('-', '_')

/** Failures in which the provider gave no status. */
const WITHOUT_STATUS: ReadonlySet<string> = new Set(['timeout', 'network', 'content', 'format', 'internal'])

/** `error.type` of an attempt: the provider's status, or the class where it gave none; absent if it did not fail. */
export function attemptErrorType({ outcome, status }: AttemptRecord, { isCut }: AttemptEnd): string | undefined {
  if (outcome === 'answered') return isCut ? 'cut' : undefined
  if (outcome === 'cancelled' || outcome === 'outrun' || outcome === 'refused') return undefined
  return WITHOUT_STATUS.has(outcome) ? outcome : String(status)
}

/** `error.type` of a request: the code of a refusal, `cut`, or the status of a server's error; absent for all others, such as a client that left. */
export function requestErrorType({ status, end, error }: RequestRecord): string | undefined {
  if (end === 'cut') return 'cut'
  if (end === 'aborted') return undefined
  if (error !== undefined) return error.toLowerCase()
  return status >= 500 ? String(status) : undefined
}

const refusalReasons: Partial<Record<ErrorCode, string>> = {
  KEY_MISSING: 'key',
  KEY_UNKNOWN: 'key',
  KEY_PAUSED: 'paused',
  KEY_EXPIRED: 'expired',
  MODEL_NOT_ALLOWED: 'model',
  RATE_LIMIT_EXCEEDED: 'rate',
  BUDGET_EXCEEDED: 'budget',
  REQUEST_TOO_EXPENSIVE: 'budget',
  PAYLOAD_TOO_LARGE: 'too_large',
  TOO_BUSY: 'busy',
  CLOSED: 'closing',
}

/** What refused a request by its key, model, limits or size; `undefined` for any other end. */
export const refusalReason = ({ end, error }: RequestRecord): string | undefined =>
  end === 'refused' && error !== undefined ? refusalReasons[error] : undefined
