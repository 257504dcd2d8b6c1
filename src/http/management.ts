import { gatewayError, toGatewayError } from '../errors.ts'
import { encodeUtf8 } from '../lib/bytes.ts'
import type { ByteStream, Exchange, Reply } from '../lib/exchange.ts'
import { requireJson, requirePlainUtf8 } from '../lib/http-headers.ts'
import { isObject, type JsonObject, jsonText, parseJsonObject } from '../lib/json.ts'
import { scopeOfClient } from '../lib/scope.ts'
import { type BodyLimits, timedBody } from '../lib/timed-body.ts'
import { VERSION } from '../lib/version.ts'
import { noInput } from '../management/cloud.ts'
import type { Pushes } from '../management/cloud-pushes.ts'
import { parseInput } from '../management/input.ts'
import { createManagement, inputs, type ManagementDependencies } from '../management/management.ts'
import { type Management, type ServedOperation, servedOperations, takesBody } from '../management/operations.ts'
import { createWritableStore, type WritableStore } from '../store/writable-store.ts'
import { liveRoute } from './live.ts'
import { type LiveDependencies, LiveFeed } from './live-feed.ts'
import { createManagementGuard } from './management-guard.ts'
import type { ManagementOptions } from './management-options.ts'
import type { ModelSurface } from './openapi/model-paths.ts'
import { jsonReply } from './reply.ts'
import { createRouter, type HttpRoute } from './router.ts'
import { tryRoute } from './try.ts'
import { revisionHeader, unlessChanged } from './unless-changed.ts'
import { exportFormatOf, exportReply } from './usage-export.ts'
import { liveUsageRoute } from './usage-live.ts'

/** The options of serving the management API. */
interface ServingOptions {
  /** Which requests may call it; default: none. */
  management: ManagementOptions | undefined
  /** The limits of request bodies. */
  limits: BodyLimits
  /** The model endpoints, for the OpenAPI description. */
  models: ModelSurface
  /** See `AppOptions` for this member and the following ones. */
  basePath: string
  admit(): void
  resume(exchange: Exchange): Promise<void>
  onError(error: unknown): void
}

/** The management API, in process and under `/api`. */
export interface ManagementApi {
  api: Management<unknown>
  /** Sends the changes of the operations to the mirror. */
  pushes: Pushes
  /** Rejects with the error that the guard or an operation throws. */
  serve(path: string, exchange: Exchange): Promise<Reply>
}

/** Makes the management API. This file is loaded with its first use: gateways that only route requests never need it. */
export function createManagementApi(
  deps: Omit<ManagementDependencies, 'openapi' | 'changed'> &
    Pick<LiveDependencies, 'inFlight' | 'live' | 'startTimer'>,
  { management, limits, models, basePath, admit, resume, onError }: ServingOptions,
): ManagementApi {
  async function openapi() {
    const { describeGateway } = await import('./openapi/document.ts')
    const isOpen = management !== undefined && 'dangerouslyAllowUnauthenticated' in management
    return describeGateway({ routes: servedRoutes(), models, version: VERSION, basePath, isOpen })
  }

  const feed = new LiveFeed({ ...deps, onError })
  const { api, pushes } = createManagement({ ...deps, openapi, changed: (...change) => feed.changed(...change) })
  const guard = createManagementGuard(management, { onError })
  const trying = tryRoute({ ...deps, basePath, readBody: (exchange) => readJsonBody(exchange, limits) })
  const live = [liveRoute(feed), liveUsageRoute(deps.usage)]
  const store = createWritableStore(deps.store, deps.clock)
  const routers = {
    manage: createRouter([...live, trying, ...managementRoutes(api, limits, store)]),
    look: createRouter([...live, ...managementRoutes(withoutSecrets(api), limits)]),
  }
  return {
    api,
    pushes,
    async serve(path, exchange) {
      const router = routers[await guard(exchange)]
      admit()
      await resume(exchange)
      const route = router.exact(exchange, path) ?? (await router.search(exchange, path))
      const reply = route.run({ exchange })
      if (exchange.method !== 'GET') exchange.waitUntil?.(reply.catch(() => {}).then(pushes.settled))
      return reply
    },
  }
}

