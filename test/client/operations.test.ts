import { acceptsQuery } from '../../src/admin/operation-table.ts'
import { type Client, ClientError, createClient, type IfMatchOperations } from '../../src/client/client.ts'
import { getRevision } from '../../src/lib/revision.ts'
import type { Management, operations } from '../../src/management/operations.ts'
import { listServedOperations } from '../../src/management/operations.ts'
import { openManagement, TOKEN } from '../management/open-management.ts'
import { damageStore, fillStore } from '../storage/support/damaged-store.ts'
import { assert, suite } from '../support/suite.ts'

type Call = (...args: unknown[]) => Promise<unknown>

/** Opens a client for an in-process gateway, and records its requests as `METHOD /path`. */
function open(options: Parameters<typeof openManagement>[0] = {}) {
  const { gateway } = openManagement(options)
  const sent: string[] = []
  const client = createClient({
    baseUrl: `http://gateway.test${options.basePath ?? ''}/`,
    token: TOKEN,
    fetch: (input, init) => {
      const { method, url } = new Request(input, init)
      sent.push(`${method} ${new URL(url).pathname}`)
      return gateway.fetch(input as string, init)
    },
  })
  return { api: gateway.api, client, sent }
}

const table = suite('client operations')

/** Lists the functions of a client or an API by path, such as `keys.list`. */
function listFunctions(tree: object, prefix = ''): Map<string, Call> {
  const found = new Map<string, Call>()
  for (const [name, value] of Object.entries(tree)) {
    if (typeof value === 'function') found.set(prefix + name, value)
    else for (const [path, call] of listFunctions(value, `${prefix}${name}.`)) found.set(path, call)
  }
  return found
}

table('a client has exactly the operations that a gateway serves', () => {
  const { client } = open()
  const served = listServedOperations().map(({ names }) => names.join('.'))
  const { live: _, ...operations } = client // not an operation, because its response doesn't end
  assert.equal([...listFunctions(operations).keys()].sort(), served.sort())
})

table("a client's operations use the gateway's methods and paths", async () => {
  const { client, requests } = recordingClient()
  const calls = listFunctions(client)
  for (const row of listServedOperations()) {
    const { names, method, path, action } = row
    const hasQuery = acceptsQuery(row)
    const operation = names.join('.')
    if (operation === 'cloud.disable') continue // it sends two requests (see cloud.test.ts)
    const ids = Array.from(path.matchAll(/:\w+/g), (_, index) => `id-${index}`)
    const acceptsInput = hasQuery || (method !== 'GET' && method !== 'DELETE')
    await calls.get(operation)?.(...ids, ...(acceptsInput ? [{ sent: true }] : []))
    const request = requests.pop()
    let i = 0
    const expected = path.replace(/:\w+[?+]?/g, () => ids[i++] ?? '')
    const query = !hasQuery ? '' : operation === 'keys.list' ? '?values=none&sent=true' : '?sent=true'
    assert.is(`${request?.method} ${request?.url}`, `${method} http://gateway.test${expected}${query}`, operation)
    const hasBody = method !== 'GET' && method !== 'DELETE'
    const body = action === undefined ? { sent: true } : { sent: true, action }
    assert.is(await request?.text(), hasBody ? JSON.stringify(body) : '', operation)
  }
})

table("a client's operations have the same types as gateway.api", () => {
  const { api, client } = open()
  const likeApi: Omit<Client, 'live' | 'keys'> & { keys: Omit<Client['keys'], 'list'> } = api // this only compiles if the arguments and results are the same
  const ofClient: { keys: Omit<Management['keys'], 'list'> } & Pick<
    Management,
    | ('groups' | 'guards' | 'accounts' | 'tokens')
    | ('combos' | 'connections' | 'customModels' | 'settings')
    | ('aliases' | 'providers' | 'health' | 'damagedRecords')
    | ('usage' | 'explain' | 'cloud')
  > = client
  assert.type(likeApi.keys.get, 'function')
  assert.type(ofClient.cloud.sessions.revoke, 'function')
})

const gateways = suite('a client with a gateway')

