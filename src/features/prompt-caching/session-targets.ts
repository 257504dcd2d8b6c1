import { hashText } from '../../lib/hash.ts'
import { evictOldest } from '../../lib/maps.ts'
import type { CodecRequest } from '../../request/codec/codec.ts'
import type { ModelRequest } from '../../request/model-request.ts'
import { readFacts } from '../../request/request-facts.ts'
import type { Route, RouteTarget } from '../../request/routing/group.ts'
import type { RouteIterator } from '../../request/steps.ts'
import type { Clock } from '../../types.ts'
import { getCachingMode } from './caching-mode.ts'

const MAX_SESSIONS = 10_000
/** Maximum number of routes to search for the preferred one. */
const MAX_ROUTES = 100

/** The parts of a request that identify its session. */
type SessionRequest = Pick<CodecRequest, 'call' | 'owner' | 'exchange'>

interface ServedTarget {
  connectionId: string
  model: string
  expiresAt: number
}

/** Remembers, in memory, which target last served each session, because that target has the prompt in its cache. */
export class SessionTargets {
  readonly #clock: Pick<Clock, 'now'>
  readonly #servedTargets = new Map<string, ServedTarget>()
  readonly #sessions = new WeakMap<object, string>()

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Returns the session ID that the client sent or, without one, the start of the conversation. May be empty. */
  getSession({ call, owner, exchange }: SessionRequest): string {
    const cachedSession = this.#sessions.get(call.body)
    if (cachedSession !== undefined) return cachedSession
    const session = readFacts(call, { owner, header: (name) => exchange.header(name) }).getSession()
    this.#sessions.set(call.body, session)
    return session
  }

  /** Returns the target that has the session's prompt in its cache, if any. */
  find(request: SessionRequest): ServedTarget | undefined {
    const servedTarget = this.#servedTargets.get(this.getKey(request))
    return servedTarget && servedTarget.expiresAt > this.#clock.now() ? servedTarget : undefined
  }

  /** Remembers that the target served the session and caches its prompt for `ttlMs`. */
  record(request: SessionRequest, { connection, model }: RouteTarget, ttlMs: number): void {
    if (this.getSession(request) === '') return
    const key = this.getKey(request)
    if (!this.#servedTargets.delete(key)) evictOldest(this.#servedTargets, MAX_SESSIONS)
    this.#servedTargets.set(key, { connectionId: connection.id, model, expiresAt: this.#clock.now() + ttlMs }) // moves the latest use to the end
  }

  /** Moves the session's target to the front, unless it is in cooldown, is draining, or no longer has prompt caching. */
  prefer(request: ModelRequest, routes: RouteIterator): RouteIterator {
    const servedTarget = this.find(request)
    if (!servedTarget) return routes
    const { health } = request.context
    const isServedTarget = (route: Route) => {
      const { connection, model } = route.target
      if (connection.id !== servedTarget.connectionId || model !== servedTarget.model || connection.draining)
        return false
      return !health.getCooldown(route.target) && getCachingMode(request, route) !== undefined
    }
    return moveToFront(routes, isServedTarget)
  }

  /** Hashes the session and its owner, because these may be long and may identify people. */
  getKey(request: SessionRequest): string {
    const text = `${request.owner}\0${request.call.model}\0${this.getSession(request)}`
    return `${hashText(text)} ${hashText(text, HASH_FACTOR)}`
  }
}

const HASH_FACTOR = 0x5bd1e995

async function* moveToFront(
  routes: RouteIterator,
  isFirst: (route: Route) => boolean,
): AsyncGenerator<Route, undefined> {
  const skippedRoutes: Route[] = []
  let hasEnded = false
  while (skippedRoutes.length < MAX_ROUTES) {
    const { value } = await routes.next()
    hasEnded = value === undefined
    if (value === undefined) break
    if (isFirst(value)) {
      yield value
      break
    }
    skippedRoutes.push(value)
  }
  yield* skippedRoutes
  while (!hasEnded) {
    const { value } = await routes.next()
    if (value === undefined) return undefined
    yield value
  }
  return undefined
}
