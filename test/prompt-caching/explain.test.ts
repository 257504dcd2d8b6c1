import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { openGateway } from '../formats/cases/support.ts'
import { json } from '../pipeline/support/upstream.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { clientWriters, createConversation, listRequestEnds } from './support/conversations.ts'
import { simulatedProviders } from './support/simulated-providers.ts'

const test = suite('prompt caching: explanations')

const steps = createConversation(createRandom(3), 4)
const end = listRequestEnds(steps)[3]
const body = clientWriters['anthropic-messages'](steps.slice(0, end))
const path = '/v1/messages'

async function open(name: string, promptCaching: 'auto' | 'off' = 'auto') {
  const provider = simulatedProviders[name]
  assert.ok(provider)
  const { model, connection = { provider: model.split('/')[0] ?? '' }, catalog = defaultCatalog } = provider
  const { upstream, world } = await openGateway(() => json(provider.respond({ input: 1, read: 0, written: 0 })), {
    catalog,
    connections: [connection],
  })
  await world.api.settings.update({ promptCaching })
  const explain = async (request: { body?: object; path?: string; headers?: Record<string, string> }) =>
    (await world.api.explain({ model, ...request })).targets[0]?.promptCaching
  return { upstream, world, model, explain }
}

/** Returns the block at a path in a request body. */
const read = (sent: object, location: string): object =>
  location
    .split(/[.[\]]+/)
    .filter(Boolean)
    .reduce<unknown>((value, name) => Object(value)[name], sent) as object

for (const name of [
  'Claude at Anthropic',
  'Claude on Vertex AI',
  'Claude on Bedrock',
  'Nova on Bedrock',
  'Claude at OpenRouter',
  'GPT-5.6 in Responses',
])
  test(`an explanation shows the breakpoints without sending the request (${name})`, async () => {
    const { upstream, world, model, explain } = await open(name)
    const { marks = [], stoodDown } = (await explain({ body, path })) ?? {}
    assert.is(stoodDown, undefined)
    assert.ok(marks.length > 0)
    assert.is(upstream.calls.length, 0)
    await world.post(path, { ...body, model })
    const sent = JSON.parse(upstream.calls[0]?.body ?? '{}')
    for (const location of marks)
      if (location !== 'cache_control')
        assert.match(JSON.stringify(read(sent, location)), /cache_control|cachePoint|prompt_cache_breakpoint/, location)
    const count = JSON.stringify(sent).match(/"(?:cache_control|cachePoint|prompt_cache_breakpoint)"/g)?.length
    assert.is(marks.length, count)
    assert.equal((await explain({ body, path }))?.marks, marks)
  })

test("an explanation gives positions in the provider's request, and the session field", async () => {
  const { explain } = await open('Claude at Anthropic')
  assert.equal(await explain({ body, path }), { marks: ['tools[1]', 'system[0]', 'cache_control'] })
  const gpt = await open('GPT-5.4 in Responses')
  assert.equal(await gpt.explain({ body, path }), { marks: [], session: 'prompt_cache_key' })
})

test("an explanation states why there are no breakpoints, and isn't counted as a request", async () => {
  const { explain, world, model } = await open('Claude at Anthropic')
  assert.equal(await explain({ body: { ...body, cache_control: { type: 'ephemeral' } }, path }), {
    ...{ marks: [], stoodDown: 'client' },
  })
  const single = { ...body, tools: [], messages: [{ role: 'user', content: 'Hi' }] }
  for (let count = 0; count < 2; count++)
    assert.equal(await explain({ body: single, path }), { marks: [], stoodDown: 'single' })
  await world.post(path, { ...single, model })
  assert.equal(await explain({ body: single, path }), { marks: ['system[0]'] })
  assert.is(await explain({ path }), undefined) // without a body, explain returns only an outline
  assert.is(await explain({ body, path, headers: { 'x-signalbox-prompt-caching': 'off' } }), undefined)
  const off = await open('Claude at Anthropic', 'off')
  assert.is(await off.explain({ body, path }), undefined)
})
