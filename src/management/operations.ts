import { isObject, type JsonObject } from '../lib/json.ts'
import type { Explanation } from '../routing/explanation.ts'
import type { CloudOperations } from './cloud.ts'
import type { ComboOperations } from './combos.ts'
import type { ConnectionOperations } from './connections.ts'
import type { ExplainedRequest } from './explain.ts'
import type { GroupOperations } from './groups.ts'
import type { DamagedRecordOperations, HealthOperations } from './health.ts'
import type { GatewayInfo } from './info.ts'
import type { KeyOperations } from './keys.ts'
import type { AliasOperations, CustomModelOperations } from './models.ts'
import type { Overview } from './overview.ts'
import type { ProviderOperations } from './providers.ts'
import type { ModelOperations } from './published-models.ts'
import type { SettingsOperations } from './settings.ts'
import type { UsageOperations } from './usage.ts'

/**
 * The management operations: each resolves to the body that HTTP sends, validates its input in the same way, and rejects with a
 * `GatewayError` (`INVALID_REQUEST`, `NOT_FOUND`, `STORAGE_FAILED` and others). `Input` is accepted besides the typed input: nothing in
 * process, `unknown` for bodies over HTTP.
 */
export interface Management<Input = never> {
  keys: KeyOperations<Input>
  /** Groups of keys. */
  groups: GroupOperations<Input>
  settings: SettingsOperations<Input>
  combos: ComboOperations<Input>
  connections: ConnectionOperations<Input>
  models: ModelOperations<Input>
  customModels: CustomModelOperations<Input>
  aliases: AliasOperations<Input>
  providers: ProviderOperations<Input>
  health: HealthOperations
  /** The records of the storage that `health.list` names as damaged. */
  damagedRecords: DamagedRecordOperations<Input>
  /** The mirror of the gateway's data at the cloud proxy of the setting `cloudUrl`. */
  cloud: CloudOperations<Input>
  /** Usage: the kept records of requests, and their sums (src/usage/KEPT.md). */
  usage: UsageOperations<Input>
  /** Explains how a request would be routed: its targets and their order. Calls no provider and changes no round-robin turn. */
  explain(request: ExplainedRequest | Input): Promise<Explanation>
  /** A summary for operators: the usage of the last 24 hours, current failures, and missing configuration. */
  overview(): Promise<Overview>
  /** Facts about the gateway: its version, its runtime and storage, and the number of requests under way. */
  info(): Promise<GatewayInfo>
  /** The description of all that the gateway serves over HTTP. */
  openapi(): Promise<OpenApiDocument>
}

/** A description of an HTTP API in OpenAPI 3.1; its schemas are JSON Schema 2020-12. */
export interface OpenApiDocument {
  openapi: string
  info: { title: string; version: string; description: string }
  /** The base path. */
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  /** Operations by path and method in lower case. */
  paths: Record<string, Record<string, JsonObject>>
  /** By kind and name. */
  components: Record<string, Record<string, JsonObject>>
}

/** How an operation is called over HTTP. In process it is `gateway.api.<resource>.<name>` with the same arguments. */
interface HttpOperation {
  /** POST, PUT and PATCH have a body: the input of the operation, its last argument, if it has one. What `PUT` does, `PATCH` does too. */
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the base path. Its parameters are the first arguments; `:name?` may be missing, `:name+` may hold slashes. */
  path: `/api/${string}`
  /** Of several operations on one route: the member `action` of the body that calls this one; the other members are its input. */
  action?: string
  /** What failed, for the log entry of an internal error. */
  failure: string
  /** The status of success; default 200. */
  status?: 201
  /** `false` for a POST that has no input: its body is not read, or with an `action` holds that alone. */
  hasInput?: false
  /** Of a GET that has an input: its members are the parameters of the query. */
  hasQuery?: true
  /** The member of the answer that is also sent as CSV and as JSON Lines, for those who ask for it. */
  exports?: 'rows' | 'requests' | 'request'
  /** Of a change of one record: is it refused with 409 when the header `If-Match` names another revision than it has? */
  ifMatch?: true
  /** Has the answer the revision of its record, in the header `ETag`? */
  hasRevision?: true
  /** May the body be missing? It stands for an empty object then. */
  isBodyOptional?: true
}

/** Is the body of a request for the operation read? */
export const takesBody = ({
  method,
  action,
  hasInput,
}: Pick<HttpOperation, 'method' | 'action' | 'hasInput'>): boolean =>
  method !== 'GET' && method !== 'DELETE' && (hasInput !== false || action !== undefined)

