import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { createGateway } from '../../../src/gateway.ts'
import type { GatewayOptions } from '../../../src/options.ts'
import type { AttemptRecord, RequestRecord } from '../../../src/request/hook-records.ts'
import { both } from '../../pipeline/support/both-formats.ts'
import { fakeUpstream, type Respond } from '../../pipeline/support/upstream.ts'
import { catalog, getApiKey } from '../../pipeline/support/world.ts'
import { fakeClock } from '../../support/clock.ts'

export interface RoutedOptions extends GatewayOptions {
  respond?: Respond
}

/** Opens a gateway configured in code, with four providers and two combos. */
export function openRouted({ respond = both, ...options }: RoutedOptions) {
  const clock = fakeClock()
  const upstream = fakeUpstream(respond)
  const errors: Array<Error & { cause?: unknown; code?: string }> = []
  const records: RequestRecord[] = []
  const attempts: AttemptRecord[] = []
  const gateway = createGateway({
    storage: memoryStorage({ clock }),
    clock,
    fetch: upstream,
    catalog,
    connections: {
      one: { apiKey: getApiKey('one') },
      two: { apiKey: getApiKey('two') },
      three: { apiKey: getApiKey('three'), isActive: false },
      claude: { apiKey: getApiKey('claude') },
    },
    combos: { smart: ['one/m', 'two/m'], once: { models: ['one/m', 'two/m'], maxAttempts: 1 } },
    logger: false,
    hooks: {
      onError: (error) => void errors.push(error as Error),
      onRequest: (record) => void records.push(record),
      onAttempt: (record) => void attempts.push(record),
    },
    ...options,
  })
  const post = (path: string, body: object, init: RequestInit = {}) =>
    gateway.fetch(`http://gateway${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      ...init,
      headers: { 'content-type': 'application/json', ...init.headers },
    })
  const chat = (body: object = {}, init?: RequestInit) =>
    post('/v1/chat/completions', { model: 'auto', messages: [{ role: 'user', content: 'Hi' }], ...body }, init)
  return { gateway, api: gateway.api, upstream, clock, errors, records, attempts, post, chat }
}

/** Returns the status and code of a response, such as `503 route_failed`. */
export async function getOutcome(response: Response): Promise<string> {
  const text = await response.text()
  const { error } = (text.startsWith('{') ? JSON.parse(text) : {}) as { error?: { code?: string } }
  return `${response.status} ${error?.code ?? ''}`.trim()
}

export const failWith503: Respond = () => Response.json({ error: { message: 'overloaded' } }, { status: 503 })
