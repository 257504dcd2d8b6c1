import { memoryStorage } from '../../adapters/storage/memory.ts'
import { getRevision } from '../../src/lib/revision.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement, TOKEN } from './open-management.ts'

const test = suite('conditional changes with If-Match')

/** Opens a gateway with one record of each kind. */
async function open(options: Parameters<typeof openManagement>[0] = {}) {
  const management = openManagement(options)
  const { api } = management.gateway
  const send = (method: string, path: string, tag: string | undefined, body?: object) =>
    management.send(method, path, {
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(tag !== undefined && { 'if-match': tag }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
  return { ...management, api, send }
}

test('a change to a single record only takes effect if the given revision is current', async () => {
  const { api, send } = await open()
  const key = await api.keys.create({ name: 'a' })
  const group = await api.groups.create({ name: 'a' })
  const combo = await api.combos.create({ name: 'a', models: ['openai/gpt-5-mini'] })
  const connection = await api.connections.create({ provider: 'openai', apiKey: 'sk-0123456789abcdef' })
  for (const [path, first, second] of [
    [`/api/keys/${key.id}`, { name: 'b' }, { name: 'c' }],
    [`/api/groups/${group.id}`, { name: 'b' }, { name: 'c' }],
    [`/api/combos/${combo.id}`, { name: 'b' }, { name: 'c' }],
    [`/api/connections/${connection.id}`, { name: 'b' }, { name: 'c' }],
    ['/api/providers/openai', { strategy: 'random' }, { strategy: 'least-busy' }],
    ['/api/settings', { maxAttempts: 2 }, { maxAttempts: 4 }],
  ] as const) {
    const tag = (await send('GET', path, undefined)).headers.get('etag') ?? ''
    assert.match(tag, /^"[\w-]+"$/, path)
    assert.is((await send('PATCH', path, tag, first)).status, 200, path)
    const rejected = await send('PATCH', path, tag, second)
    assert.is(rejected.status, 409, path)
    assert.match(rejected.body.error, 'changed in the meantime')
    const current = Reflect.get(rejected.body, 'current') as object
    const [[name, value] = ['', '']] = Object.entries(first)
    assert.equal(Reflect.get(current, name), value, path)
    assert.not.match(JSON.stringify(rejected.body), key.key)
    assert.is(
      (await send('PATCH', path, getRevision(current), second)).status,
      200,
      `${path}, based on the current revision`,
    )
    assert.is((await send('PATCH', path, undefined, first)).status, 200, `${path}, without a revision`)
    if (path.includes('-')) assert.is((await send('DELETE', path, tag)).status, 409, path)
  }
})

test('checks the revision of aliases and custom models against their list entry', async () => {
  const { api, send } = await open()
  await api.aliases.set({ alias: 'quick', model: 'openai/a' })
  const tag = getRevision({ alias: 'quick', model: 'openai/a' })
  assert.is((await send('PUT', '/api/models/aliases', tag, { alias: 'quick', model: 'openai/b' })).status, 200)
  assert.is((await send('PUT', '/api/models/aliases', tag, { alias: 'quick', model: 'openai/c' })).status, 409)
  assert.is((await send('DELETE', '/api/models/aliases/quick', tag)).status, 409)
  assert.equal((await api.aliases.list()).aliases, { quick: 'openai/b' })
  const model = await api.customModels.create({ providerAlias: 'openai', id: 'x/y' })
  await api.customModels.put({ providerAlias: 'openai', id: 'x/y', prices: { input: 1 } })
  assert.is((await send('DELETE', '/api/models/custom/openai/x/y', getRevision(model))).status, 409)
  const [now = {}] = (await api.customModels.list()).models
  assert.is((await send('DELETE', '/api/models/custom/openai/x/y', getRevision(now))).status, 200)
  const gone = await send('PUT', '/api/models/custom', getRevision(now), { providerAlias: 'openai', id: 'x/y' })
  assert.is(gone.status, 409)
  assert.match(gone.body.error, 'deleted')
})

test('only one of several changes to the same revision succeeds, even across two gateways', async () => {
  const storage = memoryStorage()
  const clock = { now: () => Date.now(), sleep: (ms: number) => new Promise<void>((done) => setTimeout(done, ms)) } // a real clock, because the gateways wait for each other
  const [first, second] = [await open({ storage, clock }), await open({ storage, clock })]
  const { id } = await first.api.groups.create({ name: 'a' })
  await second.api.groups.get(id)
  const tag = (await first.send('GET', `/api/groups/${id}`, undefined)).headers.get('etag') ?? ''
  const sent = await Promise.all(
    [1, 2, 3, 4].map((index) =>
      (index % 2 ? first : second).send('PUT', `/api/groups/${id}`, tag, { metadata: { by: String(index) } }),
    ),
  )
  assert.equal(sent.map(({ status }) => status).sort(), [200, 409, 409, 409])
})

test("list entries have their record's revision, and creating a record rejects If-Match", async () => {
  const { api, send } = await open()
  const { id } = await api.keys.create({ name: 'a' })
  const { keys } = await api.keys.list({ values: 'none' })
  assert.is(getRevision(keys[0] ?? {}), (await send('GET', `/api/keys/${id}`, undefined)).headers.get('etag'))
  assert.is((await send('POST', '/api/keys', '"x"', { name: 'b' })).status, 400)
  assert.is((await send('PUT', '/api/keys', '"x"', { name: 'b' })).status, 400)
})
