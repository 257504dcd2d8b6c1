import { isObject } from '../lib/json.ts'
import { refuseUnknownOptions } from '../lib/spelling.ts'

/** Which requests may call `/api` over HTTP: exactly one of these ways. Without the option no request may. */
export type ManagementOptions =
  /**
   * Requests with this token, 32 characters or more, as `Authorization: Bearer`. With `readToken`, another one, a request may only look: `GET`
   * alone, and it sees no key's value and no stored record.
   */
  | { token: string; readToken?: string }
  /**
   * Requests for which the function returns exactly `true`. A string refuses with that text as the reason; an error refuses too. The
   * request has no body.
   */
  | { authorize(request: Request): boolean | string | Promise<boolean | string> }
  /** All requests. Browsers must name the host as localhost, an IP address, or one of `allowedHosts`. */
  | { dangerouslyAllowUnauthenticated: true; allowedHosts?: string[] }

/** The ways, for messages. */
export const MODES = '{ token }, { authorize } or { dangerouslyAllowUnauthenticated: true }'

const MIN_TOKEN_LENGTH = 32

/** Throws a TypeError unless the options have exactly one of the ways, and a safe one. */
export function checkManagement(options: ManagementOptions | undefined): void {
  if (options === undefined) return
  const isGiven = (mode: string) => isObject(options) && mode in options
  if (['token', 'authorize', 'dangerouslyAllowUnauthenticated'].filter(isGiven).length !== 1)
    throw new TypeError(`management must have exactly one of ${MODES}.`)
  if ('authorize' in options) checkAuthorize(options)
  else if ('token' in options) checkToken(options)
  else checkOpen(options)
}

/** Other members of the object are not checked: a host may pass an object of its own. */
function checkAuthorize({ authorize }: { authorize: unknown }): void {
  if (typeof authorize !== 'function') throw new TypeError('management.authorize must be a function.')
}

function checkOpen(options: { dangerouslyAllowUnauthenticated: unknown; allowedHosts?: unknown }): void {
  refuseUnknownOptions(options, ['dangerouslyAllowUnauthenticated', 'allowedHosts'], 'management.')
  const { dangerouslyAllowUnauthenticated, allowedHosts = [] } = options
  if (dangerouslyAllowUnauthenticated !== true)
    throw new TypeError('management.dangerouslyAllowUnauthenticated must be true, or be left out.')
  const isList = Array.isArray(allowedHosts) && allowedHosts.every((item) => typeof item === 'string')
  if (!isList) throw new TypeError('management.allowedHosts must be a list of host names.')
}

function checkToken(options: { token: unknown; readToken?: unknown }): void {
  refuseUnknownOptions(options, ['token', 'readToken'], 'management.')
  const { token, readToken } = options
  checkSecret('token', token)
  if (readToken === undefined) return
  checkSecret('readToken', readToken)
  if (readToken === token) throw new TypeError('management.readToken must be another one than management.token.')
}

function checkSecret(name: string, token: unknown): void {
  if (typeof token === 'string' && token.length >= MIN_TOKEN_LENGTH && /^[\x21-\x7e]+$/.test(token)) return
  throw new TypeError(
    `management.${name} must be at least ${MIN_TOKEN_LENGTH} characters of plain ASCII without blanks, such as 32 random bytes in hex.`,
  )
}
