import { memoryStorage } from '../../adapters/storage/memory.ts'
import { chatResponse, messageResponse } from '../pipeline/support/responses.ts'
import { json } from '../pipeline/support/upstream.ts'
import type { WorldOptions } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { getCount, joinPool, openPool } from './support/pool.ts'

const test = suite('sticky')

const sticky = { models: ['one/m', 'two/m', 'three/m'], strategy: 'sticky' as const }
const HOUR = 60 * 60 * 1_000

/** Different ways for a request to identify its session. */
const ways: Record<string, (who: string) => [body: object, init?: RequestInit]> = {
  'the header x-signalbox-session': (user) => [{}, { headers: { 'x-signalbox-session': user } }],
  'the header x-session-id': (user) => [{}, { headers: { 'X-Session-Id': user } }],
  prompt_cache_key: (user) => [{ prompt_cache_key: user }],
  user: (user) => [{ user }],
  'metadata.user_id': (user) => [{ metadata: { user_id: user } }],
  "a Messages request's system prompt": (user) => [
    { system: `You help ${user}.`, messages: [{ role: 'user', content: 'Hi' }] },
  ],
  "a chat request's system prompt": (user) => [
    {
      messages: [
        { role: 'system', content: `You help ${user}.` },
        { role: 'user', content: 'Hi' },
      ],
    },
  ],
  "the user's first message": (user) => [
    { messages: [{ role: 'user', content: [{ type: 'text', text: `I am ${user}` }] }] },
  ],
}
for (const [label, request] of Object.entries(ways)) {
  test(`a session identified by ${label} stays on its target, and other sessions use other targets`, async () => {
    const { upstream, sendAll } = await openPool(sticky)
    for (let index = 0; index < 40; index++) {
      const [home = '', ...rest] = (await sendAll(3, ...request(`somebody ${index}`))).split(' ')
      assert.equal(rest, [home, home])
    }
    for (const [provider, calls] of Object.entries(getCount(upstream.providers)))
      assert.ok(calls >= 9, `${provider}: ${calls}`)
    assert.is(new Set(upstream.providers).size, 3)
  })
}

test('an AI SDK conversation stays on its target, and other conversations use other targets', async () => {
  const { world, upstream } = await openPool(sticky)
  for (let index = 0; index < 20; index++) {
    const first = { role: 'user', content: [{ type: 'text', text: `I am ${index}` }] }
    const turn = { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] }
    for (const prompt of [[first], [first, turn, first]])
      await world.post('/v4/ai/language-model', { prompt }, { headers: { 'ai-language-model-id': 'pool' } })
    assert.is(upstream.providers.at(-1), upstream.providers.at(-2))
  }
  assert.is(new Set(upstream.providers).size, 3)
})

test('a session name takes precedence over the start of the conversation, and the header over the body', async () => {
  const { sendAll } = await openPool(sticky)
  for (let index = 0; index < 10; index++) {
    const headers = { 'x-signalbox-session': `s${index}` }
    const home = await sendAll(1, {}, { headers })
    for (const body of [{ user: 'x' }, { prompt_cache_key: 'y' }, { messages: [{ role: 'user', content: 'z' }] }])
      assert.is(await sendAll(1, body, { headers: { ...headers, 'x-session-id': 'other' } }), home)
    const named = await sendAll(1, { user: `u${index}` })
    assert.is(await sendAll(1, { user: `u${index}`, messages: [{ role: 'user', content: 'z' }] }), named)
    assert.is(await sendAll(1, { user: `u${index}`, metadata: { user_id: 'other' } }), named)
    assert.is(await sendAll(1, { safety_identifier: `u${index}`, metadata: { user_id: 'other' } }), named)
  }
})

test("blank names and values that aren't strings don't identify a session", async () => {
  const { sendAll } = await openPool(sticky)
  const messages = [{ role: 'user', content: 'Hello, it is me' }]
  const home = await sendAll(1, { messages })
  for (const extra of [{ user: ' ' }, { user: 7 }, { user: null }, { metadata: null }, { metadata: { user_id: {} } }])
    assert.is(await sendAll(1, { messages, ...extra }), home)
  assert.is(await sendAll(1, { messages }, { headers: { 'x-session-id': '' } }), home)
})

