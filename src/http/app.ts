import type { Endpoint } from '../formats/format.ts'
import { formatOf } from '../formats/formats.ts'
import { endpoints } from '../kinds/kinds.ts'
import { type Exchange, isByteStream, type Reply } from '../lib/exchange.ts'
import { withoutTrailing } from '../lib/urls.ts'
import type { RequestLog } from '../pipeline/request-log.ts'
import { withSteps } from '../pipeline/steps.ts'
import type { PresentedKey } from '../store/keyring.ts'
import { authenticateClient, type KeyStore } from './client-key.ts'
import { withErrorMembers } from './error-members.ts'
import { managementErrorReply, modelsErrorReply } from './error-reply.ts'
import type { AnswerHealth } from './health-check.ts'
import { withModelsFolder } from './model-routes.ts'
import { type MountedPage, type MountedPages, pageAt, servePage } from './pages.ts'
import { jsonReply } from './reply.ts'
import { createRouter, type FoundRoute, type HttpRoute } from './router.ts'

/** The gateway over HTTP: `undefined` for a path that is not the gateway's, otherwise a reply. Never rejects. */
export type App = (exchange: Exchange) => Promise<Reply | undefined>

/** A request on its way through the steps of its area. */
interface AppRequest {
  readonly exchange: Exchange
  /** Below the base path. */
  readonly path: string
  /** The client key that it carries; absent until it is checked. */
  readonly key?: PresentedKey | undefined
}

/** A request whose route was looked up, and whose client key was checked. */
interface RoutedAppRequest extends AppRequest {
  readonly route: FoundRoute
  /** Of a request to a model endpoint. */
  readonly log: RequestLog | undefined
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
  /** Begins the log of a request to a model endpoint; absent where another gateway keeps it. */
  openLog?(exchange: Exchange, endpoint: Endpoint): RequestLog
  /** After the client key of any request under `/v1` and `/v1beta`, and before its route. */
  afterKey: readonly Step[]
  /** Authorises and answers a request under `/api`. */
  manage(path: string, exchange: Exchange): Promise<Reply>
  /** Answers `/health`, which asks for no credential. */
  health: AnswerHealth
  /** Pages beside the APIs; default: none. */
  pages?: MountedPages
  /** Throws `CLOSED` once the gateway has closed. Also called after each wait, during which the gateway may have closed. */
  admit(): void
  /** Called with each request that may be served, when the settings have been read: goes on with what the gateway does by itself. Never rejects. */
  resume?(exchange: Exchange): Promise<void>
  onError(error: unknown): void
}

/** The header of the id that a request to a model endpoint has in records. */
const REQUEST_ID_HEADER = 'x-signalbox-request-id'

/**
 * Makes the app. A request is authorised by the area of its path before any route is run, so that no path can be forgotten
 * (src/rules.md, Guard before routes). Only `OPTIONS` under `/v1` needs no key (src/rules.md, Client keys).
 */
