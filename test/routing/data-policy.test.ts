import { strategies } from '../../src/types/unions.ts'
import type { DataTags } from '../../src/types.ts'
import { openHedging } from '../pipeline/support/hedging.ts'
import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, type Respond, sse } from '../pipeline/support/upstream.ts'
import { openWorld, type WorldOptions } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('data policies')

const zdr = { provider: 'two', tags: { zdr: true, region: 'eu', training: false } }
const either: Respond = ({ body }) => (body.includes('"stream":true') ? sse(chatEvents()) : json(chatResponse()))

/** Opens a gateway with a combo of three models. Only the second model's connection has tags. */
async function open(respond: Respond = either, extra: WorldOptions = {}) {
  const upstream = fakeUpstream(respond)
  const combos = { pool: ['one/m', 'two/m', 'three/m'] }
  const world = await openWorld({ fetch: upstream, connections: ['one', zdr, 'three'], combos, ...extra })
  const send = (require: string | undefined, body: object = {}, headers: Record<string, string> = {}) =>
    world.chat(
      { model: 'pool', ...body },
      { headers: { ...(require !== undefined && { 'x-signalbox-require': require }), ...headers } },
    )
  return { ...world, upstream, send }
}

async function readError(response: Response) {
  const { error } = (await response.json()) as { error: { message: string; code?: string } }
  return { status: response.status, code: error.code, message: error.message }
}

for (const header of ['zdr', ' zdr , region=eu', 'zdr=true', 'training=false,region=eu', 'zdr, zdr'])
  for (const stream of [false, true])
    test(`the header "${header}" limits a request with "stream": ${stream} to connections with these tags`, async () => {
      const { send, upstream } = await open()
      const response = await send(header, { stream })
      assert.is(response.status, 200)
      await response.text()
      assert.equal(upstream.providers, ['two'])
      assert.is(upstream.calls[0]?.headers.get('x-signalbox-require'), null)
    })

for (const [header, unmet] of [
  ['region=us', 'region=us'],
  ['zdr=false', 'zdr=false'],
  ['hipaa', 'hipaa'],
  ['zdr, region=eu, region=us', 'region=us'],
  ['ZDR', 'ZDR'],
  ['region=undefined, zdr', 'region=undefined'],
  ['toString', 'toString'],
  ['constructor=', 'x'],
] as const)
  test(`the header "${header}" returns ${header.endsWith('=') ? 'a 400' : 'a 403 with the unmet tag'}`, async () => {
    const { send, upstream } = await open()
    const { status, code, message } = await readError(await send(header))
    assert.is(upstream.calls.length, 0)
    if (header.endsWith('=')) return assert.is(status, 400)
    assert.equal([status, code], [403, 'no_compliant_target'])
    assert.ok(message.includes(`the header "x-signalbox-require" requires "${unmet}"`), message)
  })

for (const header of ['', ' ', 'zdr,', ',', '=eu', 'region=', 'two words', 'z=a;b=é', '1st', 'x'.repeat(65)])
  test(`a malformed x-signalbox-require header gets a 400 with an example: "${header.slice(0, 20)}"`, async () => {
    const { send, upstream } = await open()
    const { status, message } = await readError(await send(header === 'z=a;b=é' ? 'z=a\tb' : header))
    assert.equal([status, upstream.calls.length], [400, 0])
    assert.match(message, 'x-signalbox-require')
    assert.match(message, '"zdr, region=eu, training=false"')
  })

test("a request without a data policy isn't limited to tagged connections", async () => {
  const { send, upstream } = await open()
  assert.is((await send(undefined)).status, 200)
  assert.equal(upstream.providers, ['one'])
})

for (const stream of [false, true])
  test(`a request with "stream": ${stream} fails if its only compliant target is down`, async () => {
    const { send, upstream, clock } = await open(() => json({ error: { message: 'It broke.' } }, 503))
    const pending = send('zdr', { stream })
    for (let step = 0; step < 100; step++) await clock.advance(100)
    const response = await pending
    assert.ok(response.status >= 500, `${response.status}`)
    await response.text()
    assert.equal(new Set(upstream.providers), new Set(['two']))
  })

