import { wireFormats } from '../../src/types/unions.ts'
import type { Catalog, ProviderFormat } from '../../src/types.ts'
import { wholeClients } from '../formats/support/clients.ts'
import { assert, suite } from '../support/suite.ts'
import { chatEvents, chatResponse, messageEvents } from './support/responses.ts'
import { questions } from './support/sample-requests.ts'
import { looked, readHeaders, wholeResponse } from './support/sample-streams.ts'
import { getAttempts, messages, openChain, typed } from './support/unrequested-streams.ts'
import { type End, fakeUpstream, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('unrequested streams')

const catalog: Catalog = {
  chat: { baseUrl: 'http://chat.test/v1', models: [{ id: 'm' }] },
  responses: { baseUrl: 'http://responses.test/v1', format: 'openai-responses', models: [{ id: 'm' }] },
  claude: { baseUrl: 'http://claude.test/v1', format: 'anthropic-messages', models: [{ id: 'm' }] },
  google: { baseUrl: 'http://google.test/v1beta', format: 'gemini', models: [{ id: 'm' }] },
  bedrock: { cloud: 'bedrock', format: 'bedrock-converse' },
}

const providerFormats = [...wireFormats, 'bedrock-converse'] as const

const providers: Readonly<Record<ProviderFormat, string>> = {
  'openai-chat': 'chat',
  'openai-responses': 'responses',
  'anthropic-messages': 'claude',
  gemini: 'google',
  'bedrock-converse': 'bedrock',
}

const getStream = (format: ProviderFormat, end?: End) =>
  typed(
    format === 'bedrock-converse' ? 'application/vnd.amazon.eventstream' : 'text/event-stream; charset=utf-8',
    readHeaders[format],
    end,
  )

/** Opens a gateway with a provider of each format. All of them stream. */
async function openAll(respond: (format: ProviderFormat) => Response) {
  const formats = new Map(providerFormats.map((format) => [providers[format], format]))
  const upstream = fakeUpstream(({ provider }) =>
    respond(formats.get(provider.startsWith('bedrock') ? 'bedrock' : provider) ?? 'openai-chat'),
  )
  const connections = Object.values(providers).map((provider) => ({
    ...{ provider, apiKey: 'a-credential-0123456789' },
    ...(provider === 'bedrock' && { providerSpecificData: { region: 'eu-west-1' } }),
  }))
  return { upstream, world: await openWorld({ fetch: upstream, catalog, connections }) }
}

for (const from of providerFormats)
  for (const to of wireFormats)
    test(`an unrequested stream becomes a single response (${from} provider, ${to} client)`, async () => {
      const { upstream, world } = await openAll(getStream)
      const response = await world.post(...questions[to](`${providers[from]}/m`, false))
      assert.is(response.status, 200, await (response.status === 200 ? '' : response.text()))
      assert.is(response.headers.get('content-type'), 'application/json')
      assert.is(response.headers.get('x-signalbox-target'), `${providers[from]}/m`)
      assert.equal(await wholeClients[to](response), looked)
      const [{ inputTokens, outputTokens } = {}] = world.recorded.usages
      assert.equal([inputTokens, outputTokens], [10, 5])
      assert.equal([upstream.calls.length, upstream.open], [1, 0])
    })

test('an unrequested stream ends at its end marker, even if the connection stays open or breaks afterward', async () => {
  for (const end of ['hang', 'error'] as const) {
    const { upstream, world } = await openAll((format) => getStream(format, end))
    for (const [format, provider] of Object.entries(providers)) {
      if (format === 'gemini') continue // Gemini streams have no end marker
      const response = await world.post(...questions['openai-chat'](`${provider}/m`, false))
      assert.equal(await wholeClients['openai-chat'](response), looked, `${format}, ${end}`)
    }
    assert.is(upstream.open, 0)
  }
})

test('all fields in the last event of an unrequested stream are passed through', async () => {
  const response = { ...wholeResponse, service_tier: 'flex', id: 'resp_2', n: 0 }
  const [last = ''] = readHeaders['openai-responses'].slice(-1).map(String)
  const recorded = last.replace(
    JSON.stringify(wholeResponse),
    JSON.stringify(response).replace('"n":0', '"n":12345678901234567890'),
  )
  const { world } = await openAll(() => sse([...readHeaders['openai-responses'].slice(0, -1).map(String), recorded]))
  const reply = await world.post(...questions['openai-responses']('responses/m', false))
  assert.is(await reply.text(), JSON.stringify(response).replace('"n":0', '"n":12345678901234567890'))
})

test('an unrequested stream is reassembled if its last event omits the output', async () => {
  const bare = { type: 'response.completed', response: { ...wholeResponse, output: [] } }
  const { world } = await openAll(() =>
    sse([...readHeaders['openai-responses'].slice(0, -1).map(String), `data: ${JSON.stringify(bare)}\n\n`]),
  )
  for (const to of wireFormats) {
    const response = await world.post(...questions[to]('responses/m', false))
    assert.equal(await wholeClients[to](response), looked)
  }
})

test("an unrequested stream keeps the provider's model name when it is passed through", async () => {
  const { world } = await openAll(getStream)
  const chat = await (await world.post(...questions['openai-chat']('chat/m', false))).json()
  assert.equal([chat.object, chat.model, chat.choices.length], ['chat.completion', 'm-1', 1])
})

test('an unrequested stream is recognized by its events, whatever the content type', async () => {
  for (const type of ['application/json', 'text/plain', 'application/octet-stream', '']) {
    const { send } = await openChain(() => typed(type, chatEvents('Hello there')))
    const response = await send()
    assert.is(getAttempts(response), 'one/m=200;via=chain:fallback', type)
    assert.is((await response.json()).choices[0].message.content, 'Hello there')
  }
})

test("a JSON response with a stream's content type isn't an unrequested stream", async () => {
  const text = JSON.stringify(chatResponse(), null, 1)
  const { send } = await openChain(() => typed('text/event-stream', ['\n', text]))
  assert.is(await (await send()).text(), `\n${text}`)
})

test('fields dropped when an unrequested stream is converted to a response are reported', async () => {
  const call = { type: 'computer_call', id: 'cu_1', status: 'completed' }
  const recorded = { ...wholeResponse, output: [...wholeResponse.output, call] }
  const { world } = await openAll(() =>
    sse([`data: ${JSON.stringify({ type: 'response.completed', response: recorded })}\n\n`]),
  )
  const response = await world.post(...questions['anthropic-messages']('responses/m', false))
  assert.match(response.headers.get('x-signalbox-warning') ?? '', /dropped:answer\.computer_call/)
})

test('an unrequested stream is reassembled even if encrypted state in the request prevents passing it through', async () => {
  const upstream = fakeUpstream(() => sse(messageEvents('Hello')))
  const world = await openWorld({ fetch: upstream })
  const thought = { type: 'thinking', thinking: '', signature: 'signalbox-1:gemini:thought-signature:x::y' }
  const turns = [...messages, { role: 'assistant', content: [thought, { type: 'text', text: 'a' }] }, ...messages]
  const response = await (await world.messages({ messages: turns })).json()
  assert.equal([response.type, response.content[0].text], ['message', 'Hello'])
})

test("an unrequested stream fails with a client error if the client's request can't be parsed", async () => {
  const { send } = await openChain(() => sse(chatEvents()))
  const response = await send({ messages: 'Hi' })
  assert.is(response.status, 400)
  assert.match(await response.text(), /messages/)
})

test('for legacy completions and token counts, an unrequested stream causes a 502', async () => {
  const { world } = await openChain(() => sse(chatEvents()))
  assert.is((await world.post('/v1/completions', { model: 'one/m', prompt: 'Hi' })).status, 502)
  const claude = await openWorld({ fetch: fakeUpstream(() => sse(messageEvents())) })
  assert.is((await claude.post('/v1/messages/count_tokens', { model: 'claude/c', messages })).status, 502)
})
