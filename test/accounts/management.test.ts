import { memoryStorage } from '../../adapters/storage/memory.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld, token } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('managing accounts')

async function open(storage = memoryStorage()) {
  const world = await openWorld({ fetch: fakeUpstream(() => json(chatResponse())), connections: ['one'], storage })
  const dump = async () => (await storage.list('')).map(({ key, value }) => `${key} ${value}`).join('\n')
  return { ...world, storage, dump }
}

const message = async (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error: Error) => error.message,
  )

test('accounts can be read and updated by ref', async () => {
  const { api } = await open()
  const { ref, isManaged, ...created } = await api.accounts.put({ id: 'a/b', name: 'Alice', metadata: { tier: 'x' } })
  assert.equal(
    [isManaged, created.id, created.name, created.metadata, created.isActive],
    [true, 'a/b', 'Alice', { tier: 'x' }, true],
  )
  assert.equal(await api.accounts.get(ref), await api.accounts.get('a/b'))
  await api.accounts.update(ref, { name: null, models: ['one/*'] })
  const { name, models } = await api.accounts.get('a/b')
  assert.equal([name, models], [undefined, ['one/*']])
})

test('over HTTP, account ids are percent-encoded', async () => {
  const { api, gateway } = await open()
  await api.accounts.put({ id: 'a/b ü' })
  const url = `http://gateway/api/accounts/${encodeURIComponent('a/b ü')}`
  const send = async (method: string, path = '') =>
    (await gateway.fetch(new Request(url + path, { method, headers: { authorization: `Bearer ${token}` } }))).json()
  assert.is((await send('GET')).id, 'a/b ü')
  assert.is((await send('POST', '/pause')).isActive, false)
  assert.equal(await send('DELETE', '?usage=never'), { error: '"usage" must be one of "keep", "erase"' })
  assert.equal(await send('DELETE', '?usage=erase'), { success: true })
  assert.equal(await send('GET'), { error: 'Account not found' })
})

test('put skips the write if nothing changes, and rejects invalid account ids', async () => {
  const { api, dump } = await open()
  await api.accounts.put({ id: 'alice', name: 'Alice' })
  const before = await dump()
  await api.accounts.put({ id: 'alice', name: 'Alice' })
  assert.is(await dump(), before)
  for (const id of ['', ' a', 'a\u200b', 'a_aaaaaaaaaaaaaaaaaaaaaaaaaa', 'x'.repeat(201)])
    assert.match(await message(api.accounts.put({ id })), /"id" must be 1 to 200 characters/)
  assert.match(await message(api.accounts.put({ id: 'bob', plan: 'nope' })), /no group has the ID "nope"/)
})

test('account lists support paging and filters', async () => {
  const { api } = await open()
  await api.groups.put({ id: 'pro', name: 'Pro' })
  for (let index = 0; index < 25; index++)
    await api.accounts.put({ id: `user-${index}`, isActive: index % 5 !== 0, ...(index < 10 && { plan: 'pro' }) })
  const all: string[] = []
  for (let after: string | undefined, pages = 0; pages < 5; pages++) {
    const page = await api.accounts.list({ limit: 10, ...(after && { after }) })
    all.push(...page.accounts.map(({ id }) => id))
    after = page.after
    if (after === undefined) break
  }
  assert.is(new Set(all).size, 25)
  assert.is((await api.accounts.list({ state: 'paused' })).accounts.length, 5)
  const pro = await api.accounts.list({ plan: 'pro', limit: 7 })
  assert.is(pro.accounts.length, 7)
  assert.is((await api.accounts.list({ plan: 'pro', after: pro.after ?? '' })).accounts.length, 3)
})

test('an account can be paused before its first request', async () => {
  const { api } = await open()
  assert.is((await api.accounts.pause('mallory')).isActive, false)
  assert.is(await message(api.accounts.resume('a_aaaaaaaaaaaaaaaaaaaaaaaaaa')), 'Account not found')
})