type Call = (...args: never) => unknown
type Last<Args extends readonly unknown[]> = Args extends readonly [...unknown[], infer Input] ? Input : undefined
/** Does the operation have an input besides the parameters of its path? */
type HasInput<Operation extends Call> = Last<Required<Parameters<Operation>>> extends string | undefined ? false : true
type Row<Operation extends Call> = HttpOperation & (HasInput<Operation> extends true ? WithInput : WithoutInput)
type WithInput =
  | { method: 'PUT' | 'PATCH'; action?: never; hasInput?: never }
  | { method: 'POST'; hasInput?: never }
  | { method: 'GET'; action?: never; hasInput?: never; hasQuery: true }
type WithoutInput =
  | { method: 'GET' | 'DELETE'; action?: never; hasInput?: never; hasQuery?: never }
  | { method: 'POST'; hasInput: false }
type Rows<Resource> = Resource extends Call
  ? Row<Resource>
  : { readonly [Name in keyof Resource]: Rows<Resource[Name]> }

/** One value, such as a schema, for each operation of a resource that has an input. */
export type PerInput<Resource, Value> = Resource extends Call
  ? HasInput<Resource> extends true
    ? Value
    : Record<string, never>
  : {
      readonly [Name in keyof Resource as Resource[Name] extends Call
        ? HasInput<Resource[Name]> extends true
          ? Name
          : never
        : Name]: PerInput<Resource[Name], Value>
    }

/**
 * Every management operation. The routes under `/api` and `gateway.api` are made from this table; it is complete, and fits the operations of
 * `Management`, or does not compile. The first route that fits a path serves it.
 */
export const operations = {
  keys: {
    ...recordRows('/api/keys', 'key'),
    list: { method: 'GET', path: '/api/keys', failure: 'fetch keys', hasQuery: true },
    get: { method: 'GET', path: '/api/keys/:id', failure: 'fetch key', hasQuery: true, hasRevision: true },
    rotate: { method: 'POST', path: '/api/keys/:id/rotate', failure: 'rotate key', isBodyOptional: true },
    limits: limitRows('/api/keys/:id/limits'),
  },
  groups: { ...recordRows('/api/groups', 'group'), limits: limitRows('/api/groups/:id/limits') },
  settings: {
    limits: limitRows('/api/settings/limits'),
    get: { method: 'GET', path: '/api/settings', failure: 'fetch settings', hasRevision: true },
    update: { method: 'PATCH', path: '/api/settings', failure: 'update settings', ifMatch: true },
  },
  combos: recordRows('/api/combos', 'combo'),
  connections: {
    ...recordRows('/api/connections', 'connection'),
    discover: {
      method: 'POST',
      path: '/api/connections/:id/models',
      failure: 'discover models',
      hasInput: false,
    },
    test: {
      method: 'POST',
      path: '/api/connections/:id/test',
      failure: 'test connection',
      isBodyOptional: true,
    },
  },
  models: {
    published: { method: 'GET', path: '/api/models', failure: 'list models', hasQuery: true },
  },
  customModels: {
    list: { method: 'GET', path: '/api/models/custom', failure: 'fetch custom models' },
    create: { method: 'POST', path: '/api/models/custom', failure: 'create custom model', status: 201 },
    delete: {
      method: 'DELETE',
      path: '/api/models/custom/:providerAlias/:id+',
      failure: 'delete custom model',
      ifMatch: true,
    },
    put: { method: 'PUT', path: '/api/models/custom', failure: 'put custom model', ifMatch: true },
  },
  aliases: {
    list: { method: 'GET', path: '/api/models/aliases', failure: 'fetch aliases' },
    set: { method: 'PUT', path: '/api/models/aliases', failure: 'set alias', ifMatch: true },
    delete: { method: 'DELETE', path: '/api/models/aliases/:alias+', failure: 'delete alias', ifMatch: true },
  },
  providers: {
    list: { method: 'GET', path: '/api/providers', failure: 'fetch providers' },
    get: { method: 'GET', path: '/api/providers/:id', failure: 'fetch provider', hasRevision: true },
    update: { method: 'PUT', path: '/api/providers/:id', failure: 'update provider', ifMatch: true },
  },
  cloud: {
    get: { method: 'GET', path: '/api/sync/cloud', failure: 'fetch cloud state' },
    enable: { method: 'POST', path: '/api/sync/cloud', action: 'enable', failure: 'enable cloud' },
    sync: { method: 'POST', path: '/api/sync/cloud', action: 'sync', hasInput: false, failure: 'sync with cloud' },
    disable: { method: 'POST', path: '/api/sync/cloud', action: 'disable', failure: 'disable cloud' },
    check: { method: 'POST', path: '/api/sync/cloud', action: 'check', hasInput: false, failure: 'check cloud' },
    sessions: {
      list: { method: 'GET', path: '/api/sync/cloud/sessions', failure: 'fetch sessions' },
      revoke: { method: 'DELETE', path: '/api/sync/cloud/sessions/:id', failure: 'revoke session' },
    },
  },
  usage: {
    summary: { method: 'GET', path: '/api/usage', failure: 'sum up usage', hasQuery: true, exports: 'rows' },
    requests: {
      method: 'GET',
      path: '/api/usage/requests',
      failure: 'list requests',
      hasQuery: true,
      exports: 'requests',
    },
    request: { method: 'GET', path: '/api/usage/requests/:id', failure: 'fetch request', exports: 'request' },
  },
  explain: { method: 'POST', path: '/api/explain', failure: 'explain' },
  overview: { method: 'GET', path: '/api/overview', failure: 'fetch the overview' },
  info: { method: 'GET', path: '/api/info', failure: 'describe the gateway' },
  openapi: { method: 'GET', path: '/api/openapi.json', failure: 'describe the API' },
  damagedRecords: {
    get: { method: 'GET', path: '/api/health/records/:key+', failure: 'fetch record' },
    put: { method: 'PUT', path: '/api/health/records/:key+', failure: 'repair record' },
    delete: { method: 'DELETE', path: '/api/health/records/:key+', failure: 'remove record' },
  },
  health: {
    list: { method: 'GET', path: '/api/health', failure: 'fetch health' },
    reset: { method: 'DELETE', path: '/api/health/:id?', failure: 'reset health' },
  },
} as const satisfies { readonly [Resource in keyof Management]: Rows<Management[Resource]> }

