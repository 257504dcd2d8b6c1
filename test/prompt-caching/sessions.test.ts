import { memoryStorage } from '../../adapters/storage/memory.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { clientFormats } from '../../src/types/unions.ts'
import type { ClientFormat } from '../../src/types.ts'
import { openGateway } from '../formats/cases/support.ts'
import { json } from '../pipeline/support/upstream.ts'
import { isCi } from '../support/ci.ts'
import { fakeClock } from '../support/clock.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import {
  type ConversationOptions,
  clientWriters,
  createConversation,
  listRequestEnds,
} from './support/conversations.ts'
import { readMessages } from './support/prompt-blocks.ts'
import { type SimulatedProvider, simulatedProviders } from './support/simulated-providers.ts'
import { type SimulatedUsage, simulateMarks } from './support/simulator.ts'

const test = suite('prompt caching: agent sessions against simulated caches')

/** The request path and headers of each client. */
const endpoints: Record<ClientFormat, (model: string) => { path: string; headers?: Record<string, string> }> = {
  'openai-chat': () => ({ path: '/v1/chat/completions' }),
  'openai-responses': () => ({ path: '/v1/responses' }),
  'anthropic-messages': () => ({ path: '/v1/messages' }),
  gemini: (model) => ({ path: `/v1beta/models/${model}:generateContent` }),
  'ai-sdk': (model) => ({
    path: '/v4/ai/language-model',
    headers: { 'ai-language-model-id': model, 'ai-language-model-specification-version': '4' },
  }),
}

/**
 * Sends a session through a gateway to a simulated provider, one request every 20 s. Returns the usage that the provider counted, and the records of
 * the requests.
 */
async function play(
  client: ClientFormat,
  provider: SimulatedProvider,
  { promptCaching = 'auto', ...options }: ConversationOptions & { promptCaching?: 'auto' | 'off' } = {},
) {
  const { model, connection = { provider: model.split('/')[0] ?? '' }, catalog = defaultCatalog } = provider
  const clock = fakeClock()
  const usages: SimulatedUsage[] = []
  const simulator = provider.createSimulator()
  const { world } = await openGateway(
    ({ body, headers }) => {
      const usage = simulator({ body: JSON.parse(body), headers, now: clock.now() })
      usages.push(usage)
      return json(provider.respond(usage))
    },
    { catalog, connections: [connection], clock, storage: memoryStorage({ clock }) },
  )
  await world.api.settings.update({ promptCaching })
  const steps = createConversation(createRandom(11), isCi ? 30 : 12, options)
  const write = clientWriters[client]
  for (const end of listRequestEnds(steps)) {
    const { path, headers = {} } = endpoints[client](model)
    const { model: _, ...body } = write(steps.slice(0, end))
    const named = headers['ai-language-model-id'] || client === 'gemini' ? body : { ...body, model }
    const response = await world.post(path, named, { headers })
    assert.is(response.status, 200, await response.clone().text())
    await clock.advance(20_000)
  }
  return { usages, requests: world.recorded.requests }
}

/** Returns the share of the input that was read from the cache, starting with the third request. */
const getReadShare = (usages: readonly SimulatedUsage[]) => {
  const later = usages.slice(2)
  return later.reduce((sum, { read }) => sum + read, 0) / later.reduce((sum, { input }) => sum + input, 0)
}

const agent: ConversationOptions = { isAgent: true, hasImageData: true, hasReasoning: true }

for (const [name, provider] of Object.entries(simulatedProviders))
  for (const client of clientFormats)
    test(`check ${name.startsWith('GPT-5.6') ? 41 : 40}: a ${client} agent reads at least 90% of its input from the cache of ${name}`, async () => {
      const { usages, requests } = await play(client, provider, agent)
      const share = getReadShare(usages)
      assert.ok(share >= 0.9, `${share} of the input was read from the cache`)
      assert.equal(
        requests.map(({ promptCache: { by, read, written } = {} }) => [by, read, written]),
        usages.map(({ read, written }) => [provider.isMarked ? 'gateway' : 'provider', read, written]),
      )
    })

for (const [name, most] of Object.entries({
  'Claude at Anthropic': 0,
  'Claude on Bedrock': 0,
  'Claude at OpenRouter': 0,
  Mistral: 0.7,
  'xAI in Chat Completions': 0.7,
  Fireworks: 0.7,
}))
  test(`without prompt caching, an agent reads at most ${most * 100}% of its input from the cache of ${name}`, async () => {
    const provider = simulatedProviders[name]
    assert.ok(provider)
    const { usages } = await play('openai-chat', provider, { ...agent, promptCaching: 'off' })
    const share = getReadShare(usages)
    assert.ok(share <= most, `${share} of the input was read from the cache`)
  })

test('a simulated cache misses a prompt whose only breakpoint follows eleven calls', () => {
  const count = simulateMarks(readMessages)
  const marked = { cache_control: { type: 'ephemeral' } }
  const calls = Array.from({ length: 11 }, (_, index) => ({ type: 'tool_use', id: `t${index}`, name: 'f', input: {} }))
  const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' }))
  const start = [{ role: 'user', content: 'Go. '.repeat(2_000) }]
  const later = [...start, { role: 'assistant', content: calls }, { role: 'user', content: results }]
  assert.ok(count({ body: { ...marked, messages: start }, now: 0 }).written > 0)
  assert.is(count({ body: { ...marked, messages: later }, now: 1 }).read, 0)
})

test('savings are relative to the cost of the same usage without a cache', async () => {
  const provider = simulatedProviders['Claude at Anthropic']
  assert.ok(provider)
  const { requests, usages } = await play('anthropic-messages', provider)
  for (const [index, { promptCache }] of requests.entries()) {
    const { read, written } = usages[index] ?? { read: 0, written: 0 }
    const expected = (read * (2 - 0.1) - written * (2.5 - 2)) / 1_000_000
    assert.ok(
      Math.abs((promptCache?.savedUsd ?? 0) - expected) < 1e-6,
      `${promptCache?.savedUsd} instead of ${expected}`,
    )
  }
  const saved = requests.reduce((sum, { promptCache }) => sum + (promptCache?.savedUsd ?? 0), 0)
  assert.ok(saved > 0)
})
