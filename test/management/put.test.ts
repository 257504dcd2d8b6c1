import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Management } from '../../src/management/operations.ts'
import { platformClock } from '../../src/platform.ts'
import type { Catalog, Storage } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite('put in gateway.api')

const catalog: Catalog = {
  openai: { alias: 'oa', name: 'OpenAI', baseUrl: 'https://openai.test/v1', models: [{ id: 'gpt-5' }] },
  groq: { baseUrl: 'https://groq.test/v1', models: [{ id: 'llama' }] },
}
const SECRET = 'sk-test-0123456789-abcd'
const VALUE = `sbx_${'own-value-of-the-host_'.repeat(2)}`

/** Opens a gateway, and a function that returns the storage writes since the previous call. */
function open() {
  const memory = memoryStorage()
  let writes: string[] = []
  const storage: Storage = {
    ...memory,
    set: (key, ...rest) => {
      writes.push(`set ${key}`)
      return memory.set(key, ...rest)
    },
    delete: (key, ...rest) => {
      writes.push(`delete ${key}`)
      return memory.delete(key, ...rest)
    },
  }
  const management = openManagement({ storage, catalog, secret: 'a secret of at least 32 characters' })
  const countWrites = () => {
    const all = writes
    writes = []
    return all
  }
  const status = async (key: string) =>
    (await management.gateway.fetch(new Request('http://g/v1/models', { headers: { authorization: `Bearer ${key}` } })))
      .status
  return { ...management, api: management.gateway.api, storage, written: countWrites, status }
}

async function catchError(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'it was accepted',
    (error: Error) => error.message,
  )
}

/** Creates everything that an app can seed. */
const seed = async ({ api }: ReturnType<typeof open>) => {
  await api.connections.put({ id: 'main', provider: 'openai', apiKey: SECRET, priority: 1, prefix: 'work' })
  await api.connections.put({ id: 'second', provider: 'oa', isActive: false })
  await api.customModels.put({ providerAlias: 'groq', id: 'mine', type: 'image' })
  await api.aliases.set({ alias: 'quick', model: 'groq/llama' })
  await api.combos.put({
    name: 'fast',
    models: ['quick', { model: 'openai/gpt-5', when: { tools: true, stream: true } }],
  })
  await api.combos.put({ id: 'all', name: 'every', models: ['fast'], strategy: 'round-robin', stickyLimit: 2 })
  await api.keys.put({ name: 'app' })
  await api.keys.put({ id: 'ci', name: 'ci', key: VALUE })
  await api.settings.update({ requireApiKey: true, cloudUrl: 'https://cloud.example/v1' })
}

test('repeating the same puts writes nothing and resets nothing', async () => {
  const world = open()
  await seed(world)
  assert.ok(world.written().length > 8)
  const state = async () => {
    const { connections, combos, keys, aliases, customModels, settings } = world.api
    return Promise.all(
      [connections, combos, keys, aliases, customModels].map((item) => item.list()).concat(settings.get() as never),
    )
  }
  const before = await state()
  await world.clock.advance(60_000)
  await seed(world)
  assert.equal(world.written(), [])
  assert.equal(await state(), before)
})

test('two gateways that concurrently put the same key value store one key', async () => {
  const memory = memoryStorage()
  const doors = [openManagement({ storage: memory, catalog }), openManagement({ storage: memory, catalog })]
  for (const id of [undefined, 'app-id']) {
    const key = `${VALUE}${id ?? ''}`
    const input = { name: `app ${id}`, key, ...(id !== undefined && { id }) }
    const [first, second] = await Promise.all(doors.map(({ gateway }) => gateway.api.keys.put(input)))
    assert.equal(first, second)
    assert.is(first?.key.key, key)
  }
  assert.is((await memory.list('keys/')).length, 2)
})

test("rejects putting a key with another key's value", async () => {
  const { api } = open()
  await api.keys.put({ name: 'app', key: VALUE })
  assert.match(await catchError(api.keys.put({ name: 'other', key: VALUE })), 'must not be the value of another key')
})

