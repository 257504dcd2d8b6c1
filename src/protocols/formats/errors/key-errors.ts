/** Returns whether the code is about a client's identity, limits, or permissions. Clients get such codes in lowercase, unlike provider codes. */
export const isKeyErrorCode = (code: string): boolean => KEY_ERROR_CODES.has(code)

/** Writes the code for clients if the error is about their identity, limits, or permissions. */
export const toKeyErrorCode = (code: string | undefined): string | undefined =>
  code !== undefined && isKeyErrorCode(code) ? code.toLowerCase() : undefined

const KEY_ERROR_CODES: ReadonlySet<string> = new Set([
  'ACCOUNT_NOT_ALLOWED',
  'ACCOUNT_PAUSED',
  'BUDGET_EXCEEDED',
  'CROSS_SITE',
  'IDENTITY_CONFLICT',
  'IDENTITY_REQUIRED',
  'IDENTITY_UNAVAILABLE',
  'KEY_EXPIRED',
  'MODEL_NOT_ALLOWED',
  'NO_COMPLIANT_TARGET',
  'RATE_LIMIT_EXCEEDED',
  'REQUEST_TOO_EXPENSIVE',
  'ROUTE_FAILED',
  'TOKEN_EXPIRED',
  'TOKEN_INVALID',
  'TOKEN_NOT_ALLOWED',
  'TOKEN_REVOKED',
  'TOO_MANY_NEW_ACCOUNTS',
])
