import type { JsonObject } from '../../src/lib/json.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import type { Catalog } from '../../src/types.ts'
import { fullResponses } from '../formats/cases/responses.ts'
import { openGateway } from '../formats/cases/support.ts'
import { converseResponse } from '../formats/support/event-stream.ts'
import { json, type Respond } from '../pipeline/support/upstream.ts'
import { fakeClock } from '../support/clock.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { clientWriters, createConversation, listRequestEnds } from './support/conversations.ts'

const test = suite('prompt caching: clients that set cache fields themselves')

const steps = createConversation(createRandom(3), 4)
const conversation = steps.slice(0, listRequestEnds(steps)[3])
const openaiResponses: Catalog = { openai: { ...defaultCatalog.openai, format: 'openai-responses' } }

interface Sent {
  path: string
  body: JsonObject
  catalog?: Catalog
  respond: Respond
}

async function send({ path, body, catalog = defaultCatalog, respond }: Sent) {
  const [provider = ''] = String(body.model).split('/')
  const { upstream, world } = await openGateway(respond, { catalog, connections: [provider] })
  await world.api.settings.update({ promptCaching: 'auto' })
  const response = await world.post(path, body, { headers: { 'x-signalbox-session': 's' } })
  assert.is(response.status, 200, await response.clone().text())
  const call = upstream.calls[0]
  return { call, sent: JSON.parse(call?.body ?? '{}'), record: world.recorded.requests[0]?.promptCache }
}

const messages = clientWriters['anthropic-messages'](conversation)
const marked = { ...messages, cache_control: { type: 'ephemeral' } }

const chat = () => json(fullResponses['openai-chat'])
const others: Record<string, { respond: Respond; catalog?: Catalog; field: string }> = {
  'xai/grok-4': { respond: chat, field: 'x-grok-conv-id' },
  'fireworks/accounts/fireworks/models/kimi-k2': { respond: chat, field: 'x-session-affinity' },
  'openrouter/anthropic/claude-sonnet-4.5': { respond: chat, field: 'x-session-id' },
  'mistral/mistral-large-latest': { respond: chat, field: 'prompt_cache_key' },
  'openai/gpt-5.4': {
    respond: () => json(fullResponses['openai-responses']),
    catalog: openaiResponses,
    field: 'prompt_cache_key',
  },
  'openai/gpt-5.6': {
    respond: () => json(fullResponses['openai-responses']),
    catalog: openaiResponses,
    field: 'prompt_cache_key',
  },
}
for (const [model, { field, ...target }] of Object.entries(others))
  test(`a request with client breakpoints still gets ${field} for ${model}`, async () => {
    const { call, sent, record } = await send({ path: '/v1/messages', body: { ...marked, model }, ...target })
    assert.ok(field === 'prompt_cache_key' ? sent[field] : call?.headers.get(field), field)
    const breakpoints = JSON.stringify(sent).match(/"prompt_cache_breakpoint"/g) ?? []
    assert.ok(breakpoints.length <= 1)
    assert.is.not(record?.by, 'gateway')
  })

test("a cache field with the value null isn't a breakpoint", async () => {
  const body = { ...messages, cache_control: null, model: 'anthropic/claude-sonnet-4-5' }
  const { sent, record } = await send({
    path: '/v1/messages',
    body,
    respond: () => json(fullResponses['anthropic-messages']),
  })
  assert.equal(sent.cache_control, { type: 'ephemeral' })
  assert.is(record?.by, 'gateway')
})

test("a tool parameter named like a cache field isn't a breakpoint", async () => {
  const properties = { cacheControl: { type: 'string', default: 'no-store' }, cachedContent: { type: 'string' } }
  const tools = [{ name: 'upload', input_schema: { type: 'object', properties } }]
  const body = { ...messages, tools, model: 'anthropic/claude-sonnet-4-5' }
  const { record } = await send({
    path: '/v1/messages',
    body,
    respond: () => json(fullResponses['anthropic-messages']),
  })
  assert.is(record?.by, 'gateway')
})

const responses: JsonObject = { ...clientWriters['openai-responses'](conversation), model: 'openai/gpt-5.6' }
const toResponses = {
  path: '/v1/responses',
  catalog: openaiResponses,
  respond: () => json(fullResponses['openai-responses']),
}
test('instructions stay a separate field if the request has a stored prompt', async () => {
  const { sent } = await send({ ...toResponses, body: { ...responses, prompt: { id: 'pmpt_1' } } })
  assert.is(sent.instructions, responses.instructions)
  assert.equal(sent.input, responses.input)
})

test("while caching is paused for GPT-5.6, a client's retention is sent without cache options", async () => {
  const clock = fakeClock()
  const usage = {
    ...{ input_tokens: 10_010, output_tokens: 1, total_tokens: 10_011 },
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 10_000 },
  }
  const { upstream, world } = await openGateway(() => json({ ...fullResponses['openai-responses'], usage }), {
    ...{ catalog: openaiResponses, connections: ['openai'], clock, logger: { warn() {}, error() {} } },
  })
  await world.api.settings.update({ promptCaching: 'auto' })
  for (let count = 0; count < 10; count++) {
    const headers = { 'x-signalbox-session': `s${count}` }
    assert.is(
      (await world.post('/v1/responses', { ...responses, prompt_cache_retention: '24h' }, { headers })).status,
      200,
    )
  }
  const last = JSON.parse(upstream.calls.at(-1)?.body ?? '{}')
  assert.is(last.prompt_cache_retention, '24h')
  assert.is(last.prompt_cache_options, undefined)
  assert.is(world.recorded.requests.at(-1)?.promptCache?.stoodDown, 'unprofitable')
})

