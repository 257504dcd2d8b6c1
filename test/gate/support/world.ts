import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { createLedger } from '../../../src/features/limits/ledger/ledger.ts'
import { createGateway, type Gateway } from '../../../src/gateway.ts'
import type { RequestRecord } from '../../../src/request/hook-records.ts'
import type { LimitScope, LimitState, LimitUnit, UsageLimits } from '../../../src/types/limits.ts'
import { kinds } from '../../../src/types/unions.ts'
import type { Catalog, SettingsChange, Storage } from '../../../src/types.ts'
import type { FakeUpstream, Respond } from '../../pipeline/support/upstream.ts'
import { fakeUpstream } from '../../pipeline/support/upstream.ts'
import { type FakeClock, fakeClock } from '../../support/clock.ts'
import { metered } from './metered-providers.ts'

/** In US dollars per million tokens. */
export const PRICE = { input: 1, output: 10 }

/** A provider of each format with a model that returns up to 4,000 tokens, and one provider without a price. */
export const catalog: Catalog = {
  one: { baseUrl: 'http://one.test/v1', models: [{ id: 'm', maxOutputTokens: 4_000, price: PRICE }] },
  two: { baseUrl: 'http://two.test/v1', models: [{ id: 'm', maxOutputTokens: 4_000, price: PRICE }] },
  cheap: {
    baseUrl: 'http://cheap.test/v1',
    models: [{ id: 'm', maxOutputTokens: 2_000, price: { input: 0.1, output: 0.1 } }],
  },
  free: { baseUrl: 'http://free.test/v1', models: [{ id: 'm', maxOutputTokens: 4_000 }] },
  other: {
    baseUrl: 'http://other.test/v1',
    models: kinds
      .filter((kind) => kind !== 'llm')
      .map((kind) => ({ id: kind, type: kind, price: { ...PRICE, search: 0.01, page: 0.01 } })),
  },
  claude: {
    baseUrl: 'http://claude.test/v1',
    format: 'anthropic-messages',
    models: [{ id: 'c', maxOutputTokens: 4_000, price: PRICE }],
  },
  google: {
    baseUrl: 'http://google.test/v1beta',
    format: 'gemini',
    models: [{ id: 'g', maxOutputTokens: 4_000, price: PRICE }],
  },
  open: {
    baseUrl: 'http://open.test/v1',
    format: 'openai-responses',
    models: [{ id: 'r', maxOutputTokens: 4_000, price: PRICE }],
  },
}

export interface GateOptions {
  /** The key's limits. */
  limits?: UsageLimits
  models?: string[]
  /** The limits of the key's group, if it has one. */
  groupLimits?: UsageLimits
  settings?: SettingsChange
  /** Default: all providers in the catalog respond and report their usage (`metered`). */
  respond?: Respond
  storage?: Storage
  clock?: FakeClock
  combos?: Record<string, string[]>
  aliases?: Record<string, string>
  /** Whether usage records are stored. */
  usage?: boolean
  onRequest?(record: RequestRecord): void
}

/** A gateway with one key, which has limits. */
export interface GateWorld {
  gateway: Gateway
  upstream: FakeUpstream
  clock: FakeClock
  storage: Storage
  key: string
  keyId: string
  errors: unknown[]
  /** The total usage that the providers have reported. */
  reported: { tokens: number }
  /** Sends `POST path` with a JSON body and the key. */
  post(path: string, body: unknown, init?: RequestInit & { headers?: Record<string, string> }): Promise<Response>
  chat(body?: object, init?: RequestInit): Promise<Response>
  /** Returns the stored limits after everything has settled. */
  stateOf(scope: LimitScope, limits: UsageLimits, id?: string): Promise<LimitState[]>
  /** Returns how much of a unit the key has used in total. `reserved` returns how much is reserved. */
  used(unit: LimitUnit): Promise<number>
  reserved(): Promise<number>
}

const ALL: UsageLimits = {
  requests: { total: Number.MAX_SAFE_INTEGER },
  tokens: { total: Number.MAX_SAFE_INTEGER },
  usd: { total: 1_000_000 },
  parallel: Number.MAX_SAFE_INTEGER,
}

export const messages = [{ role: 'user', content: 'Hi' }]

export async function openGate(options: GateOptions = {}): Promise<GateWorld> {
  const { clock = fakeClock(), combos = {}, aliases = {}, limits, models, groupLimits, settings } = options
  const storage = options.storage ?? memoryStorage({ clock })
  const reported = { tokens: 0 }
  const upstream = fakeUpstream(options.respond ?? metered({}, reported))
  const errors: unknown[] = []
  const gateway = createGateway({
    storage,
    clock,
    fetch: upstream,
    catalog,
    logger: false,
    ...(options.usage !== undefined && { usage: options.usage }),
    hooks: {
      onError: (error) => void errors.push(error),
      ...(options.onRequest && { onRequest: options.onRequest }),
    },
  })
  for (const provider of Object.keys(catalog))
    await gateway.api.connections.create({ provider, apiKey: `of-${provider}` })
  for (const [name, entries] of Object.entries(combos)) await gateway.api.combos.create({ name, models: entries })
  for (const [alias, model] of Object.entries(aliases)) await gateway.api.aliases.set({ alias, model })
  if (settings) await gateway.api.settings.update(settings)
  const group = groupLimits && (await gateway.api.groups.create({ name: 'Team', limits: groupLimits }))
  const created = await gateway.api.keys.create({
    name: 'alice',
    ...(limits && { limits }),
    ...(models && { models }),
    ...(group && { group: group.id }),
  })
  const { key, id: keyId } = created
  const post: GateWorld['post'] = (path, body, { headers, ...init } = {}) =>
    // Passes a `Request` to `fetch`, as a server would. If an in-process client passes a URL instead, the call rejects when the client aborts it.
    gateway.fetch(
      new Request(`http://gateway${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...init,
      }),
    )
  const getState: GateWorld['stateOf'] = async (scope, of, id = keyId) => {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
    const ledger = createLedger({
      storage,
      clock,
      random: Math.random,
      startTimer: () => () => {},
      nextTurn: () => Promise.resolve(),
      onError: (error) => void errors.push(error),
    })
    return ledger.getStates({ scope, id, limits: of })
  }
  return {
    gateway,
    upstream,
    clock,
    storage,
    key,
    keyId,
    errors,
    reported,
    post,
    chat: (body = {}, init) => post('/v1/chat/completions', { model: 'one/m', messages, ...body }, init as object),
    stateOf: getState,
    used: async (unit) => (await getState('key', ALL)).find((item) => item.unit === unit)?.used ?? 0,
    reserved: async () => (await getState('key', ALL)).reduce((sum, item) => sum + item.reserved, 0),
  }
}

/** Returns the error that the client reads, in any format. */
export async function readError(reply: Response): Promise<{ status: number; code: string; message: string }> {
  const { error } = await reply.json()
  const code = error.details?.[0]?.reason ?? error.code
  return { status: reply.status, code, message: error.message }
}
