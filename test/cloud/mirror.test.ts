import { memoryStorage } from '../../adapters/storage/memory.ts'
import { paths, type SyncResponse } from '../../src/features/cloud-sync/protocol.ts'
import { assert, suite } from '../support/suite.ts'
import { createHome } from './support/gateway.ts'
import { openProxy } from './support/proxy.ts'
import { connectionState, keyState, settingsState } from './support/states.ts'

const test = suite('a replica at a cloud proxy')

async function openWorld(options: Parameters<typeof openProxy>[0] = {}) {
  const world = openProxy(options)
  const client = await world.enrolled()
  const send = (content: object) => client.call('POST', paths.replica, content)
  return { ...world, client, home: createHome(client), send }
}

const EMPTY = { mirror: null, stamp: null, changes: [], seen: [] }

test('a replica is only created by a request with "create", and only without a mirror ID', async () => {
  const { send, home, proxy } = await openWorld()
  const rejected = await send(EMPTY)
  assert.equal([rejected.status, rejected.body.code], [409, 'MIRROR_GONE'])
  const unknown = await send({ ...EMPTY, mirror: 'other', create: true, changes: [settingsState(true)] })
  assert.equal([unknown.status, unknown.body.code], [409, 'MIRROR_GONE'])
  assert.equal(await proxy.tenants.list(), { tenants: [] })
  const { verdicts } = await home.enable([settingsState(true)])
  assert.equal(verdicts, ['taken'])
})

test('a gateway that sends the ID of another replica gets an error', async () => {
  const { send, home } = await openWorld()
  await home.enable([])
  for (const mirror of [null, 'other', '']) {
    const { status, body } = await send({ ...home.memory, changes: [], seen: [], mirror })
    assert.equal([status, body.code], [409, 'MIRROR_GONE'])
  }
})

test('a replica accepts only the last two stamps', async () => {
  const { send, home, restart } = await openWorld()
  await home.enable([])
  const first = home.memory
  const lost = await send({ ...first, changes: [settingsState(true)], seen: [] })
  restart()
  const repeated = await send({ ...first, changes: [settingsState(true)], seen: [] })
  assert.equal([lost.body.verdicts, repeated.body.verdicts], [['taken'], ['known']])
  const second = { ...first, stamp: String(repeated.body.stamp) }
  const moved = (await send({ ...second, changes: [settingsState(false, 2)], seen: [] }))
    .body as unknown as SyncResponse
  for (const stamp of [first.stamp, String(lost.body.stamp), null, 'other']) {
    const { status, body } = await send({ ...first, stamp, changes: [settingsState(true, 3)], seen: [] })
    assert.equal([status, body.code], [409, 'HISTORY_DIVERGED'], String(stamp))
  }
  const { status } = await send({ ...first, stamp: moved.stamp, changes: [], seen: [] })
  assert.is(status, 200)
  assert.is((await send({ ...first, full: true, changes: [], seen: [] })).status, 200)
})

test('a replica accepts the previous stamp only from a gateway that lists the request made since then', async () => {
  const { send, home } = await openWorld()
  await home.enable([])
  const before = home.memory
  const change = { ...before, attempts: ['one'], changes: [settingsState(true)], seen: [] }
  const { body } = await send(change)
  for (const attempts of [[], ['other']]) {
    const rejected = await send({ ...before, attempts, changes: [settingsState(false, 3)], seen: [] })
    assert.equal([rejected.status, rejected.body.code], [409, 'HISTORY_DIVERGED'])
  }
  const again = await send(change)
  assert.equal([again.body.stamp, again.body.verdicts], [body.stamp, ['known']])
  const next = await send({ ...before, attempts: ['one', 'two'], changes: [settingsState(false, 3)], seen: [] })
  assert.equal([next.status, next.body.verdicts], [200, ['taken']])
  const many = Array.from({ length: 17 }, (_, index) => `${index}`)
  assert.is((await send({ ...before, attempts: many, changes: [], seen: [] })).body.code, 'INVALID_MESSAGE')
})

test('a replica keeps its stamp while nothing changes', async () => {
  const { home } = await openWorld()
  await home.enable([settingsState(true)])
  const { stamp } = home.memory
  await home.sync([])
  await home.sync([])
  assert.is(home.memory.stamp, stamp)
})

test('a replica accepts all changes in a message after its gateway opens several sessions concurrently', async () => {
  const { home, client, send } = await openWorld()
  await home.enable([])
  const other = createHome(client)
  const states = await Promise.all(Array.from({ length: 6 }, (_, index) => keyState(`key ${index}`)))
  const responses = await Promise.all(
    states.map(async ({ state }) => {
      await other.open()
      return state
    }),
  )
  const { body } = await send({ ...home.memory, changes: responses, seen: [] })
  assert.equal(
    body.verdicts,
    responses.map(() => 'taken'),
  )
})