/** The rows of a resource whose records have ids, by its path; `noun`: one of them. */
function recordRows<const Path extends `/api/${string}`>(path: Path, noun: string) {
  return {
    list: { method: 'GET', path, failure: `fetch ${noun}s` },
    create: { method: 'POST', path, failure: `create ${noun}`, status: 201 },
    get: { method: 'GET', path: `${path}/:id`, failure: `fetch ${noun}`, hasRevision: true },
    update: { method: 'PUT', path: `${path}/:id`, failure: `update ${noun}`, ifMatch: true },
    delete: { method: 'DELETE', path: `${path}/:id`, failure: `delete ${noun}`, ifMatch: true },
    put: { method: 'PUT', path, failure: `put ${noun}` },
  } as const
}

/** The rows of the limits of something, by their path. */
function limitRows<const Path extends `/api/${string}`>(path: Path) {
  return {
    get: { method: 'GET', path, failure: 'fetch limits' },
    reset: { method: 'DELETE', path, failure: 'reset limits' },
    settle: { method: 'POST', path: `${path}/settle`, failure: 'settle limits', isBodyOptional: true },
  } as const
}

/** An operation of `Management` without its types. Inputs are checked by the operation itself. */
type UntypedCall = (...args: unknown[]) => Promise<object>

/** An operation that is served over HTTP: its row of the table, and the function of an api that carries it out. */
export interface ServedOperation extends HttpOperation {
  /** The names that lead to it in `gateway.api`: `['cloud', 'sessions', 'list']`. */
  names: readonly string[]
  of(api: Management<unknown>): UntypedCall
}

/** The operations that are served over HTTP, in the order of the table. */
export function servedOperations(): ServedOperation[] {
  return allOperations().map(({ row, names }) => ({
    ...row,
    names,
    of: (api: Management<unknown>) => callOf(api, names),
  }))
}

function callOf(api: Management<unknown>, names: readonly string[]): UntypedCall {
  const found: unknown = names.reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), api)
  if (typeof found !== 'function') throw new TypeError(`There is no operation ${names.join('.')}.`)
  return (...args) => Reflect.apply(found, undefined, args)
}

function allOperations(rows: TableRows = operations, before: readonly string[] = []): Place[] {
  return Object.entries(rows).flatMap(([name, row]): Place[] => {
    const names = [...before, name]
    return isRow(row) ? [{ names, row }] : allOperations(row, names)
  })
}

interface Place {
  names: readonly string[]
  row: HttpOperation
}

/** The table without its types: a resource may have resources of its own. */
interface TableRows {
  readonly [name: string]: HttpOperation | TableRows
}

const isRow = (rows: HttpOperation | TableRows): rows is HttpOperation => typeof rows.path === 'string'
