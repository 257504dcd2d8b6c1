import { memoryStorage } from '../../adapters/storage/memory.ts'
import { chatChunk } from '../pipeline/support/responses.ts'
import { json, never, type Respond, sse } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { metered } from './support/metered-providers.ts'
import { type GateWorld, messages, openGate } from './support/world.ts'

const test = suite('settling reservations when a request ends')

const LIMITS = { requests: { total: 50 }, tokens: { total: 100_000 }, usd: { total: 10 }, parallel: 1 }

const words = Array.from({ length: 40 }, (_, index) => `word${index} `)
const started = [chatChunk({ role: 'assistant', content: '' }), ...words.map((content) => chatChunk({ content }))]
const stream = { stream: true, max_tokens: 500 }

const untilCalled = async ({ upstream }: GateWorld) => {
  while (upstream.calls.length === 0) await new Promise(setImmediate)
}

/** Returns the requests and tokens used. Asserts that nothing is reserved. */
async function getUsed(world: GateWorld): Promise<{ requests: number; tokens: number }> {
  assert.is(await world.reserved(), 0)
  return { requests: await world.used('requests'), tokens: await world.used('tokens') }
}

test('a request whose client disconnects before the headers counts once', async () => {
  const world = await openGate({ limits: LIMITS, respond: never })
  const controller = new AbortController()
  const pending = world.chat({ max_tokens: 500 }, { signal: controller.signal })
  await untilCalled(world)
  assert.ok((await world.reserved()) > 0)
  controller.abort()
  assert.is((await pending).status, 499)
  assert.is((await getUsed(world)).requests, 1)
})

test('a client that disconnects mid-stream pays for the output so far', async () => {
  for (const end of ['hang', 'close'] as const) {
    const world = await openGate({ limits: LIMITS, respond: () => sse(started, end) })
    const reader = (await world.chat(stream)).body?.getReader()
    for (let chunk = 0; chunk < 20; chunk++) await reader?.read()
    await reader?.cancel()
    const { requests, tokens } = await getUsed(world)
    assert.is(requests, 1)
    assert.ok(tokens >= 15 && tokens < 500, `${tokens}`)
  }
})

test("usage that a provider doesn't report is estimated from the output", async () => {
  const text = words.join('')
  const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }]
  const world = await openGate({ limits: LIMITS, respond: () => json({ id: 'c', object: 'chat.completion', choices }) })
  assert.is((await world.chat()).status, 200)
  const { tokens } = await getUsed(world)
  assert.ok(tokens >= words.length, `${tokens}`)
  const streamed = await openGate({
    limits: LIMITS,
    respond: () => sse([...started, chatChunk({}, 'stop'), 'data: [DONE]\n\n']),
  })
  await (await streamed.chat(stream)).text()
  assert.ok((await getUsed(streamed)).tokens >= words.length)
})

test('a client that disconnects after the last byte pays the reported usage', async () => {
  const world = await openGate({ limits: LIMITS })
  const reader = (await world.chat(stream)).body?.getReader()
  while (!(await reader?.read())?.done);
  await reader?.cancel()
  assert.equal(await getUsed(world), { requests: 1, tokens: 12 })
})

test('a request counts once even if the client never reads the response', async () => {
  const world = await openGate({ limits: LIMITS })
  const reply = await world.chat(stream)
  await reply.body?.cancel()
  assert.is((await getUsed(world)).requests, 1)
})

test("a client that disconnects while its reservation is being written isn't charged", async () => {
  const storage = memoryStorage()
  const writing = Promise.withResolvers<void>()
  const begunWriting = Promise.withResolvers<void>()
  const slow = {
    ...storage,
    async set(...[key, ...rest]: Parameters<typeof storage.set>) {
      if (key.startsWith('limits/')) {
        begunWriting.resolve()
        await writing.promise
      }
      return storage.set(key, ...rest)
    },
  }
  const world = await openGate({ limits: LIMITS, storage: slow })
  const controller = new AbortController()
  const pending = world.chat({}, { signal: controller.signal })
  await begunWriting.promise
  controller.abort()
  assert.is((await pending).status, 499)
  writing.resolve()
  await new Promise(setImmediate)
  assert.equal(await getUsed(world), { requests: 0, tokens: 0 })
  assert.is(world.upstream.calls.length, 0)
})

/** Ways for a provider to fail, and the status that the client gets in the end. */
const failures: Record<string, [answer: Respond, status: number, body?: object]> = {
  "the provider's stream breaks off": [() => sse(started, 'error'), 200, stream],
  'the provider ends its stream too early': [() => sse(started), 200, stream],
  'the provider reports an error mid-stream': [
    () => sse([...started, `data: ${JSON.stringify({ error: { message: 'Broken', code: 500 } })}\n\n`]),
    200,
    stream,
  ],
  'the provider is unreachable': [() => Response.error(), 502],
  'the provider rejects the request': [() => json({ error: { message: 'No' } }, 400), 400],
  'the provider is busy': [() => json({ error: { message: 'Busy' } }, 429, { 'retry-after': '9' }), 429],
  "the provider's response isn't JSON": [
    () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
    502,
  ],
  "the provider's response is empty": [
    () => json({ choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'stop' }] }),
    200,
  ],
  "the provider's stream is empty": [() => sse(['data: [DONE]\n\n']), 502, stream],
}

