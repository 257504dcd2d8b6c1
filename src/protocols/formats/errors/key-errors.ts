/** Whether the code is about the limits or permissions of a client's key. Clients get such codes in lowercase, unlike provider codes. */
export const isKeyErrorCode = (code: string): boolean => CODES.has(code)

/** Writes the code for clients if the error is about the limits or permissions of their key. */
export const toKeyErrorCode = (code: string | undefined): string | undefined =>
  code !== undefined && isKeyErrorCode(code) ? code.toLowerCase() : undefined

const CODES: ReadonlySet<string> = new Set([
  'BUDGET_EXCEEDED',
  'KEY_EXPIRED',
  'MODEL_NOT_ALLOWED',
  'RATE_LIMIT_EXCEEDED',
  'REQUEST_TOO_EXPENSIVE',
])
