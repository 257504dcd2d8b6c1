import { gatewayError } from '../../errors.ts'
import { encodeUtf8, isEqualInConstantTime } from '../../lib/bytes.ts'
import type { Exchange } from '../../lib/exchange.ts'
import { getBearerToken, requireJson } from '../../lib/http-headers.ts'
import { isClientKey } from '../../records/key-format.ts'
import { getHost, isCrossOrigin } from '../../request/door/foreign-page.ts'
import type { ManagementOptions } from '../../request/door/management-options.ts'
import type { PageGuards } from '../../request/door/pages.ts'

/** A request's permission: full access, or read-only access without secrets. */
type Permission = 'manage' | 'read'

/** Resolves to the request's permission. Rejects if it has none. */
type ManagementGuard = (exchange: Exchange) => Promise<Permission>

/** The guards' dependencies. They need `publicOrigin` behind a proxy that rewrites `Host`. */
export interface GuardDependencies {
  onError(error: unknown): void
  publicOrigin?: string | undefined
}

/**
 * Creates the guard for `/api`, which rejects every request until you set the `management` option. A client key never grants access. Throws
 * `MANAGEMENT_CLOSED`, `MANAGEMENT_UNAUTHORIZED`, `FORBIDDEN`, and `UNSUPPORTED_MEDIA_TYPE`.
 */
export function createManagementGuard(
  options: ManagementOptions | undefined,
  deps: GuardDependencies,
): ManagementGuard {
  if (options === undefined) return rejectAll
  if ('authorize' in options) return authorizeGuard(options, deps)
  return 'token' in options ? createTokenGuard(options) : createOpenGuard(options.allowedHosts ?? [])
}

async function rejectAll(): Promise<never> {
  throw gatewayError('MANAGEMENT_CLOSED', {
    message:
      'The management API is disabled. To enable it, set the "management" option of createGateway: { token }, { authorize }, or { dangerouslyAllowUnauthenticated: true }.',
  })
}

/** Creates the checks that protect pages outside the APIs. */
export function createPageGuards(options: ManagementOptions | undefined, deps: GuardDependencies): PageGuards {
  const isOpen = options !== undefined && 'dangerouslyAllowUnauthenticated' in options
  const guardsByToken = new Map<string, ManagementGuard>()
  const checkManagement = createManagementGuard(options, deps)
  return {
    management: async (exchange) => void (await checkManagement(exchange)),
    async host(exchange) {
      if (isOpen) rejectUnknownHost(exchange, options.allowedHosts ?? [])
    },
    async token(exchange, token) {
      const guard = guardsByToken.get(token) ?? createTokenGuard({ token }, createWrongTokenError)
      guardsByToken.set(token, guard)
      await guard(exchange)
    },
  }
}

/**
 * Creates a guard that checks tokens: requests with `token` may do everything, requests with `readToken` may only read. `createError` creates the error
 * for any other credential.
 */
function createTokenGuard(
  { token, readToken }: { token: string; readToken?: string },
  createError = createUnauthorizedError,
): ManagementGuard {
  let expectedDigest: Promise<Uint8Array> | undefined // some platforms don't allow cryptography before the first request
  let expectedReadDigest: Promise<Uint8Array> | undefined
  return async (exchange) => {
    const presentedToken = getBearerToken(exchange.header('authorization')) ?? ''
    expectedDigest ??= digest(token)
    const presentedDigest = await digest(presentedToken)
    if (isEqualInConstantTime(presentedDigest, await expectedDigest)) return 'manage'
    if (readToken === undefined) throw createError(presentedToken)
    expectedReadDigest ??= digest(readToken)
    if (!isEqualInConstantTime(presentedDigest, await expectedReadDigest)) throw createError(presentedToken)
    if (exchange.method === 'GET' || exchange.method === 'HEAD') return 'read'
    throw gatewayError('FORBIDDEN', {
      message: `This token is read-only, so it cannot send ${exchange.method} requests. Use the admin token.`,
    })
  }
}

