import type { JsonObject } from '../../../src/lib/json.ts'
import type { Catalog, WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { fullResponses } from './responses.ts'
import { openGateway, send } from './support.ts'

const test = suite('cases: prompt cache retention')

interface Recorded {
  prompt_cache_retention?: unknown
  prompt_cache_options?: unknown
}

const kept: Recorded = { prompt_cache_retention: '24h' }
const replaced: Recorded = { prompt_cache_options: { ttl: '12h' } }

/** The fields that each model receives for a retention of one day, and the warning. */
const models: Record<string, [sent: Recorded, warning?: string]> = {
  'openai/gpt-4.1': [kept],
  'openai/gpt-4.1-mini': [kept],
  'openai/gpt-5': [kept],
  'openai/gpt-5-codex': [kept],
  'openai/gpt-5.1-chat-latest': [kept],
  'openai/gpt-5.4-mini': [kept],
  'openai/gpt-5.5-2026-04-23': [kept],
  'azure/gpt-5.1': [kept],
  'openai/gpt-5.6': [replaced, 'replaced'],
  'openai/gpt-5.6-sol': [replaced, 'replaced'],
  'openai/gpt-6-sol': [replaced, 'replaced'],
  'openai/gpt-4o': [{}, 'dropped'],
  'openai/o3': [{}, 'dropped'],
  'azure/gpt-5.6': [{}, 'dropped'],
  'mistral/mistral-large-latest': [{}, 'dropped'],
  'openai-compatible-home/llama': [kept],
}

/** Clients and providers with different formats, so the request is translated. */
const translations: [client: 'openai-chat' | 'openai-responses', to: WireFormat][] = [
  ['openai-chat', 'openai-responses'],
  ['openai-responses', 'openai-chat'],
]

const getCatalog = (format: WireFormat): Catalog =>
  Object.fromEntries(
    ['openai', 'azure', 'mistral', 'openai-compatible-home'].map((id) => [
      id,
      { baseUrl: `http://${id}.test/v1`, format },
    ]),
  )

const readSettings = ({ prompt_cache_retention, prompt_cache_options }: JsonObject): Recorded =>
  JSON.parse(JSON.stringify({ prompt_cache_retention, prompt_cache_options }))

for (const [model, [sent, warning]] of Object.entries(models)) {
  for (const [client, format] of translations)
    test(`each model gets the cache fields that it supports: ${model}, ${client} to ${format}`, async () => {
      const body = { prompt_cache_retention: '24h' }
      const request = { client, model, body, catalog: getCatalog(format), respond: () => json(fullResponses[format]) }
      const input = await send(request)
      assert.equal(readSettings(input.sent), sent)
      assert.equal(input.warned, warning === undefined ? [] : [`${warning}:prompt_cache_retention`])
    })

  test(`each model gets the cache fields that it supports: ${model}, the AI SDK`, async () => {
    const catalog = getCatalog('openai-responses')
    const connections = [model.split('/')[0] ?? '']
    const { upstream, world } = await openGateway(() => json(fullResponses['openai-responses']), {
      catalog,
      connections,
    })
    const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]
    const body = { prompt, providerOptions: { openai: { promptCacheRetention: '24h' } } }
    await world.post('/v4/ai/language-model', body, { headers: { 'ai-language-model-id': model } })
    assert.equal(readSettings(JSON.parse(upstream.calls[0]?.body ?? '{}')), sent)
  })
}

/** The fields that are sent if the client sets several of them. */
const both: [what: string, model: string, body: JsonObject, sent: Recorded][] = [
  ['the older value', 'gpt-5.5', { prompt_cache_retention: 'in_memory' }, { prompt_cache_retention: 'in_memory' }],
  ['an early spelling', 'gpt-5.5', { prompt_cache_retention: 'in-memory' }, { prompt_cache_retention: 'in_memory' }],
  ['the older value', 'gpt-5.6', { prompt_cache_retention: 'in_memory' }, { prompt_cache_options: { ttl: '30m' } }],
  [
    'both fields',
    'gpt-5.6',
    { ...kept, prompt_cache_options: { ttl: '30m' } },
    { prompt_cache_options: { ttl: '30m' } },
  ],
  [
    'a retention and a mode',
    'gpt-5.6',
    { ...kept, prompt_cache_options: { mode: 'explicit' } },
    { prompt_cache_options: { mode: 'explicit', ttl: '12h' } },
  ],
  ['both fields', 'gpt-5.5', { ...kept, prompt_cache_options: { ttl: '30m' } }, kept],
]

for (const [label, model, body, sent] of both)
  test(`prompt_cache_retention and prompt_cache_options are never sent together: ${label} for ${model}`, async () => {
    const input = await send({
      ...{ client: 'openai-chat', model: `openai/${model}`, body, catalog: getCatalog('openai-responses') },
      respond: () => json(fullResponses['openai-responses']),
    })
    assert.equal(readSettings(input.sent), sent)
  })
