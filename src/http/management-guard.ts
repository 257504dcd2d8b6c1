import { gatewayError } from '../errors.ts'
import { bearerToken } from '../lib/bearer.ts'
import { encodeUtf8 } from '../lib/bytes.ts'
import type { Exchange } from '../lib/exchange.ts'
import { isObject } from '../lib/json.ts'
import { refuseUnknownOptions } from '../lib/unknown-options.ts'
import { isClientKey } from '../store/client-key.ts'
import { refuseForeignChange, refuseUnknownHost } from './management-origin.ts'

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

/** Throws unless the request may manage the gateway. */
export type ManagementGuard = (exchange: Exchange) => Promise<void>

/**
 * The guard of `/api` (design.md, Who may call /api): closed until the host says who may come in. Throws `MANAGEMENT_CLOSED`,
 * `MANAGEMENT_UNAUTHORIZED`, `FORBIDDEN` and `UNSUPPORTED_MEDIA_TYPE`; a TypeError at once on options that guard nothing or are none.
 */
export function createManagementGuard(
  options: ManagementOptions | undefined,
  deps: { onError(error: unknown): void },
): ManagementGuard {
  if (options === undefined) return closed
  const isGiven = (mode: string) => isObject(options) && mode in options
  if (['token', 'authorize', 'dangerouslyAllowUnauthenticated'].filter(isGiven).length !== 1)
    throw new TypeError(`management must have exactly one of ${MODES}.`)
  if ('authorize' in options) return authorizeGuard(options, deps.onError) // with whatever members the host's object has
  const isOpen = 'dangerouslyAllowUnauthenticated' in options
  refuseUnknownOptions(options, isOpen ? ['dangerouslyAllowUnauthenticated', 'allowedHosts'] : ['token'], 'management.')
  return isOpen ? openGuard(options) : tokenGuard(options.token)
}

const MODES = '{ token }, { authorize } or { dangerouslyAllowUnauthenticated: true }'
const MIN_TOKEN_LENGTH = 32

async function closed(): Promise<never> {
  throw gatewayError('MANAGEMENT_CLOSED', {
    message: `The management API is closed. Say who may call it with the option "management" of createGateway: ${MODES}.`,
  })
}

function tokenGuard(token: unknown): ManagementGuard {
  if (typeof token !== 'string' || token.length < MIN_TOKEN_LENGTH || !/^[\x21-\x7e]+$/.test(token)) {
    throw new TypeError(
      `management.token must be at least ${MIN_TOKEN_LENGTH} characters of plain ASCII without blanks, such as 32 random bytes in hex.`,
    )
  }
  let expected: Promise<Uint8Array> | undefined // some platforms refuse cryptography before the first request
  return async (exchange) => {
    const presented = bearerToken(exchange.header('authorization')) ?? ''
    expected ??= digest(token)
    const isRight = isEqual(await digest(presented), await expected)
    if (!isRight) throw unauthorized(presented)
  }
}

function unauthorized(presented: string) {
  const hint = isClientKey(presented)
    ? 'This is an API key for /v1; the management API takes the management token instead'
    : 'Send the management token'
  return gatewayError('MANAGEMENT_UNAUTHORIZED', {
    message: `${hint}, as "Authorization: Bearer <token>".`,
    headers: { 'www-authenticate': 'Bearer' },
  })
}

function authorizeGuard(
  host: { authorize(request: Request): unknown },
  onError: (error: unknown) => void,
): ManagementGuard {
  if (typeof host.authorize !== 'function') throw new TypeError('management.authorize must be a function.')
  return async (exchange) => {
    let answer: unknown
    try {
      answer = await host.authorize(exchange.toRequest())
    } catch (error) {
      onError(error)
    }
    if (answer !== true) {
      const message = typeof answer === 'string' ? answer : 'The management API is not open to this request.'
      throw gatewayError('MANAGEMENT_UNAUTHORIZED', { message })
    }
    refuseForeignChange(exchange)
  }
}

function openGuard(options: { dangerouslyAllowUnauthenticated: unknown; allowedHosts?: unknown }): ManagementGuard {
  const { dangerouslyAllowUnauthenticated, allowedHosts = [] } = options
  if (dangerouslyAllowUnauthenticated !== true) {
    throw new TypeError('management.dangerouslyAllowUnauthenticated must be true, or be left out.')
  }
  if (!isTextList(allowedHosts)) throw new TypeError('management.allowedHosts must be a list of host names.')
  return async (exchange) => {
    refuseUnknownHost(exchange, allowedHosts)
    refuseForeignChange(exchange)
  }
}

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

const digest = async (text: string) => new Uint8Array(await crypto.subtle.digest('SHA-256', encodeUtf8(text)))

/** In the same time whatever the bytes are. */
function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (const [at, byte] of a.entries()) difference |= byte ^ (b[at] ?? 0)
  return difference === 0
}
