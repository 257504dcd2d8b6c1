import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Storage } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('signatures of key permissions')

const secret = 'a secret of the store, as long as secrets must be'
const fields = {
  limits: { usd: { day: 5 } },
  models: ['one/*'],
  kinds: ['llm' as const],
  expiresAt: '2040-01-01T00:00:00Z',
}

/** A model with a known price, because a dollar limit blocks models without one. */
const catalog = {
  one: { baseUrl: 'http://one.test/v1', models: [{ id: 'm', maxOutputTokens: 100, price: { input: 1, output: 1 } }] },
}

/** Opens a gateway with the secret on a store. */
async function open(storage: Storage) {
  const fetch = fakeUpstream(() => json(chatResponse()))
  const world = await openWorld({ storage, fetch, secret, catalog, connections: ['one'] })
  const status = async (key: string) => (await world.chat({ model: 'one/m' }, { headers: { 'x-api-key': key } })).status
  return { ...world, status }
}

/** Changes the only record below a prefix, like a program that doesn't know the secret. */
async function change(storage: Storage, prefix: string, how: (record: Record<string, unknown>) => void) {
  const [{ key, value } = { key: '', value: '' }] = await storage.list(prefix)
  const stored = JSON.parse(value)
  how(prefix === 'settings' ? stored : stored.record)
  await storage.set(key, JSON.stringify(stored))
}

const changes: Record<string, (record: Record<string, unknown>) => void> = {
  'without its limits': (record) => delete record.limits,
  'with unreadable limits': (record) => Object.assign(record, { limits: 5 }),
  'with a higher limit': (record) => Object.assign(record, { limits: { usd: { day: 50 } } }),
  'with an unreadable dollar limit': (record) => Object.assign(record, { limits: { usd: { day: 'much' } } }),
  'with one limit fewer': (record) => Object.assign(record, { limits: {} }),
  'without its models': (record) => delete record.models,
  'with an added model': (record) => Object.assign(record, { models: ['one/*', 'two/*'] }),
  'without its kinds': (record) => delete record.kinds,
  'with a later expiry': (record) => Object.assign(record, { expiresAt: '2050-01-01T00:00:00Z' }),
  'without its expiry': (record) => delete record.expiresAt,
  'in another group': (record) => Object.assign(record, { group: 'other' }),
  'without any permissions and with a first-version signature': (record) => {
    for (const name of Object.keys(fields)) delete record[name]
    record.mac = String(record.mac).slice('2:'.length)
  },
}

for (const [title, how] of Object.entries(changes))
  test(`a key stored ${title} is rejected until it is resumed`, async () => {
    const storage = memoryStorage()
    const first = await open(storage)
    const { key, id } = await first.api.keys.create({ name: 'a', ...fields })
    assert.is(await first.status(key), 200)
    await change(storage, 'keys/', how)
    const second = await open(storage)
    assert.is(await second.status(key), 500)
    assert.match((await second.api.keys.get(id)).key.error ?? '', /was not written by a gateway with this secret/)
    await second.api.keys.update(id, { limits: fields.limits }).then(
      () => assert.unreachable(),
      ({ message }) => assert.match(message, /Pause, resume, or delete it/),
    )
    await second.api.keys.update(id, { isActive: true, group: null, ...fields })
    assert.is(await second.status(key), 200)
  })

test('keys without permissions get the signature that earlier releases accept', async () => {
  const storage = memoryStorage()
  const { api } = await open(storage)
  await api.keys.create({ name: 'a', metadata: { team: 'ml' } })
  const [stored] = await storage.list('keys/')
  assert.match(JSON.parse(stored?.value ?? '').record.mac, /^[A-Za-z0-9+/]{43}=$/)
})

const settings = suite('the signature of the limits in the settings')

for (const [title, how] of Object.entries({
  'a higher limit': (record: Record<string, unknown>) => Object.assign(record, { limits: { usd: { day: 50 } } }),
  'no limits': (record: Record<string, unknown>) => delete record.limits,
  'another rule for unknown prices': (record: Record<string, unknown>) =>
    Object.assign(record, { whenPriceUnknown: 'allow' }),
}))
  settings(`requests are rejected after another program changed the settings to ${title}`, async () => {
    const storage = memoryStorage()
    const first = await open(storage)
    await first.api.settings.update({ limits: { usd: { day: 5 } } })
    const { key } = await first.api.keys.create({ name: 'a' })
    assert.is(await first.status(key), 200)
    await change(storage, 'settings', how)
    const second = await open(storage)
    assert.is(await second.status(key), 500)
    await second.api.settings.update({ requireApiKey: true, limits: { usd: { day: 6 } }, whenPriceUnknown: null })
    assert.is(await second.status(key), 200)
    assert.equal((await second.api.settings.get()).limits, { usd: { day: 6 } })
  })

settings('settings without limits get the signature that earlier releases accept', async () => {
  const storage = memoryStorage()
  const { api } = await open(storage)
  await api.settings.update({ requireApiKey: true, usage: { keepRequestsDays: 3 } })
  const stored = await storage.get('settings')
  assert.match(JSON.parse(stored?.value ?? '').mac, /^[A-Za-z0-9+/]{43}=$/)
})

settings(
  'settings stored under old names by an earlier build are read, and rewritten under the new names',
  async () => {
    const storage = memoryStorage()
    const renamed = {
      whenPriceUnknown: 'allow',
      onStorageUnavailable: { requests: 'refuse' },
      allowRequestModels: false,
    } as const
    await (await open(storage)).api.settings.update({ limits: { usd: { day: 5 } }, ...renamed })
    await change(storage, 'settings', (record) => {
      const { whenPriceUnknown, onStorageUnavailable, allowRequestModels } = record
      for (const name of Object.keys(renamed)) delete record[name]
      Object.assign(record, {
        unpriced: whenPriceUnknown,
        whenStoreIsAway: onStorageUnavailable,
        requestModels: allowRequestModels,
      })
    })
    const { api, status } = await open(storage)
    const shown = await api.settings.get()
    assert.equal(pick(shown, renamed), renamed)
    assert.equal(shown.limits, { usd: { day: 5 } })
    assert.is(await status((await api.keys.create({ name: 'a' })).key), 200)
    await api.settings.update({ limits: { usd: { day: 6 } } })
    const stored = JSON.parse((await storage.get('settings'))?.value ?? '')
    assert.equal(pick(stored, renamed), renamed)
    assert.equal([stored.unpriced, stored.whenStoreIsAway, stored.requestModels], [undefined, undefined, undefined])
  },
)

const pick = (from: object, like: object) =>
  Object.fromEntries(Object.keys(like).map((name) => [name, Reflect.get(from, name)]))
