import { gatewayError } from '../errors.ts'
import { bearerToken } from '../lib/bearer.ts'
import { encodeUtf8 } from '../lib/bytes.ts'
import type { Exchange } from '../lib/exchange.ts'
import { isClientKey } from '../store/client-key.ts'
import { type ManagementOptions, MODES } from './management-options.ts'
import { refuseForeignChange, refuseUnknownHost } from './management-origin.ts'

/** Throws unless the request may manage the gateway. */
export type ManagementGuard = (exchange: Exchange) => Promise<void>

/**
 * The guard of `/api` (design.md, Who may call /api): closed until the host says who may come in. Throws `MANAGEMENT_CLOSED`,
 * `MANAGEMENT_UNAUTHORIZED`, `FORBIDDEN` and `UNSUPPORTED_MEDIA_TYPE`.
 */
export function createManagementGuard(
  options: ManagementOptions | undefined,
  deps: { onError(error: unknown): void },
): ManagementGuard {
  if (options === undefined) return closed
  if ('authorize' in options) return authorizeGuard(options, deps.onError)
  return 'token' in options ? tokenGuard(options.token) : openGuard(options.allowedHosts ?? [])
}

async function closed(): Promise<never> {
  throw gatewayError('MANAGEMENT_CLOSED', {
    message: `The management API is closed. Say who may call it with the option "management" of createGateway: ${MODES}.`,
  })
}

function tokenGuard(token: string): ManagementGuard {
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
    : `${presented ? 'This is not the management token. ' : ''}Send the management token`
  return gatewayError('MANAGEMENT_UNAUTHORIZED', {
    message: `${hint}, as "Authorization: Bearer <token>".`,
    headers: { 'www-authenticate': 'Bearer' },
  })
}

function authorizeGuard(
  host: { authorize(request: Request): unknown },
  onError: (error: unknown) => void,
): ManagementGuard {
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

const openGuard =
  (allowedHosts: readonly string[]): ManagementGuard =>
  async (exchange) => {
    refuseUnknownHost(exchange, allowedHosts)
    refuseForeignChange(exchange)
  }

const digest = async (text: string) => new Uint8Array(await crypto.subtle.digest('SHA-256', encodeUtf8(text)))

/** Constant-time comparison. */
function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (const [at, byte] of a.entries()) difference |= byte ^ (b[at] ?? 0)
  return difference === 0
}
