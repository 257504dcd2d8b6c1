/**
 * Is this the code of an error about the limits or permissions of a client's key? Clients of every format read such codes in small letters, so that
 * programs can distinguish them from the errors of providers.
 */
export const isOfKey = (code: string): boolean => CODES.has(code)

/** The code as clients read it, for an error about the limits or permissions of their key. */
export const codeOfKey = (code: string | undefined): string | undefined =>
  code !== undefined && isOfKey(code) ? code.toLowerCase() : undefined

const CODES: ReadonlySet<string> = new Set([
  'BUDGET_EXCEEDED',
  'KEY_EXPIRED',
  'MODEL_NOT_ALLOWED',
  'RATE_LIMIT_EXCEEDED',
  'REQUEST_TOO_EXPENSIVE',
])
