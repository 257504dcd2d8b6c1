import { isObject } from '../lib/json.ts'
import { refuseUnknownOptions } from '../lib/unknown-options.ts'

/** Who may call `/api` over HTTP; without it, nobody. */
export type ManagementOptions =
  /** Whoever sends this, 32 characters or more, as `Authorization: Bearer`. */
  | { token: string }
  /**
   * Whom the host lets in: by answering exactly `true`. A text keeps the caller out and tells why; what it throws keeps everybody out.
   * The request comes without its body.
   */
  | { authorize(request: Request): boolean | string | Promise<boolean | string> }
  /** Everybody who can reach it. Browsers must come by localhost, an IP address, or a host in `allowedHosts`. */
  | { dangerouslyAllowUnauthenticated: true; allowedHosts?: string[] }

/** What a host may pass, for texts. */
export const MODES = '{ token }, { authorize } or { dangerouslyAllowUnauthenticated: true }'

const MIN_TOKEN_LENGTH = 32

/** Throws a TypeError on options that guard nothing or are none. */
export function checkManagement(options: ManagementOptions | undefined): void {
  if (options === undefined) return
  const isGiven = (mode: string) => isObject(options) && mode in options
  if (['token', 'authorize', 'dangerouslyAllowUnauthenticated'].filter(isGiven).length !== 1)
    throw new TypeError(`management must have exactly one of ${MODES}.`)
  if ('authorize' in options) checkAuthorize(options)
  else if ('token' in options) checkToken(options)
  else checkOpen(options)
}

/** The host's object may have whatever members it likes. */
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

function checkToken(options: { token: unknown }): void {
  refuseUnknownOptions(options, ['token'], 'management.')
  const { token } = options
  if (typeof token === 'string' && token.length >= MIN_TOKEN_LENGTH && /^[\x21-\x7e]+$/.test(token)) return
  throw new TypeError(
    `management.token must be at least ${MIN_TOKEN_LENGTH} characters of plain ASCII without blanks, such as 32 random bytes in hex.`,
  )
}
