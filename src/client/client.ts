import type { KeyHintsQuery, KeysQuery, MaskedKey } from '../admin/key-listing.ts'
import type { KeyView } from '../admin/keys.ts'
import type { DisableCloud, SyncedCloud } from '../features/cloud-sync/gateway/cloud-operations.ts'
import type { LiveEvent } from '../features/live/live-feed.ts'
import type { Management } from '../management/operations.ts'
import type { Clock } from '../types.ts'
import { followEvents, type LiveOptions } from './client-live.ts'
import { platformFetch, platformNow } from './client-platform.ts'
import { buildRequest } from './client-request.ts'
import { type DisabledCloud, disableAfterSync, updateWithCloudUrl } from './client-rules.ts'
import { type IfMatchOperations, routes } from './routes.data.ts'
import { createSend } from './send.ts'

export type { KeyHintsQuery, KeysQuery, MaskedKey } from '../admin/key-listing.ts'
export type { LiveEvent, LiveEvents, LiveEventType } from '../features/live/live-feed.ts'
export type { StoredAttempt, StoredRequest, StoredSkip, StoredTarget } from '../features/usage/request-record.ts'
export { ClientError, type ClientErrorCode } from './client-error.ts'
export type { LiveOptions } from './client-live.ts'
export type { DisabledCloud } from './client-rules.ts'
export type { IfMatchOperations } from './routes.data.ts'

/** Options for `createClient`. */
export interface ClientOptions {
  /** The gateway's `http` or `https` URL with its `basePath`: `https://app.example/ai`. A trailing slash doesn't matter. */
  baseUrl: string
  /** The admin token. Default: none, for apps that identify callers in another way, such as with cookies. */
  token?: string
  /** Default: the platform's `fetch`. Pass `gateway.fetch` to call a gateway in the same process. */
  fetch?: typeof fetch
  /** Measures timeouts. Default: the platform's clock. */
  clock?: Clock
}

/**
 * A gateway's management operations over HTTP: the same operations as `gateway.api`, with the same arguments and results. Each rejects with a
 * `ClientError`. `keys.list` omits key values unless you pass `values: 'all'`. `settings.update` removes a trailing `/v1` and slashes from
 * `cloudUrl`, and `cloud.disable` sends `sync` first. Methods accept `Input` (default `never`) as well as the typed input; the gateway validates it.
 */
export type Client<Input = never> = Omit<WithIfMatch<Management<Input>>, 'cloud' | 'keys'> & {
  keys: Omit<WithIfMatch<Management<Input>>['keys'], 'list'> & KeyLists<Input>
  cloud: Omit<Management<Input>['cloud'], 'disable'> & {
    /** Sends `sync` first. If that fails, still sends `disable`, and returns the reason as `syncError`. */
    disable(input?: DisableCloud | Input): Promise<DisabledCloud>
  }
  /**
   * Follows the gateway's live events (docs/src/content/docs/reference/usage-records.md). The iteration never ends: if the connection is lost, it
   * reconnects and continues after the last event. It throws a `ClientError` if the gateway rejects the connection with a 4xx.
   */
  live(options?: LiveOptions): AsyncIterable<LiveEvent>
}

/** The overloads of `keys.list`, which omits key values by default. */
interface KeyLists<Input> {
  list(query?: Omit<KeysQuery, 'values'> & Partial<KeyHintsQuery>): Promise<{ keys: MaskedKey[]; after?: string }>
  list(query: KeysQuery & { values: 'all' }): Promise<{ keys: KeyView[]; after?: string }>
  list(query: KeysQuery | Input): Promise<{ keys: (KeyView | MaskedKey)[]; after?: string }>
}

/** Options for an operation that changes one record. */
export interface IfMatchOptions {
  /**
   * The record to change, exactly as the API returned it, alone or in a list; for an alias, `{ alias, model }`. If the record was changed or removed
   * after that response, the call changes nothing and rejects with status 409; the error's `current` is the current record. Default: no check, so the
   * last change wins.
   */
  ifMatch?: object
}

