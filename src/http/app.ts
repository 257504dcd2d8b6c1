import { type Exchange, isByteStream, type Reply } from '../lib/exchange.ts'
import { withoutTrailing } from '../lib/urls.ts'
import { TIMEOUT_HEADER, unlessTimedOut } from '../pipeline/client.ts'
import type { PresentedKey } from '../store/keyring.ts'
import type { Clock } from '../types.ts'
import { authenticateClient, type KeyStore } from './client-key.ts'
import { managementErrorReply, modelsErrorReply } from './error-reply.ts'
import type { AnswerHealth } from './health-check.ts'
import { withModelsFolder } from './model-routes.ts'
import { jsonReply } from './reply.ts'
import { createRouter, type HttpRoute } from './router.ts'

/** The gateway over HTTP: `undefined` for a path that is not the gateway's, otherwise a reply. Never rejects. */
export type App = (exchange: Exchange) => Promise<Reply | undefined>

/** A request on its way through the steps of its area. */
interface AppRequest {
  readonly exchange: Exchange
  /** Below the base path. */
  readonly path: string
  /** The client key that it carries; known after the step that checks it. */
  key: PresentedKey | undefined
}

/** One step on the way of a request: it replies by itself, or calls `next` for the rest of the way. */
export type Step = (request: AppRequest, next: () => Promise<Reply>) => Promise<Reply>

interface AppOptions {
  basePath: string
  store: KeyStore
  /** The origins of pages that may use the gateway. */
  allowedOrigins: readonly string[]
  /** Routes under `/v1` and `/v1beta`. */
  modelRoutes: readonly HttpRoute[]
  /** Steps after the client key is known and before the route is looked up. */
  afterKey: readonly Step[]
  /** Authorises and answers a request under `/api`. */
  manage(path: string, exchange: Exchange): Promise<Reply>
  /** Answers `/health`, which asks for no credential. */
  health: AnswerHealth
  clock: Clock
  /** Throws `CLOSED` once the gateway has closed. Also called after each wait, during which the gateway may have closed. */
  admit(): void
  /** Called with each request that may be served, when the settings have been read: goes on with what the gateway does by itself. Never rejects. */
  resume?(exchange: Exchange): Promise<void>
  onError(error: unknown): void
}

/**
 * Makes the app. A request is authorised by the area of its path before any route is looked up, so that no path can be forgotten
 * (security.md, rule 2). Only `OPTIONS` under `/v1` needs no key (design.md, Client keys).
 */
export function createApp(options: AppOptions): App {
  const { basePath, store, allowedOrigins, clock, admit, resume, onError } = options
  const models = createRouter(options.modelRoutes)

  /** The steps after the client key, and the route last. */
  const route = options.afterKey.reduceRight<(request: AppRequest) => Promise<Reply>>(
    (next, step) => (request) => step(request, () => next(request)),
    ({ exchange, path, key }) => models(withModelsFolder(path), exchange, key),
  )

  /** Checks the client key, and finds the route. What goes wrong is a reply in the client's format. */
  async function serveModels(request: AppRequest): Promise<Reply> {
    const { exchange, path } = request
    try {
      admit()
      if (exchange.method !== 'OPTIONS') {
        const authenticating = authenticateClient(exchange, store)
        const isTimed = exchange.header(TIMEOUT_HEADER) !== undefined
        request.key = await (isTimed ? unlessTimedOut(authenticating, exchange, clock) : authenticating)
        admit()
        void resume?.(exchange)
      }
      return await route(request)
    } catch (error) {
      return modelsErrorReply(error, { path, exchange }, onError)
    }
  }

  /** What goes wrong is a reply of the management API. */
  async function serveManagement({ exchange, path }: AppRequest): Promise<Reply> {
    try {
      admit()
      return await options.manage(path, exchange)
    } catch (error) {
      return managementErrorReply(error, onError)
    }
  }

  const areas: Readonly<Record<Area, (request: AppRequest) => Promise<Reply>>> = {
    models(request) {
      const { exchange } = request
      const origin = exchange.header('origin')
      const isAllowed = origin !== undefined && allowedOrigins.includes(origin)
      return isAllowed ? forPage(origin, exchange, () => serveModels(request)) : serveModels(request)
    },
    management: serveManagement,
    health: ({ exchange }) => options.health(exchange),
  }

  return (exchange) => {
    const path = below(basePath, exchange.path)
    const area = path === undefined ? undefined : areaOf(path)
    if (path === undefined || area === undefined) return NOT_OURS
    const replying = areas[area]({ exchange, path, key: undefined })
    return exchange.method === 'HEAD' ? replying.then(withoutBody) : replying
  }
}