/** The operations for callers who may only read: they get no key values and no records as stored. */
function withoutSecrets(api: Management<unknown>): Management<unknown> {
  const viewOf = (query: unknown) => (isObject(query) ? { ...query, values: 'none' } : query)
  const keys = {
    ...api.keys,
    list: (query: unknown = {}) => api.keys.list(viewOf(query)),
    get: (id: string, view: unknown = {}) => api.keys.get(id, viewOf(view)),
  } as Management<unknown>['keys'] // by HTTP alone, where both get a query
  const get = () => {
    throw gatewayError('FORBIDDEN', { message: 'This token may only read, and not the records as they are stored.' })
  }
  const info = async () => ({ ...(await api.info()), mayWrite: false })
  return { ...api, keys, info, damagedRecords: { ...api.damagedRecords, get } }
}

/** The routes of the management API, made from the table of its operations. `limits`: the limits of request bodies. */
export function managementRoutes(
  api: Management<unknown>,
  limits: BodyLimits = { maxBytes: 1024 * 1024 },
  store?: WritableStore,
): HttpRoute[] {
  return servedRoutes().map((operations) => routeOf(operations, { api, limits, store }))
}

/** Every route with its operations. An operation whose path has an optional parameter has two routes, and one by `PUT` is also served by `PATCH`. */
function servedRoutes(): OfRoute[] {
  const served = servedOperations().flatMap(withoutOptional)
  const patches = served.filter(({ method }) => method === 'PUT').map((one) => ({ ...one, method: 'PATCH' as const }))
  const byRoute = new Map<string, OfRoute>()
  for (const operation of [...served, ...patches]) {
    const route = `${operation.method} ${operation.path}`
    const others = byRoute.get(route)
    byRoute.set(route, others ? [...others, operation] : [operation])
  }
  return [...byRoute.values()]
}

/** The operations of a route: one, or several that are told apart by the member `action` of the body. */
type OfRoute = readonly [ServedOperation, ...ServedOperation[]]

/** An operation whose last parameter is optional, as two operations with a path each. */
function withoutOptional(operation: ServedOperation): ServedOperation[] {
  const [whole, folder] = /^(.*)\/:\w+\?$/.exec(operation.path) ?? []
  if (whole === undefined) return [operation]
  return [`${folder}`, whole.slice(0, -1)].map((path) => ({ ...operation, path: path as ServedOperation['path'] })) // it still begins with /api/
}

function routeOf(
  operations: OfRoute,
  { api, limits, store }: { api: Management<unknown>; limits: BodyLimits; store: WritableStore | undefined },
): HttpRoute {
  const { method, path } = operations[0]
  const hasBody = takesBody(operations[0])
  const names = Array.from(path.matchAll(/:(\w+)/g), ([, name = '']) => name)

  return {
    method,
    path,
    async run({ exchange, params }) {
      let { failure } = operations[0]
      try {
        const isMissing = operations[0].isBodyOptional && hasNoBody(exchange)
        const body = !hasBody ? undefined : isMissing ? {} : await readJsonBody(exchange, limits)
        const { operation, input } = calledBy(body, operations)
        failure = operation.failure
        const call = operation.of(api)
        const inPath = names.map((name) => params[name])
        const { hasQuery, exports: exported } = operation
        if (!hasQuery && !exported) {
          const args = [...inPath, ...input]
          const run = async () => withHeaders(operation, operation.status ?? 200, await call(...args))
          return store ? await unlessChanged({ exchange, operation, api, store }, args, run) : await run()
        }
        const { format: given, ...query } = queryIn(exchange, operation)
        const format = exportFormatOf(exchange, exported && given)
        const asked = (asking: JsonObject) => call(...inPath, ...(hasQuery ? [asking] : []))
        if (!format || !exported) return withHeaders(operation, 200, await asked(query))
        return await exportReply(asked, { query, exported, format })
      } catch (cause) {
        const { status, code } = toGatewayError(cause)
        if (status !== 500 || code === 'BODY_ALREADY_READ') throw cause
        throw gatewayError('INTERNAL', { message: `Failed to ${failure}`, cause })
      }
    },
  }
}

function withHeaders(operation: ServedOperation, status: number, body: object): Reply {
  const reply = listReply(status, body)
  return { ...reply, headers: { ...reply.headers, ...revisionHeader(operation, body) } }
}

/**
 * The parameters of a query, numbers and booleans where the operation takes them. Throws `INVALID_REQUEST` on one that comes twice, and on any where the
 * operation takes none.
 */
