import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { clientFormats } from '../../src/types/unions.ts'
import type { Catalog, ClientFormat } from '../../src/types.ts'
import { openDoor } from '../formats/cases/support.ts'
import { json } from '../pipeline/support/upstream.ts'
import { isCi } from '../support/ci.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import {
  type ConversationOptions,
  clientWriters,
  createConversation,
  listRequestEnds,
} from './support/conversations.ts'
import { type CacheSimulator, type SimulatedUsage, simulateAnthropic, simulateOpenAI } from './support/simulator.ts'

const test = suite('prompt caching: sessions of agents against simulated caches')

/** The path of each client, and its headers. */
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

const anthropicAnswer = ({ input, read, written }: SimulatedUsage) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
  content: [{ type: 'text', text: 'ok' }],
  usage: {
    input_tokens: input - read - written,
    output_tokens: 1,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
  },
})

const responsesAnswer = ({ input, read, written }: SimulatedUsage) => ({
  ...{ id: 'resp_1', object: 'response', status: 'completed', model: 'm', error: null },
  output: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'ok', annotations: [] }],
    },
  ],
  usage: {
    input_tokens: input,
    output_tokens: 1,
    total_tokens: input + 1,
    input_tokens_details: { cached_tokens: read, cache_write_tokens: written },
  },
})

interface Played {
  usages: SimulatedUsage[]
  world: Awaited<ReturnType<typeof openDoor>>['world']
  clock: FakeClock
}

/** Sends a session through a gateway with prompt caching to a simulated provider, 20 s apart. */
async function play(
  client: ClientFormat,
  target: { model: string; catalog: Catalog; simulator: CacheSimulator; answer(usage: SimulatedUsage): object },
  options: ConversationOptions = {},
): Promise<Played> {
  const clock = fakeClock()
  const usages: SimulatedUsage[] = []
  const [provider = ''] = target.model.split('/')
  const { world } = await openDoor(
    ({ body }) => {
      const usage = target.simulator.count(JSON.parse(body) as JsonObject, clock.now())
      usages.push(usage)
      return json(target.answer(usage))
    },
    { catalog: target.catalog, connections: [provider], clock, storage: memoryStorage({ clock }) },
  )
  await world.api.settings.update({ promptCaching: 'auto' })
  const steps = createConversation(createRandom(11), isCi ? 30 : 12, options)
  const write = clientWriters[client]
  for (const end of listRequestEnds(steps)) {
    const { path, headers = {} } = endpoints[client](target.model)
    const { model: _, ...body } = write(steps.slice(0, end))
    const named = headers['ai-language-model-id'] || client === 'gemini' ? body : { ...body, model: target.model }
    const response = await world.post(path, named, { headers })
    assert.is(response.status, 200, await response.clone().text())
    await clock.advance(20_000)
  }
  return { usages, world, clock }
}

const getReadShare = (usages: readonly SimulatedUsage[]) => {
  const later = usages.slice(2)
  return later.reduce((sum, { read }) => sum + read, 0) / later.reduce((sum, { input }) => sum + input, 0)
}

const claude = () => ({
  ...{ model: 'anthropic/claude-sonnet-4-5', catalog: defaultCatalog, answer: anthropicAnswer },
  simulator: simulateAnthropic(),
})
const gpt = () => ({
  ...{ model: 'openai/gpt-5.6', answer: responsesAnswer, simulator: simulateOpenAI() },
  catalog: {
    openai: { ...defaultCatalog.openai, baseUrl: 'http://openai.test/v1', format: 'openai-responses' },
  } satisfies Catalog,
})

for (const client of clientFormats) {
  test(`check 40: an agent's session reads at least 90% of its input from Anthropic's cache, from ${client} clients`, async () => {
    const { usages, world } = await play(client, claude(), { hasReasoning: client === 'anthropic-messages' })
    const share = getReadShare(usages)
    assert.ok(share >= 0.9, `${share} of the input was read`)
    assert.ok(world.told.requests.every(({ promptCache }) => promptCache?.by === 'gateway'))
  })

  test(`check 41: an agent's session reads at least 90% of its input from OpenAI's cache, from ${client} clients`, async () => {
    const share = getReadShare((await play(client, gpt())).usages)
    assert.ok(share >= 0.9, `${share} of the input was read`)
  })
}

test('check 40: without marks, an agent reads nothing from Anthropic’s cache', async () => {
  const simulator = simulateAnthropic()
  const steps = createConversation(createRandom(11), 5)
  const usages = listRequestEnds(steps).map((end, at) =>
    simulator.count(clientWriters['anthropic-messages'](steps.slice(0, end)), at * 20_000),
  )
  assert.is(getReadShare(usages), 0)
})

test('check 43: the savings are the difference from the cost of the same usage without a cache', async () => {
  const { world, usages } = await play('anthropic-messages', claude())
  for (const [at, { promptCache }] of world.told.requests.entries()) {
    const { read, written } = usages[at] ?? { read: 0, written: 0 }
    assert.equal([promptCache?.read, promptCache?.written], [read, written])
    const expected = (read * (3 - 0.3) - written * (3.75 - 3)) / 1_000_000
    assert.ok(
      Math.abs((promptCache?.savedUsd ?? 0) - expected) < 1e-6,
      `${promptCache?.savedUsd} instead of ${expected}`,
    )
  }
  const saved = world.told.requests.reduce((sum, { promptCache }) => sum + (promptCache?.savedUsd ?? 0), 0)
  assert.ok(saved > 0)
})
