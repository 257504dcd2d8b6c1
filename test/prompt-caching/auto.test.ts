import type { JsonObject } from '../../src/lib/json.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import type { Catalog, Connection, PromptCaching } from '../../src/types.ts'
import { fullResponses } from '../formats/cases/responses.ts'
import { openGateway, type RequestInput } from '../formats/cases/support.ts'
import { converseResponse } from '../formats/support/event-stream.ts'
import { json, type Respond } from '../pipeline/support/upstream.ts'
import { fakeClock } from '../support/clock.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { listMarks } from './support/breakpoints.ts'
import { clientWriters, createConversation, listRequestEnds } from './support/conversations.ts'

const test = suite('prompt caching: automatic breakpoints')

type Sent = RequestInput & { promptCaching?: PromptCaching }

const replies = {
  messages: () => json(fullResponses['anthropic-messages']),
  chat: () => json(fullResponses['openai-chat']),
  responses: () => json(fullResponses['openai-responses']),
  gemini: () => json(fullResponses.gemini),
  converse: () => json(converseResponse()),
} satisfies Record<string, Respond>

const bedrock: Partial<Connection> & { provider: string } = {
  provider: 'bedrock',
  apiKey: 'k',
  providerSpecificData: { region: 'eu-west-1' },
}
const vertex: Partial<Connection> & { provider: string } = {
  provider: 'vertex',
  apiKey: 'ya29.token',
  providerSpecificData: { project: 'p' },
}

/** Sends one request through a gateway with this `promptCaching` setting. */
async function send({ promptCaching = 'auto', ...request }: Sent) {
  const [provider = ''] = request.model.split('/')
  const { client, model, respond, body, stream, headers, ...options } = request
  const setup = { catalog: defaultCatalog, connections: [provider], ...options }
  const { upstream, world } = await openGateway(respond, setup)
  await world.api.settings.update({ promptCaching })
  const paths = { 'openai-chat': '/v1/chat/completions', 'anthropic-messages': '/v1/messages' } as const
  const path = paths[client as keyof typeof paths]
  const response = await world.post(path, { ...body, model }, { headers: headers ?? {} })
  assert.is(response.status, 200, await response.clone().text())
  const [call] = upstream.calls
  return { sent: JSON.parse(call?.body ?? '{}') as JsonObject, call, up: upstream, world, response }
}

const steps = createConversation(createRandom(3), 4)
const agent = clientWriters['openai-chat'](steps.slice(0, listRequestEnds(steps)[3]))
const agentMessages = clientWriters['anthropic-messages'](steps.slice(0, listRequestEnds(steps)[3]))
const getLastText = (body: JsonObject) => JSON.stringify((body.messages as JsonObject[]).at(-1))

const claude = { client: 'openai-chat', model: 'anthropic/claude-sonnet-4-5', respond: replies.messages } as const
const SAYS = 'You are an agent. '.repeat(400)

const listPlaces = (sent: JsonObject) => listMarks(sent).map(({ place }) => place)

test('a translated agent request gets breakpoints on its tools, instructions, and last two user turns', async () => {
  const { sent } = await send({ ...claude, body: agent })
  assert.equal(listPlaces(sent), ['tools', 'system', 'messages', 'messages'])
  const turns = sent.messages as JsonObject[]
  const response = turns.findLastIndex(({ role }) => role === 'assistant')
  const marked = turns.flatMap((turn, index) => (JSON.stringify(turn).includes('cache_control') ? [index] : []))
  assert.equal(marked, [response - 1, turns.length - 1])
})

test('a passthrough request keeps all bytes except its tools, its instructions, and the inserted field', async () => {
  const body = JSON.stringify({ ...agentMessages, metadata: { n: 1 } }).replace('"n":1', '"n": 1.0')
  const { upstream, world } = await openGateway(replies.messages, {
    catalog: defaultCatalog,
    connections: ['anthropic'],
  })
  await world.api.settings.update({ promptCaching: 'auto' })
  const text = body.replace('"model":"m"', '"model":"anthropic/claude-sonnet-4-5"')
  await world.post('/v1/messages', text)
  const sent = upstream.calls[0]?.body ?? ''
  const { tools, system } = JSON.parse(sent)
  assert.equal(listPlaces(JSON.parse(sent)), ['tools', 'system', 'top'])
  const restored = sent
    .replace('"cache_control":{"type":"ephemeral"},', '')
    .replace(JSON.stringify(tools), JSON.stringify(agentMessages.tools))
    .replace(JSON.stringify(system), JSON.stringify(agentMessages.system))
  assert.is(restored, body.replace('"model":"m"', '"model":"claude-sonnet-4-5"'))
})

