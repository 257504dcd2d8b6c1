/**
 * Is it the code of an error that holds a client's key to what it may do? Clients of every format read its code in small letters, by which
 * programs tell such errors from those of providers.
 */
export const isOfKey = (code: string): boolean => CODES.has(code)

/** The code as clients read it, of an error that holds a client's key to what it may do. */
export const codeOfKey = (code: string | undefined): string | undefined =>
  code !== undefined && isOfKey(code) ? code.toLowerCase() : undefined

const CODES: ReadonlySet<string> = new Set([
  'BUDGET_EXCEEDED',
  'KEY_EXPIRED',
  'MODEL_NOT_ALLOWED',
  'RATE_LIMIT_EXCEEDED',
  'REQUEST_TOO_EXPENSIVE',
])
