import { memoryStorage } from '../../adapters/storage/memory.ts'
import { assert, suite } from '../support/suite.ts'
import { chatChunk, chatResponse } from './support/responses.ts'
import { fakeUpstream, json, never, type Respond, sse } from './support/upstream.ts'
import { openWorld, type WorldOptions } from './support/world.ts'

const test = suite('empty responses as the last resort')

const usage = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 }
const getBody = (id: string) =>
  JSON.stringify({
    id,
    choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'stop' }],
    usage,
  })
const getEvents = (id: string) => [
  chatChunk({ role: 'assistant', content: '' }),
  chatChunk({}, 'stop'),
  `data: ${JSON.stringify({ id, choices: [], usage })}\n\n`,
  'data: [DONE]\n\n',
]
const blank = (id: string, stream = false) =>
  stream ? sse(getEvents(id)) : json(getBody(id), 200, { 'x-request-id': `req-${id}` })

type Behaviour = Partial<Record<'one' | 'two' | 'three', Respond>>

async function open(behavior: Behaviour, options: WorldOptions = {}) {
  const upstream = fakeUpstream((call, index) => {
    const { provider } = call
    const response = provider === 'one' || provider === 'two' || provider === 'three' ? behavior[provider] : undefined
    return response ? response(call, index) : json(chatResponse())
  })
  const combos = { pair: ['one/m', 'two/m'], all: ['one/m', 'two/m', 'three/m'] }
  const world = await openWorld({ fetch: upstream, combos, ...options })
  const send = (model: string, stream = false, init?: RequestInit) => world.chat({ model, stream }, init)
  const summarize = (response: Response) => [
    response.status,
    response.headers.get('x-signalbox-target'),
    response.headers.get('x-signalbox-attempts')?.replace(/;(?:via|connection)=[^,]*/g, ''),
  ]
  const standing = async () =>
    (await world.api.health.list()).health.map(({ level, failures }) => ({ level, failures }))
  return { upstream, world, send, seen: summarize, standing }
}

for (const stream of [false, true]) {
  const label = stream ? 'streamed' : 'not streamed'
  const output = (id: string) => (stream ? getEvents(id).join('') : getBody(id))

  test(`an empty response from the only target reaches the client unchanged: ${label}`, async () => {
    const { world, send, seen, upstream } = await open({ one: () => blank('a', stream) })
    const response = await send('one/m', stream)
    assert.equal(seen(response), [200, 'one/m', 'one/m=200:content'])
    assert.is(response.headers.get('x-should-retry'), null)
    if (!stream) assert.is(response.headers.get('x-request-id'), 'req-a')
    assert.is(await response.text(), output('a'))
    assert.is(upstream.open, 0)
    const { recorded } = world
    assert.equal(
      recorded.usages.map(({ provider, inputTokens, outputTokens }) => [provider, inputTokens, outputTokens]),
      [['one', 7, 2]],
    )
    assert.equal(
      recorded.requests.map(({ status, attempts }) => [status, attempts.map(({ outcome }) => outcome)]),
      [[200, ['content']]],
    )
    assert.equal(recorded.errors, [])
  })

  test(`the client gets the last of several empty responses: ${label}`, async () => {
    const { world, send, seen } = await open({ one: () => blank('a', stream), two: () => blank('b', stream) })
    const response = await send('pair', stream)
    assert.equal(seen(response), [200, 'two/m', 'one/m=200:content, two/m=200:content'])
    assert.is(await response.text(), output('b'))
    assert.equal([world.recorded.usages.length, world.recorded.usages[0]?.provider], [1, 'two'])
  })

  test(`the client gets the last empty response if all of a provider's keys return one: ${label}`, async () => {
    let calls = 0
    const connections = [{ provider: 'one' }, { provider: 'one', apiKey: 'another-key' }]
    const { send, seen } = await open({ one: () => blank(String(++calls), stream) }, { connections })
    const response = await send('one/m', stream)
    assert.equal(seen(response), [200, 'one/m', 'one/m=200:content, one/m=200:content'])
    assert.is(await response.text(), output('2'))
  })

  for (const [order, behavior] of [
    ['an earlier', { one: () => json({ error: { message: 'Down' } }, 503), two: () => blank('b', stream) }],
    ['a later', { one: () => blank('a', stream), two: () => json({ error: { message: 'Down' } }, 503) }],
  ] satisfies [string, Behaviour][])
    test(`an empty response counts as a target failure if ${order} target failed: ${label}`, async () => {
      const { send, world, standing } = await open(behavior)
      const response = await send('pair', stream)
      assert.is(response.status, 502)
      const text = await response.text()
      assert.match(text, /returned an empty response/)
      assert.match(text, /Down/)
      assert.equal(world.recorded.usages, [])
      assert.is((await standing()).filter(({ level }) => level === 'model').length, 2)
    })

  test(`an empty response that reaches the client doesn't count against its target: ${label}`, async () => {
    const { send, seen, standing, upstream } = await open({
      one: () => blank('a', stream),
      two: () => blank('b', stream),
    })
    for (let turn = 0; turn < 5; turn++) {
      assert.equal(seen(await send('one/m', stream)), [200, 'one/m', 'one/m=200:content'])
      assert.is((await send('pair', stream)).status, 200)
    }
    assert.equal(await standing(), [])
    assert.is(upstream.calls.length, 15)
  })

  test(`an empty response counts against its model if another target returned content: ${label}`, async () => {
    const { send, seen, standing, world } = await open({ one: () => blank('a', stream) })
    const extra = { model: 'pair' }
    for (let turn = 0; turn < 5; turn++)
      assert.equal(seen(await world.chat(extra)), [200, 'two/m', 'one/m=200:content, two/m=200'])
    assert.equal(await standing(), [{ level: 'model', failures: 5 }])
    assert.equal(seen(await world.chat(extra)), [200, 'two/m', 'one/m=skipped:content, two/m=200'])
    assert.equal(seen(await send('one/m', stream)).slice(0, 2), [200, 'one/m'])
  })
}