test('after a turn of 24 blocks, the previous end of the conversation also gets a breakpoint', async () => {
  const calls = Array.from({ length: 12 }, (_, i) => ({ type: 'tool_use', id: `t${i}`, name: 'search', input: {} }))
  const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' }))
  const messages = [
    { role: 'user', content: 'Go.' },
    { role: 'assistant', content: calls },
    { role: 'user', content: results },
  ]
  const { sent } = await send({ ...claude, client: 'anthropic-messages', body: { ...agentMessages, messages } })
  assert.equal(listPlaces(sent), ['tools', 'system', 'messages', 'top'])
})

test('a prompt without tools gets no breakpoint until its instructions are repeated', async () => {
  const clock = fakeClock()
  const { upstream, world } = await openGateway(replies.messages, {
    catalog: defaultCatalog,
    connections: ['anthropic'],
    clock,
  })
  await world.api.settings.update({ promptCaching: 'auto' })
  const send = async (request: string) => {
    const messages = [{ role: 'user', content: request }]
    await world.messages({ model: 'anthropic/claude-sonnet-4-5', max_tokens: 9, system: SAYS, messages })
    return listPlaces(JSON.parse(upstream.calls.at(-1)?.body ?? '{}'))
  }
  assert.equal(await send('a'), [])
  await clock.advance(4 * 60_000)
  assert.equal(await send('b'), ['system'])
  await clock.advance(6 * 60_000)
  assert.equal(await send('c'), [])
})

test('a short prompt is sent unchanged', async () => {
  const body = {
    messages: [{ role: 'user', content: 'Hi' }],
    tools: (agent.tools as unknown[]).slice(0, 1),
    max_tokens: 9,
  }
  const on = await send({ ...claude, body: { ...body, tools: [] } })
  const off = await send({ ...claude, promptCaching: 'off', body: { ...body, tools: [] } })
  assert.is(on.call?.body, off.call?.body)
})

test('Vertex gets breakpoints on blocks, and no top-level breakpoint', async () => {
  for (const [client, body] of [
    ['openai-chat', agent],
    ['anthropic-messages', agentMessages],
  ] as const) {
    const { sent } = await send({
      ...{ client, model: 'vertex/claude-sonnet-4-5', connections: [vertex], body },
      respond: replies.messages,
    })
    assert.equal(listPlaces(sent), ['tools', 'system', 'messages', 'messages'])
  }
})

test('Converse gets four cache points for Claude, and no message starts with one', async () => {
  const model = 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0'
  const { sent } = await send({
    client: 'anthropic-messages',
    model,
    connections: [bedrock],
    body: agentMessages,
    respond: replies.converse,
  })
  assert.equal(listPlaces(sent), ['tools', 'system', 'messages', 'messages'])
  for (const { content } of sent.messages as Array<{ content: JsonObject[] }>) assert.not.ok(content[0]?.cachePoint)
})

test('Nova gets no cache point in its tools', async () => {
  const model = 'bedrock/eu.amazon.nova-pro-v1:0'
  const { sent } = await send({
    client: 'anthropic-messages',
    model,
    connections: [bedrock],
    body: agentMessages,
    respond: replies.converse,
  })
  assert.equal(listPlaces(sent), ['system', 'messages', 'messages'])
})

test('OpenRouter gets breakpoints on text for Claude, and none for GPT-4', async () => {
  const to = (model: string) =>
    send({ client: 'openai-chat', model: `openrouter/${model}`, body: agent, respond: replies.chat })
  assert.equal(listPlaces((await to('anthropic/claude-sonnet-4-5')).sent), ['messages', 'messages', 'messages'])
  assert.equal(listPlaces((await to('openai/gpt-4.1')).sent), [])
})

const openai: Catalog = { openai: { baseUrl: 'http://openai.test/v1', format: 'openai-responses' } }
const countBreakpoints = (sent: JsonObject) => JSON.stringify(sent).match(/"prompt_cache_breakpoint"/g)?.length ?? 0

for (const client of ['openai-chat', 'anthropic-messages'] as const)
  test(`GPT-5.6 gets one breakpoint at the end of the instructions, from ${client} clients`, async () => {
    const body = client === 'openai-chat' ? agent : agentMessages
    const { sent } = await send({
      client,
      model: 'openai/gpt-5.6',
      catalog: openai,
      body,
      respond: replies.responses,
    })
    assert.is(countBreakpoints(sent), 1)
    const [first] = sent.input as Array<{ role: string; content: JsonObject[] }>
    assert.match(String(first?.role), /developer|system/)
    assert.equal(first?.content.at(-1)?.prompt_cache_breakpoint, { mode: 'explicit' })
    assert.equal([sent.prompt_cache_options, sent.instructions], [undefined, undefined])
    assert.match(String(sent.prompt_cache_key), /^[\w-]{22}$/)
  })

