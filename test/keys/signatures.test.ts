import { memoryStorage } from '../../adapters/storage/memory.ts'
import { isGatewayError } from '../../src/errors.ts'
import type { Storage } from '../../src/types.ts'
import { defaultRules } from '../management/open-management.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { plant } from '../support/canaries.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const secret = 'a secret of the store, as long as secrets must be'

/** Opens a gateway with the secret on a store. */
async function open(storage: Storage, connections: string[] = []) {
  const upstream = fakeUpstream(() => json(chatResponse()))
  const world = await openWorld({ storage, fetch: upstream, connections, secret })
  const status = async (key?: string) =>
    (await world.chat({}, key === undefined ? {} : { headers: { 'x-api-key': key } })).status
  return { ...world, upstream, status }
}

/** Creates a store with a connection, an active key, and a paused key, and opens a gateway on it. */
async function fillStorage() {
  const storage = memoryStorage()
  const gateway = await open(storage, ['one'])
  const { api } = gateway
  await api.settings.update({ requireApiKey: true, cloudUrl: 'https://cloud.example' })
  const active = await api.keys.create({ name: 'active' })
  const paused = await api.keys.create({ name: 'paused' })
  await api.keys.update(paused.id, { isActive: false })
  return { storage, ...gateway, active, paused }
}

type Change = (record: Record<string, unknown>) => void

/** Writes to the storage, like a program that doesn't know the secret. */
async function change(storage: Storage, prefix: string, name: string | undefined, how: Change): Promise<void> {
  for (const { key, value } of await storage.list(prefix)) {
    const stored = JSON.parse(value)
    const record = prefix === 'settings' ? stored : stored.record
    if (name !== undefined && record.name !== name) continue
    how(record)
    await storage.set(key, JSON.stringify(stored))
  }
}

const getError = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error: unknown) => (isGatewayError(error) ? `${error.status} ${error.message}` : String(error)),
  )

const keys = suite('key signatures')

const keyChanges: Record<string, Change> = {
  'with isActive set to true': (record) => Object.assign(record, { isActive: true }),
  'without isActive': (record) => delete record.isActive,
  'without isActive and a signature': (record) => {
    delete record.isActive
    delete record.mac
  },
  "with a signature that isn't a string": (record) => Object.assign(record, { isActive: true, mac: 5 }),
  'with an all-zero signature': (record) => Object.assign(record, { isActive: true, mac: `${'A'.repeat(43)}=` }),
}

for (const [mode, changing] of Object.entries(keyChanges)) {
  keys(`a paused key ${mode} stays unusable, and other keys still work`, async () => {
    const { storage, status, api, active, paused, recorded } = await fillStorage()
    assert.is(await status(paused.key), 403)
    await change(storage, 'keys/', 'paused', changing)
    for (const view of [status, (await open(storage)).status]) {
      assert.is(await view(paused.key), 500)
      assert.is(await view(active.key), 200)
    }
    assert.match(
      recorded.errors.map(String).join('; '),
      /API key "paused" was not written by a gateway with this secret/,
    )
    const shown = (await api.keys.list()).keys
    assert.equal(
      shown.map(({ name, error }) => [name, error !== undefined]),
      [
        ['active', false],
        ['paused', true],
      ],
    )
  })
}

keys('only a change that sets isActive re-signs a key', async () => {
  const { storage, status, api, paused } = await fillStorage()
  await change(storage, 'keys/', 'paused', (record) => delete record.isActive)
  assert.match(
    await getError(api.keys.update(paused.id, { name: 'renamed' })),
    /^400 .*PUT \/api\/keys\/\{id\} with "isActive"/,
  )
  assert.is(await status(paused.key), 500)
  await api.keys.update(paused.id, { isActive: false })
  assert.is(await status(paused.key), 403)
  await api.keys.update(paused.id, { isActive: true })
  assert.is(await status(paused.key), 200)
})

keys('a key whose signature was removed after a request is rejected, even without `watch`', async () => {
  const clock = fakeClock()
  const { watch: _, ...storage } = memoryStorage({ clock })
  const { api, chat } = await openWorld({
    storage,
    clock,
    fetch: fakeUpstream(() => json(chatResponse())),
    connections: ['one'],
    secret,
  })
  const { key } = await api.keys.create({ name: 'known' })
  const status = async () => (await chat({}, { headers: { 'x-api-key': key } })).status
  assert.is(await status(), 200)
  await change(storage, 'keys/', 'known', (record) => delete record.mac)
  await clock.advance(1_000)
  assert.equal([await status(), await status()], [500, 500])
})

keys("a key's signature isn't valid for another key", async () => {
  const { storage, status, active, paused } = await fillStorage()
  const records = (await storage.list('keys/')).map(({ key, value }) => ({ key, stored: JSON.parse(value) }))
  const [first, two] = records.map(({ stored }) => stored.record)
  await storage.set(records[0]?.key ?? '', JSON.stringify({ order: 1, record: two }))
  await storage.set(records[1]?.key ?? '', JSON.stringify({ order: 2, record: first }))
  assert.equal([await status(active.key), await status(paused.key)], [500, 500])
})

const settings = suite('the signature of the settings')

const settingsChanges: Record<string, Change> = {
  'were changed so that no key is required': (record) => Object.assign(record, { requireApiKey: false }),
  'lost requireApiKey': (record) => delete record.requireApiKey,
  'lost requireApiKey and their signature': (record) => {
    delete record.requireApiKey
    delete record.mac
  },
  'were changed to another cloudUrl': (record) => Object.assign(record, { cloudUrl: 'https://elsewhere.example' }),
}