test('a cache key that the target rejects is dropped, and the request is retried', async () => {
  const rejection = {
    error: { message: 'Unrecognized request argument supplied: prompt_cache_key', type: 'invalid_request_error' },
  }
  const { upstream, world } = await openGateway(
    ({ body }) => (/prompt_cache_key/.test(body) ? json(rejection, 400) : chat()),
    {
      ...{ catalog: defaultCatalog, connections: ['mistral'] },
    },
  )
  await world.api.settings.update({ promptCaching: 'auto' })
  const body = { ...clientWriters['openai-chat'](conversation), model: 'mistral/mistral-large-latest' }
  for (const calls of [2, 3]) {
    assert.is((await world.chat(body)).status, 200)
    assert.is(upstream.calls.length, calls)
  }
})

test("a rejection of a client's cache fields doesn't turn prompt caching off for other requests", async () => {
  const rejection = { error: { message: 'Invalid prompt_cache_retention: bogus', type: 'invalid_request_error' } }
  const { upstream, world } = await openGateway(
    ({ body }) => (/bogus/.test(body) ? json(rejection, 400) : json(fullResponses['openai-responses'])),
    { catalog: openaiResponses, connections: ['openai'] },
  )
  await world.api.settings.update({ promptCaching: 'auto' })
  assert.is((await world.post('/v1/responses', { ...responses, prompt_cache_retention: 'bogus' })).status, 400)
  assert.is((await world.post('/v1/responses', responses)).status, 200)
  assert.match(upstream.calls.at(-1)?.body ?? '', /"prompt_cache_breakpoint"/)
})

const ownMark = { cache_control: { type: 'ephemeral' } }

/** Opens a gateway whose provider rejects bodies that match. Sends requests that contain a client breakpoint. */
async function openRejecting(rejected: RegExp, message: string) {
  const { upstream, world } = await openGateway(
    ({ body }) => (rejected.test(body) ? json({ error: { message, type: 'invalid_request_error' } }, 400) : chat()),
    { catalog: defaultCatalog, connections: ['mistral'] },
  )
  await world.api.settings.update({ promptCaching: 'auto' })
  const [first, ...others] = (clientWriters['openai-chat'](conversation) as { messages: object[] }).messages
  const messages = [{ ...first, ...ownMark }, ...others]
  const send = async () =>
    (await world.chat({ messages, model: 'mistral/mistral-large-latest', prompt_cache_options: { mode: 'explicit' } }))
      .status
  return { upstream, world, send }
}

test('later requests with client breakpoints also omit a cache key that the target rejected', async () => {
  const message = 'Unrecognized request argument supplied: prompt_cache_key'
  const { upstream, world, send } = await openRejecting(/prompt_cache_key/, message)
  for (const calls of [2, 3]) {
    assert.is(await send(), 200)
    assert.is(upstream.calls.length, calls)
    const { by, stoodDown } = world.recorded.requests.at(-1)?.promptCache ?? {}
    assert.equal([by, stoodDown], ['client', 'client'])
  }
})

for (const field of ['cache_control', 'prompt_cache_options'])
  test(`a request isn't retried if the provider rejects the client's ${field}`, async () => {
    const { upstream, send } = await openRejecting(/./, `${field}: Extra inputs are not permitted`)
    assert.is(await send(), 400)
    assert.is(upstream.calls.length, 1)
    assert.match(upstream.calls[0]?.body ?? '', /prompt_cache_key/)
  })

const bedrock = { provider: 'bedrock', apiKey: 'k', providerSpecificData: { region: 'eu-west-1' } }
const lifetimes: Record<string, string | undefined> = {
  'us.anthropic.claude-sonnet-4-5-20250929-v1:0': '1h',
  'us.anthropic.claude-opus-5-5': '1h',
  'us.anthropic.claude-sonnet-4-20250514-v1:0': undefined,
  'us.anthropic.claude-opus-4-1-20250805-v1:0': undefined,
  'anthropic.claude-3-7-sonnet-20250219-v1:0': undefined,
  'eu.amazon.nova-pro-v1:0': undefined,
}
for (const [model, ttl] of Object.entries(lifetimes))
  test(`Bedrock caches for an hour only if the model supports it: ${model}`, async () => {
    const { upstream, world } = await openGateway(() => json(converseResponse()), {
      catalog: defaultCatalog,
      connections: [bedrock],
    })
    await world.api.settings.update({ promptCaching: { mode: 'auto', ttl: '1h' } })
    const ownMark = { cache_control: { type: 'ephemeral', ttl: '1h' } }
    const system = [{ type: 'text', text: String(messages.system), ...ownMark }]
    for (const body of [messages, { ...messages, system }]) {
      const response = await world.post('/v1/messages', { ...body, model: `bedrock/${model}` })
      assert.is(response.status, 200, await response.clone().text())
      const sent = JSON.parse(upstream.calls.at(-1)?.body ?? '{}')
      const { cachePoint } = sent.system.at(-1)
      assert.equal([cachePoint?.type, cachePoint?.ttl === '5m' ? undefined : cachePoint?.ttl], ['default', ttl])
    }
  })