for (const basePath of ['', '/tools/ai']) {
  gateways(
    `every operation returns the same result as in process${basePath && `, with the base path ${basePath}`}`,
    async () => {
      const { storage } = await fillStore()
      const hurt = await damageStore(storage, 'aliases/', () => 'damaged')
      const other = await damageStore(storage, 'combos/', () => 'damaged too')
      const { api, client, sent } = open({
        storage,
        basePath,
        fetch: () => Promise.reject(new TypeError('fetch failed')),
      })
      const assertSame = async (item: Promise<unknown>, inProcess: Promise<unknown>) => {
        const [overHttp, expected] = await Promise.all([item, inProcess])
        assert.equal(overHttp, JSON.parse(JSON.stringify(expected)))
      }

      await assertSame(client.health.list(), api.health.list())
      const user = await client.accounts.put({ id: 'a/b ü', name: 'Alice', metadata: { tier: 'x' } })
      await assertSame(client.accounts.list({ state: 'active' }), api.accounts.list({ state: 'active' }))
      assert.is((await client.accounts.update(user.id, { name: null })).name, undefined)
      for (const change of ['pause', 'resume', 'revoke'] as const) await client.accounts[change](user.id)
      await assertSame(client.accounts.get(user.id), api.accounts.get(user.id))
      assert.match((await client.tokens.mint({ account: user.id, expiresIn: '15m' })).token, /^sbt_/)
      await assertSame(client.accounts.limits.get(user.id), api.accounts.limits.get(user.id))
      await assertSame(client.accounts.limits.reset(user.id), Promise.resolve({ success: true }))
      await assertSame(client.accounts.limits.settle(user.id, { as: 'unspent' }), Promise.resolve({ success: true }))
      await assertSame(client.accounts.delete(user.id, { usage: 'erase' }), Promise.resolve({ success: true }))
      await assertSame(client.damagedRecords.get(hurt), api.damagedRecords.get(hurt))
      const record = { alias: 'hurt-alias', model: 'one/mended' }
      assert.equal(await client.damagedRecords.put(hurt, { record }), { success: true })
      assert.equal(await client.damagedRecords.delete(other), { success: true })
      assert.is((await api.aliases.list()).aliases['hurt-alias'], 'one/mended')

      const { id, key } = await client.keys.create({ name: 'mine' })
      assert.match(key, /^sbx_/)
      await assertSame(client.keys.get(id), api.keys.get(id))
      assert.is((await client.keys.update(id, { isActive: false })).key.isActive, false)
      await assertSame(client.keys.list(), api.keys.list({ values: 'none' }))
      await assertSame(client.keys.list({ values: 'all' }), api.keys.list())
      await assertSame(
        client.keys.list({ values: undefined } as object), // JavaScript callers may pass an option whose value is undefined
        api.keys.list({ values: 'none' }),
      )
      assert.not.equal((await client.keys.rotate(id)).key, key)
      await assertSame(client.keys.limits.get(id), api.keys.limits.get(id))
      assert.equal(await client.keys.limits.reset(id), { success: true })
      assert.equal(await client.keys.limits.settle(id), { success: true })
      assert.equal(await client.keys.delete(id), { success: true })

      const group = await client.groups.create({ name: 'team' })
      await assertSame(client.groups.get(group.id), api.groups.get(group.id))
      assert.is((await client.groups.update(group.id, { isActive: false })).isActive, false)
      await assertSame(client.groups.list(), api.groups.list())
      await assertSame(client.groups.limits.get(group.id), api.groups.limits.get(group.id))
      assert.equal(await client.groups.limits.reset(group.id), { success: true })
      assert.equal(await client.groups.limits.settle(group.id, { as: 'unspent' }), { success: true })
      assert.equal(await client.groups.delete(group.id), { success: true })
      assert.is((await client.groups.put({ id: 'team', name: 'team' })).id, 'team')

      assert.is((await client.guards.create({ name: 'word', kind: 'words', words: ['a'] })).kind, 'words')
      await assertSame(client.guards.list(), api.guards.list())
      await assertSame(client.guards.get('word'), api.guards.get('word'))
      assert.is((await client.guards.update('word', { mode: 'watch' })).mode, 'watch')
      assert.is((await client.guards.put({ name: 'word', kind: 'words', action: 'mask' })).action, 'mask')
      assert.equal((await client.guards.test({ text: 'A', guards: ['word'] })).text, 'A')
      assert.equal(await client.guards.delete('word'), { success: true })

      const settings = await client.settings.update({ requireApiKey: true, cloudUrl: 'https://cloud.test/v1/' })
      assert.is(settings.cloudUrl, 'https://cloud.test')
      await assertSame(client.settings.get(), api.settings.get())
      await assertSame(client.settings.limits.get(), api.settings.limits.get())
      assert.equal(await client.settings.limits.reset(), { success: true })
      assert.equal(await client.settings.limits.settle(), { success: true })

      const connection = await client.connections.create({ provider: 'openai', apiKey: 'sk-0123456789abcdef' })
      assert.is(connection.apiKey, '…cdef')
      await assertSame(client.connections.get(connection.id), api.connections.get(connection.id))
      assert.is((await client.connections.update(connection.id, { priority: 2 })).priority, 2)
      await assertSame(client.connections.list(), api.connections.list())
      await assertSame(client.connections.discover(connection.id), api.connections.discover(connection.id))
      await assertSame(client.connections.test(connection.id), api.connections.test(connection.id))
      assert.equal(await client.health.reset(connection.id), { success: true })
      assert.equal(await client.health.reset(), { success: true })
      assert.equal(await client.connections.delete(connection.id), { success: true })

      const combo = await client.combos.create({ name: 'fast', models: ['one/a'] })
      await assertSame(client.combos.get(combo.id), api.combos.get(combo.id))
      assert.is((await client.combos.update(combo.id, { strategy: 'round-robin' })).strategy, 'round-robin')
      await assertSame(client.combos.list(), api.combos.list())
      assert.equal(await client.combos.delete(combo.id), { success: true })

      await client.customModels.create({ providerAlias: 'one', id: 'vendor/large?v=1' })
      await assertSame(client.models.published(), api.models.published())
      await assertSame(client.customModels.list(), api.customModels.list())
      assert.equal(await client.customModels.delete('one', 'vendor/large?v=1'), { success: true })

      const value = `sbx_${'own-value-of-the-host_'.repeat(2)}`
      assert.is((await client.keys.put({ id: 'app', name: 'app', key: value })).key.key, value)
      assert.is((await client.keys.put({ id: 'app', name: 'app', isActive: false })).key.isActive, false)
      await assertSame(client.keys.get('app'), api.keys.get('app'))
      assert.is((await client.connections.put({ id: 'main', provider: 'openai', prefix: 'work' })).id, 'main')
      await assertSame(client.connections.get('main'), api.connections.get('main'))
      const put = await client.combos.put({ name: 'seeded', models: ['one/a'] })
      assert.is((await client.combos.put({ name: 'seeded', strategy: 'random' })).id, put.id)
      await assertSame(client.combos.get(put.id), api.combos.get(put.id))
      assert.is((await client.customModels.put({ providerAlias: 'one', id: 'a', type: 'tts' })).type, 'tts')

      assert.is((await client.aliases.set({ alias: 'quick', model: 'one/a' })).alias, 'quick')
      await assertSame(client.aliases.list(), api.aliases.list())
      assert.equal(await client.aliases.delete('quick'), { success: true })

      assert.is((await client.providers.update('one', { strategy: 'random' })).strategy, 'random')
      await assertSame(client.providers.get('one'), api.providers.get('one'))
      await assertSame(client.providers.list(), api.providers.list())
      await assertSame(client.explain({ model: 'one/a' }), api.explain({ model: 'one/a' }))
      await assertSame(client.openapi(), api.openapi())
      await assertSame(client.overview(), api.overview())
      await assertSame(client.catalog.review(), api.catalog.review())
      await assertSame(client.info(), api.info())
      const query = { from: '2026-01-01', to: '2026-01-02', by: ['key', 'day'] } as const
      await assertSame(client.usage.summary(query), api.usage.summary(query))
      await assertSame(client.usage.requests({ limit: 5 }), api.usage.requests({ limit: 5 }))
      await assertSame(client.usage.keys({ ids: ['app', 'x'] }), api.usage.keys({ ids: ['app', 'x'] }))
      const findMissing = (call: Promise<unknown>) => call.catch(({ status, message }) => `${status} ${message}`)
      await assertSame(findMissing(client.usage.request('x')), findMissing(api.usage.request('x')))

      await assertSame(client.cloud.get(), api.cloud.get())
      await api.settings.update({ cloudUrl: '' }) // without a proxy, these calls are rejected
      const getError = (call: Promise<unknown>) =>
        call.then(
          () => 'done',
          ({ status, message }) => ({ status, message }),
        )
      const openCatalog = ({ catalog }: Pick<Client, 'catalog'>) =>
        [catalog.refresh(), catalog.accept({}), catalog.rollback()].map(getError)
      await assertSame(Promise.all(openCatalog(client)), Promise.all(openCatalog(api)))
      const openCloud = ({ cloud: { enable, sync, disable, check, sessions } }: Pick<Client, 'cloud'>) =>
        [enable(), sync(), disable(), check(), sessions.list(), sessions.revoke('x')].map(getError)
      const rejected = await Promise.all(openCloud(client))
      assert.equal(rejected, await Promise.all(openCloud(api)))
      assert.not.ok(rejected.includes('done'))

      for (const { method, path } of listServedOperations()) {
        const pattern = path
          .replace(/\/:\w+\?$/, '(?:/[^/]+)?')
          .replace(/:\w+\+/g, '.+')
          .replace(/:\w+/g, '[^/]+')
        const matches = sent.filter((line) => new RegExp(`^${method} ${basePath}${pattern}$`).test(line))
        assert.ok(matches.length > 0, `${method} ${path} was not called. Add a call of the client above.`)
      }
    },
  )
}