test('a replica stores new keys and connections concurrently', async () => {
  const near = memoryStorage()
  let inFlight = 0
  let most = 0
  const createFar =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      most = Math.max(most, ++inFlight)
      await new Promise((resolve) => setTimeout(resolve))
      return call(...args).finally(() => {
        inFlight--
      })
    }
  const { watch, increment, ...rest } = near
  const { home, storage } = await openWorld({
    storage: {
      ...rest,
      get: createFar(near.get),
      set: createFar(near.set),
      delete: createFar(near.delete),
      list: createFar(near.list),
    },
  })
  const keys = await Promise.all(Array.from({ length: 40 }, (_, index) => keyState(`key ${index}`)))
  const [first] = keys
  if (!first) return
  const again = await keyState('key 0', { value: first.value, edits: 2, isActive: false })
  const twin = await keyState('twin', { value: first.value })
  const connections = Array.from({ length: 40 }, (_, index) => connectionState(`connection ${index}`, `sk-${index}`))
  const changes = [...keys.map(({ state }) => state), again.state, twin.state, ...connections]
  const { verdicts } = await home.enable(changes)
  assert.equal(
    verdicts,
    changes.map(() => 'taken'),
  )
  assert.ok(most >= 16, `${most} concurrent calls`)
  assert.is((await storage.list('directory/')).length, 40)
})

test('a proxy rejects invalid messages with a specific error, and changes nothing', async () => {
  const { send, home, storage, client } = await openWorld()
  await home.enable([])
  const { state } = await keyState('one')
  const full = { ...home.memory, changes: [state], seen: [] }
  const data = async () => JSON.stringify(await storage.list('tenants/'))
  const before = await data()
  let deep: unknown = 'deep'
  for (let depth = 0; depth < 80; depth++) deep = [deep]
  for (const [message, expected] of [
    [{}, /a field is missing or unknown|"\w+" is invalid/],
    [{ ...full, more: 1 }, /"more" is invalid/],
    [{ ...full, changes: {} }, /"changes" is invalid/],
    [{ ...full, changes: [{ ...state, collection: 'vault' }] }, /"changes\.0\.collection"/],
    [{ ...full, changes: [{ ...state, revision: [1] }] }, /"changes\.0\.revision/],
    [{ ...full, changes: [{ ...state, revision: [-1, 0] }] }, /"changes\.0\.revision\.0"/],
    [{ ...full, changes: [{ ...state, revision: [0.5, 0] }] }, /"changes\.0\.revision\.0"/],
    [{ ...full, changes: [{ ...state, id: '' }] }, /"changes\.0\.id"/],
    [{ ...full, changes: [{ ...state, record: 5 }] }, /"changes\.0\.record"/],
    [{ ...full, changes: Array.from({ length: 201 }, () => state) }, /"changes" is invalid/],
    [{ ...full, create: false }, /"create" is invalid/],
    [{ ...full, stamp: 'x'.repeat(200) }, /"stamp" is invalid/],
    [{ ...full, changes: [{ ...state, record: { deep } }] }, /nested deeper/],
  ] as const) {
    const { status, body } = await send(message)
    assert.equal([status, body.code], [400, 'INVALID_MESSAGE'], JSON.stringify(message).slice(0, 200))
    assert.match(String(body.error), expected)
  }
  const plain = await client.signed('POST', paths.replica, full)
  assert.is((await client.send({ ...plain, body: 'x'.repeat(9 * 1024 * 1024) })).status, 413)
  assert.is(await data(), before)
})

test('a proxy waits half a minute for a message body, but rejects an unknown session without waiting', async () => {
  const { home, client, clock, server } = await openWorld()
  await home.enable([])
  const { path, headers } = await client.signed('POST', paths.replica, {})
  const silent = (input: Record<string, string>) => {
    const init = { method: 'POST', headers: input, body: new ReadableStream(), duplex: 'half' } as RequestInit // the type in undici's declarations
    return server.fetch(new Request(`http://proxy.test${path}`, init))
  }
  assert.is(
    (await silent({ ...headers, 'x-signalbox-cloud-session': `${'0'.repeat(64)}-${'0'.repeat(32)}` })).status,
    401,
  )
  const waiting = silent(headers)
  await clock.untilPending()
  await clock.advance(30_000)
  assert.is((await waiting).status, 408)
})

test("a proxy rejects records that fail the management API's schemas, and accepts the rest", async () => {
  const { home, storage } = await openWorld()
  const { state } = await keyState('one')
  const { verdicts } = await home.enable([
    { ...state, id: 'bad', record: { ...state.record, id: 'bad', digest: 'x' } },
    { ...state, id: 'more', record: { ...state.record, id: 'more', isAdmin: true } },
    state,
  ])
  const codes = verdicts.map((verdict) => (typeof verdict === 'object' ? verdict.code : verdict))
  assert.equal(codes, ['INVALID', 'INVALID', 'taken'])
  assert.is((await storage.list('directory/')).length, 1)
})

test('a proxy without a secret rejects credentials and explains why', async () => {
  const world = openProxy({ logger: false })
  const { ownSecret: _, ...storage } = world.storage
  const { home } = await openWorld({ storage, secret: undefined, logger: false } as object)
  const canary = 'sk-provider-key-of-the-connection'
  const { state } = await keyState('one')
  const at = '2026-01-01T00:00:00.000Z'
  const service = { name: 'g', kind: 'http', url: 'https://guard.test', createdAt: at, updatedAt: at }
  const guard = { collection: 'guards' as const, id: 'g', revision: [1, 0] as const }
  const { verdicts } = await home.enable([
    connectionState('c', canary),
    { ...guard, record: { ...service, headers: { authorization: canary } } },
    state,
  ])
  const [first, second, third] = verdicts
  for (const verdict of [first, second]) {
    assert.is(typeof verdict === 'object' && verdict.code, 'NO_SECRET')
    assert.match(typeof verdict === 'object' ? verdict.refused : '', /secret/)
  }
  assert.is(third, 'taken')
  assert.ok(!JSON.stringify(await storage.list('')).includes(canary))
})