const NOT_OURS = Promise.resolve(undefined)

function withoutBody({ status, headers, body }: Reply): Reply {
  if (isByteStream(body)) body.cancel()
  return { status, headers }
}

/** The parts of the path space that belong to the gateway, each with its own guard. */
type Area = 'models' | 'management' | 'health'

const areas: Record<string, Area> = { v1: 'models', v1beta: 'models', api: 'management' }

/** Is the path below the base path, and in one of the gateway's areas? */
export function isOurs(path: string, basePath: string): boolean {
  const rest = below(basePath, path)
  return rest !== undefined && areaOf(rest) !== undefined
}

/**
 * Which area a path below the base path belongs to: all of `/v1`, `/v1beta` and `/api`, whether a route is served there or not, and
 * `/health` alone, so that a host keeps what it serves below that.
 */
function areaOf(path: string): Area | undefined {
  if (path === '/health') return 'health'
  const end = path.indexOf('/', 1)
  const first = path.slice(1, end === -1 ? path.length : end)
  return path.startsWith('/') && Object.hasOwn(areas, first) ? areas[first] : undefined
}

/** The path relative to the base path; `undefined` when it is not below it. */
function below(basePath: string, path: string): string | undefined {
  if (basePath === '') return path
  if (!path.startsWith(basePath)) return undefined
  const rest = path.slice(basePath.length)
  return rest === '' ? '/' : rest.startsWith('/') ? rest : undefined
}

/** The base path with a leading slash and without a trailing one; `''` for the root. Throws a TypeError on anything that is no path. */
export function normaliseBasePath(basePath: string | undefined): string {
  const trimmed = withoutTrailing(basePath ?? '', '/')
  if (trimmed !== '' && !/^(\/[\w.~-]+)+$/.test(trimmed)) {
    throw new TypeError(`basePath must look like "/ai", got ${JSON.stringify(basePath)}`)
  }
  return trimmed
}

/**
 * The reply of `fetch` for a path that is not the gateway's: a description at the root, which tools probe, otherwise a 404 that names the
 * right paths.
 */
export function elsewhereReply({ method, path }: Exchange, basePath: string): Reply {
  const root = `${basePath}/v1`
  const isRoot = below(basePath, path) === '/'
  if (isRoot && method === 'OPTIONS') return { status: 204, headers: { allow: 'GET, HEAD, OPTIONS' } }
  const reply =
    isRoot && (method === 'GET' || method === 'HEAD')
      ? jsonReply(200, { name: 'signalbox', baseUrl: root, models: `${root}/models` })
      : jsonReply(404, {
          error: `There is nothing at ${path}. Model clients use ${root}, the management API is at ${basePath}/api: check the base URL.`,
        })
  return method === 'HEAD' ? { status: reply.status, headers: reply.headers } : reply
}

/** How long a browser may keep the answer to a preflight request, in s; Chromium keeps none for longer. */
const MAX_AGE = 7_200

/**
 * Answers a request from a page of an allowed origin so that the page may send it and read the reply, an error too. Header names are
 * repeated as the browser asks for them, since `*` does not stand for `Authorization` (Fetch standard, CORS protocol). No credentials of
 * the browser are let in: a client key is all that counts.
 */
async function forPage(origin: string, exchange: Exchange, serve: () => Promise<Reply>): Promise<Reply> {
  const readable = { 'access-control-allow-origin': origin, vary: 'Origin' }
  if (exchange.method === 'OPTIONS' && exchange.header('access-control-request-method') !== undefined) {
    const asked = exchange.header('access-control-request-headers')
    return {
      status: 204,
      headers: {
        ...readable,
        'access-control-allow-methods': 'GET, HEAD, POST',
        ...(asked !== undefined && { 'access-control-allow-headers': asked }),
        'access-control-max-age': `${MAX_AGE}`,
      },
    }
  }
  const reply = await serve()
  return { ...reply, headers: { ...reply.headers, ...readable, 'access-control-expose-headers': '*' } }
}