/** Characters that a URL would drop or misinterpret. */
const ids = [
  'a b',
  'a/b',
  'a//b',
  '/a',
  'a/',
  'a/../b',
  './a',
  'a?b#c',
  'a%2Fb',
  '%2e',
  'ü✓',
  '+',
  'a:b@c',
  'a\\b',
  '…',
]

gateways('an ID in a client call can contain any character', async () => {
  const { client } = open()
  for (const id of ids) {
    const providerAlias = id.replaceAll('/', '|')
    await client.customModels.create({ providerAlias, id })
    await client.aliases.set({ alias: id, model: 'one/a' })
    assert.equal((await client.customModels.list()).models, [{ id, providerAlias }])
    await client.customModels.delete(providerAlias, id)
    await client.aliases.delete(id)
    assert.equal([(await client.customModels.list()).models, (await client.aliases.list()).aliases], [[], {}], id)
  }
})

gateways("a client's functions work when destructured, and send the token without following redirects", async () => {
  const requests: Request[] = []
  const { keys } = createClient({
    baseUrl: 'https://app.example/ai',
    token: TOKEN,
    fetch: async (input, init) => {
      requests.push(new Request(input, init))
      return Response.json({ keys: [] })
    },
  })
  const { list, create } = keys
  await list()
  await create({ name: 'x' })
  const [first, second] = requests
  assert.equal(Object.fromEntries(first?.headers ?? []), {
    accept: 'application/json',
    authorization: `Bearer ${TOKEN}`,
  })
  assert.is(second?.headers.get('content-type'), 'application/json')
  assert.equal([first?.url, first?.redirect], ['https://app.example/ai/api/keys?values=none', 'manual'])
  assert.equal(await second?.json(), { name: 'x' })
})

