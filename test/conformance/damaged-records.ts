import { isGatewayError } from '../../src/errors.ts'
import type { Storage } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld, token, type World } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

/** Fills a store with two records of each type: a good one, and one to be damaged. Resolves to the good client key. */
async function fillForDamage(storage: Storage): Promise<string> {
  const { api, gateway } = await openWorld({
    storage,
    connections: ['one', 'two'],
    combos: { good: ['one/m'], hurt: ['two/m'] },
  })
  const { key } = await api.keys.create({ name: 'good' })
  await api.keys.create({ name: 'hurt' })
  for (const id of ['good', 'hurt']) await api.customModels.create({ providerAlias: 'one', id })
  await api.aliases.set({ alias: 'good-alias', model: 'one/m' })
  await api.aliases.set({ alias: 'hurt-alias', model: 'two/m' })
  for (const provider of ['one', 'two']) await api.providers.update(provider, { strategy: 'random' })
  await gateway.close()
  return key
}

/** The text that identifies the record to damage, by type. */
const damagedKinds = {
  'keys/': '"hurt"',
  'connections/': '"provider":"two"',
  'combos/': '"name":"hurt"',
  'custom-models/': '"id":"hurt"',
  'aliases/': '"hurt-alias"',
  'providers/': '"provider":"two"',
}

type DamagedPrefix = keyof typeof damagedKinds

async function recordToDamage(storage: Storage, prefix: DamagedPrefix): Promise<{ key: string; value: string }> {
  const found = (await storage.list(prefix)).find(({ value }) => value.includes(damagedKinds[prefix]))
  if (!found) throw new Error(`there is no record to damage under ${prefix}`)
  return found
}

interface Envelope {
  order: unknown
  record: Record<string, unknown>
}

/** Unusual values for any field. */
const VALUES: unknown[] = [null, 0, -1, 1e300, true, false, '', ' ', 'odd', '\u0000', [], [null], {}, { a: 1 }, [[]]]

/** Even more unusual values. */
const ODD_VALUES: unknown[] = [
  '__proto__',
  'constructor',
  '2026-02-30T99:00:00Z',
  'false',
  'NaN',
  '../../vault',
  '😀'.repeat(50),
  '\u202e\u2028\ufeff',
  Number.MAX_SAFE_INTEGER + 1,
  -0.5,
  { toString: 1, valueOf: 2, length: 3 },
  { model: 'one/m' },
  ['one/m', 5, null, { model: 5 }, { model: 'one/m', weight: -1, when: { any: [[]] } }],
  ['hurt'],
  ['good', 'hurt', 'hurt-alias'],
  [{ model: 'hurt', when: { anyOf: [{ anyOf: [] }] } }],
  ['a'.repeat(10_000)],
]

/** Unknown fields that a record may also have. */
const MORE_FIELDS = [
  'kind',
  'type',
  'priority',
  'providerSpecificData',
  'hedge',
  'stickyLimit',
  'connectionStrategy',
  'health',
  'maxAttempts',
  'timeouts',
  'from',
  'movedTo',
  'draining',
  'mac',
  'sealedApiKey',
  'constructor',
  'toJSON',
]

const DATA_FIELDS = ['prefix', 'sharesPrefix', 'enabledModels', 'baseUrl', 'format', 'resource', 'region', 'deployment']

