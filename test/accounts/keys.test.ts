import { memoryStorage } from '../../adapters/storage/memory.ts'
import { chatChunk, chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'
import { openWorld, type World } from '../pipeline/support/world.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('account API keys')

async function open(options: Parameters<typeof openWorld>[0] = {}) {
  const upstream = fakeUpstream(() => json(chatResponse()))
  const world = await openWorld({ fetch: upstream, connections: ['one'], ...options })
  return { ...world, up: upstream, send: askWith(world) }
}

const askWith =
  ({ chat }: World) =>
  async (key: string, body: object = {}, headers: Record<string, string> = {}) =>
    (await chat(body, { headers: { 'x-api-key': key, ...headers } })).status

const getUsed = async ({ api }: World, resource: 'keys' | 'accounts', id: string) =>
  (await api[resource].limits.get(id)).limits.map(({ scope, used }) => `${scope} ${used}`)

test("a key's requests count toward the key, its account, and the plan", async () => {
  const world = await open()
  const { api, send } = world
  await api.groups.put({ id: 'pro', name: 'Pro', limits: { requests: { day: 100 } }, each: { requests: { day: 3 } } })
  await api.accounts.put({ id: 'alice', plan: 'pro' })
  const limits = { requests: { day: 9 } }
  const one = await api.keys.create({ name: 'one', account: 'alice', limits })
  const two = await api.keys.create({ name: 'two', account: 'alice' })
  assert.equal(
    [await send(one.key), await send(two.key), await send(one.key), await send(two.key)],
    [200, 200, 200, 429],
  )
  assert.equal(await getUsed(world, 'keys', one.id), ['key 2', 'account 3', 'group 3'])
  assert.equal(await getUsed(world, 'accounts', 'alice'), ['account 3', 'group 3'])
})

test("the lower of the plan's limit and the account's limit applies", async () => {
  const { api, send } = await open()
  await api.groups.put({ id: 'pro', name: 'Pro', each: { requests: { day: 2 } } })
  await api.accounts.put({ id: 'alice', plan: 'pro', limits: { requests: { day: 1 } } })
  await api.accounts.put({ id: 'bob', plan: 'pro', limits: { requests: { day: 9 } } })
  const { key } = await api.keys.create({ name: 'a', account: 'alice' })
  const { key: other } = await api.keys.create({ name: 'b', account: 'bob' })
  assert.equal([await send(key), await send(key)], [200, 429])
  assert.equal([await send(other), await send(other), await send(other)], [200, 200, 429])
})

test('concurrent first requests of an account never exceed its limit, on any instance', async () => {
  const clock = fakeClock()
  const storage = memoryStorage({ clock })
  const first = await open({ storage, clock })
  await first.api.groups.put({ id: 'free', name: 'Free', each: { requests: { total: 5 } } })
  await first.api.accounts.put({ id: 'alice', plan: 'free' })
  const { key } = await first.api.keys.create({ name: 'a', account: 'alice' })
  const others = await Promise.all([1, 2].map(() => open({ storage, clock, connections: [] })))
  const statuses = await Promise.all(
    Array.from({ length: 60 }, (_, index) => [first, ...others][index % 3]?.send(key) ?? Promise.resolve(0)),
  )
  assert.is(statuses.filter((status) => status === 200).length, 5)
})

test('pausing an account blocks its keys and ends its streams', async () => {
  const upstream = fakeUpstream(() => sse([chatChunk({ content: 'Once' })], 'hang'))
  const { api, chat } = await openWorld({ fetch: upstream, connections: ['one'] })
  await api.accounts.put({ id: 'alice' })
  const { key } = await api.keys.create({ name: 'a', account: 'alice' })
  const headers = { 'x-api-key': key }
  const response = await chat({ stream: true }, { headers })
  assert.is(response.status, 200)
  const reading = response.text()
  await api.accounts.pause('alice')
  assert.match(await reading, /This account is paused/)
  assert.is((await chat({}, { headers })).status, 403)
  await api.accounts.resume('alice')
})

test('accounts on a paused plan are rejected', async () => {
  const { api, send } = await open()
  await api.groups.put({ id: 'pro', name: 'Pro' })
  await api.accounts.put({ id: 'alice', plan: 'pro' })
  const { key } = await api.keys.create({ name: 'a', account: 'alice' })
  assert.is(await send(key), 200)
  await api.groups.update('pro', { isActive: false })
  assert.is(await send(key), 403)
})

test('a model must be allowed by both the account and its plan', async () => {
  const { api, send } = await open()
  await api.groups.put({ id: 'pro', name: 'Pro', models: ['one/*'] })
  await api.accounts.put({ id: 'alice', plan: 'pro', models: ['*/m'] })
  const { key } = await api.keys.create({ name: 'a', account: 'alice' })
  assert.equal([await send(key, { model: 'one/m' }), await send(key, { model: 'one/other' })], [200, 403])
})

test("user fields in request bodies create no accounts, and all share the key's limit", async () => {
  const { api, send, gateway } = await open()
  const { key } = await api.keys.create({ name: 'claude-code', limits: { requests: { day: 100 } } })
  for (let index = 0; index < 100; index++)
    assert.is(
      await send(key, { user: `user-${index}`, metadata: { user_id: `session_${index}` } }, { 'x-user-id': 'bob' }),
      200,
    )
  assert.is(await send(key), 429)
  assert.equal(await gateway.api.accounts.list(), { accounts: [] })
})

test("a key can't have both a group and an account, and an account with keys can't be deleted", async () => {
  const { api } = await open()
  await api.groups.put({ id: 'pro', name: 'Pro' })
  const message = async (promise: Promise<unknown>) => promise.then(String, (error: Error) => error.message)
  assert.match(
    await message(api.keys.create({ name: 'a', account: 'alice', group: 'pro' })),
    /both a "group" and an "account"/,
  )
  const { id } = await api.keys.create({ name: 'a', account: 'alice' })
  assert.match(await message(api.keys.update(id, { group: 'pro' })), /both a "group" and an "account"/)
  assert.match(await message(api.accounts.delete('alice')), /still has 1 API key/)
  const unknown = 'a_aaaaaaaaaaaaaaaaaaaaaaaaaa'
  assert.match(await message(api.keys.create({ name: 'b', account: unknown })), /No account has the ref/)
  await api.keys.delete(id)
  await api.accounts.delete('alice')
  assert.equal(await api.accounts.list(), { accounts: [] })
})

test('while the storage is unavailable, keys of cached accounts work, and others get a 503', async () => {
  const clock = fakeClock()
  const storage = memoryStorage({ clock })
  let isUnavailable = false
  const get = async (key: string) => {
    if (isUnavailable) throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
    return storage.get(key)
  }
  const { api, send } = await open({ clock, storage: { ...storage, get } })
  const { key } = await api.keys.create({ name: 'a', account: 'alice' })
  const { key: other } = await api.keys.create({ name: 'b', account: 'bob' })
  assert.is(await send(key), 200)
  isUnavailable = true
  assert.equal([await send(key), await send(other)], [200, 503])
})