gateways('a client without a token sends no authorization header', async () => {
  let headers = new Headers()
  const client = createClient({
    baseUrl: 'http://gateway.test',
    fetch: async (_, init) => {
      headers = new Headers(init?.headers)
      return Response.json({ keys: [] })
    },
  })
  await client.keys.list()
  assert.not.ok(headers.has('authorization'))
})

gateways("a client uses the platform's fetch by default", async () => {
  const own = globalThis.fetch
  const client = createClient({ baseUrl: 'http://gateway.test' }) // before `fetch` is replaced below
  globalThis.fetch = async () => Response.json({ keys: [] })
  try {
    assert.equal(await client.keys.list(), { keys: [] })
  } finally {
    globalThis.fetch = own
  }
})

const guarded = suite("conditional changes by a record's revision")

type Table = typeof operations
/** The names of operations with `ifMatch`, by resource. */
type InTable = {
  [Resource in keyof Table as NamesIn<Table[Resource]> extends never ? never : Resource]: NamesIn<Table[Resource]>
}
type NamesIn<Rows> = { [Name in keyof Rows]: Rows[Name] extends { ifMatch: true } ? Name : never }[keyof Rows]

guarded("the client's types list exactly the operations in the table that accept ifMatch", () => {
  const getNames = <T extends IfMatchOperations>(table?: T) => table
  const table: InTable | undefined = getNames<InTable>() // this only compiles if both list the same operations
  const listed: IfMatchOperations | undefined = table
  const back: InTable | undefined = listed
  assert.is(back, undefined)
})

