import { isPromise } from '../lib/awaitable.ts'
import { type Exchange, isByteStream, type Reply } from '../lib/exchange.ts'
import { once } from '../lib/once.ts'
import { TIMEOUT_HEADER } from '../pipeline/client.ts'
import type { PresentedKey } from '../store/keyring.ts'
import type { Store } from '../store/store.ts'
import type { Clock } from '../types.ts'
import { authenticateClient } from './client-gate.ts'
import { withModelsFolder } from './google-path.ts'
import type { AnswerHealth } from './health-check.ts'
import { managementErrorReply } from './management-error.ts'
import { type Area, areaOf, below } from './paths.ts'
import type { Route } from './route.ts'
import { createRouter } from './router.ts'

export interface SurfaceOptions {
  basePath: string
  store: Pick<Store, 'settings' | 'keyring'>
  /** The origins of pages that may use them. */
  allowedOrigins: readonly string[]
  /** Routes under `/v1` and `/v1beta`. */
  modelRoutes: readonly Route[]
  /** Authorises and answers a request under `/api`. */
  manage(path: string, exchange: Exchange): Promise<Reply>
  /** Answers `/health`, which asks for no credential. */
  health: AnswerHealth
  clock: Clock
  /** Throws `CLOSED` once the gateway has closed. Also called after each wait, during which the gateway may have closed. */
  admit(): void
  onError(error: unknown): void
}

/** The HTTP surface: `undefined` for a path that is not the gateway's, otherwise a reply. Never rejects. */
export type Surface = (exchange: Exchange) => Promise<Reply | undefined>

/**
 * Makes the surface. A request is authorised by the area of its path before any route is looked up, so that no path can be forgotten
 * (security.md, rule 2). Only `OPTIONS` under `/v1` needs no key (design.md, Client keys).
 */
export function createSurface(options: SurfaceOptions): Surface {
  const { basePath, store, allowedOrigins, admit, onError } = options
  const models = createRouter(options.modelRoutes, admit)

  /** Rejects when the time-out that the client asked for is over. */
  function inTime<T>(work: Promise<T>, exchange: Exchange): Promise<T> {
    if (exchange.header(TIMEOUT_HEADER) === undefined) return work
    work.catch(() => {}) // it may have failed before it is waited for
    return import('../pipeline/client-timeout.ts').then(({ unlessLate }) => unlessLate(work, exchange, options.clock))
  }

  function serveModels(path: string, exchange: Exchange): Promise<Reply> {
    const failed = async (error: unknown) => {
      const { modelsErrorReply } = await loadErrorReply()
      return modelsErrorReply(error, { path, exchange }, onError)
    }
    try {
      admit()
      const key = exchange.method === 'OPTIONS' ? undefined : authenticateClient(exchange, store)
      return (isPromise(key) ? serveLater(path, exchange, key) : serve(path, exchange, key)).catch(failed)
    } catch (error) {
      return failed(error)
    }
  }

  const serve = (path: string, exchange: Exchange, key: PresentedKey | undefined) =>
    models(withModelsFolder(path), exchange, key)

  async function serveLater(path: string, exchange: Exchange, coming: Promise<PresentedKey | undefined>) {
    const key = await inTime(coming, exchange)
    admit()
    return serve(path, exchange, key)
  }

  /** The same, whose reply pages of allowed origins may read. */
  function servePages(path: string, exchange: Exchange): Promise<Reply> {
    const origin = allowedOrigins.length > 0 ? exchange.header('origin') : undefined
    if (origin === undefined || !allowedOrigins.includes(origin)) return serveModels(path, exchange)
    return serveForeign(origin, path, exchange)
  }

  async function serveForeign(origin: string, path: string, exchange: Exchange): Promise<Reply> {
    const { forPage } = await import('./foreign-page.ts')
    return forPage(origin, exchange, () => serveModels(path, exchange))
  }

  async function serveManagement(path: string, exchange: Exchange): Promise<Reply> {
    try {
      admit()
      return await options.manage(path, exchange)
    } catch (error) {
      return managementErrorReply(error, onError)
    }
  }

  const serveArea: Readonly<Record<Area, (path: string, exchange: Exchange) => Promise<Reply>>> = {
    models: servePages,
    management: serveManagement,
    health: (_, exchange) => options.health(exchange),
  }

  return (exchange) => {
    const path = below(basePath, exchange.path)
    const area = path === undefined ? undefined : areaOf(path)
    if (path === undefined || area === undefined) return notOurs
    const reply = serveArea[area](path, exchange)
    return exchange.method === 'HEAD' ? reply.then(withoutBody) : reply
  }
}

const notOurs = Promise.resolve(undefined)

const loadErrorReply = once(() => import('./models-error.ts'))

function withoutBody({ status, headers, body }: Reply): Reply {
  if (isByteStream(body)) body.cancel()
  return { status, headers }
}
