import { readFileSync } from 'node:fs'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { isGatewayError } from '../../src/errors.ts'
import type { Storage } from '../../src/types.ts'
import { defaultRules } from '../management/door.ts'
import { chatAnswer } from '../pipeline/support/answers.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { plant } from '../support/canaries.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const secret = 'a secret of the store, as long as secrets must be'

/** What a gateway with the secret does with a storage. */
async function open(storage: Storage, connections: string[] = []) {
  const up = fakeUpstream(() => json(chatAnswer()))
  const world = await openWorld({ storage, fetch: up, connections, secret })
  const status = async (key?: string) =>
    (await world.chat({}, key === undefined ? {} : { headers: { 'x-api-key': key } })).status
  return { ...world, up, status }
}

/** A storage with a connection, a key that may be used and one that is paused, and its gateway. */
async function filled() {
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

/** Writes to the storage as a program does that does not know the secret. */
async function change(storage: Storage, prefix: string, name: string | undefined, how: Change): Promise<void> {
  for (const { key, value } of await storage.list(prefix)) {
    const stored = JSON.parse(value)
    const record = prefix === 'settings' ? stored : stored.record
    if (name !== undefined && record.name !== name) continue
    how(record)
    await storage.set(key, JSON.stringify(stored))
  }
}

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'no refusal',
    (error: unknown) => (isGatewayError(error) ? `${error.status} ${error.message}` : String(error)),
  )

const keys = suite('the proof of a key')

const keyChanges: Record<string, Change> = {
  'whose isActive was set to true': (record) => Object.assign(record, { isActive: true }),
  'whose isActive was removed': (record) => delete record.isActive,
  'whose proof was removed with it': (record) => {
    delete record.isActive
    delete record.mac
  },
  'whose proof is no text': (record) => Object.assign(record, { isActive: true, mac: 5 }),
  'whose proof is that of nothing': (record) => Object.assign(record, { isActive: true, mac: `${'A'.repeat(43)}=` }),
}