test('two gateways that concurrently put the same records store each only once', async () => {
  const memory = memoryStorage()
  const options = { storage: memory, catalog, clock: platformClock } // a real clock, because the gateways wait for each other
  const doors = [openManagement(options), openManagement(options)]
  await Promise.all(
    doors.map(async ({ gateway: { api } }) => {
      await api.connections.put({ id: 'main', provider: 'openai' })
      await api.combos.put({ name: 'fast', models: ['openai/gpt-5'] })
      await api.keys.put({ name: 'app', key: VALUE })
      await api.keys.put({ name: 'made' })
    }),
  )
  for (const { gateway } of doors) {
    assert.is((await gateway.api.connections.list()).connections.length, 1)
    assert.is((await gateway.api.combos.list()).combos.length, 1)
    assert.is((await gateway.api.keys.list()).keys.length, 2)
  }
})

test('a connection keeps omitted fields, and null removes a field', async () => {
  const { api, written } = open()
  const created = await api.connections.put({ id: 'main', provider: 'openai', apiKey: SECRET, priority: 1 })
  assert.equal([created.id, created.name, created.apiKey], ['main', 'OpenAI', '…abcd'])
  await api.connections.update('main', { isActive: false, name: 'Paused by the operator' })
  written()
  const same = await api.connections.put({ id: 'main', provider: 'openai', apiKey: SECRET, priority: 1 })
  assert.equal([same.isActive, same.name], [false, 'Paused by the operator'])
  assert.equal(written(), [])
  const changed = await api.connections.put({
    id: 'main',
    provider: 'openai',
    apiKey: 'sk-other-0123456789-wxyz',
    priority: null,
  })
  assert.equal([changed.apiKey, changed.priority, changed.isActive], ['…wxyz', undefined, false])
  assert.equal(written(), ['set connections/main'])
  assert.is((await api.connections.list()).connections.length, 1)
})

for (const [input, error] of [
  [{ provider: 'openai' }, '"id" is required and must not be blank'],
  [{ id: 'a/b', provider: 'openai' }, '"id" must be 1 to 200 letters, digits, ".", "_", or "-"'],
  [{ id: '..', provider: 'openai' }, '"id" must not be "." or "..", which cannot be used in a URL'],
  [{ id: 'main' }, '"provider" is required and must not be blank'],
  [{ id: 'taken', provider: 'groq' }, '"provider" cannot be changed; create a new connection instead'],
  [{ id: 'a', provider: 'nothing-known' }, 'Unknown provider "nothing-known".'],
  [{ id: 'a', provider: 'groq', prefix: 'openai' }, '"providerSpecificData.prefix" must not be "openai"'],
] as const) {
  test(`rejects the connection ${JSON.stringify(input)}`, async () => {
    const { api, written } = open()
    await api.connections.put({ id: 'taken', provider: 'openai' })
    written()
    assert.match(await catchError(api.connections.put(input as never)), error)
    assert.equal(written(), [])
  })
}

test('finds a combo by its id, or by its name, and keeps omitted fields', async () => {
  const { api, written } = open()
  await api.connections.put({ id: 'main', provider: 'openai' })
  const created = await api.combos.put({ name: 'fast', models: ['openai/a'], strategy: 'round-robin', stickyLimit: 3 })
  assert.equal(await api.combos.get(created.id), created)
  const changed = await api.combos.put({ name: 'fast', models: ['openai/b'], stickyLimit: null })
  assert.equal([changed.id, changed.strategy, changed.stickyLimit], [created.id, 'round-robin', undefined])
  const renamed = await api.combos.put({ id: created.id, name: 'faster' })
  assert.equal([renamed.id, renamed.name, renamed.models], [created.id, 'faster', ['openai/b']])
  await api.combos.put({ id: 'own', name: 'fast', models: [] })
  assert.equal(
    (await api.combos.list()).combos.map(({ id }) => id),
    [created.id, 'own'],
  )
  written()
  assert.is(await catchError(api.combos.put({ id: 'third', name: 'fast', models: [] })), 'Combo name already exists')
  assert.is(
    await catchError(api.combos.put({ name: 'new' })),
    '"models" is required and must be an array of model names',
  )
  assert.match(await catchError(api.combos.put({ name: 'a b', models: [] })), 'Name can only contain')
  assert.match(await catchError(api.combos.put({ name: 'fast', models: ['fast'] })), 'must not lead back')
  assert.equal(written(), [])
})