/** Returns strings that aren't records, or that no release would write. */
function getTexts(text: string): string[] {
  const { record } = JSON.parse(text)
  const inner = JSON.stringify(record)
  return [
    ...['', '{', 'null', '[]', '5', '"text"', 'true', '{}', '[{}]', '{"order":1}', '{"order":1,"record":null}'],
    ...[
      '{"record":[]}',
      '{"record":"{}"}',
      '{"record":{}}',
      '{"order":1,"record":5}',
      '\u0000',
      ' ',
      '\ufeff',
      'undefined',
    ],
    ...['NaN', "{'order':1}", '{"order":1,}', '1e999', '-', '\\ud800', '{"record":{"id":"\\ud800"}}', '<html></html>'],
    `\ufeff${text}`,
    ` \n${text}\n`,
    `${text}${text}`,
    JSON.stringify(text),
    JSON.stringify(JSON.stringify(text)),
    inner,
    `[${text}]`,
    JSON.stringify({ order: 1, record: inner }),
    JSON.stringify({ order: 1, record: [record] }),
    JSON.stringify({ order: 1, record: { record } }),
    JSON.stringify({ schema: 9, order: 1, record, signature: 'of a later release', patches: [{ op: 'add' }] }),
    text.replace('"record":{', '"record":{"__proto__":{"isActive":false,"models":["one/m"],"kind":5},'),
    text.replace('"record":{', '"record":{"constructor":{"prototype":{"polluted":1}},"toString":5,"hasOwnProperty":1,'),
    text.replace('"record":{', '"record":{"record":{"record":{}},'),
    text.replace('"order":', '"order":1e999,"was":'),
    text.replace('"record":', '"Record":'),
    text.toUpperCase(),
    text.slice(0, -1),
    text.slice(1),
    text.slice(0, text.length / 2),
    text.replaceAll('"', '\u201d'),
    text.replaceAll(':', '='),
    `{"order":1,"record":${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}}`,
    `{"order":1,"record":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
  ]
}

/**
 * Returns copies of the record with each odd value in each field, with each field missing, and with swapped fields, plus strings that aren't records.
 */
function getDamages(text: string): string[] {
  const envelope: Envelope = JSON.parse(text)
  const found = getTexts(text)
  const changed = (change: (copy: Envelope) => void) => {
    const copy = structuredClone(envelope)
    change(copy)
    found.push(JSON.stringify(copy))
  }
  const values = [...VALUES, ...ODD_VALUES]
  for (const name of [...Object.keys(envelope.record), ...MORE_FIELDS]) {
    changed(({ record }) => delete record[name])
    for (const value of values) changed(({ record }) => Object.assign(record, { [name]: value }))
  }
  for (const value of values) changed((copy) => Object.assign(copy, { order: value }))
  for (const name of DATA_FIELDS)
    for (const value of values)
      changed(({ record }) => Object.assign(record, { providerSpecificData: { [name]: value } }))
  for (const name of Object.keys(envelope.record))
    for (const other of Object.keys(envelope.record)) // swaps two fields
      if (name < other) changed(({ record }) => Object.assign(record, { [name]: record[other], [other]: record[name] }))
  return found
}

/** Returns whether a string can't be read as a record by any store. Each of these must be reported. */
const isNoRecord = (text: string): boolean => {
  try {
    const { record } = JSON.parse(text)
    return typeof record !== 'object' || record === null || Array.isArray(record)
  } catch {
    return true
  }
}

/** The approximate number of damaged versions per record type. */
const PER_KIND = 40

/**
 * Damages a record of each type in a store in hundreds of ways, and sends requests to a gateway on that store. `create` creates an empty store. The
 * gateway rereads records by age, because change reports are tested elsewhere.
 */
export function damagedRecords(name: string, create: () => Promise<Damageable>): void {
  damagedRecordsTests(suite(`damaged records in ${name}`), create)
}

/** An empty store, and a function that removes it. */
interface Damageable {
  storage: Storage
  destroy(): Promise<void> | void
}

/** Declares the tests. */
export function damagedRecordsTests(
  test: (title: string, body: () => Promise<void>) => void,
  create: () => Promise<Damageable>,
): void {
  for (const prefix of Object.keys(damagedKinds) as DamagedPrefix[])
    test(`a damaged record in ${prefix} doesn't affect other records, is reported, and can be removed`, async () => {
      const { storage: opened, destroy } = await create()
      const { watch, ...storage } = opened
      const client = await fillForDamage(storage)
      const { key, value } = await recordToDamage(storage, prefix)
      const world = await openWorld({ storage, connections: [], fetch: fakeUpstream(() => json(chatResponse())) })
      const all = getDamages(value)
      const step = all.length / PER_KIND
      let count = 0
      for (let index = 0; index < all.length; index += step) {
        const text = all[Math.floor(index)] ?? ''
        if ((await storage.set(key, text).catch(reportError)) === undefined) continue
        await world.clock.advance(1_000)
        await assertResponds(world, { key, text, client })
        count++
      }
      assert.ok(count > PER_KIND / 2, `${count} kinds`)
      await storage.set(key, '{"record":5}')
      await world.clock.advance(1_000)
      const removing = await manage(world, 'DELETE', `/records/${encodeURIComponent(key)}`)
      assert.equal(removing, { success: true })
      assert.is(await storage.get(key), undefined)
      await world.gateway.close()
      await destroy()
    })

  test('damaged records are reported, listed, and removable under any possible key', async () => {
    const { storage: opened, destroy } = await create()
    const { watch, ...storage } = opened
    await fillForDamage(storage)
    const world = await openWorld({ storage, connections: [] })
    const keys: string[] = []
    for (const prefix of Object.keys(damagedKinds))
      for (const id of ODD_IDS)
        if ((await storage.set(prefix + id, '{"order":1,"record":5}').catch(reportError)) !== undefined)
          keys.push(prefix + id)
    const { damaged } = await manage<{ damaged: Array<{ key: string }> }>(world, 'GET', '')
    assert.equal(damaged.map(({ key }) => key).sort(), keys.sort())
    for (const key of keys) {
      const path = `/records/${encodeURIComponent(key)}`
      assert.is((await manage<{ stored: string }>(world, 'GET', path)).stored, '{"order":1,"record":5}', key)
      assert.equal(await manage(world, 'DELETE', path), { success: true }, key)
    }
    assert.equal((await manage<{ damaged: object[] }>(world, 'GET', '')).damaged, [])
    await world.gateway.close()
    await destroy()
  })
}

