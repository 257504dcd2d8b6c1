import { isObject, type JsonObject } from '../lib/json.ts'
import type { Explanation } from '../routing/explanation.ts'
import type { CloudOperations } from './cloud.ts'
import type { ComboOperations } from './combos.ts'
import type { ConnectionOperations } from './connections.ts'
import type { ExplainedRequest } from './explain.ts'
import type { DamagedRecordOperations, HealthOperations } from './health.ts'
import type { KeyOperations } from './keys.ts'
import type { AliasOperations, CustomModelOperations, ModelOperations } from './models.ts'
import type { ProviderOperations } from './providers.ts'
import type { SettingsOperations } from './settings.ts'

/**
 * The management operations: each resolves to the body that HTTP sends, validates its input in the same way, and rejects with a
 * `GatewayError` (`INVALID_REQUEST`, `NOT_FOUND`, `STORAGE_FAILED` and others). `Input` is accepted besides the typed input: nothing in
 * process, `unknown` for bodies over HTTP.
 */
export interface Management<Input = never> {
  keys: KeyOperations<Input>
  settings: SettingsOperations<Input>
  combos: ComboOperations<Input>
  connections: ConnectionOperations<Input>
  models: ModelOperations
  customModels: CustomModelOperations<Input>
  aliases: AliasOperations<Input>
  providers: ProviderOperations<Input>
  health: HealthOperations
  /** The records of the storage that `health.list` names as damaged. */
  damagedRecords: DamagedRecordOperations<Input>
  /** The mirror of the gateway's data at the cloud proxy of the setting `cloudUrl`. */
  cloud: CloudOperations<Input>
  /** What would become of a request: its targets and their order. Calls no provider and moves no turn. */
  explain(request: ExplainedRequest | Input): Promise<Explanation>
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
  /** The message of an internal error. */
  failure: string
  /** The status of success; default 200. */
  status?: 201
  /** `false` for a `POST` without an input, whose body is not read. */
  hasBody?: false
}

/** Does a request for the operation bring its input as a body? */
export const takesBody = ({ method, hasBody }: Pick<HttpOperation, 'method' | 'hasBody'>): boolean =>
  hasBody !== false && method !== 'GET' && method !== 'DELETE'

type Call = (...args: never) => unknown
type Last<Args extends readonly unknown[]> = Args extends readonly [...unknown[], infer Input] ? Input : undefined
/** Does the operation have an input besides the parameters of its path? */
type HasInput<Operation extends Call> = Last<Required<Parameters<Operation>>> extends string | undefined ? false : true
type Way<Operation extends Call> =
  HasInput<Operation> extends true
    ? { method: 'POST' | 'PUT' | 'PATCH'; hasBody?: never }
    : { method: 'GET' | 'DELETE'; hasBody?: never } | { method: 'POST'; hasBody: false }
