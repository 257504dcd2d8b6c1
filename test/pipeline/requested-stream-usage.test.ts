import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import { assert, suite } from '../support/suite.ts'
import { askRaw, getChunks, rawUpstream } from './support/raw.ts'
import { chatChunk, chatEvents, messageEvents } from './support/responses.ts'
import { fakeUpstream, json, type Respond, sse } from './support/upstream.ts'
import { openWorld, type WorldOptions } from './support/world.ts'

const test = suite('requesting stream usage')

const HEAD =
  '{ "messages" : [{"role":"user","content":"Is \\"stream_options\\" set? 1.0"}],"model": "one/m" , "stream":true'
const createBody = (extra = '') => `${HEAD}${extra} }`
const sendBody = (body: string) =>
  body.replace('{ ', '{"stream_options":{"include_usage":true}, ').replace('one/m', 'm')

/** A provider's response if the request has the option. */
const events = chatEvents()
const isUsage = (event: string) => event.includes('"choices":[]')
const withoutUsage = events.filter((event) => !isUsage(event)).join('')
const usageEvent = events.find(isUsage) ?? ''
const FINISH = chatChunk({}, 'stop')

const open = (respond: Respond = () => sse(events), extra: WorldOptions = {}) => {
  const upstream = fakeUpstream(respond)
  return openWorld({ fetch: upstream, includeStreamUsage: true, ...extra }).then((world) => ({ upstream, world }))
}

const chat = '/v1/chat/completions'

test('stream usage is requested by default', async () => {
  const upstream = fakeUpstream(() => sse(events))
  const usages: unknown[] = []
  const gateway = createGateway({
    storage: memoryStorage(),
    fetch: upstream,
    logger: false,
    catalog: { one: { baseUrl: 'http://one.test/v1' } },
    hooks: {
      onUsage: ({ inputTokens, outputTokens, costSource }) => usages.push([inputTokens, outputTokens, costSource]),
    },
  })
  await gateway.api.connections.create({ provider: 'one', apiKey: 'key' })
  const response = await gateway.fetch(`http://gateway${chat}`, { method: 'POST', body: createBody() })
  assert.is(await response.text(), withoutUsage)
  assert.is(upstream.calls[0]?.body, sendBody(createBody()))
  assert.equal(usages, [[7, 3, 'counted']])
})

test("if includeStreamUsage is off, stream usage isn't requested, and bytes are unchanged in both directions", async () => {
  const { upstream, world } = await open(undefined, { includeStreamUsage: false })
  const response = await world.post(chat, createBody())
  assert.is(await response.text(), events.join(''))
  assert.is(upstream.calls[0]?.body, createBody().replace('one/m', 'm'))
})

test("stream usage is requested, counted, and hidden from a client that didn't request it", async () => {
  const { upstream, world } = await open()
  const response = await world.post(chat, createBody())
  assert.is(await response.text(), withoutUsage)
  assert.is(upstream.calls[0]?.body, sendBody(createBody()))
  assert.is(response.headers.get('x-signalbox-target'), 'one/m')
  assert.is(response.headers.get('x-signalbox-attempts'), 'one/m=200')
  assert.is(response.headers.get('content-type'), 'text/event-stream')
  assert.equal(
    world.recorded.usages.map(({ inputTokens, outputTokens }) => [inputTokens, outputTokens]),
    [[7, 3]],
  )
  assert.is(world.recorded.requests[0]?.status, 200)
})

test('requested stream usage is priced', async () => {
  const catalog = {
    one: { baseUrl: 'http://one.test/v1', models: [{ id: 'm', price: { input: 1_000_000, output: 2_000_000 } }] },
  }
  const { world } = await open(undefined, { catalog, connections: ['one'] })
  await (await world.post(chat, createBody())).text()
  assert.is(world.recorded.usages[0]?.costUsd, 7 + 3 * 2)
})

