import type { ProviderSpecificData } from '../../../src/types.ts'
import { assert, suite } from '../../support/suite.ts'
import { chatEvents, chatResponse } from '../support/responses.ts'
import { fakeUpstream, json, type Respond, sse } from '../support/upstream.ts'
import { openWorld } from '../support/world.ts'

const test = suite('Azure OpenAI')

const catalog = { azure: { cloud: 'azure' } } as const

async function open(
  providerSpecificData: ProviderSpecificData,
  {
    respond = () => json(chatResponse()),
    apiKey = 'azure-key-0123456789',
  }: { respond?: Respond; apiKey?: string } = {},
) {
  const upstream = fakeUpstream(respond)
  const connections = [{ provider: 'azure', apiKey, providerSpecificData }]
  return { upstream, world: await openWorld({ fetch: upstream, catalog, connections }) }
}

const hello = { model: 'azure/gpt-x', messages: [{ role: 'user', content: 'Hi' }] }

test("Azure OpenAI is called at the resource's URL, with the connection's key", async () => {
  const { upstream, world } = await open({ resource: 'mine' })
  const response = await world.chat(hello)
  assert.is(response.status, 200)
  const [call] = upstream.calls
  assert.is(call?.url.href, 'https://mine.openai.azure.com/openai/v1/chat/completions')
  assert.is(call?.headers.get('api-key'), 'azure-key-0123456789')
  assert.is(call?.headers.get('authorization'), null)
  assert.equal(JSON.parse(call?.body ?? ''), { ...hello, model: 'gpt-x' })
})

test('Azure OpenAI is called with a bearer token if the credential is one', async () => {
  const apiKey = 'eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJ4In0.c2lnbmF0dXJl'
  const { upstream, world } = await open({ resource: 'mine' }, { apiKey })
  await world.chat(hello)
  assert.is(upstream.calls[0]?.headers.get('authorization'), `Bearer ${apiKey}`)
  assert.is(upstream.calls[0]?.headers.get('api-key'), null)
})

const older = '2024-10-21'

/** A connection's settings, with the URL and the body's model in its requests. */
const addresses: [settings: ProviderSpecificData, url: string, model?: string][] = [
  [
    { resource: 'mine', apiVersion: older },
    'https://mine.openai.azure.com/openai/deployments/gpt-x/chat/completions?api-version=2024-10-21',
  ],
  [
    { resource: 'mine', apiVersion: older, deployment: 'own' },
    'https://mine.openai.azure.com/openai/deployments/own/chat/completions?api-version=2024-10-21',
    'own',
  ],
  [{ resource: 'mine', deployment: 'own' }, 'https://mine.openai.azure.com/openai/v1/chat/completions', 'own'],
  [
    { resource: 'mine', apiVersion: 'preview' },
    'https://mine.openai.azure.com/openai/v1/chat/completions?api-version=preview',
  ],
  [{ baseUrl: 'https://mine.services.ai.azure.com/' }, 'https://mine.services.ai.azure.com/openai/v1/chat/completions'],
  [{ baseUrl: 'https://proxy.test/a/openai/v1' }, 'https://proxy.test/a/openai/v1/chat/completions'],
]

for (const [settings, url, model = 'gpt-x'] of addresses) {
  test(`Azure OpenAI is called at ${url} with ${JSON.stringify(settings)}`, async () => {
    const { upstream, world } = await open(settings)
    await world.chat(hello)
    assert.is(upstream.calls[0]?.url.href, url)
    assert.is(JSON.parse(upstream.calls[0]?.body ?? '').model, model)
  })
}

test("Azure's content filter events neither start nor end a client's stream", async () => {
  const results = { choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] }
  const behind = { choices: [{ index: 0, finish_reason: null, content_filter_offsets: { end_offset: 5 } }] }
  const events = chatEvents()
    .join('')
    .replace('data: [DONE]', `data: ${JSON.stringify(behind)}\n\ndata: [DONE]`)
  const respond: Respond = () => sse(`data: ${JSON.stringify(results)}\n\n${events}`)
  const { world } = await open({ resource: 'mine' }, { respond })
  const passed = await (await world.chat({ ...hello, stream: true })).text()
  assert.match(passed, /prompt_filter_results/)
  const translated = await (await world.messages({ ...hello, stream: true })).text()
  assert.match(translated, /"text":"Hello/)
  assert.match(translated, /event: message_stop\n/)
})

test("a stream with only Azure's filter results fails with a 502", async () => {
  const results = { choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] }
  const { world } = await open({ resource: 'mine' }, { respond: () => sse(`data: ${JSON.stringify(results)}\n\n`) })
  const response = await world.chat({ ...hello, stream: true })
  assert.is(response.status, 502)
  assert.match((await response.json()).error.message, /before it sent any content/)
})

test('the cooldown after an Azure OpenAI 429 follows "retry-after-ms"', async () => {
  const error = { error: { code: '429', message: 'slow down' } }
  const respond: Respond = (_, index) =>
    index === 1 ? json(error, 429, { 'retry-after-ms': '2500', 'retry-after': '60' }) : json(chatResponse())
  const { world } = await open({ resource: 'mine' }, { respond })
  assert.is((await world.chat(hello)).status, 429)
  const [ill] = (await world.api.connections.list()).connections[0]?.health ?? []
  const waitMs = Date.parse(ill?.retryAt ?? '') - world.clock.now()
  assert.ok(waitMs >= 2_500 && waitMs < 5_000, String(waitMs))
})

test('an Azure connection without a resource or a credential causes an error that names the setting', async () => {
  const { upstream, world } = await open({ resource: 'mine' })
  const rejected = await world.api.connections.create({ provider: 'azure' }).catch((error) => error)
  assert.is(rejected.status, 400)
  assert.match(rejected.message, /^Azure OpenAI needs "providerSpecificData.resource"/)
  const [connection] = (await world.api.connections.list()).connections
  const change = { providerSpecificData: { enabledModels: ['gpt-x'] } }
  const unchanged = await world.api.connections.update(connection?.id ?? '', change).catch((error) => error)
  assert.match(unchanged.message, /needs "providerSpecificData.resource"/)
  await world.api.connections.update(connection?.id ?? '', { apiKey: null })
  const response = await world.chat(hello)
  assert.is(response.status, 502)
  const { error } = await response.json()
  assert.is(error.message, 'The connection to azure/gpt-x is not set up correctly. It has no credential. Set "apiKey".')
  assert.is(upstream.calls.length, 0)
})

test("a key that Azure echoes in an error isn't passed to the client", async () => {
  const respond: Respond = () => json({ error: { message: 'bad azure-key-0123456789' } }, 400)
  const { world } = await open({ resource: 'mine' }, { respond })
  const text = await (await world.chat(hello)).text()
  assert.ok(!text.includes('azure-key-0123456789'), text)
})