/** An API whose operations in `IfMatchOperations` take `IfMatchOptions` as an additional last argument. */
type WithIfMatch<Api> = {
  [Resource in keyof Api]: Resource extends keyof IfMatchOperations
    ? {
        [Name in keyof Api[Resource]]: Name extends IfMatchOperations[Resource]
          ? AddIfMatch<Api[Resource][Name]>
          : Api[Resource][Name]
      }
    : Api[Resource]
}

/**
 * A method type, because its parameters are compared bivariantly. That makes a `Client` assignable to a `Client<unknown>`.
 */
type AddIfMatch<Operation> = Operation extends (...args: infer Args) => infer Result
  ? { method(...args: [...Args, options?: IfMatchOptions]): Result }['method']
  : never

/**
 * Creates a client for a gateway's management API. The timeouts, from the call to the last byte of the response, are 15 s for cloud sync actions
 * (including the `sync` that `disable` sends), 8 s for `cloud.check`, and 30 s for everything else. Throws a TypeError for invalid options.
 */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, token, fetch = platformFetch, clock } = checkOptions(options)
  const send = createSend({ base: normalizeBaseUrl(baseUrl), token, fetch, clock })
  const createCall =
    (route: string, timeoutMs?: number) =>
    async (...args: unknown[]) =>
      send(buildRequest(route, args, timeoutMs))
  const operations = mapRoutes(routes, createCall) as Omit<Client, 'live'> // `routes` has all operations
  const callWithin = (route: string, timeoutMs: number, input: object = {}) =>
    createCall(route, timeoutMs)(input) as Promise<SyncedCloud> // `sync` and `disable` both return this type
  const steps = {
    sync: (timeoutMs: number) => callWithin(routes.cloud.sync, timeoutMs),
    disable: (input: DisableCloud | undefined, timeoutMs: number) => callWithin(routes.cloud.disable, timeoutMs, input),
    now: clock ? () => clock.now() : platformNow,
  }
  const listKeys = async ({ values = 'none', ...query }: KeysQuery = {}) => operations.keys.list({ values, ...query })
  return {
    ...operations,
    live: (options = {}) => followEvents(options, { base: normalizeBaseUrl(baseUrl), token, fetch, clock }),
    keys: { ...operations.keys, list: listKeys as KeyLists<never>['list'] }, // the `values` option determines the keys' type
    settings: { ...operations.settings, update: updateWithCloudUrl(operations.settings) },
    cloud: { ...operations.cloud, disable: disableAfterSync(steps) },
  }
}

/** Returns a copy of the tree with each route replaced by a function. */
function mapRoutes(tree: RouteTree, createCall: (route: string) => unknown): unknown {
  return Object.fromEntries(
    Object.entries(tree).map(([name, value]) => [
      name,
      typeof value === 'string' ? createCall(value) : mapRoutes(value, createCall),
    ]),
  )
}

interface RouteTree {
  readonly [name: string]: string | RouteTree
}

const optionNames: readonly string[] = ['baseUrl', 'token', 'fetch', 'clock'] satisfies (keyof ClientOptions)[]

function checkOptions(options: ClientOptions): ClientOptions {
  const unknownName = Object.keys(options).find((name) => !optionNames.includes(name))
  if (unknownName !== undefined)
    throw new TypeError(`${unknownName} is not an option. Known: ${optionNames.join(', ')}.`)
  const { token, fetch, clock } = options
  if (token !== undefined && (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)))
    throw new TypeError(
      'token must be the admin token: a string without whitespace that is valid in a header. Omit it for none.',
    )
  if (fetch !== undefined && typeof fetch !== 'function') throw new TypeError('fetch must be a function.')
  if (clock !== undefined && typeof clock?.sleep !== 'function')
    throw new TypeError('clock must have now() and sleep(ms, signal).')
  return options
}

function normalizeBaseUrl(baseUrl: unknown): string {
  const url = typeof baseUrl === 'string' && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw new TypeError('baseUrl must be the absolute URL of a gateway, such as https://app.example/ai.')
  if (url.username || url.password || url.search || url.hash)
    throw new TypeError(
      'baseUrl must not contain credentials, a query, or a fragment. Pass the admin token in the token option.',
    )
  let normalizedUrl = url.origin + url.pathname
  while (normalizedUrl.endsWith('/')) normalizedUrl = normalizedUrl.slice(0, -1)
  return normalizedUrl
}
