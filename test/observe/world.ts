import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { GatewayObserver } from '../../src/features/observe/observer.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import { metered } from '../gate/support/metered-providers.ts'
import { catalog } from '../gate/support/world.ts'
import { type FakeUpstream, fakeUpstream, type Respond } from '../pipeline/support/upstream.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'

export interface ObservedWorld {
  gateway: Gateway
  upstream: FakeUpstream
  clock: FakeClock
  errors: unknown[]
  chat(body?: object, headers?: Record<string, string>): Promise<Response>
}

/** Opens an observed gateway with a connection to each catalog provider, and a combo `fast` of two of them. */
export async function openObserved(
  observe: readonly GatewayObserver[],
  respond: Respond = metered({}, { tokens: 0 }),
): Promise<ObservedWorld> {
  const clock = fakeClock()
  const upstream = fakeUpstream(respond)
  const errors: unknown[] = []
  const gateway = createGateway({
    storage: memoryStorage({ clock }),
    clock,
    fetch: upstream,
    catalog,
    logger: false,
    observe,
    management: { token: ADMIN },
    hooks: { onError: (error) => void errors.push(error) },
  })
  for (const provider of Object.keys(catalog))
    await gateway.api.connections.create({ provider, apiKey: `of-${provider}` })
  await gateway.api.combos.create({ name: 'fast', models: ['one/m', 'two/m'] })
  const chat: ObservedWorld['chat'] = (body = {}, headers = {}) =>
    gateway.fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'one/m', messages: [{ role: 'user', content: 'a secret question' }], ...body }),
    })
  return { gateway, upstream, clock, errors, chat }
}

export const ADMIN = 'admin-token-of-the-observed-gateway'

/** Reads a response to completion, so that its request ends. */
export const read = async (reply: Promise<Response>): Promise<string> => (await reply).text()