test('putting an unchanged combo keeps its rotation, and a change restarts it', async () => {
  const requests: string[] = []
  const upstream = fakeUpstream(({ body }) => {
    requests.push(JSON.parse(body).model)
    return json(chatResponse())
  })
  const { gateway, expect } = openManagement({ catalog, fetch: upstream })
  await expect(201, 'POST', '/api/connections', { provider: 'openai', apiKey: SECRET })
  const put = (models: string[]) => gateway.api.combos.put({ name: 'turns', models, strategy: 'round-robin' })
  const send = async () => {
    const body = JSON.stringify({ model: 'turns', messages: [{ role: 'user', content: 'Hi' }] })
    const headers = { 'content-type': 'application/json' }
    await (await gateway.fetch(new Request('http://g/v1/chat/completions', { method: 'POST', headers, body }))).text()
  }
  const three = ['openai/a', 'openai/b', 'openai/c']
  await put(three)
  await send()
  await put(three)
  await send()
  await put([...three, 'openai/d'])
  await send()
  assert.equal(requests, ['a', 'b', 'a'])
})

test('creates a key once, and finds it by its id or its name', async () => {
  const { api, status, written } = open()
  await api.settings.update({ requireApiKey: true })
  const { key } = await api.keys.put({ name: 'app' })
  assert.match(key.key, /^sbx_/)
  assert.is(await status(key.key), 200)
  assert.equal(await api.keys.put({ name: 'app' }), { key })
  await api.keys.update(key.id, { isActive: false })
  assert.is((await api.keys.put({ name: 'app' })).key.isActive, false, 'a paused key stays paused')
  assert.is(await status(key.key), 403)
  await api.keys.put({ name: 'app', isActive: true })
  assert.is(await status(key.key), 200)
  const renamed = await api.keys.put({ id: key.id, name: 'service' })
  assert.equal([renamed.key.id, renamed.key.name, renamed.key.key], [key.id, 'service', key.key])
  written()
  const other = await api.keys.put({ id: 'own', name: 'app' })
  assert.is(other.key.id, 'own')
  assert.equal(
    (await api.keys.list()).keys.map(({ id }) => id),
    [key.id, 'own'],
  )
})

test('a key can have a given value, which stops working after it is replaced', async () => {
  const { api, status } = open()
  await api.settings.update({ requireApiKey: true })
  const { key } = await api.keys.put({ name: 'app', key: VALUE })
  assert.is(key.key, VALUE)
  assert.is(await status(VALUE), 200)
  const next = `${VALUE}-2`
  assert.is(await status(next), 401)
  assert.is((await api.keys.put({ name: 'app', key: next })).key.id, key.id)
  assert.equal([await status(VALUE), await status(next)], [401, 200])
  assert.is((await api.keys.get(key.id)).key.key, next)
  await api.keys.update(key.id, { isActive: false })
  assert.is(await status(next), 403)
  await api.keys.delete(key.id)
  assert.is(await status(next), 401)
  assert.equal(await api.keys.list(), { keys: [] })
})

test("a key's value must be well-formed and not belong to another key", async () => {
  const { api } = open()
  const { key } = await api.keys.put({ name: 'made' })
  const mistyped = `${key.key.slice(0, -1)}${key.key.endsWith('0') ? '1' : '0'}`
  for (const value of [
    '',
    'short',
    'x'.repeat(40),
    `sbx_${'x'.repeat(31)}`,
    `sbx_admin_${'x'.repeat(40)}`,
    `${VALUE} `,
    mistyped,
  ])
    assert.match(
      await catchError(api.keys.put({ name: 'app', key: value })),
      '"key" must be "sbx_" followed by 32 to 196 letters',
      value,
    )
  assert.is(await catchError(api.keys.put({ name: 'app', key: key.key })), '"key" must not be the value of another key')
  await api.keys.put({ name: 'app', key: VALUE })
  assert.is(await catchError(api.keys.put({ name: 'made', key: VALUE })), '"key" must not be the value of another key')
})

