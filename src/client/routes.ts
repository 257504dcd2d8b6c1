import { revisionOf } from '../lib/revision.ts'
import { ACTION_MS, CHECK_MS } from './client-rules.ts'
import { ClientError } from './error.ts'

/**
 * How an operation is called over HTTP: a method and a path below the gateway's. The parameters of the path are the first arguments;
 * `:name?` may be missing, `:name+` may hold slashes. POST, PUT and PATCH send the argument after them, GET its members as a query.
 * The last argument of a change may be `IfMatchOptions`.
 */
export type ClientRoute = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /api/${string}`

/** A route whose body has more members than the input, or which has a time-out of its own, in ms. */
export interface ClientAction<Route extends ClientRoute = ClientRoute, Action extends string = string> {
  route: Route
  body: { action: Action }
  timeoutMs: number
}

/** A row of the gateway's table of operations. */
interface ServedRow {
  method: string
  path: `/api/${string}`
}

/**
 * The routes of a table of operations of any depth, such as the gateway's: each by its method and path, and those with an action as
 * `cloudAction`.
 */
export type ClientRoutes<Rows> = {
  readonly [Name in keyof Rows]: Rows[Name] extends ServedRow ? RouteOf<Rows[Name]> : ClientRoutes<Rows[Name]>
}

type RouteOf<Row extends ServedRow> = Row extends { action: infer Action extends string }
  ? ClientAction<Extract<`${Row['method']} ${Row['path']}`, ClientRoute>, Action>
  : `${Row['method']} ${Row['path']}`

/** The route of an action of cloud mode; all actions have the same address. */
export const cloudAction = <const Action extends string>(
  action: Action,
  timeoutMs = action === 'check' ? CHECK_MS : ACTION_MS,
): ClientAction<'POST /api/sync/cloud', Action> => ({
  route: 'POST /api/sync/cloud',
  body: { action },
  timeoutMs,
})

/** A request of the client to the gateway. */
export interface ClientRequest {
  method: string
  /** The path below the address of the gateway. */
  path: string
  /** Absent for GET and DELETE. */
  body?: unknown
  /** The revision that the record must have for the change to be made. */
  ifMatch?: string
  /** Default: that of all operations. */
  timeoutMs?: number
}

/** The request of an operation with these arguments. Throws a `ClientError` when one of them cannot be part of a path. */
export function requestOf(route: ClientRoute | ClientAction, args: readonly unknown[]): ClientRequest {
  const { route: line, body: own, timeoutMs } = typeof route === 'string' ? { route } : route
  const [method = '', pattern = ''] = line.split(' ')
  let used = 0
  const path = pattern.replace(/\/:(\w+)([?+]?)/g, (_, name: string, mark: string) => {
    const value = args[used++]
    return value === undefined && mark === '?' ? '' : `/${inPath(value, { name, mayHoldSlashes: mark === '+' })}`
  })
  const hasBody = method !== 'GET' && method !== 'DELETE'
  const input: object = args[used] ?? {}
  const { ifMatch }: { ifMatch?: object } = (hasBody ? args[used + 1] : input) ?? {}
  return {
    method,
    path: method === 'GET' ? path + queryOf(input) : path,
    ...(hasBody && { body: own ? { ...input, ...own } : input }),
    ...(method !== 'GET' && ifMatch && { ifMatch: revisionOf(ifMatch) }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  }
}

function queryOf(input: object): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(input)) if (value !== undefined) query.set(name, String(value))
  return query.size > 0 ? `?${query}` : ''
}

/**
 * A value encoded as part of a path. Slashes are kept, since some proxies refuse `%2F`, except when a part between slashes would be lost: an
 * empty one, "." and "..".
 */
function inPath(value: unknown, { name, mayHoldSlashes }: { name: string; mayHoldSlashes: boolean }): string {
  if (typeof value !== 'string' || value === '' || isDots(value) || /\p{Cs}/u.test(value)) {
    const given = typeof value === 'string' ? JSON.stringify(value) : `of type ${typeof value}`
    throw new ClientError(400, `"${name}" must be the text that the gateway lists, and is ${given}.`, {
      code: 'INVALID_ARGUMENT',
    })
  }
  const parts = value.split('/')
  return mayHoldSlashes && !parts.some((part) => part === '' || isDots(part))
    ? parts.map(encodeURIComponent).join('/')
    : encodeURIComponent(value)
}

/** Is this a part that is removed when an address is parsed? */
const isDots = (part: string) => part === '.' || part === '..'