const ODD_IDS = [
  ...['', '%', '%zz', '%E0%A4%A', 'a/b', '/', '//', '../x', '.', '..', '%2F', '%252F', 'a%20b', 'a b', '\\', '%00'],
  ...['\u00fc', '\u{1f600}', '\u202e', '?b#c', '"', "'", '+', '&=;', '\n', '*', ':', '__proto__', 'constructor'],
  'x'.repeat(900),
]

/** Checks that the store rejected an unsupported value with a code that says why. */
function reportError(error: unknown): undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  assert.match(code, /^STORAGE_(?:NOT_TEXT|TOO_LARGE)$/)
}

async function manage<T>(world: World, method: string, path: string): Promise<T> {
  const headers = { authorization: `Bearer ${token}` }
  const response = await world.gateway.fetch(new Request(`http://gateway/api/health${path}`, { method, headers }))
  return response.json()
}

/** Checks that every route that reads records returns all good records and identifies the damaged ones. */
async function assertResponds(world: World, { key, text, client }: { key: string; text: string; client: string }) {
  const { gateway, api, chat, recorded } = world
  const headers = { 'x-api-key': client }
  const getStatus = async (model: string) => (await chat({ model }, { headers })).status
  const listed = await gateway.fetch(new Request('http://gateway/v1/models', { headers }))
  const gemini = await gateway.fetch(new Request('http://gateway/v1beta/models', { headers }))
  const statuses = [listed.status, gemini.status, await getStatus('good'), await getStatus('good-alias')]
  assert.equal([...statuses, await getStatus('one/m')], [200, 200, 200, 200, 200], text)
  const { data }: { data: Array<{ id: string }> } = await listed.json()
  const ids = data.map(({ id }) => id)
  for (const id of ['good', 'one/m', 'one/good']) assert.ok(ids.includes(id), `${id}: ${text}`)
  assert.ok(
    (await api.keys.list()).keys.some((key) => key.name === 'good' && key.error === undefined),
    text,
  )
  const [connections, combos, models] = [
    (await api.connections.list()).connections.map(({ provider }) => provider),
    (await api.combos.list()).combos.map((combo) => combo.name),
    (await api.customModels.list()).models.map(({ id }) => id),
  ]
  assert.ok(connections.includes('one') && combos.includes('good') && models.includes('good'), text)
  assert.is((await api.aliases.list()).aliases['good-alias'], 'one/m', text)
  assert.ok((await api.providers.list()).providers, text)
  const { damaged } = await manage<{ damaged: Array<{ key: string }> }>(world, 'GET', '')
  for (const item of damaged) assert.is(item.key, key, text)
  if (isNoRecord(text)) assert.is(damaged.length, 1, text)
  for (const error of recorded.errors.splice(0))
    assert.ok(isGatewayError(error, 'RECORD_DAMAGED') || isGatewayError(error, 'STORAGE_FAILED'), text)
  assert.is(Reflect.get({}, 'polluted'), undefined)
}