type Row<Operation extends Call> =
  | (HttpOperation & Way<Operation> & { action?: never })
  | (HttpOperation & { method: 'POST'; action: string })
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
export const operations: { readonly [Resource in keyof Management]: Rows<Management[Resource]> } = {
  keys: {
    list: { method: 'GET', path: '/api/keys', failure: 'Failed to fetch keys' },
    create: { method: 'POST', path: '/api/keys', failure: 'Failed to create key', status: 201 },
    get: { method: 'GET', path: '/api/keys/:id', failure: 'Failed to fetch key' },
    update: { method: 'PUT', path: '/api/keys/:id', failure: 'Failed to update key' },
    delete: { method: 'DELETE', path: '/api/keys/:id', failure: 'Failed to delete key' },
    put: { method: 'PUT', path: '/api/keys', failure: 'Failed to put key' },
  },
  settings: {
    get: { method: 'GET', path: '/api/settings', failure: 'Failed to fetch settings' },
    update: { method: 'PATCH', path: '/api/settings', failure: 'Failed to update settings' },
  },
  combos: {
    list: { method: 'GET', path: '/api/combos', failure: 'Failed to fetch combos' },
    create: { method: 'POST', path: '/api/combos', failure: 'Failed to create combo', status: 201 },
    get: { method: 'GET', path: '/api/combos/:id', failure: 'Failed to fetch combo' },
    update: { method: 'PUT', path: '/api/combos/:id', failure: 'Failed to update combo' },
    delete: { method: 'DELETE', path: '/api/combos/:id', failure: 'Failed to delete combo' },
    put: { method: 'PUT', path: '/api/combos', failure: 'Failed to put combo' },
  },
  connections: {
    list: { method: 'GET', path: '/api/connections', failure: 'Failed to fetch connections' },
    create: { method: 'POST', path: '/api/connections', failure: 'Failed to create connection', status: 201 },
    get: { method: 'GET', path: '/api/connections/:id', failure: 'Failed to fetch connection' },
    update: { method: 'PUT', path: '/api/connections/:id', failure: 'Failed to update connection' },
    delete: { method: 'DELETE', path: '/api/connections/:id', failure: 'Failed to delete connection' },
    put: { method: 'PUT', path: '/api/connections', failure: 'Failed to put connection' },
    discover: {
      method: 'POST',
      path: '/api/connections/:id/models',
      failure: 'Failed to discover models',
      hasBody: false,
    },
  },
  models: {
    published: { method: 'GET', path: '/api/models', failure: 'Failed to list models' },
  },
  customModels: {
    list: { method: 'GET', path: '/api/models/custom', failure: 'Failed to fetch custom models' },
    create: { method: 'POST', path: '/api/models/custom', failure: 'Failed to create custom model', status: 201 },
    delete: {
      method: 'DELETE',
      path: '/api/models/custom/:providerAlias/:id+',
      failure: 'Failed to delete custom model',
    },
    put: { method: 'PUT', path: '/api/models/custom', failure: 'Failed to put custom model' },
  },
  aliases: {
    list: { method: 'GET', path: '/api/models/aliases', failure: 'Failed to fetch aliases' },
    set: { method: 'PUT', path: '/api/models/aliases', failure: 'Failed to set alias' },
    delete: { method: 'DELETE', path: '/api/models/aliases/:alias+', failure: 'Failed to delete alias' },
  },
  providers: {
    list: { method: 'GET', path: '/api/providers', failure: 'Failed to fetch providers' },
    get: { method: 'GET', path: '/api/providers/:id', failure: 'Failed to fetch provider' },
    update: { method: 'PUT', path: '/api/providers/:id', failure: 'Failed to update provider' },
  },
  cloud: {
    get: { method: 'GET', path: '/api/sync/cloud', failure: 'Failed to fetch cloud state' },
    enable: { method: 'POST', path: '/api/sync/cloud', action: 'enable', failure: 'Failed to enable cloud' },
    sync: { method: 'POST', path: '/api/sync/cloud', action: 'sync', failure: 'Failed to sync with cloud' },
    disable: { method: 'POST', path: '/api/sync/cloud', action: 'disable', failure: 'Failed to disable cloud' },
    check: { method: 'POST', path: '/api/sync/cloud', action: 'check', failure: 'Failed to check cloud' },
    sessions: {
      list: { method: 'GET', path: '/api/sync/cloud/sessions', failure: 'Failed to fetch sessions' },
      revoke: { method: 'DELETE', path: '/api/sync/cloud/sessions/:id', failure: 'Failed to revoke session' },
    },
  },
  explain: { method: 'POST', path: '/api/explain', failure: 'Failed to explain' },
  openapi: { method: 'GET', path: '/api/openapi.json', failure: 'Failed to describe the API' },
  damagedRecords: {
    get: { method: 'GET', path: '/api/health/records/:key+', failure: 'Failed to fetch record' },
    put: { method: 'PUT', path: '/api/health/records/:key+', failure: 'Failed to repair record' },
    delete: { method: 'DELETE', path: '/api/health/records/:key+', failure: 'Failed to remove record' },
  },
  health: {
    list: { method: 'GET', path: '/api/health', failure: 'Failed to fetch health' },
    reset: { method: 'DELETE', path: '/api/health/:id?', failure: 'Failed to reset health' },
  },
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

/** `gateway.api` before the code of the operations is loaded: each call of any of them asks for it. */
export function deferredManagement(load: () => Promise<Management<unknown>>): Management<unknown> {
  const deferred = (rows: TableRows, before: readonly string[]): object =>
    Object.fromEntries(
      Object.entries(rows).map(([name, inner]) => {
        const names = [...before, name]
        const call: UntypedCall = async (...args) => callOf(await load(), names)(...args)
        return [name, isRow(inner) ? call : deferred(inner, names)]
      }),
    )
  return deferred(operations, []) as Management<unknown> // the table has all of its operations
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
