import { memoryStorage } from '../../adapters/storage/memory.ts'
import { isGatewayError } from '../../src/errors.ts'
import type { Storage } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { catalog, openWorld, type World } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { damageStore, type Envelope, fillStore, kinds } from './support/damaged-store.ts'

const test = suite('damaged records in the storage')

/** Odd values to put in any field. */
const values: unknown[] = [null, 0, -1, 1e300, true, false, '', ' ', 'odd', '\u0000', [], [null], {}, { a: 1 }, [[]]]

/** Returns damaged versions of the record: with each odd value in each field, without each field, and replaced by strings that aren't records. */
function listDamages(text: string): string[] {
  const envelope: Envelope = JSON.parse(text)
  const texts = [
    '',
    '{',
    'null',
    '[]',
    '5',
    '"text"',
    '{}',
    '{"order":1}',
    '{"order":1,"record":null}',
    '{"record":[]}',
  ]
  const changed = (change: (copy: Envelope) => void) => {
    const copy = structuredClone(envelope)
    change(copy)
    texts.push(JSON.stringify(copy))
  }
  for (const name of [
    ...Object.keys(envelope.record),
    'kind',
    'type',
    'priority',
    'providerSpecificData',
    'hedge',
    'stickyLimit',
  ]) {
    changed(({ record }) => delete record[name])
    for (const value of values) changed(({ record }) => Object.assign(record, { [name]: value }))
  }
  for (const value of values) changed((copy) => Object.assign(copy, { order: value }))
  for (const name of ['prefix', 'sharesPrefix', 'enabledModels', 'baseUrl', 'format'])
    for (const value of values)
      changed(({ record }) => Object.assign(record, { providerSpecificData: { [name]: value } }))
  return texts
}

/** Opens a gateway on a store. Returns a function that collects everything it shows about the records. */
async function looking(storage: Storage, key: string) {
  const upstream = fakeUpstream(() => json(chatResponse()))
  const world = await openWorld({ storage, fetch: upstream, connections: [] })
  return () => collectSeen(world, key)
}

async function collectSeen({ gateway, api, chat, recorded }: World, key: string) {
  const status = async (model: string) => (await chat({ model }, { headers: { 'x-api-key': key } })).status
  const listed = await gateway.fetch(new Request('http://gateway/v1/models'))
  const lists = {
    keys: (await api.keys.list()).keys,
    connections: (await api.connections.list()).connections,
    combos: (await api.combos.list()).combos,
    customModels: (await api.customModels.list()).models,
    aliases: (await api.aliases.list()).aliases,
    providers: (await api.providers.list()).providers,
    health: (await api.health.list()).health,
  }
  const statuses = [listed.status, await status('good'), await status('good-alias'), await status('one/m')]
  const { data }: { data: Array<{ id: string }> } = await listed.json()
  return { statuses, ids: data.map(({ id }) => id), lists, errors: recorded.errors.splice(0) }
}

for (const prefix of Object.keys(kinds) as Array<keyof typeof kinds>) {
  test(`a damaged record in ${prefix} hides no other record, and is reported`, async () => {
    const { storage, key } = await fillStore()
    const [full] = (await storage.list(prefix)).filter(({ value }) => value.includes(kinds[prefix]))
    const look = await looking(storage, key)
    let count = 0
    for (const text of listDamages(full?.value ?? '')) {
      await storage.set(full?.key ?? '', text)
      const { statuses, ids, lists, errors } = await look()
      assert.equal(statuses, [200, 200, 200, 200], text)
      assert.ok(ids.includes('good') && ids.includes('one/m') && ids.includes('one/good'), text)
      assert.ok(
        lists.keys.some(({ name, error }) => name === 'good' && error === undefined),
        text,
      )
      assert.ok(
        lists.connections.some(({ provider }) => provider === 'one'),
        text,
      )
      assert.ok(
        lists.combos.some(({ name }) => name === 'good'),
        text,
      )
      assert.ok(
        lists.customModels.some(({ id }) => id === 'good'),
        text,
      )
      assert.is(lists.aliases['good-alias'], 'one/m', text)
      for (const error of errors) {
        assert.ok(isGatewayError(error, 'RECORD_DAMAGED'), text)
        assert.match(error.message, `The stored record ${full?.key} `)
      }
      count++
    }
    assert.ok(count > 200)
  })
}

/** Changes fields of the record to damage. Returns what a gateway then shows, and the record's storage key. */
async function afterChange(prefix: keyof typeof kinds, change: object) {
  const { storage, key } = await fillStore()
  const location = await damageStore(storage, prefix, (text) => {
    const envelope: Envelope = JSON.parse(text)
    return JSON.stringify({ ...envelope, record: { ...envelope.record, ...change } })
  })
  return { ...(await (await looking(storage, key))()), storage, where: location }
}

for (const mac of [null, 5, true, [], {}])
  test(`a damaged key is reported with its location if its signature is ${JSON.stringify(mac)}`, async () => {
    const storage = memoryStorage()
    const before = await openWorld({ storage })
    await before.api.keys.create({ name: 'hurt' })
    const [stored] = await storage.list('keys/')
    const envelope: Envelope = JSON.parse(stored?.value ?? '')
    Object.assign(envelope.record, { mac })
    await storage.set(stored?.key ?? '', JSON.stringify(envelope))
    const { api, recorded } = await openWorld({ storage, connections: [] })
    assert.is((await api.keys.list()).keys.length, 1)
    const ofKey = recorded.errors.map(String).filter((error) => error.includes(stored?.key ?? ''))
    assert.is(ofKey.length, 1, String(recorded.errors))
    assert.match(ofKey[0] ?? '', /The stored record \S+ is damaged: "mac" is/)
  })