const unset: Record<string, string | undefined> = {} // like process.env; these lines must compile with exactOptionalPropertyTypes
const puts: Array<[member: string, put: (api: Management) => Promise<unknown>]> = [
  ['key', ({ keys }) => keys.put({ name: 'app', key: unset.APP_KEY })],
  ['id', ({ keys }) => keys.put({ name: 'app', id: unset.ID })],
  ['apiKey', ({ connections }) => connections.put({ id: 'main', provider: 'openai', apiKey: unset.OPENAI_API_KEY })],
  ['baseUrl', ({ connections }) => connections.put({ id: 'main', provider: 'openai', baseUrl: unset.BASE_URL })],
  [
    'providerSpecificData.baseUrl',
    ({ connections }) =>
      connections.put({ id: 'main', provider: 'openai', providerSpecificData: { baseUrl: unset.BASE_URL } as object }),
  ],
  ['id', ({ combos }) => combos.put({ id: unset.ID, name: 'fast', models: ['openai/gpt-5'] })],
  ['type', ({ customModels }) => customModels.put({ providerAlias: 'groq', id: 'm', type: undefined })],
]

for (const [member, put] of puts) {
  test(`rejects a put with an undefined ${member}, and writes nothing: ${put.toString().slice(0, 60)}`, async () => {
    const { api, written } = open()
    assert.is(
      await catchError(put(api)),
      `"${member}" must not be undefined. Check that the variable it comes from is set, or omit it to keep the stored value`,
    )
    assert.equal(written(), [])
  })
}

test('creates a custom model, and changes its type', async () => {
  const { api, written } = open()
  await api.customModels.put({ providerAlias: 'groq', id: 'm' })
  assert.equal(await api.customModels.put({ providerAlias: 'groq', id: 'm', type: 'tts' }), {
    id: 'm',
    providerAlias: 'groq',
    type: 'tts',
  })
  written()
  assert.is((await api.customModels.put({ providerAlias: 'groq', id: 'm' })).type, 'tts')
  assert.equal(written(), [])
})

test("a put without isActive doesn't confirm a record that was tampered with in the storage", async () => {
  const { api, storage, status } = open()
  await api.settings.update({ requireApiKey: true })
  const { key } = await api.keys.put({ name: 'app', key: VALUE, isActive: false })
  const [row] = await storage.list('keys/')
  const { order, record } = JSON.parse(row?.value ?? '')
  await storage.set(row?.key ?? '', JSON.stringify({ order, record: { ...record, isActive: true } }))
  assert.match(await catchError(api.keys.put({ name: 'app' })), 'was not written by a gateway with this secret')
  assert.match(await catchError(api.keys.put({ name: 'app', key: `${VALUE}-2` })), 'was not written by a gateway')
  assert.is((await api.keys.put({ name: 'app', isActive: false })).key.isActive, false)
  assert.is(await status(key.key), 403)

  const settings = JSON.parse((await storage.get('settings'))?.value ?? '')
  await storage.set('settings', JSON.stringify({ ...settings, requireApiKey: false }))
  assert.match(await catchError(api.settings.update({ cloudUrl: '' })), 'were not written by a gateway')
  assert.is((await api.settings.update({ requireApiKey: true })).requireApiKey, true)
  assert.is((await api.settings.get()).requireApiKey, true)
})

test('a connection can move to another host if its key is sent again', async () => {
  const { api } = open()
  const put = (baseUrl: string, apiKey?: string) =>
    api.connections.put({ id: 'main', provider: 'lab', baseUrl, ...(apiKey && { apiKey }) })
  await put('https://one.test/v1', SECRET)
  assert.match(await catchError(put('https://two.test/v1')), "changes where the connection's key is sent")
  const moved = await put('https://two.test/v1', SECRET)
  assert.equal(
    [moved.providerSpecificData?.baseUrl, moved.apiKey, moved.error],
    ['https://two.test/v1', '…abcd', undefined],
  )
})
