import type { JsonObject } from '../../src/lib/json.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import type { WireFormat } from '../../src/types.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { isCi, isFull, randomCases } from '../support/ci.ts'
import { neverFails } from '../support/hostile-values.ts'
import { suite } from '../support/suite.ts'
import { fields as messages } from './fields/anthropic-messages.ts'
import type { Field } from './fields/field.ts'
import { fields as gemini } from './fields/gemini.ts'
import { fields as chat } from './fields/openai-chat.ts'
import { fields as responses } from './fields/openai-responses.ts'

const test = suite('arbitrary JSON values in any field of a chat request')

/** The number of runs per body and provider. */
const RUNS = randomCases(40, 1)

/** One provider per format with known traits, and an unknown one. */
const MODELS = [
  ...['openai/gpt-5.6', 'anthropic/claude-sonnet-4-5', 'google/gemini-2.5-flash', 'bedrock/amazon.nova-2-lite'],
  ...['mistral/mistral-large', 'open/m', 'own/m'],
]

const catalog = {
  ...defaultCatalog,
  open: { baseUrl: 'http://open.test/v1', format: 'openai-responses', models: [{ id: 'm' }] },
  own: { baseUrl: 'http://own.test/v1', models: [{ id: 'm' }] },
} as const

const clients: Readonly<
  Record<WireFormat, { fields: readonly Field[]; path(model: string): string; least: JsonObject }>
> = {
  'openai-chat': {
    fields: chat,
    path: () => '/v1/chat/completions',
    least: { messages: [{ role: 'user', content: 'Hi' }] },
  },
  'openai-responses': {
    fields: responses,
    path: () => '/v1/responses',
    least: { input: [{ role: 'user', content: 'Hi' }] },
  },
  'anthropic-messages': {
    fields: messages,
    path: () => '/v1/messages',
    least: { max_tokens: 8_000, messages: [{ role: 'user', content: 'Hi' }] },
  },
  gemini: {
    fields: gemini,
    path: (model) => `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
    least: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  },
}

for (const [client, { fields, path, least }] of Object.entries(clients))
  test(`arbitrary JSON values never cause a gateway error (${client} client)`, { timeoutMs: 300_000 }, async () => {
    const upstream = fakeUpstream(() => json({ error: { message: 'no' } }, 400))
    const connections = ['openai', 'anthropic', 'google', 'mistral', 'open', 'own']
    const world = await openWorld({
      fetch: upstream,
      catalog,
      connections: [...connections, { provider: 'bedrock', providerSpecificData: { region: 'us-east-1' } }],
    })
    const limits = { tokens: { day: 1_000_000_000_000 } }
    const { key } = await world.api.keys.create({ name: 'limited', limits })
    const headers = { authorization: `Bearer ${key}` }
    for (const [index, [, body]] of fields.entries())
      for (const [place, model] of MODELS.entries()) {
        if (!isCi && (index + place) % MODELS.length !== 0) continue
        const request = { ...least, ...body, ...(client === 'gemini' ? {} : { model, stream: false }) }
        const isEach = isCi && place === index % MODELS.length && (isFull || index % 3 === 0)
        await neverFails({ at: path(model), body: request, headers, isEach, runs: RUNS }, world)
      }
  })
