import type * as v from 'valibot'
import { isObject } from '../lib/json.ts'

/** One operation's entry: how HTTP calls it, its input and result, and its description in the OpenAPI document. */
export interface OperationEntry {
  /** `PATCH` requests also reach the operations with the method `PUT`. */
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the base path. Path parameters are the first arguments: `:name`, `:name?` (optional), or `:name+` (can contain slashes). */
  path: `/api/${string}`
  /** The value of the body field `action` that selects this operation, if several share a route. */
  action?: string
  /** The summary of a route that several actions share; only set on the first action. */
  routeSummary?: string
  /** Completes the message of an internal error: "Failed to fetch keys". */
  failure: string
  /** The HTTP status of a successful response. Default: 200. */
  status?: 201
  /** The schema of the last argument, which HTTP reads from the query for GET and DELETE, and from the body for other methods. Absent: no input. */
  input?: InputSchema
  /** Whether the body can be missing, which is treated as an empty object. */
  isBodyOptional?: true
  /** The field of the result that clients can also get as CSV and JSON Lines. */
  exports?: 'rows' | 'requests' | 'request'
  /** Whether the operation changes one record. It then fails with a 409 if the `If-Match` header names another revision of the record. */
  ifMatch?: true
  /** Whether the response contains one record. Its revision is then in the `ETag` header. */
  hasRevision?: true
  summary: string
  description?: string
  /** Descriptions of the input fields. */
  parameters?: Readonly<Record<string, string>>
  /** Error statuses that only this operation returns. */
  errors?: readonly number[]
}

/** An input schema: an object with these fields. */
export type InputSchema = v.GenericSchema & { readonly entries: v.ObjectEntries }

/** Operations by name; a resource can contain other resources. */
export interface OperationTable {
  readonly [name: string]: OperationEntry | OperationTable
}

/** An entry for an operation that a feature adds. */
export interface FeatureOperation extends OperationEntry {
  /** The schema of the result, which is the HTTP response body. */
  output: v.GenericSchema
  /** Called with the path parameters, followed by the validated input if the operation takes any. */
  run(...args: never[]): Promise<object>
}

/** The operations that features add: `gateway.api.<resource>.<name>`. */
export interface FeatureOperations {
  readonly [resource: string]: { readonly [name: string]: FeatureOperation }
}

/** An operation with its path in `gateway.api`, such as `['cloud', 'sessions', 'list']`. Operations that features add have an `output`. */
export interface NamedOperation extends OperationEntry, Partial<Pick<FeatureOperation, 'output'>> {
  names: readonly string[]
}

/** Returns the routes for records with IDs, such as those at `/api/keys`; `noun` names one record. */
export function createRecordRoutes<const Path extends `/api/${string}`>(path: Path, noun: string) {
  return {
    list: { method: 'GET', path, failure: `fetch ${noun}s` },
    create: { method: 'POST', path, failure: `create ${noun}`, status: 201 },
    get: { method: 'GET', path: `${path}/:id`, failure: `fetch ${noun}`, hasRevision: true },
    update: { method: 'PUT', path: `${path}/:id`, failure: `update ${noun}`, ifMatch: true },
    delete: { method: 'DELETE', path: `${path}/:id`, failure: `delete ${noun}`, ifMatch: true },
    put: { method: 'PUT', path, failure: `put ${noun}` },
  } as const
}

/** Descriptions that change operations on several resources share. */
export const updateDescription = 'Omitted fields stay the same; `null` removes a field.'
export const omittedFieldsNote =
  'Omitted fields stay the same. Writes nothing if nothing would change, so you can send it at every start.'
export const putDescription = `Identified by \`id\`, or by name if there is no id. ${omittedFieldsNote}`

/** Descriptions of parameters that several lists share. */
export const listParameters = {
  limit: 'Maximum entries per page, up to 1,000. Default: 100 requests, all keys and models.',
  before: 'The `before` of the previous page.',
  after: 'The `after` of the previous page.',
  q: 'Only keys whose name or id contains this string, or models whose id does; case-insensitive.',
}

/** Lists all of a table's operations, in order. */
export function listOperations(table: OperationTable, parents: readonly string[] = []): NamedOperation[] {
  return Object.entries(table).flatMap(([name, entry]) => {
    const names = [...parents, name]
    return isOperation(entry) ? [{ ...entry, names }] : listOperations(entry, names)
  })
}

const isOperation = (entry: OperationEntry | OperationTable): entry is OperationEntry => typeof entry.path === 'string'

/** Returns whether HTTP requests for the operation have a body. */
export const acceptsBody = ({ method, action, input }: Pick<OperationEntry, 'method' | 'action' | 'input'>): boolean =>
  method !== 'GET' && method !== 'DELETE' && (input !== undefined || action !== undefined)

/** Returns whether HTTP requests for the operation have a query. */
export const acceptsQuery = ({ method, input }: Pick<OperationEntry, 'method' | 'input'>): boolean =>
  (method === 'GET' || method === 'DELETE') && input !== undefined

/** Finds an operation's function in an API. Throws a TypeError if there is none. */
export function findFunction(api: object, names: readonly string[]): (...args: unknown[]) => Promise<object> {
  const apiFunction = names.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), api)
  if (typeof apiFunction !== 'function') throw new TypeError(`There is no operation ${names.join('.')}.`)
  return (...args) => Reflect.apply(apiFunction, undefined, args)
}

type ApiFunction = (...args: never) => Promise<unknown>

/**
 * The entries that an API's functions need. A table that `satisfies` this type has an entry for each function, and an input schema for each function
 * with input.
 */
export type OperationEntries<Api> = Api extends ApiFunction
  ? OperationEntry & (HasInput<Api> extends true ? { input: InputSchema } : { input?: never })
  : { readonly [Name in keyof Api]: OperationEntries<Api[Name]> }

type HasInput<Function extends ApiFunction> =
  Last<Required<Parameters<Function>>> extends string | undefined ? false : true

type Last<Args extends readonly unknown[]> = Args extends readonly [...unknown[], infer Input] ? Input : undefined
