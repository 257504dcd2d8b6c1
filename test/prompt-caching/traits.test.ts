import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { getCacheTraits } from '../../src/protocols/providers/traits/cache-traits.ts'
import type { Catalog } from '../../src/types.ts'
import { fullResponses } from '../formats/cases/responses.ts'
import { openGateway } from '../formats/cases/support.ts'
import { json } from '../pipeline/support/upstream.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { clientWriters, createConversation, listRequestEnds } from './support/conversations.ts'

const test = suite('prompt caching: target support')

const steps = createConversation(createRandom(3), 4).slice(0, 5)
const end = listRequestEnds(steps).at(-1)

test('Responses requests that pass through to xAI get a cache key instead of the Chat Completions header', async () => {
  const { upstream, world } = await openGateway(() => json(fullResponses['openai-responses']), {
    catalog: defaultCatalog,
    connections: ['xai'],
  })
  await world.api.settings.update({ promptCaching: 'auto' })
  await world.post('/v1/responses', {
    ...clientWriters['openai-responses'](steps.slice(0, end)),
    model: 'xai/grok-4.7',
  })
  const [call] = upstream.calls
  assert.match(String(call?.url), /\/responses$/)
  assert.match(JSON.parse(call?.body ?? '{}').prompt_cache_key, /^[\w-]{22}$/)
  assert.is(call?.headers.get('x-grok-conv-id'), null)
})

for (const provider of ['alibaba', 'minimax', 'zai', 'moonshot', 'deepseek', 'groq', 'google'])
  test(`${provider} gets no cache breakpoints, cache key, or session header`, () => {
    for (const format of ['openai-chat', 'anthropic-messages', 'gemini'] as const) {
      const { breakpoints: marks, acceptsKey, sessionHeader } = getCacheTraits({ provider, model: 'm', format })
      assert.equal([marks, acceptsKey, sessionHeader], [undefined, undefined, undefined])
    }
  })

test('Claude behind a compatible URL, such as Azure AI Foundry, gets breakpoints only on blocks', async () => {
  const catalog: Catalog = {}
  const baseUrl = 'https://r.services.ai.azure.com/anthropic/v1'
  const connection = { provider: 'anthropic-compatible-foundry', providerSpecificData: { baseUrl } }
  const { upstream, world } = await openGateway(() => json(fullResponses['anthropic-messages']), {
    catalog,
    connections: [connection],
  })
  await world.api.settings.update({ promptCaching: 'auto' })
  const body = clientWriters['anthropic-messages'](steps.slice(0, end))
  await world.post('/v1/messages', { ...body, model: 'anthropic-compatible-foundry/claude-sonnet-5-5' })
  const sent = JSON.parse(upstream.calls[0]?.body ?? '{}')
  assert.is(sent.cache_control, undefined)
  assert.ok((JSON.stringify(sent).match(/"cache_control"/g)?.length ?? 0) >= 3)
})

const hello = [{ role: 'user', content: 'Hi' }]
const translated = {
  'Responses to Fireworks': ['/v1/responses', 'fireworks', { input: 'Hi' }, fullResponses['openai-chat']],
  'Chat Completions to xAI': ['/v1/chat/completions', 'xai', { messages: hello }, fullResponses['openai-responses']],
} as const

for (const [label, [path, provider, body, reply]] of Object.entries(translated))
  test(`a client's cache key is translated to the target's field: ${label}`, async () => {
    const catalog: Catalog = { ...defaultCatalog, xai: { ...defaultCatalog.xai, format: 'openai-responses' } }
    const { upstream, world } = await openGateway(() => json(reply), { catalog, connections: [provider] })
    const response = await world.post(path, { ...body, model: `${provider}/m`, prompt_cache_key: 'own' })
    assert.is(response.headers.get('x-signalbox-warning'), null)
    assert.is(JSON.parse(upstream.calls[0]?.body ?? '{}').prompt_cache_key, 'own')
  })