test('a combo with kind null is read as kind "llm"', async () => {
  const { ids, errors } = await afterChange('combos/', { kind: null })
  assert.ok(ids.includes('hurt'))
  assert.match(String(errors), /combos\/hurt is damaged: "kind" is null and is read as "llm"/)
})

test('a damaged connection is active unless its isActive is false', async () => {
  for (const isActive of [null, 'false', 0, {}])
    assert.ok((await afterChange('connections/', { isActive })).ids.includes('two/m'), String(isActive))
  assert.not.ok((await afterChange('connections/', { isActive: false })).ids.includes('two/m'))
})

test('for a damaged enabledModels, the valid models are listed, or the catalog if there are none', async () => {
  const listModels = async (enabledModels: unknown) =>
    (await afterChange('connections/', { providerSpecificData: { enabledModels } })).ids.filter((id) =>
      id.startsWith('two/'),
    )
  assert.equal(await listModels(['a', 5, null, 'b']), ['two/a', 'two/b', 'two/m'])
  for (const odd of ['a', {}, null, 7, [5]]) assert.equal(await listModels(odd), ['two/m'], JSON.stringify(odd))
})

test("a connection's sharesPrefix is dropped if it isn't a boolean", async () => {
  const { lists } = await afterChange('connections/', { providerSpecificData: { prefix: 'b', sharesPrefix: 'no' } })
  const { providerSpecificData } = lists.connections.find(({ provider }) => provider === 'two') ?? {}
  assert.equal(providerSpecificData, { prefix: 'b' })
})

test('a damaged combo loses its invalid entries, and is skipped if none are left', async () => {
  const { lists } = await afterChange('combos/', {
    models: [5, 'one/m', { model: 'two/m', when: 'odd' }, { weight: 3 }],
  })
  assert.equal(lists.combos.find(({ name }) => name === 'hurt')?.models, ['one/m'])
  const { ids } = await afterChange('combos/', { models: [5, null] })
  assert.not.ok(ids.includes('hurt'))
})

test('a damaged record keeps its unreadable and unknown fields when other fields are changed', async () => {
  const odd = { priority: 'soon', fromALaterRelease: { a: 1 } }
  const { storage, where, lists } = await afterChange('connections/', odd)
  const { id = '' } = lists.connections.find(({ provider }) => provider === 'two') ?? {}
  const { api } = await openWorld({ storage, connections: [] })
  await api.connections.update(id, { name: 'renamed' })
  const { record }: Envelope = JSON.parse((await storage.get(where))?.value ?? '')
  assert.equal([record.name, record.priority, record.fromALaterRelease], ['renamed', 'soon', { a: 1 }])
  await api.connections.update(id, { priority: 3 })
  assert.is(JSON.parse((await storage.get(where))?.value ?? '').record.priority, 3)
})

test("setting an alias overwrites a damaged record with the same name, but creating a combo doesn't", async () => {
  const { storage } = await fillStore()
  const combo = await damageStore(storage, 'combos/', () => 'damaged')
  const alias = await damageStore(storage, 'aliases/', () => 'damaged')
  const { api } = await openWorld({ storage, connections: [] })
  const rejected = await api.combos.create({ name: 'hurt', models: ['one/m'] }).catch((error: unknown) => error)
  assert.ok(isGatewayError(rejected, 'NAME_TAKEN'))
  assert.is((await storage.get(combo))?.value, 'damaged')
  await api.aliases.set({ alias: 'hurt-alias', model: 'one/m' })
  assert.is((await api.aliases.list()).aliases['hurt-alias'], 'one/m')
  assert.match((await storage.get(alias))?.value ?? '', '"model":"one/m"')
})

test('a damaged record is reported once, and again only if it is damaged in another way', async () => {
  const { storage, key } = await fillStore()
  await damageStore(storage, 'combos/', () => 'damaged')
  const { api, recorded, chat } = await openWorld({ storage, connections: [] })
  for (let turn = 0; turn < 3; turn++) {
    await chat({ model: 'one/m' }, { headers: { 'x-api-key': key } })
    await api.aliases.set({ alias: `another-${turn}`, model: 'one/m' })
    await api.combos.list()
  }
  assert.is(recorded.errors.length, 1)
  await storage.set('combos/hurt', '{"order":1,"record":{}}')
  await api.combos.list()
  assert.is(recorded.errors.length, 2)
})

test("damaged settings don't open the gateway to requests without an API key", async () => {
  for (const [value, status] of [
    [undefined, 200],
    ['{}', 401],
    ['{"requireApiKey":false}', 401],
    ['{"requireApiKey":"true"}', 401],
    ['{"requireApiKey":"false"}', 401],
    ['{"requireApiKey":0}', 401],
    ['{"requireApiKey":null}', 401],
    ['{"requireApiKey":[]}', 401],
    ['null', 500],
    ['{', 500],
  ] as const) {
    const storage = memoryStorage()
    if (value !== undefined) await storage.set('settings', value)
    const { chat, gateway } = await openWorld({ storage, catalog, fetch: fakeUpstream(() => json(chatResponse())) })
    assert.is((await chat({})).status, status, value)
    assert.is((await gateway.fetch(new Request('http://gateway/v1/models'))).status, status, value)
  }
})