/** Creates the error for a page that has its own token. */
const createWrongTokenError = () =>
  gatewayError('MANAGEMENT_UNAUTHORIZED', {
    message: 'Send this page\'s token as "Authorization: Bearer <token>".',
    headers: { 'www-authenticate': 'Bearer' },
  })

function createUnauthorizedError(presentedToken: string) {
  const hint = isClientKey(presentedToken)
    ? 'This is an API key for /v1. For the management API, send the admin token'
    : `${presentedToken ? 'This is not the admin token. ' : ''}Send the admin token`
  return gatewayError('MANAGEMENT_UNAUTHORIZED', {
    message: `${hint} as "Authorization: Bearer <token>".`,
    headers: { 'www-authenticate': 'Bearer' },
  })
}

function authorizeGuard(
  host: { authorize(request: Request): unknown },
  { onError, publicOrigin }: GuardDependencies,
): ManagementGuard {
  return async (exchange) => {
    let response: unknown
    try {
      response = await host.authorize(exchange.toRequest())
    } catch (error) {
      onError(error)
    }
    if (response !== true) {
      const message =
        typeof response === 'string' ? response : 'This request is not authorized to use the management API.'
      throw gatewayError('MANAGEMENT_UNAUTHORIZED', { message })
    }
    rejectForeignChange(exchange, publicOrigin)
    return 'manage'
  }
}

const createOpenGuard =
  (allowedHosts: readonly string[]): ManagementGuard =>
  async (exchange) => {
    rejectUnknownHost(exchange, allowedHosts)
    rejectForeignChange(exchange)
    return 'manage'
  }

const digest = async (text: string) => new Uint8Array(await crypto.subtle.digest('SHA-256', encodeUtf8(text)))

const CHANGE_METHODS = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/**
 * Rejects changes that another site's page requests through a visitor's browser (CSRF). Throws `FORBIDDEN` for a foreign origin, and
 * `UNSUPPORTED_MEDIA_TYPE` for a body that a plain HTML form could send.
 */
function rejectForeignChange(exchange: Exchange, publicOrigin?: string): void {
  if (!CHANGE_METHODS.has(exchange.method)) return
  if (isCrossOrigin(exchange, publicOrigin)) {
    throw gatewayError('FORBIDDEN', {
      message: 'This request comes from another site. Changes are only accepted from the same origin.',
    })
  }
  if (exchange.method !== 'DELETE') requireJson(exchange)
}

/**
 * Rejects pages whose hostname resolves to this machine (DNS rebinding) and that would otherwise be treated as local: a browser must use localhost,
 * the IP address, or one of `allowedHosts` as the hostname. Throws `FORBIDDEN`.
 */
function rejectUnknownHost(exchange: Exchange, allowedHosts: readonly string[]): void {
  if (!isBrowserRequest(exchange)) return
  const host = getHost(exchange)
  const name = getHostname(host)
  const isKnownHost =
    name !== undefined &&
    (isLocalName(name) || isIpAddress(name) || allowedHosts.some((allowedHost) => getHostname(allowedHost) === name))
  if (isKnownHost) return
  throw gatewayError('FORBIDDEN', {
    message: `Without authentication, browsers can only use the management API on this machine, not at "${host.slice(0, 100)}". If that host is yours, add it to management.allowedHosts.`,
  })
}

function isBrowserRequest(exchange: Exchange): boolean {
  const browserHeaders = ['origin', 'sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest']
  return (
    browserHeaders.some((name) => exchange.header(name) !== undefined) ||
    /^Mozilla\//.test(exchange.header('user-agent') ?? '')
  )
}

/** Returns the normalized host without its port, or `undefined` if it is malformed. */
function getHostname(host: string): string | undefined {
  if (/[^\w.:[\]-]/.test(host)) return undefined
  try {
    return new URL(`http://${host}`).hostname.replace(/\.$/, '')
  } catch {
    return undefined
  }
}

const isLocalName = (name: string) => name === 'localhost' || name.endsWith('.localhost')

const isIpAddress = (name: string) => name.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(name)