/** The client's `stream_options`, and the options that the provider receives. */
const rewritten: Record<string, string> = {
  null: '{"include_usage":true}',
  '{ }': '{"include_usage":true }',
  '{"include_usage":false}': '{"include_usage":true}',
  '{"include_usage": null , "x":1.0}': '{"include_usage": true , "x":1.0}',
  '{ "include_obfuscation" : false}': '{"include_usage":true, "include_obfuscation" : false}',
  '{"\\u0069nclude_usage":false}': '{"\\u0069nclude_usage":true}',
  '{"include_usage":true}, "stream_options": {"include_usage":false}':
    '{"include_usage":true}, "stream_options": {"include_usage":true}',
}
for (const [input, wanted] of Object.entries(rewritten)) {
  test(`stream usage is requested instead of ${input}, with every other byte unchanged`, async () => {
    const { upstream, world } = await open()
    const response = await world.post(chat, createBody(`, "stream_options":${input}, "n" : 1`))
    assert.is(await response.text(), withoutUsage)
    assert.is(upstream.calls[0]?.body, createBody(`, "stream_options":${wanted}, "n" : 1`).replace('one/m', 'm'))
  })
}

/** Values that need no change, and values that no provider accepts, which the provider rejects itself. */
for (const input of ['{ "include_usage" :true}', '{"include_usage":1}', '"all"', '[]']) {
  test(`the client's stream_options stay unchanged if they are ${input}`, async () => {
    const { upstream, world } = await open()
    const body = createBody(`, "stream_options":${input}`)
    const response = await world.post(chat, body)
    assert.is(await response.text(), events.join(''))
    assert.is(upstream.calls[0]?.body, body.replace('one/m', 'm'))
    assert.is(world.recorded.usages[0]?.inputTokens, 7)
  })
}

test("stream usage isn't requested for a non-streaming response", async () => {
  const { upstream, world } = await open(() => json({ choices: [{ message: { role: 'assistant', content: 'Hi' } }] }))
  const body = createBody().replace('true', 'false')
  await (await world.post(chat, body)).text()
  assert.is(upstream.calls[0]?.body, body.replace('one/m', 'm'))
})

test('stream usage is requested for legacy completions', async () => {
  const output = [
    'data: {"choices":[{"index":0,"text":"Hi","finish_reason":"stop"}],"usage":null}\n\n',
    'data: [DONE]\n\n',
  ]
  const { upstream, world } = await open(() => sse([output[0] ?? '', usageEvent, output[1] ?? '']))
  const response = await world.post('/v1/completions', '{"model":"one/m","prompt":"Hi","stream":true}')
  assert.is(await response.text(), output.join(''))
  assert.is(
    upstream.calls[0]?.body,
    '{"stream_options":{"include_usage":true},"model":"m","prompt":"Hi","stream":true}',
  )
  assert.is(world.recorded.usages[0]?.inputTokens, 7)
})

test("stream usage isn't requested if the provider is known to reject the option", async () => {
  const catalog = { mistral: { baseUrl: 'http://mistral.test/v1', models: [{ id: 'm' }] } }
  const { upstream, world } = await open(undefined, { catalog, connections: ['mistral'] })
  const response = await world.post(chat, createBody().replace('one/m', 'mistral/m'))
  assert.is(await response.text(), events.join(''))
  assert.is(upstream.calls[0]?.body, createBody().replace('one/m', 'm'))
})

test('stream usage is hidden event by event, wherever the stream is split and whatever its line endings', async () => {
  for (const end of ['\n', '\r\n', '\r']) {
    const withLineEnds = (text: string) => text.replaceAll('\n', end)
    const bytes = new TextEncoder().encode(withLineEnds(chatEvents('Hällo wörld 😀').join('')))
    for (const size of [1, 7, bytes.length]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      )
      const world = await openWorld({ fetch: rawUpstream(() => getChunks(chunks, 'close')), includeStreamUsage: true })
      const { text } = await askRaw(world.gateway, chat, { model: 'one/m', stream: true })
      const kept = chatEvents('Hällo wörld 😀').filter((event) => !isUsage(event))
      assert.is(text, withLineEnds(kept.join('')), `${JSON.stringify(end)}, ${size}`)
      assert.is(world.recorded.usages[0]?.inputTokens, 7)
    }
  }
})

