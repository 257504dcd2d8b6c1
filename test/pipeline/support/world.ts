import { memoryStorage } from '../../../adapters/storage/memory.ts'
import type { NewCombo } from '../../../src/admin/combos.ts'
import type { Hooks } from '../../../src/features/observe/hooks.ts'
import type { GatewayObserver } from '../../../src/features/observe/observer.ts'
import { createGateway, type Gateway } from '../../../src/gateway.ts'
import type { UpstreamFetch } from '../../../src/lib/exchange.ts'
import type { Limits } from '../../../src/options.ts'
import type { UsageRecord } from '../../../src/pricing/usage-record.ts'
import type { AttemptRecord, RequestRecord } from '../../../src/request/hook-records.ts'
import type { Catalog, Connection, Logger, Storage } from '../../../src/types.ts'
import { plant, watch, watchfulLogger } from '../../support/canaries.ts'
import { type FakeClock, fakeClock } from '../../support/clock.ts'
import { loadLateParts } from './under-load.ts'

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

export interface WorldOptions {
  fetch?: Fetch | UpstreamFetch
  clock?: FakeClock
  storage?: Storage
  catalog?: Catalog
  limits?: Partial<Limits>
  hooks?: Hooks
  logger?: Logger | false
  basePath?: string
  allowedOrigins?: readonly string[]
  secret?: string
  sharedState?: boolean
  fetchMedia?: boolean
  includeStreamUsage?: boolean
  endRequestsOfPausedKeys?: boolean
  observe?: readonly GatewayObserver[]
  /** Whether usage is recorded. Default: `false`, so all timers and storage calls belong to requests. */
  usage?: boolean
  /**
   * The connections, oldest first. A string is a connection to the provider with that ID. Default: one each to `one`, `two`, `three`, and `claude`.
   */
  connections?: ReadonlyArray<string | (Partial<Connection> & { provider: string })>
  combos?: Record<string, string[] | Omit<NewCombo, 'name'>>
  aliases?: Record<string, string>
}

/** A gateway with its connections, a manual clock, and the data that its hooks received. */
export interface World {
  gateway: Gateway
  api: Gateway['api']
  clock: FakeClock
  recorded: Recorded
  /** Sends `POST path` with a body. Strings are sent unchanged, and anything else as JSON. */
  post(path: string, body: unknown, init?: RequestInit): Promise<Response>
  chat(body: object, init?: RequestInit): Promise<Response>
  messages(body: object, init?: RequestInit): Promise<Response>
}

export interface Recorded {
  requests: RequestRecord[]
  attempts: AttemptRecord[]
  usages: UsageRecord[]
  errors: unknown[]
}

/** Three providers of one format, one of the other, and one of an unsupported format. */
export const catalog: Catalog = {
  one: { baseUrl: 'http://one.test/v1', models: [{ id: 'm' }, { id: 'other' }] },
  two: { baseUrl: 'http://two.test/v1', models: [{ id: 'm' }] },
  three: { baseUrl: 'http://three.test/v1', models: [{ id: 'm' }] },
  claude: { baseUrl: 'http://claude.test/v1', format: 'anthropic-messages', models: [{ id: 'c' }] },
  google: { baseUrl: 'http://google.test/v1', format: 'gemini', models: [{ id: 'g' }] },
}

export const token = 'an-admin-token-of-more-than-32-characters'

/** Returns the credential of a provider's connection, unless the test sets another. */
export const getApiKey = (provider: string): string => `secret-of-${provider}`

export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const { clock = fakeClock(), connections = ['one', 'two', 'three', 'claude'], combos = {}, aliases = {} } = options
  plant(options.secret)
  await loadLateParts()
  const recorded: Recorded = { requests: [], attempts: [], usages: [], errors: [] }
  const gateway = createGateway({
    storage: options.storage ?? memoryStorage({ clock }),
    clock,
    fetch: options.fetch ?? noNetwork,
    catalog: options.catalog ?? catalog,
    logger: options.logger ?? watchfulLogger(),
    management: { token },
    hooks: options.hooks ?? keeping(recorded),
    usage: options.usage ?? false,
    ...(options.limits && { limits: options.limits }),
    ...(options.sharedState !== undefined && { sharedState: options.sharedState }),
    ...(options.fetchMedia !== undefined && { fetchMedia: options.fetchMedia }),
    includeStreamUsage: options.includeStreamUsage ?? false, // the fake providers always report usage, and most tests compare entire streams
    ...(options.endRequestsOfPausedKeys !== undefined && { endRequestsOfPausedKeys: options.endRequestsOfPausedKeys }),
    ...(options.observe && { observe: options.observe }),
    ...(options.secret !== undefined && { secret: options.secret }),
    ...(options.basePath !== undefined && { basePath: options.basePath }),
    ...(options.allowedOrigins && { allowedOrigins: options.allowedOrigins }),
  })
  const { api } = gateway
  for (const entry of connections) {
    const connection = typeof entry === 'string' ? { provider: entry } : entry
    const full = { apiKey: getApiKey(connection.provider), ...connection }
    plant(full.apiKey)
    await api.connections.create(full)
    await clock.advance(1) // so they all have different creation times
  }
  for (const [alias, model] of Object.entries(aliases)) await api.aliases.set({ alias, model })
  for (const [name, combo] of Object.entries(combos)) {
    await api.combos.create({ name, ...(Array.isArray(combo) ? { models: combo } : combo) })
  }

  const post: World['post'] = (path, body, init = {}) =>
    gateway.fetch(
      new Request(`http://gateway${path}`, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...init,
        headers: { 'content-type': 'application/json', ...init.headers },
      }),
    )

  return {
    gateway,
    api,
    clock,
    recorded,
    post,
    chat: (body, init) => post('/v1/chat/completions', { model: 'one/m', messages: [], ...body }, init),
    messages: (body, init) => post('/v1/messages', { model: 'claude/c', max_tokens: 9, messages: [], ...body }, init),
  }
}

const createUpstreamFetch =
  <R>(records: R[]) =>
  (record: R) => {
    watch(record, 'a hook')
    records.push(record)
  }

export const keeping = (recorded: Recorded): Hooks => ({
  onRequest: createUpstreamFetch(recorded.requests),
  onAttempt: createUpstreamFetch(recorded.attempts),
  onUsage: createUpstreamFetch(recorded.usages),
  onError: (error) => void recorded.errors.push(error),
})

const noNetwork: Fetch = () => Promise.reject(new TypeError('fetch failed'))
