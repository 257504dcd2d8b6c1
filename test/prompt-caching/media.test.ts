import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { openGateway } from '../formats/cases/support.ts'
import { json } from '../pipeline/support/upstream.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { clientWriters, createConversation, listRequestEnds } from './support/conversations.ts'
import { simulatedProviders } from './support/simulated-providers.ts'

const test = suite('prompt caching: downloaded media')

const PNG = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='),
  (c) => c.charCodeAt(0),
)

for (const name of ['Claude on Bedrock', 'Gemini', 'Nova on Bedrock'])
  for (const client of ['openai-chat', 'openai-responses', 'anthropic-messages'] as const)
    test(`images that the gateway downloads don't change the start of a prompt, from ${client} clients to ${name}`, async () => {
      const provider = simulatedProviders[name]
      assert.ok(provider)
      const { model, connection = { provider: model.split('/')[0] ?? '' }, catalog = defaultCatalog } = provider
      const simulator = provider.createSimulator()
      const shares: number[] = []
      let downloads = 0
      const { world } = await openGateway(
        ({ url, body }, index) => {
          if (String(url).startsWith('https://images.example.com/')) {
            downloads++
            return new Response(PNG, { headers: { 'content-type': 'image/png' } })
          }
          const usage = simulator({ body: JSON.parse(body), now: index * 1_000 })
          shares.push(usage.read / usage.input)
          return json(provider.respond(usage))
        },
        { catalog, connections: [connection], fetchMedia: true },
      )
      await world.api.settings.update({ promptCaching: 'auto' })
      const steps = createConversation(createRandom(2), 10, { hasImages: true, isAgent: true })
      const paths = {
        ...{ 'openai-chat': '/v1/chat/completions', 'openai-responses': '/v1/responses' },
        'anthropic-messages': '/v1/messages',
      }
      for (const end of listRequestEnds(steps)) {
        const response = await world.post(paths[client], { ...clientWriters[client](steps.slice(0, end)), model })
        assert.is(response.status, 200, await response.clone().text())
      }
      assert.ok(downloads > 0)
      for (const share of shares.slice(2)) assert.ok(share > 0.7, `${shares}`)
    })