export function createApp(options: AppOptions): App {
  const { basePath, store, allowedOrigins, openLog, afterKey, pages, admit, resume, onError } = options
  const models = createRouter(options.modelRoutes)
  const allowPages = allowPagesOf(allowedOrigins)

  /** The steps after the client key, and the route last. */
  const runRoute = withSteps<RoutedAppRequest>(afterKey, ({ route, exchange, key, log }) =>
    route.run({ exchange, key, log }),
  )

  /** Looks the route up, checks the client key, and runs the route. What goes wrong is a reply in the client's format. */
  async function serveModels(request: AppRequest): Promise<Reply> {
    const { exchange } = request
    const path = withModelsFolder(request.path)
    let log: RequestLog | undefined
    let key: PresentedKey | undefined
    let endpoint: Endpoint | undefined
    try {
      const route = models.exact(exchange, path) ?? (await models.search(exchange, path))
      endpoint = route.served?.endpoint
      log = endpoint && openLog?.(exchange, endpoint)
      admit()
      if (exchange.method !== 'OPTIONS') {
        key = await authenticateClient(exchange, store, log?.client)
        admit()
        void resume?.(exchange)
      }
      const reply = await runRoute({ exchange, path: request.path, key, route, log })
      if (log && !isByteStream(reply.body)) log.replied(reply.status)
      return identified(withErrorMembers(reply, endpoint), log)
    } catch (error) {
      log?.failed(error)
      const reply = await modelsErrorReply(error, request, onError)
      return identified(withErrorMembers(reply, endpoint), log)
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

  /** What goes wrong is a reply of the management API. */
  async function serveMounted(page: MountedPage, { guards }: MountedPages, { exchange, path }: AppRequest) {
    try {
      admit()
      return await servePage(page, path, { exchange, guards })
    } catch (error) {
      return managementErrorReply(error, onError)
    }
  }

  const serve: Readonly<Record<Area, (request: AppRequest) => Promise<Reply>>> = {
    models: (request) => allowPages(request, () => serveModels(request)),
    management: serveManagement,
    health: ({ exchange }) => options.health(exchange),
  }

  function replyTo(request: AppRequest): Promise<Reply> | undefined {
    const area = areaOf(request.path)
    if (area) return serve[area](request)
    const page = pages && pageAt(pages.mounted, request.path)
    return page && serveMounted(page, pages, request)
  }

  return (exchange) => {
    const path = below(basePath, exchange.path)
    const replying = path === undefined ? undefined : replyTo({ exchange, path })
    if (!replying) return NOT_OURS
    return exchange.method === 'HEAD' ? replying.then(withoutBody) : replying
  }
}

/** The reply with the id of its request. */
function identified(reply: Reply, log: RequestLog | undefined): Reply {
  if (log) reply.headers[REQUEST_ID_HEADER] = log.id // the headers of a reply are its own
  return reply
}

const NOT_OURS = Promise.resolve(undefined)

function withoutBody({ status, headers, body }: Reply): Reply {
  if (isByteStream(body)) body.cancel()
  return { status, headers }
}

/** The parts of the path space that belong to the gateway, each with its own guard. */
type Area = 'models' | 'management' | 'health'

const areaByFolder: Readonly<Record<string, Area>> = { v1: 'models', v1beta: 'models', api: 'management' }

/** The endpoints for model requests in other folders, such as `/v2/embed`. */
const ELSEWHERE: ReadonlySet<string> = new Set(
  endpoints.map(({ path }) => path).filter((path) => !/^\/v1(?:beta)?\//.test(path)),
)

/** Is the path below the base path, and in one of the gateway's areas, or one of its pages'? */
export function isOurs(path: string, basePath: string, pages: readonly MountedPage[] = []): boolean {
  const rest = below(basePath, path)
  return rest !== undefined && (areaOf(rest) !== undefined || pageAt(pages, rest) !== undefined)
}

/**
 * Which area a path below the base path belongs to: all of `/v1`, `/v1beta` and `/api`, whether a route is served there or not, and
 * `/health` and the endpoints that stand elsewhere alone, so that a host keeps what it serves beside them.
 */
function areaOf(path: string): Area | undefined {
  if (path === '/health') return 'health'
  if (ELSEWHERE.has(path) || formatOf('ai-sdk').clientSigns.paths?.test(path)) return 'models'
  const end = path.indexOf('/', 1)
  const first = path.slice(1, end === -1 ? path.length : end)
  return path.startsWith('/') && Object.hasOwn(areaByFolder, first) ? areaByFolder[first] : undefined
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
 * The step for requests from pages of the allowed origins: such a page may send them and read their replies, errors too. Header names are
 * repeated as the browser asks for them, since `*` does not stand for `Authorization` (Fetch standard, CORS protocol). No credentials of
 * the browser are let in: a client key is all that counts.
 */
const allowPagesOf =
  (allowedOrigins: readonly string[]): Step =>
  ({ exchange }, next) => {
    const origin = exchange.header('origin')
    if (origin === undefined || !allowedOrigins.includes(origin)) return next()
    const readable = { 'access-control-allow-origin': origin, vary: 'Origin' }
    if (exchange.method !== 'OPTIONS' || exchange.header('access-control-request-method') === undefined)
      return next().then((reply) => ({
        ...reply,
        headers: { ...reply.headers, ...readable, 'access-control-expose-headers': '*' },
      }))
    const asked = exchange.header('access-control-request-headers')
    return Promise.resolve({
      status: 204,
      headers: {
        ...readable,
        'access-control-allow-methods': 'GET, HEAD, POST',
        ...(asked !== undefined && { 'access-control-allow-headers': asked }),
        'access-control-max-age': `${MAX_AGE}`,
      },
    })
  }