test("a conversation's later turns go to the first turn's target, in every format", async () => {
  const options: WorldOptions = {
    connections: ['claude', { provider: 'claude', apiKey: 'other' }, 'one', 'two', 'three'],
    combos: { talk: { models: ['claude/c'], connectionStrategy: 'sticky' } },
  }
  const { world, upstream, sendAll } = await openPool(sticky, {
    ...options,
    respond: ({ provider }) => json(provider === 'claude' ? messageResponse() : chatResponse()),
  })
  for (let index = 0; index < 20; index++) {
    const start = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: `Question ${index}` },
    ]
    const home = await sendAll(1, { messages: start })
    const extra = [...start, { role: 'assistant', content: 'Answer' }, { role: 'user', content: 'And then?' }]
    assert.is(await sendAll(1, { messages: extra }), home)
    assert.is(await sendAll(1, { messages: extra, temperature: 1, stream: false }), home)
  }
  const keys = new Set<string | null>()
  for (let index = 0; index < 20; index++) {
    const [system, start] = [[{ type: 'text', text: 'Be kind.' }], [{ role: 'user', content: `Question ${index}` }]]
    upstream.calls.length = 0
    await world.messages({ model: 'talk', system, messages: start })
    const extra = [...start, { role: 'assistant', content: 'Answer' }, { role: 'user', content: 'And then?' }]
    await world.messages({ model: 'talk', system, messages: extra })
    const [first, second] = upstream.calls.map(({ headers }) => headers.get('x-api-key'))
    assert.is(first, second)
    keys.add(first ?? null)
  }
  assert.is(keys.size, 2)
})

test('long first messages that only differ at the end belong to different sessions', async () => {
  const { upstream, sendAll } = await openPool(sticky)
  for (let index = 0; index < 40; index++) {
    const messages = [{ role: 'user', content: `${'long '.repeat(10_000)} ${index}` }]
    const home = await sendAll(1, { messages })
    assert.is(await sendAll(1, { messages: [...messages, { role: 'assistant', content: 'A' }] }), home)
  }
  assert.is(new Set(upstream.providers).size, 3)
})

test('without a session, entries are used in listed order', async () => {
  const { sendAll } = await openPool(sticky)
  assert.is(await sendAll(2), 'one one')
})

test('a session moves if its target fails, and stays moved for an hour after the target has recovered', async () => {
  const { world, down, sendAll } = await openPool(sticky)
  const body = { user: 'somebody' }
  const home = await sendAll(1, body)
  down.set(home, 500)
  const [failed, other = ''] = (await sendAll(1, body)).split('>')
  assert.is(failed, home)
  down.clear()
  assert.is(await sendAll(2, body), `${other} ${other}`)
  await world.clock.advance(HOUR - 1)
  assert.is(await sendAll(1, body), other)
  await world.clock.advance(1)
  assert.is(await sendAll(2, body), `${home} ${home}`)
})

test('a moved session can move again if its new target fails', async () => {
  const { world, down, sendAll } = await openPool(sticky)
  const body = { user: 'somebody' }
  const home = await sendAll(1, body)
  down.set(home, 401)
  const [, second = ''] = (await sendAll(1, body)).split('>')
  assert.is(await sendAll(1, body), second, 'the target in cooldown is skipped')
  down.set(second, 401)
  const [, third = ''] = (await sendAll(1, body)).split('>')
  assert.is(new Set([home, second, third]).size, 3)
  down.clear()
  await world.clock.advance(10 * 60_000)
  assert.is(await sendAll(2, body), `${third} ${third}`)
  for (const { status } of world.recorded.requests) assert.is(status, 200)
})

test('when one session moves, all others stay where they are', async () => {
  const { down, sendAll } = await openPool(sticky)
  const homes = new Map<string, string>()
  for (let index = 0; index < 30; index++) homes.set(`u${index}`, await sendAll(1, { user: `u${index}` }))
  down.set(homes.get('u0') ?? '', 500)
  await sendAll(1, { user: 'u0' })
  down.clear()
  for (const [user, home] of homes) if (user !== 'u0') assert.is(await sendAll(1, { user }), home)
})

test("two instances on one storage agree on each session's target, before and after it moves", async () => {
  const storage = memoryStorage()
  const first = await openPool(sticky, { storage })
  const second = await joinPool(first, { storage })
  for (let index = 0; index < 10; index++) {
    const body = { user: `u${index}` }
    const home = await first.sendAll(1, body)
    assert.is(await second.sendAll(1, body), home)
    first.down.set(home, 500)
    const [, other] = (await first.sendAll(1, body)).split('>')
    first.down.clear()
    assert.is(await second.sendAll(1, body), other)
    await first.world.api.health.reset()
  }
})

test("a moved session's stored state doesn't reveal the session name", async () => {
  const storage = memoryStorage()
  const { down, sendAll } = await openPool(sticky, { storage })
  const body = { user: 'jane.doe@example.test' }
  down.set(await sendAll(1, body), 500)
  await sendAll(1, body)
  const rows = await storage.list('routing/')
  assert.is(rows.length, 1)
  assert.not.match(JSON.stringify(rows), 'jane')
})

test('sessions are spread by weight, and an entry with weight 0 is only used if all others fail', async () => {
  const models = [{ model: 'one/m', weight: 3 }, 'two/m', { model: 'three/m', weight: 0 }]
  const { upstream, down, sendAll } = await openPool({ ...sticky, models })
  for (let index = 0; index < 400; index++) await sendAll(1, { user: `u${index}` })
  const { one = 0, two = 0, three = 0 } = getCount(upstream.providers)
  assert.is(three, 0)
  assert.ok(one > 260 && two > 60, `${one} ${two}`)
  down.set('one', 401).set('two', 401)
  assert.match(await sendAll(1, { user: 'u0' }), />three$/)
})
