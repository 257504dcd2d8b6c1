import { gatewayError } from '../errors.ts'
import { jsonReply } from '../http/reply.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import { type BodyTime, timedBody } from '../lib/timed-body.ts'
import { openBody, sealBody } from '../sync/cryptography.ts'
import {
  answerPlace,
  type Hello,
  MAX_MESSAGE_BYTES,
  PROTOCOL,
  paths,
  requestPlace,
  type SessionList,
  type SpentAnswer,
  type SpentRequest,
  type SyncAnswer,
  type SyncRequest,
} from '../sync/protocol.ts'
import { readOpening, readSealed, readSpent, readSync } from './messages.ts'
import { refusal, refusalReply } from './refusals.ts'
import type { Sessions, SignedRequest } from './sessions.ts'

/** The actions of the protocol on the mirrors of tenants. */
export interface MirrorActions {
  sync(tenant: string, request: SyncRequest): Promise<SyncAnswer>
  spent(tenant: string, request: SpentRequest): Promise<SpentAnswer>
  /** Removes the mirror and all sessions. Succeeds also when there is no mirror. */
  remove(tenant: string): Promise<void>
}

/** One line of the table: a request without a signature. */
export interface OpenRoute {
  method: 'GET' | 'POST'
  path: string
  run(exchange: Exchange): Promise<object>
}

/** One line of the table: a request that a gateway has signed. `path` may end with `:id`. */
export interface SignedRoute {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  run(request: SignedRequest, id: string): Promise<object>
}

/** The routes of the protocol. */
export interface CloudRoutes {
  open: readonly OpenRoute[]
  signed: readonly SignedRoute[]
}

/** The largest message without a signature, in bytes. */
const MAX_OPENING_BYTES = 16 * 1024
/** How long a message may take to arrive, in ms: no gateway waits that long for a response. */
const MAX_BODY_MS = 30_000

/** Makes the routes; see README.md. */
export function cloudRoutes(sessions: Sessions, actions: MirrorActions, time: BodyTime): CloudRoutes {
  return {
    open: [
      { method: 'GET', path: paths.hello, run: async () => HELLO },
      { method: 'POST', path: paths.challenge, run: async () => ({ challenge: await sessions.challenge() }) },
      {
        method: 'POST',
        path: paths.sessions,
        run: async (exchange) =>
          sessions.open(readOpening(await timedBody(exchange, { maxBytes: MAX_OPENING_BYTES, time }))),
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
          if (await sessions.revoke(tenant, id)) return DONE
          throw refusal('NOT_FOUND', 'This gateway has no such session.')
        },
      },
      {
        method: 'POST',
        path: paths.mirror,
        run: async (request) => actions.sync(request.tenant, readSync(await opened(request))),
      },
      {
        method: 'POST',
        path: paths.spent,
        run: async (request) => actions.spent(request.tenant, readSpent(await opened(request))),
      },
      {
        method: 'DELETE',
        path: paths.mirror,
        async run({ tenant }) {
          await actions.remove(tenant)
          return DONE
        },
      },
    ],
  }
}

const HELLO: Hello = { service: 'signalbox-cloud', protocol: PROTOCOL }
const DONE = { success: true }

/** Decrypts the body of a signed request. Throws `SESSION_INVALID` when it cannot be decrypted, as for a wrong signature. */
function opened({ key, session, counter, body }: SignedRequest): Promise<string> {
  const { sealed } = readSealed(body)
  return openBody(key, requestPlace(session, counter), sealed).catch(() => {
    throw refusal('SESSION_INVALID')
  })
}

/**
 * Serves all of `/cloud`. A request that matches no open route is authorised before another route is looked up (src/rules.md, Guard before
 * routes). The responses to signed requests are encrypted. Never rejects.
 */
export function createProtocol(deps: {
  sessions: Sessions
  actions: MirrorActions
  time: BodyTime
  /** Throws `CLOSED` once the proxy has closed. */
  admit(): void
  onError(error: unknown): void
}): (exchange: Exchange) => Promise<Reply> {
  const { sessions, admit, onError } = deps
  const time = { ...deps.time, timeoutMs: Math.min(deps.time.timeoutMs, MAX_BODY_MS) }
  const routes = cloudRoutes(sessions, deps.actions, time)

  async function serve(exchange: Exchange): Promise<Reply> {
    admit()
    const { method, path } = exchange
    const isOpen = routes.open.find((route) => route.method === method && route.path === path)
    if (isOpen) {
      if (exchange.query !== '') throw refusal('INVALID_MESSAGE', `A request has no query. Send it to ${path} alone.`)
      return jsonReply(200, await isOpen.run(exchange))
    }
    const hasBody = method !== 'GET' && method !== 'HEAD'
    const request = await sessions.authorise(exchange, async () =>
      hasBody ? timedBody(exchange, { maxBytes: MAX_MESSAGE_BYTES, time }) : NO_BODY,
    )
    admit()
    const { route, id } = signedRoute(routes.signed, method, path)
    const { key, session, counter } = request
    const answer = JSON.stringify(await route.run(request, id))
    return jsonReply(200, { sealed: await sealBody(key, answerPlace(session, counter), answer) })
  }

  return (exchange) => serve(exchange).catch((error: unknown) => refusalReply(error, onError))
}

const NO_BODY = new Uint8Array(0)

/** Throws `NOT_FOUND` and `METHOD_NOT_ALLOWED`. */
function signedRoute(routes: readonly SignedRoute[], method: string, path: string) {
  const fitting = routes.flatMap((route) => {
    const folder = route.path.endsWith('/:id') ? route.path.slice(0, -':id'.length) : undefined
    const rest = folder !== undefined && path.startsWith(folder) ? path.slice(folder.length) : undefined
    if (route.path !== path && (rest === undefined || rest === '' || rest.includes('/'))) return []
    return [{ route, id: rest ?? '' }]
  })
  const found = fitting.find(({ route }) => route.method === method)
  if (found) return found
  if (fitting.length === 0) throw refusal('NOT_FOUND', `There is no ${method} ${path} here.`)
  const allow = fitting.map(({ route }) => route.method).join(', ')
  throw gatewayError('METHOD_NOT_ALLOWED', { message: `Allowed here: ${allow}.`, headers: { allow } })
}
