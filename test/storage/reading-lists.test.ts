import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway, type GatewayOptions, type Storage } from '../../src/index.ts'
import { platformClock } from '../../src/platform.ts'
import { withReadAhead } from '../../src/records/read-ahead.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { assert, suite } from '../support/suite.ts'
import { farStorage, getLinked } from './support/far-storage.ts'

const test = suite('reading lists')
const SECRET = 'a secret of 32 characters or more'
const LISTS = 'reading-lists/'

const open = (storage: Storage, options: Partial<GatewayOptions> = {}) =>
  createGateway({
    ...{ storage, secret: SECRET, logger: false },
    fetch: async () => Response.json(chatResponse('Hello')),
    ...options,
  })

/** Creates a store with so many keys, groups, and counters that a new instance doesn't read all of them ahead. */
async function openStored() {
  const storage = memoryStorage()
  const admin = open(storage)
  await admin.api.connections.create({ provider: 'openai', apiKey: 'sk-test' })
  for (const prefix of ['keys/', 'groups/', 'limits/group/'])
    for (let index = 0; index < 150; index++) await storage.set(`${prefix}!${index}`, 'other')
  return { storage, api: admin.api }
}

test.before(async () => {
  const { storage, api } = await openStored()
  const { token } = await api.tokens.mint({ account: 'user-1' })
  await sendCold(storage, { key: token }) // loads the code, which may take longer than a round trip
})

const chatRequest = (headers: Record<string, string>) =>
  new Request('http://gateway/v1/chat/completions', {
    method: 'POST',
    headers,
    body: JSON.stringify({ model: 'openai/gpt-5', messages: [{ role: 'user', content: 'Hi' }] }),
  })

interface Sent extends Partial<GatewayOptions> {
  key?: string
  headers?: Record<string, string>
  account?: string
  change?: Partial<Storage>
}

/** Sends a request to a new instance, and counts the round trips that its response waits for. */
async function sendCold(storage: Storage, { key, headers = {}, account, change, ...options }: Sent) {
  const { withLinks, counted } = farStorage(storage)
  const gateway = open({ ...withLinks, ...change }, { usage: false, ...options })
  const request = chatRequest({ ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers })
  const response = await (account === undefined ? gateway : gateway.as({ account })).fetch(request)
  const { trips } = counted
  await gateway.close()
  return { status: response.status, trips }
}

const listNames = async (storage: Storage) => (await storage.list(LISTS)).map(({ key }) => key)

test('on a new instance, a known key takes one round trip, however many keys exist', async () => {
  const { storage, api } = await openStored()
  const { key } = await api.keys.create({ name: 'a' })
  assert.equal(await sendCold(storage, { key }), { status: 200, trips: 2 })
  assert.equal(await sendCold(storage, { key }), { status: 200, trips: 1 })
  assert.is((await listNames(storage)).length, 1)
})

test("a key with limits, including its group's and the gateway's, takes two round trips", async () => {
  const { storage, api } = await openStored()
  await api.settings.update({ limits: { requests: { minute: 100 } } })
  const group = await api.groups.create({ name: 'team', limits: { requests: { day: 100 } } })
  const { key } = await api.keys.create({ name: 'a', group: group.id, limits: { requests: { day: 4 } } })
  await sendCold(storage, { key })
  for (let count = 0; count < 3; count++) assert.equal(await sendCold(storage, { key }), { status: 200, trips: 2 })
  assert.is((await sendCold(storage, { key })).status, 429)
})

test('an account takes one round trip, or two with limits, even if your app names its plan', async () => {
  const { storage, api } = await openStored()
  await sendCold(storage, { account: 'user-1' })
  assert.equal(await sendCold(storage, { account: 'user-1' }), { status: 200, trips: 1 })
  await api.groups.create({ name: 'pro plan', limits: { requests: { day: 100 } }, each: { requests: { day: 3 } } })
  const accounts = { defaultPlan: 'pro plan' }
  for (const { key } of await storage.list('groups/!')) await storage.delete(key)
  await sendCold(storage, { account: 'user-2', accounts })
  const sent = { account: 'user-2', accounts }
  for (let count = 0; count < 2; count++) assert.equal(await sendCold(storage, sent), { status: 200, trips: 2 })
  assert.is((await sendCold(storage, sent)).status, 429)
})

