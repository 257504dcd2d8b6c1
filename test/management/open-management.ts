import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Provider } from '../../src/admin/providers.ts'
import { createGateway } from '../../src/gateway.ts'
import { isObject, tryParseJson } from '../../src/lib/json.ts'
import type { GatewayOptions } from '../../src/options.ts'
import type { ApiKey, Combo, Connection, EffectiveRules, KeyGroup, RequestRules, Settings } from '../../src/types.ts'
import { checkResponse } from '../openapi/check-results.ts'
import { plant, watchfulLogger } from '../support/canaries.ts'
import { fakeClock } from '../support/clock.ts'
import { assert } from '../support/suite.ts'

export const TOKEN = 'management-token-of-forty-characters-000'

/** The default request rules. */
export const defaultRules: EffectiveRules = {
  health: { failureShare: 0.5, windowMs: 60_000, minCalls: 5, cooldownMs: 5_000, maxCooldownMs: 300_000 },
  maxAttempts: 3,
  timeouts: { headersMs: 120_000, idleMs: 60_000, totalMs: 600_000 },
}

/** The fields of `/api` responses that tests read. Each test knows which of them are present. */
export interface Body extends Connection, Omit<Combo, 'kind' | keyof RequestRules>, Settings {
  error: string
  success: boolean
  warnings?: string[]
  key: string
  kind: string
  keys: ApiKey[]
  groups: KeyGroup[]
  combos: Combo[]
  connections: Connection[]
  providers: Provider[]
}

export interface Reply {
  status: number
  body: Body
  headers: Headers
}

/** Opens a gateway with an admin token, to be called over HTTP. Checks every request and response against the API description. */
export function openManagement(options: Partial<GatewayOptions> = {}) {
  const clock = fakeClock()
  const storage = options.storage ?? memoryStorage({ clock })
  const gateway = createGateway({ clock, management: { token: TOKEN }, logger: watchfulLogger(), ...options, storage })

  async function send(method: string, path: string, init: { headers?: HeadersInit; body?: BodyInit } = {}) {
    const response = await gateway.fetch(new Request(`http://gateway.test${path}`, { method, ...init }))
    const text = await response.text()
    const body: unknown = text === '' ? undefined : JSON.parse(text)
    const sent = typeof init.body === 'string' ? tryParseJson(init.body) : undefined
    if (body !== undefined) await checkResponse({ method, path, sent, status: response.status, body })
    return { status: response.status, headers: response.headers, body: body as Body } // all of these responses are JSON
  }

  /** Sends the token, and a JSON body if given. */
  function call(method: string, path: string, body?: unknown): Promise<Reply> {
    if (isObject(body) && typeof body.apiKey === 'string') plant(body.apiKey)
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    return send(method, path, { headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  }

  /** Sends a request and expects exactly this status. */
  async function expect(status: number, method: string, path: string, body?: unknown): Promise<Body> {
    const response = await call(method, path, body)
    assert.is(response.status, status, `${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`)
    return response.body
  }

  /** Sends a request and expects a rejection with exactly this text. */
  async function expectError(status: number, error: string, request: [method: string, path: string, body?: unknown]) {
    assert.equal(await expect(status, ...request), { error })
  }

  return { gateway, storage, clock, send, call, expect, expectError }
}

/** Opens a gateway in which these names resolve to a connection, so combos that contain them cause no warnings. */
export async function openManagementWith(names: readonly string[], options: Partial<GatewayOptions> = {}) {
  const management = openManagement(options)
  await management.gateway.api.connections.put({ id: 'lab', provider: 'lab', baseUrl: 'http://lab.test/v1' })
  for (const alias of names) await management.gateway.api.aliases.set({ alias, model: 'lab/m' })
  return management
}