test("hiding the usage event doesn't leave an empty chunk in its place", async () => {
  const pieces = async (extra: object) => {
    const encoded = events.map((event) => new TextEncoder().encode(event))
    const world = await openWorld({ fetch: rawUpstream(() => getChunks(encoded, 'close')), includeStreamUsage: true })
    return (await askRaw(world.gateway, chat, { model: 'one/m', stream: true, ...extra })).pieces
  }
  assert.is(await pieces({}), (await pieces({ stream_options: { include_usage: true } })) - 1)
})

test('stream usage is only hidden if its event contains nothing else', async () => {
  const usage = '"usage":{"prompt_tokens":7,"completion_tokens":3}'
  const others = [
    'data: {"choices":[],"prompt_filter_results":[{"x":1}],"usage":null}\n\n',
    ': still here\n\n',
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: `{"choices":[],${usage}}` } }] })}\n\n`,
    `data: {"choices":[{"index":0,"delta":{"content":"."}}],${usage}}\n\n`,
    `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],${usage}}\n\n`,
  ]
  const alone = [`data: {${usage}, "choices": [ ]}\n\n`, `data: {"choices":null,${usage}}\n\n`, `data: {${usage}}\n\n`]
  const { world } = await open(() => sse([...others, ...alone, 'data: [DONE]\n\n']))
  assert.is(await (await world.post(chat, createBody())).text(), `${others.join('')}data: [DONE]\n\n`)
  assert.is(world.recorded.usages[0]?.inputTokens, 7)
})

test('a stream that breaks off after its usage still ends with an error', async () => {
  const { world } = await open(() => sse([...events.slice(0, -1)], 'error'))
  const text = await (await world.post(chat, createBody())).text()
  assert.ok(text.startsWith(withoutUsage.replace('data: [DONE]\n\n', '')))
  assert.match(text, /"code":"upstream_cut"/)
  assert.ok(!text.includes('[DONE]') && !text.includes(usageEvent))
  assert.is(world.recorded.usages[0]?.inputTokens, 7)
  assert.is(world.recorded.requests[0]?.status, 502)
})

test('a stream without a finish reason fails even if it has reported its usage', async () => {
  const output = [chatChunk({ content: 'Hi' }), usageEvent]
  const { world } = await open(() => sse(output))
  const text = await (await world.post(chat, createBody())).text()
  assert.ok(text.startsWith(`${output[0]}data: {"error"`), text)
  assert.match(text, /"code":"upstream_cut"/)
})

test("hiding usage doesn't hide an error in the same event, the same chunk, or the next chunk", async () => {
  const error = 'data: {"error":{"message":"Overloaded","code":503}}\n\n'
  const both = `data: {"choices":[],"usage":{"prompt_tokens":7},"error":{"message":"Overloaded","code":503}}\n\n`
  const first = chatChunk({ content: 'Hi' })
  for (const rest of [[usageEvent + error], [usageEvent, error], [both]]) {
    const { world } = await open(() => sse([first, ...rest]))
    const text = await (await world.post(chat, createBody())).text()
    assert.ok(text.startsWith(first + (rest[0] === both ? both : error)), text)
    assert.ok(!text.includes('[DONE]') && !text.includes(usageEvent))
    assert.is(world.recorded.requests[0]?.status, 503)
  }
})

test('stream usage is hidden if it arrives without a blank line at the very end', async () => {
  const { world } = await open(() => sse([chatChunk({ content: 'Hi' }), FINISH, usageEvent.trimEnd()]))
  assert.is(await (await world.post(chat, createBody())).text(), chatChunk({ content: 'Hi' }) + FINISH)
  assert.is(world.recorded.usages[0]?.inputTokens, 7)
})

test("stream usage is requested from each target in the target's own format", async () => {
  const { upstream, world } = await open(
    ({ provider }) => {
      if (provider === 'one') return json({ error: { message: 'Down' } }, 500)
      return sse(provider === 'claude' ? messageEvents() : events)
    },
    { combos: { chain: ['one/m', 'two/m'], mixed: ['one/m', 'claude/c'] } },
  )
  const response = await world.post(chat, createBody().replace('one/m', 'chain'))
  assert.is(await response.text(), withoutUsage)
  assert.equal(
    upstream.calls.map(({ provider, body }) => [provider, body]),
    [
      ['one', sendBody(createBody())],
      ['two', sendBody(createBody())],
    ],
  )
  const translated = await world.post(chat, createBody().replace('one/m', 'mixed'))
  assert.ok(!(await translated.text()).includes('"usage"'))
  assert.ok(!upstream.calls.at(-1)?.body.includes('include_usage'))
  assert.equal(
    world.recorded.usages.map(({ provider, inputTokens }) => [provider, inputTokens]),
    [
      ['two', 7],
      ['claude', 10],
    ],
  )
})

test('requesting stream usage changes nothing for clients of other formats', async () => {
  const { upstream, world } = await open(({ provider }) => sse(provider === 'claude' ? messageEvents() : events))
  const body = { model: 'claude/c', max_tokens: 9, messages: [], stream: true }
  const response = await world.messages(body)
  assert.is(await response.text(), messageEvents().join(''))
  assert.is(upstream.calls[0]?.body, JSON.stringify({ ...body, model: 'c' }))
  assert.match(await (await world.messages({ model: 'one/m', stream: true })).text(), /event: message_stop/)
  assert.ok(
    upstream.calls[1]?.body.includes('"stream_options":{"include_usage":true}'),
    'translation always requests usage',
  )
})

for (const [status, error] of [
  [400, { error: { message: "Unknown parameter: 'stream_options'.", param: 'stream_options' } }],
  [400, { error: { message: 'Unrecognized request argument supplied: stream_options' } }],
  [
    422,
    { detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] },
  ],
] as const) {
  test(`stream usage isn't requested for a day after a provider rejected the option: ${JSON.stringify(error)}`, async () => {
    const { upstream, world } = await open(({ body }) =>
      body.includes('include_usage') ? json(error, status) : sse(chatEvents().filter((event) => !isUsage(event))),
    )
    for (const calls of [
      [sendBody(createBody()), createBody().replace('one/m', 'm')],
      [createBody().replace('one/m', 'm')],
    ]) {
      const before = upstream.calls.length
      const response = await world.post(chat, createBody())
      assert.equal([response.status, await response.text()], [200, withoutUsage])
      assert.equal(
        upstream.calls.slice(before).map(({ body }) => body),
        calls,
      )
    }
    assert.is(world.recorded.attempts.length, 2)
    await world.clock.advance(24 * 60 * 60_000 + 1)
    await (await world.post(chat, createBody())).text()
    assert.is(upstream.calls.length, 5)
  })
}

test("an unrelated error doesn't count as a rejection of the usage request", async () => {
  const error = { error: { message: 'stream_options is required, messages is empty' } }
  const { upstream, world } = await open(() => json(error, 400))
  const response = await world.post(chat, createBody())
  assert.equal([response.status, await response.json(), upstream.calls.length], [400, error, 1])
})

test('a stream with requested usage ends immediately when the client disconnects', async () => {
  const { upstream, world } = await open(() => sse([chatChunk({ content: 'Hi' })], 'hang'))
  const reader = (await world.post(chat, createBody())).body?.getReader()
  await reader?.read()
  await reader?.cancel()
  await new Promise((resolve) => setTimeout(resolve, 0))
  assert.is(upstream.open, 0)
  assert.is(world.recorded.requests[0]?.end, 'aborted')
})

test('requested stream usage is hidden in an empty response that reaches the client', async () => {
  const empty = [chatChunk({ role: 'assistant', content: '' }), FINISH]
  const { world } = await open(() => sse([...empty, usageEvent, 'data: [DONE]\n\n']), { connections: ['one'] })
  const response = await world.post(chat, createBody())
  assert.is(response.status, 200)
  assert.is(await response.text(), `${empty.join('')}data: [DONE]\n\n`)
})
