import { readFileSync } from 'node:fs'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Catalog, Storage } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'

const secret = 'a secret of the store, as long as secrets must be'
const active = `sbx_${'active'.repeat(6)}`
const paused = `sbx_${'paused'.repeat(6)}`
const catalog: Catalog = {
  one: { baseUrl: 'http://one.test/v1', models: [{ id: 'm' }, { id: 'other' }] },
  two: { baseUrl: 'http://two.test/v1', models: [{ id: 'm' }] },
  azure: { cloud: 'azure', models: [{ id: 'm' }] },
}

/** The stored records, by key: a minimal record of each kind, and one with every field. */
const written: Record<string, string> = JSON.parse(
  readFileSync(new URL('support/written-store.json', import.meta.url), 'utf8'),
)

const getTexts = async (storage: Storage) =>
  Object.fromEntries((await storage.list('')).map(({ key, value }) => [key, value]))

/** Creates a storage with these records, and opens a gateway on it. */
async function open() {
  const storage = memoryStorage()
  for (const [key, value] of Object.entries(written)) await storage.set(key, value)
  const upstream = fakeUpstream(() => json(chatResponse()))
  const errors: unknown[] = []
  const gateway = createGateway({
    storage,
    catalog,
    secret,
    fetch: upstream,
    logger: false,
    hooks: { onError: (e) => void errors.push(e) },
  })
  const status = async (model: string, key: string) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': key }
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] })
    const response = await gateway.fetch(
      new Request('http://gateway/v1/chat/completions', { method: 'POST', headers, body }),
    )
    await response.text()
    return response.status
  }
  return { storage, api: gateway.api, upstream, errors, status }
}

const test = suite('a store written by an earlier release')

test("a store written by an earlier release opens with all its data, and reading doesn't change it", async () => {
  const { storage, api, upstream, errors, status } = await open()
  assert.is(await status('quick', active), 200)
  assert.is(upstream.calls.at(-1)?.headers.get('authorization'), 'Bearer sk-one-of-the-tests')
  assert.equal(
    [await status('plain', active), await status('one/m', paused), await status('one/m', 'sbx_no')],
    [200, 403, 401],
  )
  const { keys } = await api.keys.list()
  assert.equal(keys, [
    { id: 'active', name: 'active', key: active, isActive: true, createdAt: '2026-01-02T03:06:00.000Z' },
    { id: 'paused', name: 'paused', key: paused, isActive: false, createdAt: '2026-01-02T03:06:08.000Z' },
  ])
  const settings = await api.settings.get()
  assert.equal(
    [
      settings.requireApiKey,
      settings.cloudUrl,
      settings.health.minCalls,
      settings.maxAttempts,
      settings.timeouts.idleMs,
    ],
    [true, 'https://cloud.example', 3, 4, 5_000],
  )
  const { connections } = await api.connections.list()
  assert.equal(
    connections.map(({ id, apiKey, error }) => [id, apiKey, error]),
    [
      ['main', '…ests', undefined],
      ['full', '…ests', undefined],
      ['cloudy', '…ests', undefined],
    ],
  )
  for (const [key, text] of Object.entries(written)) {
    if (!/^(?:combos|connections)\//.test(key)) continue
    const { revision, sealedApiKey, ...record } = JSON.parse(text).record
    const shown = key.startsWith('combos/') ? await api.combos.get(record.id) : await api.connections.get(record.id)
    const { apiKey, ...plain } = { apiKey: undefined, ...shown }
    assert.equal(plain, key.startsWith('combos/') ? record : { isActive: true, ...record }, key)
  }
  assert.equal(await api.customModels.list(), {
    models: [
      { id: 'plain', providerAlias: 'one' },
      { id: 'vendor/full', type: 'embedding', providerAlias: 'one' },
    ],
  })
  assert.equal(await api.aliases.list(), { aliases: { quick: 'one/m' } })
  const { strategy, stickyLimit } = await api.providers.get('one')
  assert.equal([strategy, stickyLimit], ['round-robin', 3])
  assert.equal([(await api.health.list()).damaged, errors], [[], []])
  assert.equal(await getTexts(storage), written)
})

/** Changes a field in a record of each kind, and changes it back. */
async function thereAndBack({ api }: Awaited<ReturnType<typeof open>>): Promise<void> {
  for (const isActive of [false, true]) await api.keys.update('active', { isActive })
  for (const isActive of [true, false]) await api.keys.update('paused', { isActive })
  for (const name of ['other', 'full']) await api.connections.update('full', { name })
  for (const hedge of [false, true]) await api.combos.update('full', { hedge })
  await api.customModels.put({ providerAlias: 'one', id: 'vendor/full', type: 'tts' })
  await api.customModels.put({ providerAlias: 'one', id: 'vendor/full', type: 'embedding' })
  for (const model of ['two/m', 'one/m']) await api.aliases.set({ alias: 'quick', model })
  for (const limit of [4, 3]) await api.providers.update('one', { strategy: 'round-robin', stickyLimit: limit })
  for (const requireApiKey of [false, true]) await api.settings.update({ requireApiKey })
}

/** Returns a stored record without its `edit` mark for the last change to `isActive` or `requireApiKey`, which earlier releases didn't write. */
const unmarked = (text: string) => text.replace(/,"edit":"[^"]*"/, '')

test("rewriting an earlier release's records keeps their fields and signatures", async () => {
  const world = await open()
  await thereAndBack(world)
  const now = await getTexts(world.storage)
  assert.equal(Object.keys(now).sort(), Object.keys(written).sort())
  let changed = 0
  for (const [key, text] of Object.entries(written)) {
    const plain = (value: string) => JSON.parse(unmarked(value).replace(/(?<="(?:updatedAt|revision)":)"[^"]*"/g, '""'))
    assert.equal(plain(now[key] ?? ''), plain(text), key)
    if (now[key] !== text) changed++
  }
  assert.ok(changed >= 2, `${changed} records were rewritten`)
})

test("a record in a new store has the same fields and signature as an earlier release's", async () => {
  const world = await open()
  for (const { key } of await world.storage.list('keys/')) await world.storage.delete(key)
  await world.api.keys.put({ id: 'active', name: 'active', key: active })
  const [stored] = await world.storage.list('keys/')
  const [before] = Object.entries(written).filter(([key]) => key === stored?.key)
  const { record } = JSON.parse(unmarked(stored?.value ?? ''))
  const { record: former } = JSON.parse(before?.[1] ?? '')
  assert.equal(Object.keys(record), Object.keys(former))
  assert.is(record.mac, former.mac)
})
