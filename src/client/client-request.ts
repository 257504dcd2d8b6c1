import { getRevision } from '../lib/revision.ts'
import { ClientError } from './client-error.ts'
import { ACTION_TIMEOUT_MS, CHECK_TIMEOUT_MS } from './client-rules.ts'

/** A request from the client to the gateway. */
export interface ClientRequest {
  method: string
  path: string
  /** Absent for GET and DELETE. */
  body?: unknown
  /** The revision that the record must have. */
  ifMatch?: string
  /** Default: the client's usual timeout. */
  timeoutMs?: number | undefined
}

/**
 * Builds an operation's request. `route` is a method, a path, and for some operations an action. Path parameters are the first arguments; `:name?` is
 * optional, and `:name+` can contain slashes. The next argument is the body, or the query for GET and DELETE. A change's last argument can be
 * `IfMatchOptions`. Throws a `ClientError` if an argument can't be part of a path.
 */
export function buildRequest(route: string, args: readonly unknown[], timeoutMs?: number): ClientRequest {
  const [method = '', pattern = '', action] = route.split(' ')
  let usedCount = 0
  const path = pattern.replace(/\/:(\w+)([?+]?)/g, (_, name: string, modifier: string) => {
    const value = args[usedCount++]
    return value === undefined && modifier === '?'
      ? ''
      : `/${encodeParameter(value, { name, allowsSlashes: modifier === '+' })}`
  })
  const hasBody = method !== 'GET' && method !== 'DELETE'
  const input: object = args[usedCount] ?? {}
  const { ifMatch }: { ifMatch?: object } = (hasBody ? args[usedCount + 1] : input) ?? {}
  return {
    method,
    path: hasBody ? path : path + toQuery(input),
    ...(hasBody && { body: action ? { ...input, action } : input }),
    ...(method !== 'GET' && ifMatch && { ifMatch: getRevision(ifMatch) }),
    timeoutMs:
      timeoutMs ?? (action === undefined ? undefined : action === 'check' ? CHECK_TIMEOUT_MS : ACTION_TIMEOUT_MS),
  }
}

function toQuery(input: object): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(input))
    if (value !== undefined && name !== 'ifMatch') query.set(name, String(value))
  return query.size > 0 ? `?${query}` : ''
}

/**
 * Encodes a path parameter. Keeps slashes, because some proxies reject `%2F`, unless URL parsing would remove a segment: an empty one, ".", or "..".
 */
function encodeParameter(value: unknown, { name, allowsSlashes }: { name: string; allowsSlashes: boolean }): string {
  if (typeof value !== 'string' || value === '' || isDotSegment(value) || /\p{Cs}/u.test(value)) {
    const description = typeof value === 'string' ? JSON.stringify(value) : `of type ${typeof value}`
    throw new ClientError(400, `"${name}" must be the string that the gateway lists, but is ${description}.`, {
      code: 'INVALID_ARGUMENT',
    })
  }
  const segments = value.split('/')
  return allowsSlashes && !segments.some((segment) => segment === '' || isDotSegment(segment))
    ? segments.map(encodeURIComponent).join('/')
    : encodeURIComponent(value)
}

/** Returns whether URL parsing removes this part. */
const isDotSegment = (segment: string) => segment === '.' || segment === '..'
