import { gatewayError, toGatewayError } from '../../errors.ts'
import { encodeUtf8 } from '../../lib/bytes.ts'
import type { ByteStream, Exchange, Reply } from '../../lib/exchange.ts'
import { requireJson, requirePlainUtf8 } from '../../lib/http-headers.ts'
import { decodeJsonText, isObject, type JsonObject, parseJsonObject } from '../../lib/json.ts'
import { createClientScope } from '../../lib/scope.ts'
import { type BodyLimits, readTimedBody } from '../../lib/timed-body.ts'
import type { WritableStore } from '../../records/writable-store.ts'
import { createJsonReply } from '../../request/door/reply.ts'
import type { HttpRoute } from '../../request/door/router.ts'
import { emptyInput, parseInput } from '../input.ts'
import { acceptsBody, acceptsQuery, findFunction, type InputSchema, type NamedOperation } from '../operation-table.ts'
import { createRevisionHeader, type RecordApi, runUnlessChanged } from './unless-changed.ts'
import { chooseExportFormat, createExportReply } from './usage-export-reply.ts'

/** Groups operations by route. An optional path parameter makes two routes, and `PUT` is also served as `PATCH`. */
export function groupByRoute(operations: readonly NamedOperation[]): RouteOperations[] {
  const routedOperations = operations.flatMap(expandOptionalPath)
  const patchOperations = routedOperations
    .filter(({ method }) => method === 'PUT')
    .map((operation) => ({ ...operation, method: 'PATCH' as const }))
  const operationsByRoute = new Map<string, RouteOperations>()
  for (const operation of [...routedOperations, ...patchOperations]) {
    const route = `${operation.method} ${operation.path}`
    const existingOperations = operationsByRoute.get(route)
    operationsByRoute.set(route, existingOperations ? [...existingOperations, operation] : [operation])
  }
  return [...operationsByRoute.values()]
}

/** A route's operations: one, or several with different values of the body field `action`. */
export type RouteOperations = readonly [NamedOperation, ...NamedOperation[]]

/** Splits an operation whose last parameter is optional into one operation for each path. */
function expandOptionalPath(operation: NamedOperation): NamedOperation[] {
  const [match, folder] = /^(.*)\/:\w+\?$/.exec(operation.path) ?? []
  if (match === undefined) return [operation]
  return [`${folder}`, match.slice(0, -1)].map((path) => ({ ...operation, path: path as NamedOperation['path'] })) // the path still starts with /api/
}

interface RouteSettings {
  api: RecordApi
  /** Reads records for `If-Match` checks, which have just reread the storage. Default: `api`. */
  records?: RecordApi
  limits: BodyLimits
  /** The store with the records; without it, `If-Match` is ignored. */
  store: WritableStore | undefined
}

/** Creates one route for each group of operations that share it. */
export const createOperationRoutes = (routes: readonly RouteOperations[], options: RouteSettings): HttpRoute[] =>
  routes.map((operations) => createRoute(operations, options))

function createRoute(operations: RouteOperations, { api, records = api, limits, store }: RouteSettings): HttpRoute {
  const { method, path } = operations[0]
  const hasBody = acceptsBody(operations[0])
  const parameterNames = Array.from(path.matchAll(/:(\w+)/g), ([, name = '']) => name)

  return {
    method,
    path,
    async run({ exchange, params }) {
      let { failure } = operations[0]
      try {
        const isBodyMissing = operations[0].isBodyOptional && hasNoBody(exchange)
        const body = !hasBody ? undefined : isBodyMissing ? {} : await readJsonBody(exchange, limits)
        const { operation, input } = findCalledOperation(body, operations)
        failure = operation.failure
        const call = findFunction(api, operation.names)
        const pathArguments = parameterNames.map((name) => params[name])
        const { exports: exportedField } = operation
        const hasQuery = acceptsQuery(operation)
        if (!hasQuery && !exportedField) {
          const args = [...pathArguments, ...input]
          const run = async () => withHeaders(operation, operation.status ?? 200, await call(...args))
          return store ? await runUnlessChanged({ exchange, operation, api: records, store }, args, run) : await run()
        }
        const { format: requestedFormat, ...query } = readQuery(exchange, operation)
        const format = chooseExportFormat(exchange, exportedField && requestedFormat)
        const callWithQuery = (queryInput: JsonObject) => call(...pathArguments, ...(hasQuery ? [queryInput] : []))
        if (!format || !exportedField) return withHeaders(operation, 200, await callWithQuery(query))
        return await createExportReply(callWithQuery, { query, exported: exportedField, format, api })
      } catch (cause) {
        const { status, code } = toGatewayError(cause)
        if (status !== 500 || code === 'BODY_ALREADY_READ') throw cause
        throw gatewayError('INTERNAL', { message: `Failed to ${failure}`, cause })
      }
    },
  }
}

