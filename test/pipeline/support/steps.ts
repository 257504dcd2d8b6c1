import { memoryStorage } from '../../../adapters/storage/memory.ts'
import type { Feature } from '../../../src/feature.ts'
import { createGateway } from '../../../src/gateway.ts'
import type { AttemptRecord, RequestRecord } from '../../../src/request/hook-records.ts'
import type { AttemptStep, CallStep, RequestStep } from '../../../src/request/steps.ts'
import { chatEvents, chatResponse } from './responses.ts'
import { fakeUpstream, json, sse } from './upstream.ts'

/** Steps with the same access as the gateway's own features. */
export interface Steps {
  aroundRequest: readonly RequestStep[]
  aroundCall: readonly CallStep[]
  aroundAttempt: readonly AttemptStep[]
}

/** Converts each step to a feature. */
export const toFeatures = ({ aroundRequest = [], aroundCall = [], aroundAttempt = [] }: Partial<Steps>): Feature[] => [
  ...aroundRequest.map(
    (step, index): Feature => ({
      name: `request-${index}`,
      aroundRequest: step as NonNullable<Feature['aroundRequest']>,
    }),
  ),
  ...aroundCall.map(
    (step, index): Feature => ({ name: `call-${index}`, aroundCall: step as NonNullable<Feature['aroundCall']> }),
  ),
  ...aroundAttempt.map(
    (step, index): Feature => ({
      name: `attempt-${index}`,
      aroundAttempt: step as NonNullable<Feature['aroundAttempt']>,
    }),
  ),
]

/** Opens a gateway with these steps and two connections, the first of which always fails. */
export async function openWith(steps: Partial<Steps>, events = chatEvents()) {
  const upstream = fakeUpstream(({ url, body }) => {
    if (url.hostname === 'one.test') return json({ error: { message: 'Overloaded' } }, 503)
    return JSON.parse(body).stream ? sse(events) : json(chatResponse())
  })
  const requests: RequestRecord[] = []
  const gateway = createGateway({
    storage: memoryStorage(),
    fetch: upstream,
    logger: false,
    includeStreamUsage: false, // the provider always reports usage
    allowedOrigins: ['https://page.test'],
    hooks: { onRequest: (record) => void requests.push(record) },
    extend: toFeatures(steps),
  })
  for (const provider of ['openai-compatible-one', 'openai-compatible-two'])
    await gateway.api.connections.create({
      provider,
      apiKey: 'k',
      providerSpecificData: { baseUrl: `https://${provider.slice(18)}.test/v1`, prefix: provider.slice(18) },
    })
  await gateway.api.combos.create({ name: 'both', models: ['one/m', 'two/m'] })
  await gateway.api.combos.create({ name: 'many', models: ['one/m', 'two/not', 'two/m'] })
  const { key, id } = await gateway.api.keys.create({ name: 'me' })
  const post = (path: string, body: object, init: RequestInit = {}) =>
    gateway.fetch(
      new Request(`http://gateway${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'both', messages: [{ role: 'user', content: 'Hi' }], ...body }),
        ...init,
      }),
    )
  const chat = (body: object, init?: RequestInit) => post('/v1/chat/completions', body, init)
  return { gateway, post, chat, upstream, requests, keyId: id }
}

/** Creates a step around attempts that records each attempt, in order, as `<provider> <outcome> <output tokens>`. */
export function settling(events: string[]): Pick<Steps, 'aroundAttempt'> {
  return {
    aroundAttempt: [
      async ({ target }, next) => {
        const provider = target.provider.slice(18)
        events.push(`reserve ${provider}`)
        events.push(`${provider} ${formatAttempt(await next())}`)
      },
    ],
  }
}

export const formatAttempt = ({ outcome, usage }: AttemptRecord) => `${outcome} ${usage?.outputTokens ?? '-'}`