for (const [title, [respond, status, body = {}]] of Object.entries(failures))
  test(`a request counts once if ${title}`, async () => {
    const world = await openGate({ limits: LIMITS, respond })
    const reply = await world.chat({ max_tokens: 500, ...body })
    const text = await reply.text()
    assert.is(reply.status, status, text)
    assert.is((await getUsed(world)).requests, 1)
  })

test('usage beyond the maximum is charged as reported, and the next request is rejected', async () => {
  const reported = { tokens: 0 }
  const world = await openGate({
    limits: { tokens: { month: 5_000 } },
    respond: metered({ output: 9_000 }, reported),
  })
  const reply = await world.chat({ max_tokens: 10 })
  assert.equal([reply.status, reply.headers.get('x-ratelimit-remaining-tokens')], [200, '0'])
  const [state] = await world.stateOf('key', { tokens: { month: 5_000 } })
  assert.equal([state?.used, state?.remaining, state?.reserved], [9_007, 0, 0])
  assert.is((await world.chat({ max_tokens: 10 })).status, 402)
})

test('cached input and reasoning count as tokens, and cached input has its own price', async () => {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 50,
    prompt_tokens_details: { cached_tokens: 80 },
    completion_tokens_details: { reasoning_tokens: 30 },
  }
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }]
  const world = await openGate({ limits: LIMITS, respond: () => json({ choices, usage }) })
  assert.is((await world.chat()).headers.get('x-signalbox-cost'), '0.0006')
  assert.is((await getUsed(world)).tokens, 150)
  assert.is(await world.used('usd'), 0.0006)
})

test('a retry without a rejected option counts as the same request, and only its response is charged', async () => {
  const reported = { tokens: 0 }
  const respond = metered({}, reported)
  const world = await openGate({
    limits: LIMITS,
    respond: (call, index) =>
      call.body.includes('"temperature"')
        ? json(
            {
              error: {
                message: "Unsupported parameter: 'temperature' is not supported.",
                param: 'temperature',
                code: 'unsupported_parameter',
              },
            },
            400,
          )
        : respond(call, index),
  })
  const reply = await world.post('/v1/messages', { model: 'one/m', max_tokens: 9, temperature: 0.5, messages })
  assert.is(reply.status, 200, await reply.text())
  assert.is(world.upstream.calls.length, 2)
  assert.equal(await getUsed(world), { requests: 1, tokens: 12 })
})

test("each call of a compaction is charged, and the second is rejected if the first doesn't leave enough", async () => {
  const conversation = Array.from({ length: 6 }, (_, index) => ({
    role: index % 2 ? 'assistant' : 'user',
    content: 'Hi there',
  }))
  const managed = { input: conversation, context_management: [{ type: 'compaction', compact_threshold: 1 }] }
  for (const [output, status] of [
    [5, 200],
    [60_000, 402],
  ] as const) {
    const reported = { tokens: 0 }
    const world = await openGate({ limits: { tokens: { total: 60_000 } }, respond: metered({ output }, reported) })
    const reply = await world.post('/v1/responses', { model: 'one/m', max_output_tokens: 1_000, ...managed })
    assert.is(reply.status, status, await reply.clone().text())
    assert.is(world.upstream.calls.length, status === 200 ? 2 : 1)
    assert.is((await getUsed(world)).tokens, reported.tokens)
  }
})

test('a stream counts as one request if the gateway closes mid-stream', async () => {
  const world = await openGate({ limits: LIMITS, respond: () => sse(started, 'hang') })
  const reply = await world.chat(stream)
  const reader = reply.body?.getReader()
  await reader?.read()
  await world.gateway.close({ graceMs: 0 })
  while (!(await reader?.read())?.done);
  assert.is((await getUsed(world)).requests, 1)
})

test('a stream counts as one request if its key is paused mid-stream', async () => {
  const world = await openGate({ limits: LIMITS, respond: () => sse(started, 'hang') })
  const reply = await world.chat(stream)
  const text = reply.text()
  await world.gateway.api.keys.update(world.keyId, { isActive: false })
  assert.match(await text, 'This API key is paused')
  assert.is((await getUsed(world)).requests, 1)
})

test("a request counts once if the client's timeout expires before the response", async () => {
  const world = await openGate({ limits: LIMITS, respond: never })
  const pending = world.chat({}, { headers: { authorization: `Bearer ${world.key}`, 'x-signalbox-timeout-ms': '50' } })
  await untilCalled(world)
  await world.clock.advance(60)
  assert.is((await pending).status, 504)
  assert.is((await getUsed(world)).requests, 1)
})

test('many concurrent requests, some canceled and some failed, leave nothing reserved', async () => {
  const reported = { tokens: 0 }
  const respond = metered({}, reported)
  const world = await openGate({
    limits: { ...LIMITS, requests: { total: 1_000 }, tokens: { total: 10_000_000 }, parallel: 100 },
    combos: { both: ['one/m', 'two/m'] },
    respond: (call, index) => (index % 3 === 0 ? json({}, 500) : index % 7 === 0 ? never() : respond(call, index)),
  })
  const leave: Array<() => void> = []
  const requests = Array.from({ length: 60 }, async (_, index) => {
    const controller = new AbortController()
    const pending = world.chat(
      { model: 'both', max_tokens: 50, stream: index % 2 === 0 },
      { signal: controller.signal },
    )
    leave.push(() => controller.abort())
    await (await pending).text().catch(() => {})
  })
  while (world.upstream.calls.length < 60) await new Promise(setImmediate)
  for (const item of leave) item()
  await Promise.all(requests)
  assert.is((await getUsed(world)).requests, 60)
})
