import type { LiveEvent } from '../http/live-feed.ts'
import type { DisableCloud, SyncedCloud } from '../management/cloud.ts'
import type { Management, operations } from '../management/operations.ts'
import type { Clock } from '../types.ts'
import { type DisabledCloud, disableAfterSync, updateWithCloudUrl } from './client-rules.ts'
import { follow, type LiveOptions } from './live.ts'
import { platformFetch, platformNow } from './platform.ts'
import { type ClientAction, type ClientRoute, type ClientRoutes, cloudAction, requestOf } from './routes.ts'
import { createSend } from './send.ts'

export type { LiveEvent, LiveEvents, LiveEventType } from '../http/live-feed.ts'
export type { KeptAttempt, KeptRequest, KeptSkip, KeptTarget } from '../usage/kept/record.ts'
export type { DisabledCloud } from './client-rules.ts'
export { ClientError, type ClientErrorCode } from './error.ts'
export type { LiveOptions } from './live.ts'

/** The options of `createClient`. */
export interface ClientOptions {
  /** The address of the gateway, `http` or `https`, with its `basePath`: `https://app.example/ai`. A trailing slash does not matter. */
  baseUrl: string
  /** The admin token; default: none, for a host that identifies its callers in another way, such as by cookies. */
  token?: string
  /** Default: the platform's. `gateway.fetch` calls a gateway in the same process. */
  fetch?: typeof fetch
  /** Measures the time-outs; default: the platform's. */
  clock?: Clock
}

/**
 * The management operations of a gateway over HTTP: the members of `gateway.api` with the same arguments and results. Each rejects with a
 * `ClientError`. `settings.update` removes a trailing `/v1` and slashes from `cloudUrl`, and `cloud.disable` sends `sync` first. `Input` is
 * accepted besides the typed input, and validated by the gateway; default: nothing.
 */
export type Client<Input = never> = Omit<WithIfMatch<Management<Input>>, 'cloud'> & {
  cloud: Omit<Management<Input>['cloud'], 'disable'> & {
    /** Sends `sync` first. When that fails, `disable` is sent all the same, and `syncError` has the reason. */
    disable(input?: DisableCloud | Input): Promise<DisabledCloud>
  }
  /**
   * The live events of the gateway (src/usage/KEPT.md). The iteration has no end: when the connection is lost, it connects again and continues after
   * the last event. It throws a `ClientError` when the gateway refuses the connection with a 4xx.
   */
  live(options?: LiveOptions): AsyncIterable<LiveEvent>
}

/** Options of an operation that changes one record. */
export interface IfMatchOptions {
  /**
   * The record to change, exactly as a response of the API contained it, in a list or alone; for an alias `{ alias, model }`. If the record was
   * changed or removed after that response, the call changes nothing and rejects with status 409; `current` of the error is the present record.
   * Default: no check, so that the last change wins.
   */
  ifMatch?: object
}

/** The operations that change one record, by the resource. */
export interface IfMatchOperations {
  keys: 'update' | 'delete'
  groups: 'update' | 'delete'
  combos: 'update' | 'delete'
  connections: 'update' | 'delete'
  settings: 'update'
  customModels: 'put' | 'delete'
  aliases: 'set' | 'delete'
  providers: 'update'
}

/** An API whose operations in `IfMatchOperations` take `IfMatchOptions` as an additional last argument. */
type WithIfMatch<Api> = {
  [Resource in keyof Api]: Resource extends keyof IfMatchOperations
    ? {
        [Name in keyof Api[Resource]]: Name extends IfMatchOperations[Resource]
          ? AndIfMatch<Api[Resource][Name]>
          : Api[Resource][Name]
      }
    : Api[Resource]
}

/**
 * Written as a method type, whose parameters are compared bivariantly: a `Client` is then assignable to a `Client<unknown>`, as with the operations
 * that take no `IfMatchOptions`.
 */
type AndIfMatch<Operation> = Operation extends (...args: infer Args) => infer Result
  ? { method(...args: [...Args, options?: IfMatchOptions]): Result }['method']
  : never

