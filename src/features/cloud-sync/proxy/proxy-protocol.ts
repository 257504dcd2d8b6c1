import { gatewayError } from '../../../errors.ts'
import type { Exchange, Reply } from '../../../lib/exchange.ts'
import { type BodyTiming, readTimedBody } from '../../../lib/timed-body.ts'
import { createJsonReply } from '../../../request/door/reply.ts'
import { decryptBody, encryptBody } from '../cryptography.ts'
import {
  getRequestContext,
  getResponseContext,
  type Hello,
  MAX_MESSAGE_BYTES,
  PROTOCOL_VERSION,
  paths,
  type SessionList,
  type SpendingRequest,
  type SpendingResponse,
  type SyncRequest,
  type SyncResponse,
} from '../protocol.ts'
import { readEncryptedBody, readOpening, readSpendingRequest, readSync } from './messages.ts'
import { createProxyError, toErrorReply } from './proxy-errors.ts'
import type { Sessions, SignedRequest } from './sessions.ts'

/** The actions that the protocol performs on tenants' replicas. */
export interface ReplicaActions {
  sync(tenant: string, request: SyncRequest): Promise<SyncResponse>
  exchangeSpending(tenant: string, request: SpendingRequest): Promise<SpendingResponse>
  /** Removes the replica and all sessions. Succeeds even if there is no replica. */
  remove(tenant: string): Promise<void>
}

/** A route for unsigned requests. */
export interface OpenRoute {
  method: 'GET' | 'POST'
  path: string
  run(exchange: Exchange): Promise<object>
}

/** A route for signed requests. `path` may end with `:id`. */
export interface SignedRoute {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  run(request: SignedRequest, id: string): Promise<object>
}

/** The protocol's routes. */
export interface CloudRoutes {
  open: readonly OpenRoute[]
  signed: readonly SignedRoute[]
}

/** Maximum size of an unsigned message, in bytes. */
const MAX_OPENING_BYTES = 16 * 1024
/** Time limit for receiving a message, in ms. Gateways don't wait longer than this for a response. */
const MAX_BODY_MS = 30_000

/** Creates the routes; see docs/src/content/docs/reference/cloud-protocol.md. */
export function createCloudRoutes(sessions: Sessions, actions: ReplicaActions, timing: BodyTiming): CloudRoutes {
  return {
    open: [
      { method: 'GET', path: paths.hello, run: async () => HELLO_BODY },
      { method: 'POST', path: paths.challenge, run: async () => ({ challenge: await sessions.createChallenge() }) },
      {
        method: 'POST',
        path: paths.sessions,
        run: async (exchange) =>
          sessions.open(readOpening(await readTimedBody(exchange, { maxBytes: MAX_OPENING_BYTES, timing }))),
      },
    ],
    signed: [
      {
        method: 'GET',
        path: paths.sessions,
        run: async ({ tenant }): Promise<SessionList> => ({ sessions: await sessions.list(tenant) }),
      },
      {
        method: 'DELETE',
        path: `${paths.sessions}/:id`,
        async run({ tenant }, id) {
          if (await sessions.revoke(tenant, id)) return SUCCESS_BODY
          throw createProxyError('NOT_FOUND', 'This gateway has no such session.')
        },
      },
      {
        method: 'POST',
        path: paths.replica,
        run: async (request) => actions.sync(request.tenant, readSync(await decryptRequest(request))),
      },
      {
        method: 'POST',
        path: paths.spent,
        run: async (request) =>
          actions.exchangeSpending(request.tenant, readSpendingRequest(await decryptRequest(request))),
      },
      {
        method: 'DELETE',
        path: paths.replica,
        async run({ tenant }) {
          await actions.remove(tenant)
          return SUCCESS_BODY
        },
      },
    ],
  }
}

const HELLO_BODY: Hello = { service: 'signalbox-cloud', protocol: PROTOCOL_VERSION }
const SUCCESS_BODY = { success: true }

/** Decrypts a signed request's body. If that fails, throws `SESSION_INVALID`, as for a wrong signature. */
function decryptRequest({ key, session, counter, body }: SignedRequest): Promise<string> {
  const { sealed } = readEncryptedBody(body)
  return decryptBody(key, getRequestContext(session, counter), sealed).catch(() => {
    throw createProxyError('SESSION_INVALID')
  })
}

/**
 * Serves all of `/cloud`. If no open route matches, authorizes the request before it looks up the signed routes (src/rules.md, Guard before routes).
 * Encrypts the responses to signed requests. Never rejects.
 */
export function createProtocol(deps: {
  sessions: Sessions
  actions: ReplicaActions
  time: BodyTiming
  /** Throws `CLOSED` once the proxy has closed. */
  assertOpen(): void
  onError(error: unknown): void
}): (exchange: Exchange) => Promise<Reply> {
  const { sessions, assertOpen, onError } = deps
  const timing = { ...deps.time, timeoutMs: Math.min(deps.time.timeoutMs, MAX_BODY_MS) }
  const routes = createCloudRoutes(sessions, deps.actions, timing)

  async function serve(exchange: Exchange): Promise<Reply> {
    assertOpen()
    const { method, path } = exchange
    const openRoute = routes.open.find((route) => route.method === method && route.path === path)
    if (openRoute) {
      if (exchange.query !== '')
        throw createProxyError('INVALID_MESSAGE', `Requests must not have a query string. Send it to ${path}.`)
      return createJsonReply(200, await openRoute.run(exchange))
    }
    const hasBody = method !== 'GET' && method !== 'HEAD'
    const request = await sessions.authorize(exchange, async () =>
      hasBody ? readTimedBody(exchange, { maxBytes: MAX_MESSAGE_BYTES, timing }) : EMPTY_BODY,
    )
    assertOpen()
    const { route, id } = findSignedRoute(routes.signed, method, path)
    const { key, session, counter } = request
    const response = JSON.stringify(await route.run(request, id))
    return createJsonReply(200, { sealed: await encryptBody(key, getResponseContext(session, counter), response) })
  }

  return (exchange) => serve(exchange).catch((error: unknown) => toErrorReply(error, onError))
}

const EMPTY_BODY = new Uint8Array(0)

function findSignedRoute(routes: readonly SignedRoute[], method: string, path: string) {
  const matchingRoutes = routes.flatMap((route) => {
    const folder = route.path.endsWith('/:id') ? route.path.slice(0, -':id'.length) : undefined
    const remainder = folder !== undefined && path.startsWith(folder) ? path.slice(folder.length) : undefined
    if (route.path !== path && (remainder === undefined || remainder === '' || remainder.includes('/'))) return []
    return [{ route, id: remainder ?? '' }]
  })
  const match = matchingRoutes.find(({ route }) => route.method === method)
  if (match) return match
  if (matchingRoutes.length === 0) throw createProxyError('NOT_FOUND', `${method} ${path} does not exist here.`)
  const allow = matchingRoutes.map(({ route }) => route.method).join(', ')
  throw gatewayError('METHOD_NOT_ALLOWED', { message: `Allowed: ${allow}.`, headers: { allow } })
}
