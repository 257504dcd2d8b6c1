import { assert, suite } from '../support/suite.ts'
import { chatEvents, chatResponse, type ErrorAnswer, messageEvents } from './support/responses.ts'
import { type FakeUpstream, fakeUpstream, json, sse } from './support/upstream.ts'
import { openWorld, type World, type WorldOptions } from './support/world.ts'

const test = suite('upstream failures')

const chain = { chain: ['one/m', 'two/m', 'three/m'] }

/** Opens a combo with a first target that responds with `first`, and other targets that succeed. */
async function openFailing(first: () => Response, options: WorldOptions = {}) {
  const upstream = fakeUpstream(({ provider, body }) =>
    provider === 'one' ? first() : JSON.parse(body).stream ? sse(chatEvents()) : json(chatResponse(provider)),
  )
  return { upstream, world: await openWorld({ fetch: upstream, combos: chain, ...options }) }
}

const assertResponds = async (world: World, upstream: FakeUpstream, body: object) => {
  const response = await world.chat(body)
  await response.text()
  return `${response.status} by ${upstream.providers.join(', ')}`
}

for (const status of [400, 404, 405, 409, 413, 415, 422]) {
  test(`a provider's ${status} is returned immediately, unchanged`, async () => {
    const text = `{ "error":{"message":"no: \\u00e4 ${status}", "type":"invalid_request_error"}, "big": 12345678901234567890 }`
    const { upstream, world } = await openFailing(() => json(text, status, { 'x-request-id': 'r1' }))
    for (const stream of [false, true]) {
      const response = await world.chat({ model: 'chain', stream })
      assert.is(response.status, status)
      assert.is(await response.text(), text)
      assert.is(response.headers.get('x-request-id'), 'r1')
      assert.is(response.headers.get('x-signalbox-attempts'), `one/m=${status}:client;via=chain:fallback`)
      assert.is(response.headers.get('x-signalbox-target'), 'one/m')
    }
    assert.equal(upstream.providers, ['one', 'one'])
    assert.equal(world.recorded.errors, [])
  })
}

for (const status of [401, 402, 403, 408, 424, 425, 429, 498, 499, 500, 502, 503, 504, 520, 529]) {
  test(`a provider's ${status} causes a fallback to the next target`, async () => {
    const { upstream, world } = await openFailing(() => json({ error: { message: 'no' } }, status))
    assert.is(await assertResponds(world, upstream, { model: 'chain' }), '200 by one, two')
    await world.api.health.reset()
    assert.is(await assertResponds(world, upstream, { model: 'chain', stream: true }), '200 by one, two, one, two')
    assert.equal(world.recorded.errors, [])
  })
}

test('a model that one provider lacks falls back to the next provider', async () => {
  const missing = { error: { message: 'The model `m` does not exist', code: 'model_not_found' } }
  const { upstream, world } = await openFailing(() => json(missing, 404))
  assert.is(await assertResponds(world, upstream, { model: 'chain' }), '200 by one, two')
})

const html = (status: number) =>
  new Response('<html>Bad gateway</html>', { status, headers: { 'content-type': 'text/html' } })

const unusable: Record<string, () => Response> = {
  'an HTML page with status 200': () => html(200),
  'an HTML page with status 502': () => html(502),
  'an HTML page without a content type': () => new Response(new TextEncoder().encode('<html></html>')),
  'truncated JSON': () => json('{"id":"c1","choices":[{"index":0,"mess'),
  'JSON that is not an object': () => json('"hello"'),
  null: () => json('null'),
  'an empty body': () => json(''),
  '204': () => new Response(null, { status: 204 }),
  'an error without an envelope in a 200': () => json({ object: 'error', message: 'Out of memory', code: 500 }),
  'an empty object': () => json({}),
  'no choices': () => json({ id: 'c1', object: 'chat.completion', usage: { prompt_tokens: 1 } }),
  'empty choices': () => json({ choices: [] }),
  'an error in a 200': () => json({ error: { message: 'Upstream broke', code: 502 } }),
  'an error in a 200 next to empty choices': () => json({ error: { message: 'Upstream broke' }, choices: [] }),
  'an overloaded error in a 200': () => json({ type: 'error', error: { type: 'overloaded_error', message: 'Over' } }),
  'a redirect': () => new Response(null, { status: 302, headers: { location: 'http://two.test/v1/chat/completions' } }),
  'a broken connection': () => {
    throw new TypeError('fetch failed')
  },
}
for (const [label, first] of Object.entries(unusable)) {
  test(`${label} causes a fallback to the next target`, async () => {
    const { upstream, world } = await openFailing(first)
    assert.is(await assertResponds(world, upstream, { model: 'chain' }), '200 by one, two')
    assert.is(await assertResponds(world, upstream, { model: 'chain', stream: true }), '200 by one, two, one, two')
  })
}

