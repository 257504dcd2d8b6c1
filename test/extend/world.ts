import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Feature } from '../../src/feature.ts'
import { prometheus } from '../../src/features/observe/prometheus.ts'
import { createGateway } from '../../src/gateway.ts'
import type { GatewayOptions } from '../../src/options.ts'
import type { RequestRecord } from '../../src/request/hook-records.ts'
import type { UsageLimits } from '../../src/types.ts'
import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'

/** Opens a gateway with features, one connection, and a key. */
export async function openExtended(
  extend: readonly Feature[],
  events = chatEvents(),
  options: Pick<GatewayOptions, 'guards'> = {},
) {
  const upstream = fakeUpstream(({ body }) => (JSON.parse(body).stream ? sse(events) : json(chatResponse())))
  const records: RequestRecord[] = []
  const errors: unknown[] = []
  const token = 't'.repeat(32)
  const gateway = createGateway({
    ...{ storage: memoryStorage(), fetch: upstream, logger: false, extend },
    ...options,
    usage: true,
    includeStreamUsage: false,
    observe: [prometheus({ token })],
    hooks: { onRequest: (record) => void records.push(record), onError: (error) => void errors.push(error) },
  })
  await gateway.api.settings.update({ requireApiKey: true })
  await gateway.api.connections.create({
    provider: 'openai-compatible-one',
    apiKey: 'k',
    providerSpecificData: { baseUrl: 'https://one.test/v1', prefix: 'one' },
  })
  const addKey = async (name: string, limits?: UsageLimits) =>
    (await gateway.api.keys.create({ name, ...(limits && { limits }) })).key
  const own = await addKey('me')
  const send = (method: string, path: string, body?: object, key = own, init: RequestInit = {}) =>
    gateway.fetch(
      new Request(`http://gateway${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
        ...init,
      }),
    )
  const post = (path: string, body: object, key?: string, init?: RequestInit) =>
    send('POST', path, { model: 'one/m', ...body }, key, init)
  const chat = (body: object, key?: string, init?: RequestInit) =>
    post('/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }], ...body }, key, init)
  const scrape = async () =>
    (await gateway.fetch('http://gateway/metrics', { headers: { authorization: `Bearer ${token}` } })).text()
  return { gateway, upstream, records, errors, addKey, send, post, chat, scrape }
}
