import { assert, suite } from '../support/suite.ts'
import {
  ASKS_FOR_SUMMARY,
  createManaged,
  getOutput,
  getTypes,
  models,
  obliging,
  open,
  respondWith,
  triggered,
} from './support/compaction.ts'
import { getBody, json, never, sse } from './support/upstream.ts'

const test = suite('compaction calls')

const PATH = '/v1/responses'

test('a conversation is summarized only once, even if its first target then fails to respond', async () => {
  const { world, upstream } = await open(
    (call, index) =>
      call.provider === 'chat' && !call.body.includes(ASKS_FOR_SUMMARY)
        ? json({ error: { message: 'down' } }, 500)
        : obliging(call, index),
    { combos: { chain: [models.chat, models.messages] } },
  )
  const response = await world.post(PATH, { model: 'chain', ...createManaged(40) })
  assert.equal(getTypes(await getOutput(response)), ['compaction', 'message'])
  assert.equal(upstream.providers, ['chat', 'chat', 'messages'])
  assert.equal(
    world.recorded.attempts.map(({ provider, outcome }) => [provider, outcome]),
    [
      ['chat', 'server'],
      ['messages', 'answered'],
    ],
  )
})

for (const stream of [false, true])
  test(`the next target summarizes if the first one can't${stream ? ', streamed' : ''}`, async () => {
    const { world, upstream } = await open(
      (call, index) => (call.provider === 'chat' ? json({ error: { message: 'down' } }, 503) : obliging(call, index)),
      { combos: { chain: [models.chat, models.messages] } },
    )
    const response = await world.post(PATH, { model: 'chain', stream, ...createManaged(40) })
    assert.equal(getTypes(await getOutput(response)), ['compaction', 'message'])
    assert.equal(upstream.providers, ['chat', 'messages', 'messages'])
  })

test("a client gets a provider's rejection of a summary in the client's own format", async () => {
  const error = { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long' } }
  const { world } = await open(() => json(error, 400))
  const response = await world.post(PATH, { model: models.messages, ...createManaged(40) })
  assert.is(response.status, 400)
  assert.is((await response.json()).error.code, 'context_length_exceeded')
})

test('a response without a summary fails the request, or ends a stream with an error', async () => {
  const { world } = await open((call) => respondWith(call, ' '))
  const response = await world.post(PATH, { model: models.chat, ...triggered })
  assert.is(response.status, 502)
  const text = await (await world.post(PATH, { model: models.chat, stream: true, ...triggered })).text()
  assert.match(text, 'The model wrote no summary')
  assert.not.match(text, /response\.completed/)
})

test('an empty summary fails the request with a 502', async () => {
  for (const text of ['', ' ']) {
    const { world } = await open((call) => respondWith(call, text))
    const response = await world.post(PATH, { model: models.chat, ...createManaged(40) })
    assert.is(response.status, 502)
    assert.equal(world.recorded.usages, [])
  }
})

test('an option that the target rejects is dropped from the summary call and the response call', async () => {
  const { world, upstream, sent } = await open((call, index) =>
    call.body.includes('"metadata"')
      ? json({ error: { message: 'Unrecognized request argument supplied: metadata' } }, 400)
      : obliging(call, index),
  )
  const body = { ...createManaged(40), metadata: { team: 'blue' } }
  assert.equal(getTypes(await getOutput(await world.post(PATH, { model: models.chat, ...body }))), [
    'compaction',
    'message',
  ])
  assert.is(upstream.calls.length, 3)
  assert.is(sent(1).metadata, undefined)
  assert.is(sent(2).metadata, undefined)
})

test('a summary stream that breaks off ends with an error and no compaction', async () => {
  const { world } = await open((call) => {
    const events = [...'The task is'].map(
      (content) => `data: {"choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`,
    )
    return call.provider === 'chat' ? sse(events, 'error') : json({})
  })
  const text = await (await world.post(PATH, { model: models.chat, stream: true, ...triggered })).text()
  assert.match(text, 'response.failed')
  assert.not.match(text, /encrypted_content":"signalbox/)
})

test('a provider that ignores `stream: true` still produces a compaction', async () => {
  for (const [body, types] of [
    [triggered, ['compaction']],
    [createManaged(40), ['compaction', 'message']],
  ] as const) {
    const { world } = await open((call, index) =>
      obliging({ ...call, body: call.body.replace('"stream":true', '"stream":false') }, index),
    )
    const output = await getOutput(await world.post(PATH, { model: models.chat, stream: true, ...body }))
    assert.equal(getTypes(output), types)
  }
})

test('a provider that streams without being asked to still produces a summary', async () => {
  const { world } = await open((call, index) =>
    obliging({ ...call, body: JSON.stringify({ ...JSON.parse(call.body), stream: true }) }, index),
  )
  const output = await getOutput(await world.post(PATH, { model: models.chat, ...createManaged(40) }))
  assert.equal(getTypes(output), ['compaction', 'message'])
})

for (const [phase, respond] of Object.entries({
  'during the summary': never,
  'in the body of the summary': () =>
    new Response(getBody(['{"id":'], 'hang'), { headers: { 'content-type': 'application/json' } }),
}))
  test(`a client that disconnects ${phase} aborts the call and prevents any other call`, async () => {
    const { world, upstream } = await open(respond)
    const controller = new AbortController()
    const init = { signal: controller.signal }
    const pending = world.post(PATH, { model: models.messages, ...createManaged(40) }, init)
    while (upstream.calls.length === 0) await world.clock.advance(0)
    await world.clock.advance(0)
    controller.abort()
    assert.is((await pending).status, 499)
    assert.equal([upstream.open, upstream.calls.length], [0, 1])
    assert.equal(
      world.recorded.attempts.map(({ outcome }) => outcome),
      ['cancelled'],
    )
    assert.is(world.clock.pending(), 0)
  })

test('a client that disconnects after the summary aborts the response call', async () => {
  const { world, upstream } = await open((call, index) => (index === 1 ? obliging(call, index) : never()))
  const controller = new AbortController()
  const pending = world.post(PATH, { model: models.messages, ...createManaged(40) }, { signal: controller.signal })
  while (upstream.calls.length < 2) await world.clock.advance(0)
  controller.abort()
  assert.is((await pending).status, 499)
  assert.is(upstream.open, 0)
})

test('a summary call times out after two minutes', async () => {
  const { world, upstream } = await open(never, { limits: { maxAttempts: 1 } })
  const pending = world.post(PATH, { model: models.messages, ...createManaged(40) })
  while (upstream.calls.length === 0) await world.clock.advance(0)
  await world.clock.advance(120_000)
  assert.is((await pending).status, 504)
  assert.is(upstream.open, 0)
})

test('a stream sends keep-alives while the conversation is summarized', async () => {
  const { world, upstream } = await open(never)
  const pending = world.post(PATH, { model: models.messages, stream: true, ...createManaged(40) })
  while (upstream.calls.length === 0) await world.clock.advance(0)
  await world.clock.advance(15_000)
  const reader = (await pending).body?.getReader()
  const { value } = (await reader?.read()) ?? {}
  assert.match(new TextDecoder().decode(value), /^:/)
  await reader?.cancel()
})