const empty: Record<string, () => Response> = {
  'an empty stream': () => sse(''),
  'a stream of comments': () => sse(': PROCESSING\n\n: PROCESSING\n\n'),
  'a stream with only a role': () => sse(chatEvents().slice(0, 1)),
  'a stream with only an end marker': () => sse('data: [DONE]\n\n'),
  'an error as the first event': () => sse('data: {"error":{"message":"Over","code":529}}\n\ndata: [DONE]\n\n'),
  'an error as the first event with a finish reason': () =>
    sse(
      'data: {"error":{"message":"Over","code":502},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}\n\n',
    ),
  'an error after the role': () => sse([...chatEvents().slice(0, 1), 'data: {"error":{"message":"Over"}}\n\n']),
  'an error before the first content in the same chunk': () =>
    sse(`data: {"error":{"message":"Over","code":529}}\n\n${chatEvents().join('')}`),
  'a stream that ends directly after its first content': () => sse(chatEvents().slice(0, 2).join('').trimEnd()),
  'an incomplete event': () => sse(chatEvents('Hello').join('').slice(0, 150)),
  'a stream that breaks off before any content': () => sse(chatEvents().slice(0, 1), 'error'),
  'events that are not JSON': () => sse('data: <html>\n\n'),
  'JSON sent as an event stream': () => sse('{"error":{"message":"Over"}}'),
}
for (const [label, first] of Object.entries(empty)) {
  test(`${label} causes a fallback to the next target`, async () => {
    const { upstream, world } = await openFailing(first)
    assert.is(await assertResponds(world, upstream, { model: 'chain', stream: true }), '200 by one, two')
    assert.is(upstream.open, 0)
  })
}

test('an overloaded_error as the first event causes a fallback, or a 529 without another target', async () => {
  const over = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
  const upstream = fakeUpstream((_, index) => sse(index === 1 || index > 2 ? over : messageEvents()))
  const world = await openWorld({ fetch: upstream, combos: { pair: ['claude/c', 'claude/d'] } })
  assert.is((await world.messages({ model: 'pair', stream: true })).status, 200)
  const response = await world.messages({ stream: true })
  assert.is(response.status, 529)
  const body: ErrorAnswer = await response.json()
  assert.is(body.error.type, 'overloaded_error')
  assert.is(body.error.message, 'Overloaded')
})

test('a client error as the first event is returned immediately', async () => {
  const { upstream, world } = await openFailing(() =>
    sse('data: {"error":{"message":"Too long","type":"invalid_request_error","code":400}}\n\n'),
  )
  const response = await world.chat({ model: 'chain', stream: true })
  assert.is(response.status, 400)
  assert.match(await response.text(), /Too long/)
  assert.equal(upstream.providers, ['one'])
})

test('the attempts header shows the status of an unusable response', async () => {
  for (const [reply, recorded] of [
    [html(200), '200:content'],
    [html(404), '404:content'],
    [json(''), '200:content'],
    [new Response(null, { status: 302, headers: { location: '/' } }), '302:content'],
  ] as const) {
    const { world } = await openFailing(() => reply)
    const response = await world.chat({ model: 'chain' })
    assert.is(response.headers.get('x-signalbox-attempts'), `one/m=${recorded};via=chain:fallback, two/m=200`)
    await response.text()
  }
})

test("a redirect isn't followed, and the error suggests checking the base URL", async () => {
  const { upstream, world } = await openFailing(unusable['a redirect'] ?? never)
  const response = await world.chat({ model: 'one/m' })
  assert.is(response.status, 502)
  assert.match(await response.text(), /redirect.*base URL/)
  assert.is(upstream.calls.length, 1)
  assert.is(upstream.calls[0]?.init.redirect, 'manual')
})

function never(): never {
  throw new Error('not reached')
}