test("if its only compliant target is in cooldown, a request doesn't fall back to other targets", async () => {
  const { send, upstream, clock } = await open(() => json({ error: { message: 'No.' } }, 401))
  for (let times = 0; times < 3; times++) {
    const pending = send('zdr')
    for (let step = 0; step < 30; step++) await clock.advance(100)
    assert.ok((await pending).status >= 400)
  }
  assert.equal(new Set(upstream.providers), new Set(['two']))
})

test('a data policy applies to models, aliases, nested combos, and requested model lists', async () => {
  const combos = { pool: ['one/m', 'two/m'], outer: ['three/m', 'pool'] }
  const { send, upstream } = await open(either, { combos, aliases: { short: 'outer' } })
  const headers = { 'x-signalbox-models': 'one/m, short' }
  for (const model of ['pool', 'outer', 'short', 'two/m']) assert.is((await send('zdr', { model })).status, 200)
  assert.is((await send('zdr', { model: 'any' }, headers)).status, 200)
  assert.equal(upstream.providers, ['two', 'two', 'two', 'two', 'two'])
  assert.is((await send('zdr', { model: 'one/m' })).status, 403)
  assert.is(upstream.calls.length, 5)
})

for (const strategy of strategies)
  test(`a "${strategy}" combo only uses compliant targets`, async () => {
    const models = ['one/m', 'two/m', 'three/m', 'one/other']
    const { send, upstream } = await open(either, { combos: { pool: { models, strategy } } })
    for (let times = 0; times < 12; times++) {
      const response = await send('zdr', { user: `u${times}` })
      assert.is(response.status, 200)
      await response.text()
    }
    assert.equal(new Set(upstream.providers), new Set(['two']))
  })

test('a hedge only uses compliant targets', async () => {
  const { upstream, clock, send, world } = await openHedging({
    one: () => json(chatResponse()),
    two: () => json(chatResponse()),
  })
  const [, two] = await world.api.connections.list().then(({ connections }) => connections)
  await world.api.connections.update(two?.id ?? '', { tags: { zdr: true } })
  const init = { headers: { 'x-signalbox-require': 'zdr' } }
  for (let times = 0; times < 3; times++) {
    const pending = send(init)
    await clock.advance(100)
    assert.is((await pending).status, 200)
  }
  assert.equal(upstream.providers, ['two', 'two', 'two'])
})

test("a session doesn't stay on a connection that is no longer compliant", async () => {
  const combos = { pool: { models: ['two/m', 'three/m'], strategy: 'sticky' as const } }
  const { send, upstream, api } = await open(either, { combos })
  const headers = { 'x-signalbox-session': 's' }
  await send(undefined, {}, headers)
  const [home] = upstream.providers
  const { connections } = await api.connections.list()
  for (const { id, provider } of connections)
    await api.connections.update(id, { tags: provider === home ? { zdr: false } : { zdr: true } })
  for (let times = 0; times < 3; times++) assert.is((await send('zdr', {}, headers)).status, 200)
  assert.not.ok(upstream.providers.slice(1).includes(home ?? ''), upstream.providers.join())
})

test('an entry\'s "where" limits it to connections with the tags, even in nested combos', async () => {
  const connections = [
    { provider: 'one', name: 'us', tags: { region: 'us' }, apiKey: 'key-us' },
    { provider: 'one', name: 'eu', tags: { region: 'eu' }, apiKey: 'key-eu' },
  ]
  const inner = ['one/m']
  const combos = { inner, pool: { models: [{ model: 'inner', where: { region: 'eu' } }] } }
  const { send, upstream, api } = await open(either, { connections, combos })
  assert.is((await send(undefined)).status, 200)
  assert.is(upstream.calls[0]?.headers.get('authorization'), 'Bearer key-eu')
  const { combos: stored } = await api.combos.list()
  assert.equal(stored[1]?.models, [{ model: 'inner', where: { region: 'eu' } }])
  await api.combos.update(stored[1]?.id ?? '', { models: [{ model: 'inner', where: { region: 'eu', zdr: true } }] })
  const { status, code, message } = await readError(await send(undefined))
  assert.equal([status, code], [403, 'no_compliant_target'])
  assert.match(message, /"where" of "inner" in "pool" requires "zdr"/)
  assert.is(upstream.calls.length, 1)
})