function withHeaders(operation: NamedOperation, status: number, body: object): Reply {
  const reply = createListReply(status, body)
  return { ...reply, headers: { ...reply.headers, ...createRevisionHeader(operation, body) } }
}

/**
 * Reads query parameters, as numbers and booleans where the input expects them. Throws `INVALID_REQUEST` if a parameter is repeated, or if the
 * operation has no parameters.
 */
function readQuery(exchange: Exchange, operation: NamedOperation): JsonObject & { format?: string } {
  const query: JsonObject & { format?: string } = {}
  for (const [name, text] of new URLSearchParams(exchange.query)) {
    if (Object.hasOwn(query, name))
      throw gatewayError('INVALID_REQUEST', { message: `"${name}" can only appear once.` })
    if (!acceptsQuery(operation) && name !== 'format')
      throw gatewayError('INVALID_REQUEST', { message: `Unknown parameter "${name}". Remove it.` })
    const type = operation.input && readOptionalType(operation.input, name)
    if (type === 'number' && /^-?\d+(?:\.\d+)?$/.test(text)) query[name] = Number(text)
    else if (type === 'boolean' && (text === 'true' || text === 'false')) query[name] = text === 'true'
    else query[name] = text
  }
  return query
}

/** Returns the type of an input's optional field. */
function readOptionalType({ entries }: InputSchema, field: string): unknown {
  const entry: unknown = Object.hasOwn(entries, field) ? entries[field] : undefined
  return isObject(entry) && isObject(entry.wrapped) ? entry.wrapped.type : undefined
}

/**
 * Returns the operation that a body selects, and its input, if any. Throws `INVALID_REQUEST` for an unknown action, and for fields that the operation
 * doesn't have.
 */
function findCalledOperation(body: JsonObject | undefined, operations: RouteOperations) {
  const [first] = operations
  if (body === undefined) return { operation: first, input: [] }
  const { action, ...others } = body
  const operation = first.action === undefined ? first : operations.find((operation) => operation.action === action)
  if (!operation) {
    const knownActions = operations.map((operation) => `"${operation.action}"`).join(', ')
    throw gatewayError('INVALID_REQUEST', { message: `Set "action" to one of ${knownActions}.` })
  }
  const input = operation.action === undefined ? body : others
  if (operation.input) return { operation, input: [input] }
  parseInput(emptyInput, input)
  return { operation, input: [] }
}

/** Returns whether the headers indicate that the request has no body. */
function hasNoBody(exchange: Exchange): boolean {
  const contentLength = exchange.header('content-length')
  if (contentLength !== undefined) return contentLength.trim() === '0'
  return exchange.header('content-type') === undefined && exchange.header('transfer-encoding') === undefined
}

/**
 * Reads the JSON object in a request's body. Rejects with `UNSUPPORTED_MEDIA_TYPE` if the headers don't declare JSON, or declare a compression
 * or another charset; with `PAYLOAD_TOO_LARGE` or `REQUEST_TIMEOUT` if a limit is exceeded; and with `INVALID_JSON` if the body isn't an object,
 * isn't UTF-8, or nests deeper than 64 levels.
 */
export async function readJsonBody(exchange: Exchange, limits: BodyLimits): Promise<JsonObject> {
  requireJson(exchange)
  requirePlainUtf8(exchange)
  return parseJsonObject(decodeJsonText(await runWhileConnected(exchange, readTimedBody(exchange, limits))))
}

/** Rejects as soon as the client disconnects, because some platforms keep waiting for the body. */
function runWhileConnected<T>(exchange: Exchange, work: Promise<T>): Promise<T> {
  const { scope, close } = createClientScope(exchange)
  return scope.race(work).finally(close)
}

/** Elements to write before yielding to other requests; a batch takes less than 1 ms. */
const BATCH_SIZE = 500

/**
 * Like `createJsonReply`, but if a long list is the only field of the body, writes it in pieces as fast as the client reads. Writing 100,000 keys in one go
 * would block all other requests.
 */
export function createListReply(status: number, body: object): Reply {
  const [[name, items] = [], ...others] = Object.entries(body)
  if (name === undefined || others.length > 0 || !Array.isArray(items) || items.length <= BATCH_SIZE)
    return createJsonReply(status, body)
  return { ...createJsonReply(status, {}), body: createListStream(name, items) }
}

function createListStream(name: string, items: readonly unknown[]): ByteStream {
  let position = 0
  return {
    async next() {
      if (position >= items.length) return undefined
      const prefix = position === 0 ? `{${JSON.stringify(name)}:[` : ','
      const elements = JSON.stringify(items.slice(position, position + BATCH_SIZE)).slice(1, -1)
      position += BATCH_SIZE
      return encodeUtf8(prefix + elements + (position >= items.length ? ']}' : ''))
    },
    cancel: () => {
      position = items.length
    },
  }
}