test('GPT-5.4 gets a cache key, but no breakpoint', async () => {
  const { sent } = await send({
    client: 'openai-chat',
    model: 'openai/gpt-5.4',
    catalog: openai,
    body: agent,
    respond: replies.responses,
  })
  assert.is(countBreakpoints(sent), 0)
  assert.match(String(sent.prompt_cache_key), /^[\w-]{22}$/)
})

test('Mistral, xAI, and Fireworks get their own field or header, and Groq gets none', async () => {
  const to = async (provider: string) => {
    const { sent, call } = await send({
      client: 'openai-chat',
      model: `${provider}/m`,
      body: agent,
      respond: replies.chat,
    })
    const { headers } = call ?? {}
    return [sent.prompt_cache_key, headers?.get('x-grok-conv-id'), headers?.get('x-session-affinity')].map(Boolean)
  }
  assert.equal(await to('mistral'), [true, false, false])
  assert.equal(await to('xai'), [false, true, false])
  assert.equal(await to('fireworks'), [false, false, true])
  assert.equal(await to('groq'), [false, false, false])
})

for (const [model, respond] of [
  ['google/gemini-3-pro-preview', replies.gemini],
  ['deepseek/deepseek-flash', replies.chat],
  ['groq/llama-3.3-70b-versatile', replies.chat],
] as const)
  test(`the request is the same with and without prompt caching for ${model}`, async () => {
    const request = { client: 'openai-chat', model, body: agent, respond } as const
    const on = await send(request)
    const off = await send({ ...request, promptCaching: 'off' })
    assert.is(on.call?.body, off.call?.body)
    assert.equal([...(on.call?.headers ?? [])], [...(off.call?.headers ?? [])])
  })

test('a longer lifetime applies only to the breakpoints on the tools and the instructions', async () => {
  const { sent } = await send({ ...claude, promptCaching: { mode: 'auto', ttl: '1h' }, body: agent })
  assert.equal(
    listMarks(sent).map(({ ttl }) => ttl),
    ['1h', '1h', '5m', '5m'],
  )
})

test("the key's setting takes precedence over the entry's, the connection's, and the global one", async () => {
  const { upstream, world } = await openGateway(replies.messages, {
    catalog: defaultCatalog,
    connections: [{ provider: 'anthropic', apiKey: 'k', promptCaching: 'off' }],
    combos: {
      on: { models: [{ model: 'anthropic/claude-sonnet-4-5', promptCaching: 'auto' }] },
    },
  })
  const send = async (model: string, key?: string) => {
    await world.post(
      '/v1/chat/completions',
      { ...agent, model },
      { headers: key ? { authorization: `Bearer ${key}` } : {} },
    )
    return listPlaces(JSON.parse(upstream.calls.at(-1)?.body ?? '{}')).length > 0
  }
  await world.api.settings.update({ promptCaching: 'auto' })
  assert.is(await send('anthropic/claude-sonnet-4-5'), false)
  assert.is(await send('on'), true)
  const { key } = await world.api.keys.create({ name: 'off', promptCaching: 'off' })
  assert.is(await send('on', key), false)
  const other = await world.api.keys.create({ name: 'on', promptCaching: { mode: 'auto' } })
  assert.is(await send('anthropic/claude-sonnet-4-5', other.key), true)
})

test('the header can turn prompt caching off, but not on', async () => {
  const sendRequest = async (promptCaching: PromptCaching, value: string) =>
    listPlaces(
      (await send({ ...claude, promptCaching, body: agent, headers: { 'x-signalbox-prompt-caching': value } })).sent,
    )
  assert.equal(await sendRequest('auto', 'off'), [])
  assert.equal(await sendRequest('off', 'auto'), [])
  assert.is((await sendRequest('auto', 'auto')).length, 4)
})