test('keys of accounts, keys that act for accounts, and rotated keys take two round trips with limits', async () => {
  const { storage, api } = await openStored()
  const limits = { requests: { day: 100 } }
  await api.accounts.put({ id: 'user-1', limits })
  const own = await api.keys.create({ name: 'a', account: 'user-1', limits })
  const acting = await api.keys.create({ name: 'b', actsFor: {}, limits })
  const rotated = await api.keys.create({ name: 'c', limits })
  await api.keys.rotate(rotated.id, { graceMs: 60_000 })
  const headers = { 'x-signalbox-account': 'user-1' }
  for (const sent of [{ key: own.key }, { key: acting.key, headers }, { key: rotated.key }]) {
    await sendCold(storage, sent)
    assert.equal(await sendCold(storage, sent), { status: 200, trips: 2 })
  }
})

test('a token with limits takes two round trips once its account has been seen', async () => {
  const { storage, api } = await openStored()
  await api.accounts.put({ id: 'user-1', limits: { requests: { day: 100 } } })
  await sendCold(storage, { account: 'user-1' })
  const { token: key } = await api.tokens.mint({ account: 'user-1', limits: { requests: { total: 2 } } })
  for (let count = 0; count < 2; count++) assert.equal(await sendCold(storage, { key }), { status: 200, trips: 2 })
  assert.is((await sendCold(storage, { key })).status, 429)
  await api.accounts.revoke('user-1')
  assert.is((await sendCold(storage, { key })).status, 401)
})

test('concurrent new instances enforce a limit exactly', async () => {
  const { storage, api } = await openStored()
  const { key } = await api.keys.create({ name: 'a', limits: { requests: { day: 4 } } })
  await sendCold(storage, { key })
  const sent = await Promise.all(Array.from({ length: 8 }, () => sendCold(storage, { key })))
  const statuses = sent.map(({ status }) => status).sort()
  assert.equal(statuses, [200, 200, 200, 429, 429, 429, 429, 429])
})

test("a running instance reads a new caller's records together, without waiting for the reading list", async () => {
  const { storage, api } = await openStored()
  const limits = { requests: { day: 100 } }
  const group = await api.groups.create({ name: 'team', limits })
  const [first, second, third] = await Promise.all(
    ['a', 'b', 'c'].map(async (name) => (await api.keys.create({ name, group: group.id, limits })).key),
  )
  await sendCold(storage, { key: String(second) })
  const { withLinks, counted } = farStorage(storage)
  let hangs = false
  const readLinked = async (key: string) => (hangs ? new Promise<[]>(() => {}) : withLinks.getLinked(key))
  const gateway = open({ ...withLinks, getLinked: readLinked }, { usage: false })
  async function countTrips(key = '') {
    const before = counted.trips
    assert.is((await gateway.fetch(chatRequest({ authorization: `Bearer ${key}` }))).status, 200)
    return counted.trips - before
  }
  await countTrips(first)
  await new Promise((resolve) => setTimeout(resolve, 1_050))
  await countTrips(first) // rereads everything else
  assert.is(await countTrips(second), 2)
  hangs = true
  assert.is(await countTrips(third), 3, 'the group is in memory')
  await gateway.close()
})

test("another instance's change applies to a new instance, and to one that has read ahead", async () => {
  const { storage, api } = await openStored()
  await api.settings.update({ requireApiKey: true })
  const { key, id } = await api.keys.create({ name: 'a' })
  await sendCold(storage, { key })
  const { watch, ...unwatched } = storage
  const gateway = open({ ...unwatched, getLinked: (key) => getLinked(storage, key) })
  const send = async () => {
    const request = new Request('http://gateway/v1/models', { headers: { authorization: `Bearer ${key}` } })
    return (await gateway.fetch(request)).status
  }
  assert.is(await send(), 200)
  await api.keys.update(id, { isActive: false })
  assert.is((await sendCold(storage, { key })).status, 403)
  await new Promise((resolve) => setTimeout(resolve, 1_050))
  assert.is(await send(), 403)
  await gateway.close()
  await api.keys.delete(id)
  assert.is((await sendCold(storage, { key })).status, 401)
})

test('an instance that writes a record after reading it ahead uses what it wrote', async () => {
  const storage = memoryStorage()
  for (const key of ['groups/a', 'groups/b']) await storage.set(key, 'old')
  const getLinked = async (key: string) => [
    { key, value: 'groups/a\ngroups/b', version: '1' },
    ...(await storage.list('groups/')),
  ]
  const ahead = withReadAhead({
    ...{ storage: { ...storage, getLinked }, clock: platformClock },
    findPreviousDigest: () => undefined,
  })
  ahead.preload?.(undefined, 'user-1')
  await ahead.storage.set('groups/a', 'new')
  assert.is((await ahead.storage.get('groups/a'))?.value, 'new')
  await storage.set('groups/b', 'new')
  assert.is((await ahead.storage.get('groups/b'))?.value, 'old', 'it was read ahead')
  assert.is((await ahead.storage.get('groups/b'))?.value, 'new', 'only once')
})