test("the client gets an empty response if the only other connection has a key that can't be decrypted", async () => {
  const one = () => blank('a')
  for (const model of ['pair', 'riap']) {
    const storage = memoryStorage()
    const combos = { pair: ['one/m', 'two/m'], riap: ['two/m', 'one/m'] }
    const { send, upstream } = await open({ one }, { storage, combos })
    for (const { key, value } of await storage.list('connections/'))
      if (value.includes('"two"')) await storage.set(key, value.replace(/("sealedApiKey":"[^"]{40})..../, '$1AAAA'))
    const response = await send(model)
    assert.equal([response.status, response.headers.get('x-signalbox-target')], [200, 'one/m'])
    assert.is(await response.text(), getBody('a'))
    assert.equal(upstream.providers, ['one'])
  }
})

test('an empty response to a probe ends the cooldown of its target', async () => {
  let isDown = true
  const { send, seen, world } = await open({ one: () => (isDown ? json({ error: {} }, 500) : blank('a')) })
  for (let turn = 0; turn < 3; turn++) await send('one/m')
  isDown = false
  await world.clock.advance(6_000)
  assert.equal(seen(await send('one/m')), [200, 'one/m', 'one/m=200:content'])
  assert.equal(seen(await send('pair')), [200, 'two/m', 'one/m=200:content, two/m=200'])
})

test('a client disconnect after an empty probe response releases the probe', async () => {
  let isDown = true
  const controller = new AbortController()
  const { send, seen, world, upstream } = await open({
    one: () => (isDown ? json({ error: {} }, 500) : blank('a')),
    two: () => (isDown ? json(chatResponse()) : never()),
  })
  for (let turn = 0; turn < 3; turn++) await send('one/m')
  isDown = false
  await world.clock.advance(6_000)
  const pending = send('pair', false, { signal: controller.signal })
  while (upstream.providers.at(-1) !== 'two') await world.clock.advance(0)
  controller.abort()
  assert.is((await pending).status, 499)
  assert.is(upstream.open, 0)
  await world.clock.advance(60_000)
  assert.equal(seen(await send('one/m')), [200, 'one/m', 'one/m=200:content'])
})

test('a stream that started with keep-alives ends with the empty response', async () => {
  const { world } = await open({ one: () => world.clock.sleep(20_000).then(() => blank('a', true)) })
  const pending = world.messages({ model: 'one/m', stream: true, messages: [{ role: 'user', content: 'Hi' }] })
  await world.clock.advance(15_000)
  const response = await pending
  const text = response.text()
  await world.clock.advance(5_000)
  const events = (await text).match(/^event: .*$/gm)
  assert.equal(events, ['event: ping', 'event: message_start', 'event: message_delta', 'event: message_stop'])
  assert.equal([world.recorded.usages[0]?.inputTokens, world.recorded.requests[0]?.status], [7, 200])
})

test('a Gemini client that requests a JSON array gets an empty response as an array', async () => {
  const chunk = { candidates: [{ content: { role: 'model' }, finishReason: 'STOP' }] }
  const upstream = fakeUpstream(() => sse([`data: ${JSON.stringify(chunk)}\n\n`]))
  const world = await openWorld({ fetch: upstream, connections: ['google'] })
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
  const response = await world.post('/v1beta/models/google/g:streamGenerateContent', { contents })
  assert.equal([response.status, await response.json()], [200, [chunk]])
})

test('the attempts header of an empty response shows that maxAttempts ended the search', async () => {
  const one = () => blank('a')
  const { send, seen } = await open({ one, two: one }, { limits: { maxAttempts: 2 } })
  const response = await send('all')
  assert.equal(seen(response), [200, 'two/m', 'one/m=200:content, two/m=200:content, stopped=max-attempts'])
})

test("an empty response doesn't advance the round-robin position", async () => {
  const one = () => blank('a')
  const turns = { strategy: 'round-robin' as const, models: ['one/m', 'two/m'] }
  const { send, upstream } = await open({ one, two: one }, { combos: { turns } })
  await send('turns')
  await send('turns')
  assert.equal(upstream.providers, ['one', 'two', 'one', 'two'])
})

for (const [label, respond] of [
  ['no choices', () => json({ id: 'a', choices: [], usage })],
  ['an object without fields', () => json({})],
  ['an HTML page', () => new Response('<html></html>', { headers: { 'content-type': 'text/html' } })],
  ['an error in a 200', () => json({ error: { message: 'Overloaded' } })],
  ['only an end marker', () => sse(['data: [DONE]\n\n'])],
  ['a role and an end marker', () => sse([chatChunk({ role: 'assistant', content: '' }), 'data: [DONE]\n\n'])],
  ['an early end', () => sse([chatChunk({ role: 'assistant', content: '' })])],
] satisfies [string, Respond][])
  test(`a broken response doesn't count as empty: ${label}`, async () => {
    for (const stream of [false, true]) {
      const { send, world } = await open({ one: respond })
      const response = await send('one/m', stream)
      assert.ok(response.status >= 500, String(response.status))
      assert.equal(world.recorded.usages, [])
    }
  })

test("an empty response counts as a failure if it can't be translated into the requested format", async () => {
  const output = { index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'stop' }
  const world = await openWorld({ fetch: fakeUpstream(() => json({ id: 'a', choices: [output] })) })
  const response = await world.chat({ messages: 'Hi', stream: true })
  assert.is(response.status, 502)
  assert.match(await response.text(), /returned an empty response/)
  assert.equal(world.recorded.errors, [])
})
