import type { JsonObject } from '../../src/lib/json.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import type { WireFormat } from '../../src/types.ts'
import { messageStart, output } from '../formats/cases/responses.ts'
import { getStream, openGateway } from '../formats/cases/support.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { clientWriters, createConversation, listRequestEnds } from './support/conversations.ts'
import { simulatedProviders } from './support/simulated-providers.ts'
import type { SimulatedUsage } from './support/simulator.ts'

const test = suite('prompt caching: streams')

type Events = Array<JsonObject | '[DONE]'>

const end = (events: Events, change: (last: JsonObject) => JsonObject): Events =>
  events.map((event, index) => (index === events.length - 1 && event !== '[DONE]' ? change(event) : event))

/** For each format, creates the events of a stream that reports this usage. */
const streams: Partial<Record<WireFormat, (usage: SimulatedUsage) => Events>> = {
  'anthropic-messages': ({ input, read, written }) => [
    messageStart({
      ...{ input_tokens: input - read - written, output_tokens: 1 },
      ...{ cache_read_input_tokens: read, cache_creation_input_tokens: written },
    }),
    ...output['anthropic-messages']('a').slice(1),
  ],
  'openai-responses': ({ input, read, written }) =>
    end(output['openai-responses']('a'), ({ response, ...event }) => ({
      ...event,
      response: {
        ...Object(response),
        usage: {
          ...{ input_tokens: input, output_tokens: 1, total_tokens: input + 1 },
          input_tokens_details: { cached_tokens: read, cache_write_tokens: written },
        },
      },
    })),
  gemini: ({ input, read }) =>
    end(output.gemini('a'), (event) => ({
      ...event,
      usageMetadata: { promptTokenCount: input, candidatesTokenCount: 1, cachedContentTokenCount: read },
    })),
}

const names: Partial<Record<WireFormat, string>> = {
  'anthropic-messages': 'Claude at Anthropic',
  'openai-responses': 'GPT-5.6 in Responses',
  gemini: 'Gemini',
}

for (const [format, name] of Object.entries(names) as Array<[WireFormat, string]>)
  for (const client of ['openai-chat', 'anthropic-messages'] as const)
    test(`a streaming ${client} agent reads at least 90% of its input from the cache of ${name}`, async () => {
      const provider = simulatedProviders[name]
      assert.ok(provider)
      const simulator = provider.createSimulator()
      const usages: SimulatedUsage[] = []
      const { world } = await openGateway(
        ({ body }, index) => {
          const usage = simulator({ body: JSON.parse(body), now: index * 1_000 })
          usages.push(usage)
          return getStream(format, streams[format]?.(usage) ?? [])
        },
        { catalog: provider.catalog ?? defaultCatalog, connections: [provider.model.split('/')[0] ?? ''] },
      )
      await world.api.settings.update({ promptCaching: 'auto' })
      const path = client === 'openai-chat' ? '/v1/chat/completions' : '/v1/messages'
      const steps = createConversation(createRandom(11), 12, { isAgent: true, hasReasoning: true })
      for (const last of listRequestEnds(steps)) {
        const body = { ...clientWriters[client](steps.slice(0, last)), model: provider.model, stream: true }
        const response = await world.post(path, body)
        assert.is(response.status, 200)
        await response.text()
      }
      const later = usages.slice(2)
      const [read, input] = [
        later.reduce((sum, item) => sum + item.read, 0),
        later.reduce((sum, item) => sum + item.input, 0),
      ]
      assert.ok(read / input >= 0.9, `${read / input} of the input was read from the cache`)
      assert.equal(
        world.recorded.requests.map(({ promptCache }) => [promptCache?.read, promptCache?.written]),
        usages.map((usage) => [usage.read, usage.written]),
      )
    })