test('a combo can have one entry with prompt caching and one without', async () => {
  let isDown = true
  const respond: Respond = () =>
    isDown ? new Response('{}', { status: 503 }) : json(fullResponses['anthropic-messages'])
  const { upstream, world } = await openGateway(
    (call, index) => {
      isDown = index === 1
      return respond(call, index)
    },
    {
      catalog: defaultCatalog,
      connections: ['anthropic'],
      combos: {
        two: {
          models: [
            { model: 'anthropic/claude-sonnet-4-5', promptCaching: 'auto' },
            { model: 'anthropic/claude-haiku-4-5', promptCaching: 'off' },
          ],
        },
      },
    },
  )
  await world.chat({ ...agent, model: 'two' })
  assert.equal(
    upstream.calls.map(({ body }) => listPlaces(JSON.parse(body)).length),
    [4, 0],
  )
})

test("each attempt has only its own breakpoints, and the client's request isn't modified", async () => {
  const before = structuredClone(agent)
  const { upstream, world } = await openGateway(
    (_, index) => (index < 3 ? new Response('{}', { status: 503 }) : json(converseResponse())),
    {
      catalog: { ...defaultCatalog, ...openai },
      connections: ['anthropic', 'openai', bedrock],
      combos: {
        all: { models: ['anthropic/claude-sonnet-4-5', 'openai/gpt-5.6', 'bedrock/us.anthropic.claude-sonnet-4-5'] },
      },
    },
  )
  await world.api.settings.update({ promptCaching: 'auto' })
  await world.chat({ ...agent, model: 'all' })
  const [anthropic, responses, converse] = upstream.calls.map(({ body }) => body)
  assert.match(anthropic ?? '', /"cache_control"/)
  assert.not.match(anthropic ?? '', /prompt_cache|cachePoint/)
  assert.match(responses ?? '', /"prompt_cache_breakpoint"/)
  assert.not.match(responses ?? '', /cache_control|cachePoint/)
  assert.match(converse ?? '', /"cachePoint"/)
  assert.not.match(converse ?? '', /cache_control|prompt_cache/)
  assert.equal(agent, before)
})

test('a session has the same cache key in all instances, and different sessions have different ones', async () => {
  const sendRequest = async (options: object, name: string) => {
    const { sent, world } = await send({
      ...{
        client: 'openai-chat',
        model: 'openai/gpt-5.4',
        catalog: openai,
        body: agent,
        respond: replies.responses,
      },
      ...options,
      headers: { 'x-signalbox-session': name },
    })
    return { key: sent.prompt_cache_key, world }
  }
  const { memoryStorage } = await import('../../adapters/storage/memory.ts')
  const storage = memoryStorage()
  const secret = 'a secret of at least 32 characters'
  const first = await sendRequest({ storage, secret }, 's')
  const other = await sendRequest({ storage, secret, connections: [] }, 's')
  assert.is(first.key, other.key)
  assert.is.not(first.key, (await sendRequest({ storage, secret, connections: [] }, 't')).key)
})

test("a client's own breakpoints are recorded as the client's", async () => {
  const marked = { ...agentMessages, cache_control: { type: 'ephemeral' } }
  const { sent, world } = await send({ ...claude, client: 'anthropic-messages', body: marked })
  assert.equal(listPlaces(sent), ['top'])
  assert.equal(world.recorded.requests[0]?.promptCache?.by, 'client')
  assert.equal(world.recorded.requests[0]?.promptCache?.stoodDown, 'client')
})

test("a strict request causes no warning about the gateway's breakpoints", async () => {
  const { response } = await send({ ...claude, body: agent, headers: { 'x-signalbox-strict': 'true' } })
  assert.is(response.headers.get('x-signalbox-warning'), null)
})

test('rejected breakpoints cause one retry without them, and the target gets none for an hour', async () => {
  const clock = fakeClock()
  const rejection = {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'cache_control: Extra inputs are not permitted' },
  }
  const { upstream, world } = await openGateway(
    ({ body }) => (/cache_control/.test(body) ? json(rejection, 400) : json(fullResponses['anthropic-messages'])),
    { catalog: defaultCatalog, connections: ['anthropic'], clock },
  )
  await world.api.settings.update({ promptCaching: 'auto' })
  const send = async () => (await world.chat({ ...agent, model: 'anthropic/claude-sonnet-4-5' })).status
  assert.is(await send(), 200)
  assert.is(upstream.calls.length, 2)
  assert.is(await send(), 200)
  assert.is(upstream.calls.length, 3)
  assert.is(world.recorded.requests[1]?.promptCache?.stoodDown, 'rejected')
  await clock.advance(61 * 60_000)
  await send()
  assert.is(upstream.calls.length, 5)
})

test('the breakpoint at the end of a conversation is on the last user turn', async () => {
  const { sent } = await send({ ...claude, body: agent })
  assert.match(getLastText(sent), /cache_control/)
})
