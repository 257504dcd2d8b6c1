import { type GatewayError, gatewayError } from '../errors.ts'
import { isObject } from '../lib/json.ts'
import { isValidInput } from '../lib/shape-problem.ts'
import { text } from '../types/records/shapes.ts'
import { type Identity, type Refusal, readFields, readIdentity } from './identity.ts'

/** The result of `identify`. */
export type IdentifyResult = { identity: Identity } | { rejection: GatewayError } | undefined

/** Reads the result of `identify`. Throws `IDENTITY_INVALID` with the name of the field that is unknown or invalid, never with its value. */
export function readIdentifyResult(response: unknown): IdentifyResult {
  if (response === undefined) return undefined
  if (response === null) return { rejection: gatewayError('IDENTITY_REQUIRED', { message: 'Sign in and try again.' }) }
  if (isObject(response) && response.refuse !== undefined)
    return { rejection: createIdentifyRejection(readFields(response, refusalFields) as unknown as Refusal) } // `readFields` has checked each field
  return { identity: readIdentity(response) }
}

const CODE_BY_STATUS = {
  401: 'IDENTITY_REQUIRED',
  402: 'BUDGET_EXCEEDED',
  403: 'FORBIDDEN',
  429: 'RATE_LIMIT_EXCEEDED',
} as const

function createIdentifyRejection({ refuse, status = 401, retryAfterS }: Refusal): GatewayError {
  const headers: Record<string, string> =
    retryAfterS === undefined ? { 'x-should-retry': 'false' } : { 'retry-after': `${Math.ceil(retryAfterS)}` }
  return gatewayError(CODE_BY_STATUS[status], { message: refuse, headers })
}

const refusalFields = {
  refuse: (value) => isValidInput(text({ isTrimmed: true, isNonEmpty: true, max: 2_000 }), value),
  status: (value) => Object.hasOwn(CODE_BY_STATUS, String(value)) && typeof value === 'number',
  retryAfterS: (value) => typeof value === 'number' && value >= 0 && value <= MAX_RETRY_AFTER_S,
} satisfies Record<keyof Refusal, (value: unknown) => boolean>

const MAX_RETRY_AFTER_S = 31 * 24 * 60 * 60