test('the next entry is used if no connection has the tags that an entry requires', async () => {
  const models = [{ model: 'one/m', where: { zdr: true } }, 'three/m']
  const { send, upstream } = await open(either, { combos: { pool: { models } } })
  assert.is((await send(undefined)).status, 200)
  assert.equal(upstream.providers, ['three'])
})

for (const [where, message] of [
  [{}, /"models\[0\]\.where" must be an object with 1 to 16 tags/],
  [[], /"models\[0\]\.where" must be an object with 1 to 16 tags/],
  [{ 'a b': true }, /"models\[0\]\.where" must be an object with 1 to 16 tags/],
  [{ zdr: 1 }, /"models\[0\]\.where\.zdr" must be true, false, or 1 to 64 ASCII characters/],
  [{ zdr: 'a,b' }, /"models\[0\]\.where\.zdr" must be true, false/],
] as const)
  test(`an entry with ${JSON.stringify(where)} as its "where" is rejected`, async () => {
    const { api } = await open()
    const models = [{ model: 'one/m', where: where as DataTags }]
    await api.combos.create({ name: 'wrong', models }).then(
      () => assert.unreachable(),
      (error: Error) => assert.match(error.message, message),
    )
  })

for (const [tags, message] of [
  [{ zdr: '' }, /"tags\.zdr" must be true, false, or 1 to 64 ASCII characters/],
  [{ zdr: 5 }, /"tags\.zdr" must be true, false/],
  [{ 'no spaces': true }, /"tags" has an invalid field name: each must be 1 to 64 letters/],
  [
    Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`t${index}`, true])),
    /"tags" must not have more than 16/,
  ],
] as const)
  test(`a connection with the tags ${JSON.stringify(tags).slice(0, 30)} is rejected`, async () => {
    const { api } = await open()
    await api.connections.create({ provider: 'one', tags: tags as DataTags }).then(
      () => assert.unreachable(),
      (error: Error) => assert.match(error.message, message),
    )
  })

test("a connection's tags are replaced completely, and null removes them", async () => {
  const { api } = await open()
  const { id } = await api.connections.create({ provider: 'one', tags: { zdr: true, region: 'eu' } })
  assert.equal((await api.connections.update(id, { tags: { region: 'us' } })).tags, { region: 'us' })
  assert.is((await api.connections.update(id, { tags: null })).tags, undefined)
})

for (const [path, body, type] of [
  ['/v1/chat/completions', { messages: [] }, 'error.code'],
  ['/v1/responses', { input: 'Hi' }, 'error.code'],
  ['/v1/messages', { messages: [], max_tokens: 9 }, 'error.type'],
  ['/v1beta/models/pool:generateContent', { contents: [] }, 'error.status'],
  ['/v4/ai/language-model', { prompt: [] }, 'error.code'],
] as const)
  test(`the data policy 403 for ${path} is in the client's format`, async () => {
    const { post, upstream } = await open()
    const headers = { 'x-signalbox-require': 'hipaa', 'ai-language-model-id': 'pool' }
    const response = await post(path, { ...(!path.includes('pool') && { model: 'pool' }), ...body }, { headers })
    const reply = await response.json()
    assert.equal([response.status, response.headers.get('x-should-retry'), upstream.calls.length], [403, 'false', 0])
    const found = type.split('.').reduce((value: unknown, name) => Object(value)[name], reply)
    const known = ['no_compliant_target', 'permission_error', 'PERMISSION_DENIED']
    assert.ok(known.includes(String(found)), JSON.stringify(reply))
    assert.match(JSON.stringify(reply), 'hipaa')
  })