test('deleting with erase leaves no trace of the account id, and keep leaves only the encrypted id', async () => {
  const { api, dump, storage, chat } = await open()
  for (const usage of ['keep', 'erase'] as const) {
    await api.accounts.put({ id: 'alice', name: 'Alice', limits: { requests: { day: 5 } } })
    const { key, id } = await api.keys.create({ name: 'app', account: 'alice' })
    assert.is((await chat({}, { headers: { 'x-api-key': key } })).status, 200)
    await api.keys.delete(id)
    await api.accounts.delete('alice', { usage })
    assert.equal(await api.accounts.list(), { accounts: [] })
    assert.equal(await storage.list('limits/account/'), [])
    const left = (await storage.list('accounts/')).map(({ value }) => Object.keys(JSON.parse(value).record).sort())
    assert.equal(left, usage === 'erase' ? [] : [['createdAt', 'deletedAt', 'mac', 'ref', 'sealedProfile']])
    assert.not.match(await dump(), /alice/i)
  }
})

test('deleting with erase also removes what an earlier delete with keep left behind', async () => {
  const { api, storage } = await open()
  await api.accounts.put({ id: 'alice', name: 'Alice' })
  await api.accounts.delete('alice')
  assert.is((await storage.list('accounts/')).length, 1)
  assert.is(await message(api.accounts.delete('alice')), 'Account not found')
  assert.equal(await api.accounts.delete('alice', { usage: 'erase' }), { success: true })
  assert.equal(await storage.list('accounts/'), [])
  assert.is(await message(api.accounts.delete('alice', { usage: 'erase' })), 'Account not found')
})

test('an account record changed by another program has an error until the account is paused', async () => {
  const { api, storage } = await open()
  const { ref } = await api.accounts.put({ id: 'alice' })
  const stored = await storage.get(`accounts/${ref}`)
  const { order, record } = JSON.parse(stored?.value ?? '')
  await storage.set(`accounts/${ref}`, JSON.stringify({ order, record: { ...record, models: ['*'] } }))
  assert.match((await api.accounts.get('alice')).error ?? '', /not written by a gateway with this secret/)
  assert.match(await message(api.accounts.update('alice', { name: 'A' })), /not written by a gateway/)
  await api.accounts.pause('alice')
  assert.is((await api.accounts.resume('alice')).error, undefined)
})

test("an account's required tags apply to its requests, keys, and tokens, and a token can add more", async () => {
  const upstream = fakeUpstream(() => json(chatResponse()))
  const { api, gateway } = await openWorld({
    fetch: upstream,
    secret: 'a-secret-of-at-least-32-characters',
    connections: [
      'one',
      { provider: 'two', tags: { zdr: true } },
      { provider: 'three', tags: { zdr: true, region: 'eu' } },
    ],
    combos: { pool: ['one/m', 'two/m', 'three/m'] },
  })
  const sendRequest = async (headers: Record<string, string>, send: typeof gateway.fetch = gateway.fetch) => {
    const body = JSON.stringify({ model: 'pool', messages: [{ role: 'user', content: 'Hi' }] })
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
    const response = await send(new Request('http://gateway/v1/chat/completions', init))
    return [response.status, response.ok ? upstream.providers.at(-1) : undefined]
  }
  await api.accounts.put({ id: 'alice', require: { zdr: true } })
  assert.equal((await api.accounts.get('alice')).require, { zdr: true })
  const as = (account: string) => gateway.as({ account }).fetch as typeof gateway.fetch
  assert.equal(await sendRequest({}, as('alice')), [200, 'two'])
  assert.equal(await sendRequest({}, as('bob')), [200, 'one'])
  const { key } = await api.keys.create({ name: 'own', account: 'alice' })
  assert.equal(await sendRequest({ authorization: `Bearer ${key}` }), [200, 'two'])
  const { token: plain } = await api.tokens.mint({ account: 'alice' })
  assert.equal(await sendRequest({ authorization: `Bearer ${plain}` }), [200, 'two'])
  const { token: strict } = await api.tokens.mint({ account: 'alice', require: { region: 'eu' } })
  assert.equal(await sendRequest({ authorization: `Bearer ${strict}` }), [200, 'three'])
  const { token: impossible } = await api.tokens.mint({ account: 'bob', require: { region: 'us' } })
  assert.equal(await sendRequest({ authorization: `Bearer ${impossible}` }), [403, undefined])
  await api.accounts.update('alice', { require: null })
  assert.equal(await sendRequest({}, as('alice')), [200, 'one'])
})