/** The route of every operation; one that is missing, or that differs from the gateway's, does not compile. */
const routes: ClientRoutes<typeof operations> = {
  keys: {
    list: 'GET /api/keys',
    create: 'POST /api/keys',
    put: 'PUT /api/keys',
    get: 'GET /api/keys/:id',
    update: 'PUT /api/keys/:id',
    delete: 'DELETE /api/keys/:id',
    rotate: 'POST /api/keys/:id/rotate',
    limits: {
      get: 'GET /api/keys/:id/limits',
      reset: 'DELETE /api/keys/:id/limits',
      settle: 'POST /api/keys/:id/limits/settle',
    },
  },
  groups: {
    list: 'GET /api/groups',
    create: 'POST /api/groups',
    put: 'PUT /api/groups',
    get: 'GET /api/groups/:id',
    update: 'PUT /api/groups/:id',
    delete: 'DELETE /api/groups/:id',
    limits: {
      get: 'GET /api/groups/:id/limits',
      reset: 'DELETE /api/groups/:id/limits',
      settle: 'POST /api/groups/:id/limits/settle',
    },
  },
  settings: {
    get: 'GET /api/settings',
    update: 'PATCH /api/settings',
    limits: {
      get: 'GET /api/settings/limits',
      reset: 'DELETE /api/settings/limits',
      settle: 'POST /api/settings/limits/settle',
    },
  },
  combos: {
    list: 'GET /api/combos',
    create: 'POST /api/combos',
    put: 'PUT /api/combos',
    get: 'GET /api/combos/:id',
    update: 'PUT /api/combos/:id',
    delete: 'DELETE /api/combos/:id',
  },
  connections: {
    list: 'GET /api/connections',
    create: 'POST /api/connections',
    put: 'PUT /api/connections',
    get: 'GET /api/connections/:id',
    update: 'PUT /api/connections/:id',
    delete: 'DELETE /api/connections/:id',
    discover: 'POST /api/connections/:id/models',
    test: 'POST /api/connections/:id/test',
  },
  models: { published: 'GET /api/models' },
  customModels: {
    list: 'GET /api/models/custom',
    create: 'POST /api/models/custom',
    put: 'PUT /api/models/custom',
    delete: 'DELETE /api/models/custom/:providerAlias/:id+',
  },
  aliases: {
    list: 'GET /api/models/aliases',
    set: 'PUT /api/models/aliases',
    delete: 'DELETE /api/models/aliases/:alias+',
  },
  providers: {
    list: 'GET /api/providers',
    get: 'GET /api/providers/:id',
    update: 'PUT /api/providers/:id',
  },
  usage: {
    summary: 'GET /api/usage',
    requests: 'GET /api/usage/requests',
    request: 'GET /api/usage/requests/:id',
  },
  explain: 'POST /api/explain',
  overview: 'GET /api/overview',
  info: 'GET /api/info',
  openapi: 'GET /api/openapi.json',
  damagedRecords: {
    get: 'GET /api/health/records/:key+',
    put: 'PUT /api/health/records/:key+',
    delete: 'DELETE /api/health/records/:key+',
  },
  health: {
    list: 'GET /api/health',
    reset: 'DELETE /api/health/:id?',
  },
  cloud: {
    get: 'GET /api/sync/cloud',
    enable: cloudAction('enable'),
    sync: cloudAction('sync'),
    disable: cloudAction('disable'),
    check: cloudAction('check'),
    sessions: {
      list: 'GET /api/sync/cloud/sessions',
      revoke: 'DELETE /api/sync/cloud/sessions/:id',
    },
  },
}

/**
 * A client of the management API of a gateway. Time-outs: 15 s for actions of cloud mode, `disable` with its `sync` included, 8 s for
 * `cloud.check`, 30 s for all else, each from the call to the last byte of the response. Throws a TypeError on options that cannot work.
 */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, token, fetch = platformFetch, clock } = checked(options)
  const send = createSend({ base: baseOf(baseUrl), token, fetch, clock })
  const call =
    (route: ClientRoute | ClientAction) =>
    async (...args: unknown[]) =>
      send(requestOf(route, args))
  const served = mapRoutes(routes, call) as Omit<Client, 'live'> // the table has all of its operations
  const within = (action: string, timeoutMs: number, input: object = {}) =>
    call(cloudAction(action, timeoutMs))(input) as Promise<SyncedCloud> // as `served` has them
  const steps = {
    sync: (timeoutMs: number) => within('sync', timeoutMs),
    disable: (input: DisableCloud | undefined, timeoutMs: number) => within('disable', timeoutMs, input),
    now: clock ? () => clock.now() : platformNow,
  }
  return {
    ...served,
    live: (options = {}) => follow(options, { base: baseOf(baseUrl), token, fetch, clock }),
    settings: { ...served.settings, update: updateWithCloudUrl(served.settings) },
    cloud: { ...served.cloud, disable: disableAfterSync(steps) },
  }
}

/** Makes the same tree with a function in place of each route. */
function mapRoutes(tree: object, call: (route: ClientRoute | ClientAction) => unknown): unknown {
  const entries = Object.entries(tree as Record<string, ClientRoute | ClientAction | object>)
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      typeof value === 'string' || 'route' in value ? call(value) : mapRoutes(value, call),
    ]),
  )
}

const known: readonly string[] = ['baseUrl', 'token', 'fetch', 'clock'] satisfies (keyof ClientOptions)[]

function checked(options: ClientOptions): ClientOptions {
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new TypeError(`${unknown} is not an option. Known: ${known.join(', ')}.`)
  const { token, fetch, clock } = options
  if (token !== undefined && (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)))
    throw new TypeError(
      'token must be the admin token: text without blanks that a header can carry. Leave it out for none.',
    )
  if (fetch !== undefined && typeof fetch !== 'function') throw new TypeError('fetch must be a function.')
  if (clock !== undefined && typeof clock?.sleep !== 'function')
    throw new TypeError('clock must have now() and sleep(ms, signal).')
  return options
}

function baseOf(baseUrl: unknown): string {
  const url = typeof baseUrl === 'string' && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw new TypeError('baseUrl must be the absolute address of a gateway, such as https://app.example/ai.')
  if (url.username || url.password || url.search || url.hash)
    throw new TypeError('baseUrl must have no credentials, query or fragment. The admin token is an option of its own.')
  let base = url.origin + url.pathname
  while (base.endsWith('/')) base = base.slice(0, -1)
  return base
}
