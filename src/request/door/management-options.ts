import { isObject } from '../../lib/json.ts'
import { rejectUnknownOptions } from '../../lib/renamed-options.ts'

/** Who may call `/api` over HTTP: exactly one of these. Without the option, no one may. */
export type ManagementOptions =
  /**
   * Requests with this token, at least 32 characters, as `Authorization: Bearer`. A request with `readToken` may only read: `GET` only, without
   * key values and stored records.
   */
  | { token: string; readToken?: string }
  /**
   * Requests for which the function returns exactly `true`. A string rejects the request with that reason, and an error also rejects it. The request
   * has no body.
   */
  | { authorize(request: Request): boolean | string | Promise<boolean | string> }
  /** All requests. Browsers must use localhost, an IP address, or one of `allowedHosts` as the host. */
  | { dangerouslyAllowUnauthenticated: true; allowedHosts?: string[] }

const MIN_TOKEN_LENGTH = 32

/** Throws a TypeError unless the options contain exactly one of the choices, and a safe one. */
export function checkManagement(options: ManagementOptions | undefined): void {
  if (options === undefined) return
  const hasMode = (mode: string) => isObject(options) && mode in options
  if (['token', 'authorize', 'dangerouslyAllowUnauthenticated'].filter(hasMode).length !== 1)
    throw new TypeError(
      'management must have exactly one of { token }, { authorize }, or { dangerouslyAllowUnauthenticated: true }.',
    )
  if ('authorize' in options) checkAuthorizeOption(options)
  else if ('token' in options) checkTokenOptions(options)
  else checkUnauthenticatedOption(options)
}

/** Checks only this option, because you may pass your own object with additional fields. */
function checkAuthorizeOption({ authorize }: { authorize: unknown }): void {
  if (typeof authorize !== 'function') throw new TypeError('management.authorize must be a function.')
}

function checkUnauthenticatedOption(options: {
  dangerouslyAllowUnauthenticated: unknown
  allowedHosts?: unknown
}): void {
  rejectUnknownOptions(options, ['dangerouslyAllowUnauthenticated', 'allowedHosts'], 'management.')
  const { dangerouslyAllowUnauthenticated, allowedHosts = [] } = options
  if (dangerouslyAllowUnauthenticated !== true)
    throw new TypeError('management.dangerouslyAllowUnauthenticated must be true or omitted.')
  const isList = Array.isArray(allowedHosts) && allowedHosts.every((item) => typeof item === 'string')
  if (!isList) throw new TypeError('management.allowedHosts must be an array of host names.')
}

function checkTokenOptions(options: { token: unknown; readToken?: unknown }): void {
  rejectUnknownOptions(options, ['token', 'readToken'], 'management.')
  const { token, readToken } = options
  checkSecret('token', token)
  if (readToken === undefined) return
  checkSecret('readToken', readToken)
  if (readToken === token) throw new TypeError('management.readToken must differ from management.token.')
}

function checkSecret(name: string, token: unknown): void {
  if (typeof token === 'string' && token.length >= MIN_TOKEN_LENGTH && /^[\x21-\x7e]+$/.test(token)) return
  throw new TypeError(
    `management.${name} must be at least ${MIN_TOKEN_LENGTH} ASCII characters without whitespace, such as 32 random bytes in hex.`,
  )
}