for (const [mode, changing] of Object.entries(settingsChanges)) {
  settings(`if the settings ${mode}, a key is required and cloud sync is off`, async () => {
    const { storage, status, api, active, recorded } = await fillStorage()
    await api.settings.update({ maxAttempts: 2 })
    assert.is(await status(active.key), 200)
    await change(storage, 'settings', undefined, changing)
    assert.equal([await status(), await status(active.key)], [401, 200])
    assert.match(String(recorded.errors[0]), /PATCH \/api\/settings with "requireApiKey"/)
    const shut = { cloudEnabled: false, requireApiKey: true, cloudUrl: '' }
    assert.equal(await api.settings.get(), { ...shut, ...defaultRules, maxAttempts: 2 })
    const { damaged } = await api.health.list()
    assert.equal(
      damaged.map(({ key }) => key),
      ['settings'],
    )
    assert.match(await getError(api.settings.update({ cloudUrl: '' })), /^500 The stored settings/)
    assert.equal(await api.settings.update({ requireApiKey: true }), {
      cloudEnabled: false,
      requireApiKey: true,
      cloudUrl: '',
      ...defaultRules,
      maxAttempts: 2,
    })
    assert.equal((await api.health.list()).damaged, [])
    assert.equal([await status(), await status(active.key)], [401, 200])
  })
}

settings('requests are rejected if the settings were removed', async () => {
  const { storage, status, active } = await fillStorage()
  await storage.delete('settings')
  for (const view of [status, (await open(storage)).status])
    assert.equal([await view(), await view(active.key)], [500, 500])
})

settings('updating signed settings keeps fields unknown to this release', async () => {
  const { storage, api } = await fillStorage()
  await change(storage, 'settings', undefined, (record) => Object.assign(record, { fromALaterRelease: [1] }))
  await api.settings.update({ requireApiKey: false })
  assert.equal(JSON.parse((await storage.get('settings'))?.value ?? '').fromALaterRelease, [1])
})

const credentials = suite('an encrypted credential')

const destinations: Record<string, Change> = {
  'another provider': (record) => Object.assign(record, { provider: 'two' }),
  'another base URL': (record) => Object.assign(record, { providerSpecificData: { baseUrl: 'http://thief.test' } }),
  'another format': (record) => Object.assign(record, { providerSpecificData: { format: 'anthropic-messages' } }),
  'another resource': (record) => Object.assign(record, { providerSpecificData: { resource: 'thief' } }),
}

for (const [location, changing] of Object.entries(destinations)) {
  credentials(`an encrypted credential never works with ${location}`, async () => {
    const { storage, active, upstream, chat } = await fillStorage()
    await change(storage, 'connections/', undefined, changing)
    for (const model of ['one/m', 'two/m'])
      assert.ok((await chat({ model }, { headers: { 'x-api-key': active.key } })).status >= 400)
    assert.is(upstream.calls.length, 0)
  })
}

credentials('a new base URL needs the credential again, and a new format re-encrypts it', async () => {
  const { status, api, active, upstream } = await fillStorage()
  const [{ id = '' } = {}] = (await api.connections.list()).connections
  const moved = { providerSpecificData: { baseUrl: 'http://two.test/v1' } }
  assert.match(
    await getError(api.connections.update(id, moved)),
    /^400 "providerSpecificData.baseUrl" .* send "apiKey" again/,
  )
  assert.is((await api.connections.get(id)).providerSpecificData, undefined)
  await api.connections.update(id, { providerSpecificData: { format: 'openai-chat' } })
  assert.is(await status(active.key), 200)
  assert.is(upstream.calls.at(-1)?.headers.get('authorization'), 'Bearer secret-of-one')
  await api.connections.update(id, { ...moved, apiKey: 'key-of-another-address' })
  plant('key-of-another-address')
  assert.is(await status(active.key), 200)
  assert.is(upstream.calls.at(-1)?.headers.get('authorization'), 'Bearer key-of-another-address')
  await api.connections.update(id, { providerSpecificData: { baseUrl: 'http://two.test/v1/' } })
  await api.connections.update(id, { providerSpecificData: {}, apiKey: null })
  assert.is((await api.connections.get(id)).apiKey, undefined)
})

for (const [mode, changing] of Object.entries<Change>({
  'was changed': (record) => Object.assign(record, { providerSpecificData: { baseUrl: 'http://thief.test' } }),
  'was changed after its encrypted key was removed': (record) => {
    Object.assign(record, { providerSpecificData: { baseUrl: 'http://thief.test' } })
    delete record.sealedApiKey
  },
})) {
  credentials(`if the stored base URL ${mode}, put rejects the credential until it resets the URL`, async () => {
    const { storage, status, active, upstream, api } = await fillStorage()
    const seed = { id: 'seeded', provider: 'one', apiKey: 'key-of-the-host' }
    plant(seed.apiKey)
    await api.connections.put(seed)
    await change(storage, 'connections/', undefined, changing)
    const restarted = (await open(storage)).api
    assert.match(await getError(restarted.connections.put(seed)), /^400 "apiKey" would be sent to the stored "baseUrl"/)
    await status(active.key)
    assert.not.ok(upstream.calls.some(({ headers }) => headers.has('authorization')))
    await restarted.connections.put({ ...seed, providerSpecificData: null })
    await restarted.connections.put({ ...seed, apiKey: 'key-of-the-host-renewed' })
    plant('key-of-the-host-renewed')
    assert.is((await restarted.connections.get(seed.id)).providerSpecificData, undefined)
  })
}

const vault = suite('a storage with a missing keyring')

vault("a missing keyring isn't recreated", async () => {
  const { storage, active } = await fillStorage()
  await storage.delete('vault')
  const { status, recorded } = await open(storage)
  assert.is(await status(active.key), 500)
  assert.match(String(recorded.errors[0]), /vault record is missing from the storage.*Restore it/)
  assert.is(await storage.get('vault'), undefined)
})