function queryIn(exchange: Exchange, { hasQuery, names }: ServedOperation): JsonObject & { format?: string } {
  const query: JsonObject & { format?: string } = {}
  for (const [name, text] of new URLSearchParams(exchange.query)) {
    if (Object.hasOwn(query, name)) throw gatewayError('INVALID_REQUEST', { message: `"${name}" must be given once.` })
    if (!hasQuery && name !== 'format')
      throw gatewayError('INVALID_REQUEST', { message: `Unknown parameter "${name}". Leave it out.` })
    const type = typeTaken(names, name)
    if (type === 'number' && /^-?\d+(?:\.\d+)?$/.test(text)) query[name] = Number(text)
    else if (type === 'boolean' && (text === 'true' || text === 'false')) query[name] = text === 'true'
    else query[name] = text
  }
  return query
}

/** The type of an optional member of an operation's input. */
function typeTaken(names: readonly string[], member: string): unknown {
  const schema = names.reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), inputs)
  const entries = isObject(schema) ? schema.entries : undefined
  const entry = isObject(entries) && Object.hasOwn(entries, member) ? entries[member] : undefined
  return isObject(entry) && isObject(entry.wrapped) ? entry.wrapped.type : undefined
}

/** The operation that a body calls, and its input, if it has any. Throws `INVALID_REQUEST` on an unknown action, and on members where there is no input. */
function calledBy(body: JsonObject | undefined, operations: OfRoute) {
  const [first] = operations
  if (body === undefined) return { operation: first, input: [] }
  const { action, ...others } = body
  const operation = first.action === undefined ? first : operations.find((one) => one.action === action)
  if (!operation) {
    const known = operations.map((one) => `"${one.action}"`).join(', ')
    throw gatewayError('INVALID_REQUEST', { message: `Send "action" with one of ${known}.` })
  }
  const input = operation.action === undefined ? body : others
  if (operation.hasInput === false) parseInput(noInput, input)
  return { operation, input: operation.hasInput === false ? [] : [input] }
}

/** Has the request no body, as far as its headers say? */
function hasNoBody(exchange: Exchange): boolean {
  const length = exchange.header('content-length')
  if (length !== undefined) return length.trim() === '0'
  return exchange.header('content-type') === undefined && exchange.header('transfer-encoding') === undefined
}

/**
 * Reads the JSON object in the body of a request. Rejects with `UNSUPPORTED_MEDIA_TYPE` when the headers do not declare JSON, or declare a
 * compression or another charset, with `PAYLOAD_TOO_LARGE` and `REQUEST_TIMEOUT` beyond the limits, and with `INVALID_JSON` for a body that
 * is not an object, is not UTF-8, or nests deeper than 64 levels.
 */
export async function readJsonBody(exchange: Exchange, limits: BodyLimits): Promise<JsonObject> {
  requireJson(exchange)
  requirePlainUtf8(exchange)
  return parseJsonObject(jsonText(await unlessClientLeaves(exchange, timedBody(exchange, limits))))
}

/** Rejects as soon as the client disconnects, since not every platform then ends the read of the body. */
function unlessClientLeaves<T>(exchange: Exchange, work: Promise<T>): Promise<T> {
  const { scope, close } = scopeOfClient(exchange)
  return scope.race(work).finally(close)
}

/** How many elements are written at once, which takes less than a millisecond. */
const PIECE = 500

/**
 * Like `jsonReply`, but a body whose only member is a long list is written piece by piece, at the pace of the client: writing 100,000 keys at
 * once would block all other requests.
 */
export function listReply(status: number, body: object): Reply {
  const [[name, list] = [], ...others] = Object.entries(body)
  if (name === undefined || others.length > 0 || !Array.isArray(list) || list.length <= PIECE)
    return jsonReply(status, body)
  return { ...jsonReply(status, {}), body: pieces(name, list) }
}

function pieces(name: string, list: readonly unknown[]): ByteStream {
  let at = 0
  return {
    async next() {
      if (at >= list.length) return undefined
      const start = at === 0 ? `{${JSON.stringify(name)}:[` : ','
      const elements = JSON.stringify(list.slice(at, at + PIECE)).slice(1, -1)
      at += PIECE
      return encodeUtf8(start + elements + (at >= list.length ? ']}' : ''))
    },
    cancel: () => {
      at = list.length
    },
  }
}