guarded('only operations that change a single record send its revision', async () => {
  const { client, requests } = recordingClient()
  const calls = listFunctions(client)
  const record = { id: 'x', name: 'as it was', hint: 'not part of it' }
  for (const { names, method, path, ifMatch } of listServedOperations()) {
    if (method === 'GET' || path === '/api/sync/cloud') continue
    const ids = Array.from(path.matchAll(/:\w+/g), (_, index) => `id-${index}`)
    const input = method === 'DELETE' ? [] : [{ sent: true }]
    await calls.get(names.join('.'))?.(...ids, ...input, ...(ifMatch ? [{ ifMatch: record }] : []))
    const request = requests.pop()
    assert.is(request?.headers.get('if-match') ?? undefined, ifMatch && getRevision(record), names.join('.'))
    assert.is(await request?.text(), method === 'DELETE' ? '' : '{"sent":true}', names.join('.'))
  }
})

guarded('a conflict error contains the current record', async () => {
  const { api, client } = open()
  await api.settings.update({ maxAttempts: 3 })
  const key = await api.keys.create({ name: 'a' })
  const { keys } = await client.keys.list({ values: 'none' })
  const [listed = {}] = keys
  const settings = await client.settings.get()
  const changes: Array<[change: () => Promise<unknown>, member: string, current: unknown]> = [
    [() => client.keys.update(key.id, { name: 'b' }, { ifMatch: listed }), 'name', 'theirs'],
    [() => client.keys.delete(key.id, { ifMatch: listed }), 'name', 'theirs'],
    [() => client.settings.update({ maxAttempts: 4 }, { ifMatch: settings }), 'maxAttempts', 9],
    [() => client.settings.update({ cloudUrl: 'https://x.test/v1' }, { ifMatch: settings }), 'maxAttempts', 9],
    [() => client.settings.update({ cloudUrl: '/', maxAttempts: 4 }, { ifMatch: settings }), 'maxAttempts', 9],
    [() => setAlias({ alias: 'quick', model: 'one/a' }), 'model', 'one/theirs'],
    [() => client.aliases.delete('quick', { ifMatch: { alias: 'quick', model: 'one/a' } }), 'model', 'one/theirs'],
  ]
  const setAlias = (ifMatch: object) => client.aliases.set({ alias: 'quick', model: 'one/mine' }, { ifMatch })
  await api.keys.update(key.id, { name: 'theirs' })
  await api.settings.update({ maxAttempts: 9 })
  await api.aliases.set({ alias: 'quick', model: 'one/theirs' })
  for (const [change, member, current] of changes) {
    const error: unknown = await change().catch((error: unknown) => error)
    assert.ok(error instanceof ClientError)
    assert.is(error.status, 409)
    assert.match(error.message, 'changed in the meantime')
    assert.is(Reflect.get(error.current ?? {}, member), current)
    assert.not.match(JSON.stringify(error.current), key.key)
  }
  await setAlias({ alias: 'quick', model: 'one/theirs' })
  assert.is((await api.aliases.list()).aliases.quick, 'one/mine')
  await api.keys.delete(key.id)
  const gone: unknown = await client.keys.update(key.id, { name: 'b' }, { ifMatch: listed }).catch((error) => error)
  assert.ok(gone instanceof ClientError)
  assert.not.ok('current' in gone)
})

/** Creates a client whose gateway always returns an empty object, and records its requests. */
function recordingClient() {
  const requests: Request[] = []
  const client = createClient({
    baseUrl: 'http://gateway.test',
    fetch: async (input, init) => {
      requests.push(new Request(input, init))
      return Response.json({})
    },
  })
  return { client, requests }
}