test('after a secret change, a reading list is stored under a new name', async () => {
  const { storage, api } = await openStored()
  const { key } = await api.keys.create({ name: 'a' })
  await sendCold(storage, { key })
  const current = 'another secret of 32 characters or more'
  const secret = [
    { version: '2', value: current },
    { version: 'default', value: SECRET },
  ]
  assert.is((await sendCold(storage, { key, secret })).status, 200)
  assert.equal(await sendCold(storage, { key, secret }), { status: 200, trips: 1 })
  assert.is((await listNames(storage)).length, 2)
})

test("a tampered reading list can't change who the caller is or what it may do", async () => {
  const { storage, api } = await openStored()
  const { key } = await api.keys.create({ name: 'a', limits: { requests: { day: 9 } } })
  const other = await api.keys.create({ name: 'b' })
  await sendCold(storage, { key: other.key })
  const [otherName = ''] = await listNames(storage)
  await sendCold(storage, { key })
  const name = (await listNames(storage)).find((item) => item !== otherName) ?? ''
  const everything = (await storage.list('')).map((entry) => entry.key)
  const lists = [
    (await storage.get(otherName))?.value ?? '',
    everything.join('\n'),
    everything.toReversed().join('\n'),
    'vault\nsettings',
    'keys/\ngroups/..\nlimits/key/%',
    '["keys/a"]',
    '',
    '\n'.repeat(1_000),
  ]
  for (const list of lists) {
    await storage.set(name, list)
    assert.is((await sendCold(storage, { key })).status, 200, list.slice(0, 100))
  }
  for (const list of lists) {
    await storage.set(name, list)
    assert.is((await sendCold(storage, { key })).status, 429, list.slice(0, 100))
  }
})

test("failing or hanging reading lists don't affect requests", async () => {
  const { storage, api } = await openStored()
  const { key } = await api.keys.create({ name: 'a', limits: { requests: { day: 100 } } })
  const failing = async () => Promise.reject(new Error('The database does not support this.'))
  assert.is((await sendCold(storage, { key, change: { getLinked: failing } })).status, 200)
  assert.is((await sendCold(storage, { key, change: { getLinked: () => new Promise(() => {}) } })).status, 200)
  const { far } = farStorage(storage)
  const set: Storage['set'] = (name, ...args) => (name.startsWith(LISTS) ? failing() : far.set(name, ...args))
  assert.is((await sendCold(storage, { key, change: { set } })).status, 200)
  assert.equal(await listNames(storage), [])
})

test('only callers that may use the gateway get a reading list, without credentials or account IDs', async () => {
  const { storage, api } = await openStored()
  const { key, id } = await api.keys.create({ name: 'a' })
  await api.keys.update(id, { isActive: false })
  await api.settings.update({ requireApiKey: true })
  assert.is((await sendCold(storage, { key })).status, 403)
  assert.is((await sendCold(storage, { key: `sbx_${'unknown'.repeat(6)}` })).status, 401)
  assert.equal(await listNames(storage), [])
  await api.keys.update(id, { isActive: true })
  await sendCold(storage, { key })
  await sendCold(storage, { account: 'alice@example.com' })
  const lists = await storage.list(LISTS)
  assert.is(lists.length, 2)
  for (const { key: name, value } of lists) {
    assert.match(name, /^reading-lists\/[0-9a-f]{64}$/)
    assert.not.ok(value.includes('alice') || value.includes(key))
  }
})

test('a small store and one that reports changes need no reading lists', async () => {
  const storage = memoryStorage()
  const admin = open(storage)
  await admin.api.connections.create({ provider: 'openai', apiKey: 'sk-test' })
  const group = await admin.api.groups.create({ name: 'team', limits: { requests: { day: 100 } } })
  const { key } = await admin.api.keys.create({ name: 'a', group: group.id, limits: { requests: { day: 100 } } })
  await sendCold(storage, { key })
  let reads = 0
  const getLinked = async () => {
    reads++
    return []
  }
  await sendCold(storage, { key, change: { getLinked, watch: () => () => {} } })
  assert.is(reads, 0)
  assert.equal(await listNames(storage), [])
})