for (const [how, changing] of Object.entries(keyChanges)) {
  keys(`the proof of a key keeps a paused key ${how} from being used, and no other key`, async () => {
    const { storage, status, api, active, paused, told } = await filled()
    assert.is(await status(paused.key), 403)
    await change(storage, 'keys/', 'paused', changing)
    for (const view of [status, (await open(storage)).status]) {
      assert.is(await view(paused.key), 500)
      assert.is(await view(active.key), 200)
    }
    assert.match(told.errors.map(String).join('; '), /API key "paused" was not written by a gateway with this secret/)
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

keys('the proof of a key is made anew by a change that gives isActive, and by no other change', async () => {
  const { storage, status, api, paused } = await filled()
  await change(storage, 'keys/', 'paused', (record) => delete record.isActive)
  assert.match(
    await refusal(api.keys.update(paused.id, { name: 'renamed' })),
    /^400 .*PUT \/api\/keys\/\{id\} with "isActive"/,
  )
  assert.is(await status(paused.key), 500)
  await api.keys.update(paused.id, { isActive: false })
  assert.is(await status(paused.key), 403)
  await api.keys.update(paused.id, { isActive: true })
  assert.is(await status(paused.key), 200)
})

keys(
  'the proof of a key refuses a known key whose proof was removed at every request, in a storage without watch',
  async () => {
    const clock = fakeClock()
    const { watch: _, ...storage } = memoryStorage({ clock })
    const { api, chat } = await openWorld({
      storage,
      clock,
      fetch: fakeUpstream(() => json(chatAnswer())),
      connections: ['one'],
      secret,
    })
    const { key } = await api.keys.create({ name: 'known' })
    const status = async () => (await chat({}, { headers: { 'x-api-key': key } })).status
    assert.is(await status(), 200)
    await change(storage, 'keys/', 'known', (record) => delete record.mac)
    await clock.advance(1_000)
    assert.equal([await status(), await status()], [500, 500])
  },
)

keys('the proof of a key does not fit another key', async () => {
  const { storage, status, active, paused } = await filled()
  const records = (await storage.list('keys/')).map(({ key, value }) => ({ key, stored: JSON.parse(value) }))
  const [one, two] = records.map(({ stored }) => stored.record)
  await storage.set(records[0]?.key ?? '', JSON.stringify({ order: 1, record: two }))
  await storage.set(records[1]?.key ?? '', JSON.stringify({ order: 2, record: one }))
  assert.equal([await status(active.key), await status(paused.key)], [500, 500])
})

const settings = suite('the proof of the settings')

const settingsChanges: Record<string, Change> = {
  'say that no key is required': (record) => Object.assign(record, { requireApiKey: false }),
  'have lost requireApiKey': (record) => delete record.requireApiKey,
  'have lost their proof': (record) => {
    delete record.requireApiKey
    delete record.mac
  },
  'name another cloud': (record) => Object.assign(record, { cloudUrl: 'https://elsewhere.example' }),
}

for (const [how, changing] of Object.entries(settingsChanges)) {
  settings(`requires a key, and turns cloud mode off, when settings ${how}, until they are set again`, async () => {
    const { storage, status, api, active, told } = await filled()
    await api.settings.update({ maxAttempts: 2 })
    assert.is(await status(active.key), 200)
    await change(storage, 'settings', undefined, changing)
    assert.equal([await status(), await status(active.key)], [401, 200])
    assert.match(String(told.errors[0]), /PATCH \/api\/settings with "requireApiKey"/)
    const shut = { cloudEnabled: false, requireApiKey: true, cloudUrl: '' }
    assert.equal(await api.settings.get(), { ...shut, ...defaultRules, maxAttempts: 2 })
    const { damaged } = await api.health.list()
    assert.equal(
      damaged.map(({ key }) => key),
      ['settings'],
    )
    assert.match(await refusal(api.settings.update({ cloudUrl: '' })), /^500 The settings/)
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

settings('the gate is shut when the settings were removed', async () => {
  const { storage, status, active } = await filled()
  await storage.delete('settings')
  for (const view of [status, (await open(storage)).status])
    assert.equal([await view(), await view(active.key)], [500, 500])
})

settings('the proof of the settings keeps members that this release does not know', async () => {
  const { storage, api } = await filled()
  await change(storage, 'settings', undefined, (record) => Object.assign(record, { fromALaterRelease: [1] }))
  await api.settings.update({ requireApiKey: false })
  assert.equal(JSON.parse((await storage.get('settings'))?.value ?? '').fromALaterRelease, [1])
})

const credentials = suite('a sealed credential')

const destinations: Record<string, Change> = {
  'another provider': (record) => Object.assign(record, { provider: 'two' }),
  'another address': (record) => Object.assign(record, { providerSpecificData: { baseUrl: 'http://thief.test' } }),
  'another format': (record) => Object.assign(record, { providerSpecificData: { format: 'anthropic-messages' } }),
  'another resource': (record) => Object.assign(record, { providerSpecificData: { resource: 'thief' } }),
}

for (const [where, changing] of Object.entries(destinations)) {
  credentials(`a sealed credential is not sent to ${where} than it was sealed for`, async () => {
    const { storage, active, up, chat } = await filled()
    await change(storage, 'connections/', undefined, changing)
    for (const model of ['one/m', 'two/m'])
      assert.ok((await chat({ model }, { headers: { 'x-api-key': active.key } })).status >= 400)
    assert.is(up.calls.length, 0)
  })
}

credentials(
  'a sealed credential is asked for again when the address changes, and sealed anew when the format does',
  async () => {
    const { status, api, active, up } = await filled()
    const [{ id = '' } = {}] = (await api.connections.list()).connections
    const moved = { providerSpecificData: { baseUrl: 'http://two.test/v1' } }
    assert.match(
      await refusal(api.connections.update(id, moved)),
      /^400 "providerSpecificData.baseUrl" .* send "apiKey" again/,
    )
    assert.is((await api.connections.get(id)).providerSpecificData, undefined)
    await api.connections.update(id, { providerSpecificData: { format: 'openai-chat' } })
    assert.is(await status(active.key), 200)
    assert.is(up.calls.at(-1)?.headers.get('authorization'), 'Bearer secret-of-one')
    await api.connections.update(id, { ...moved, apiKey: 'key-of-another-address' })
    plant('key-of-another-address')
    assert.is(await status(active.key), 200)
    assert.is(up.calls.at(-1)?.headers.get('authorization'), 'Bearer key-of-another-address')
    await api.connections.update(id, { providerSpecificData: { baseUrl: 'http://two.test/v1/' } })
    await api.connections.update(id, { providerSpecificData: {}, apiKey: null })
    assert.is((await api.connections.get(id)).apiKey, undefined)
  },
)

for (const [how, changing] of Object.entries<Change>({
  'was changed': (record) => Object.assign(record, { providerSpecificData: { baseUrl: 'http://thief.test' } }),
  'was changed and the sealed key removed': (record) => {
    Object.assign(record, { providerSpecificData: { baseUrl: 'http://thief.test' } })
    delete record.sealedApiKey
  },
})) {
  credentials(
    `a sealed credential is not sealed by put for an address that ${how} in the storage, unless put names the address`,
    async () => {
      const { storage, status, active, up, api } = await filled()
      const seed = { id: 'seeded', provider: 'one', apiKey: 'key-of-the-host' }
      plant(seed.apiKey)
      await api.connections.put(seed)
      await change(storage, 'connections/', undefined, changing)
      const restarted = (await open(storage)).api
      assert.match(
        await refusal(restarted.connections.put(seed)),
        /^400 "apiKey" would be sent where the stored "baseUrl"/,
      )
      await status(active.key)
      assert.not.ok(up.calls.some(({ headers }) => headers.has('authorization')))
      await restarted.connections.put({ ...seed, providerSpecificData: null })
      await restarted.connections.put({ ...seed, apiKey: 'key-of-the-host-renewed' })
      plant('key-of-the-host-renewed')
      assert.is((await restarted.connections.get(seed.id)).providerSpecificData, undefined)
    },
  )
}

const takeover = suite('a store of a release without proofs')

interface Former {
  secret: string
  active: string
  paused: string
  records: Record<string, unknown>
}

/** What the release before wrote: two keys, one paused, a connection, and settings that require a key. */
async function former() {
  const text = readFileSync(new URL('support/store-before-proofs.json', import.meta.url), 'utf8')
  const { active, paused, records }: Former = JSON.parse(text)
  const storage = memoryStorage()
  for (const [key, value] of Object.entries(records)) await storage.set(key, JSON.stringify(value))
  return { storage, active, paused }
}

takeover('a store of a release without proofs is taken over at the first start, and works as it did', async () => {
  const { storage, active, paused } = await former()
  const gateways = await Promise.all([open(storage), open(storage), open(storage)])
  const starts = await Promise.all(gateways.map(({ status }) => status(active)))
  assert.equal(starts, [200, 200, 200])
  assert.equal([await gateways[0]?.status(paused), await gateways[0]?.status()], [403, 401])
  assert.is(gateways[0]?.up.calls[0]?.headers.get('authorization'), 'Bearer credential-of-one')
  assert.equal(
    (await gateways[1]?.api.keys.list())?.keys.map(({ error }) => error),
    [undefined, undefined],
  )
})

takeover(
  'a store of a release without proofs is taken over once: a record without its proof is refused from then on',
  async () => {
    const { storage, active, paused } = await former()
    assert.is(await (await open(storage)).status(active), 200)
    await change(storage, 'keys/', 'paused', (record) => {
      delete record.mac
      record.isActive = true
    })
    const later = await open(storage)
    assert.equal([await later.status(active), await later.status(paused)], [200, 500])
    const vault = JSON.parse((await storage.get('vault'))?.value ?? '')
    await storage.set('vault', JSON.stringify({ ...vault, isTakenOver: false }))
    const { status, told } = await open(storage)
    assert.is(await status(active), 500, 'the vault itself says so under the secret')
    assert.match(String(told.errors[0]), /The secret does not open this store/)
  },
)

takeover(
  'a store of a release without proofs is taken over whole after a start that was cut at any write',
  async () => {
    for (let writes = 0; writes < 6; writes++) {
      const { storage, active, paused } = await former()
      let left = writes
      const cut: Storage = {
        ...storage,
        set: async (...args) => {
          if (left-- <= 0) throw new Error('cut')
          return storage.set(...args)
        },
      }
      await (await open(cut)).status(active)
      const { status, up } = await open(storage)
      assert.equal(
        [await status(active), await status(paused), await status()],
        [200, 403, 401],
        `after ${writes} writes`,
      )
      assert.is(up.calls[0]?.headers.get('authorization'), 'Bearer credential-of-one')
    }
  },
)

takeover('a store of a release without proofs gets no new vault when its own is gone', async () => {
  const { storage, active } = await filled()
  await storage.delete('vault')
  const { status, told } = await open(storage)
  assert.is(await status(active.key), 500)
  assert.match(String(told.errors[0]), /vault record of the storage is missing.*Restore it/)
  assert.is(await storage.get('vault'), undefined)
})
