import { existsSync } from 'node:fs'
import { redisStorage } from '../../adapters/storage/redis.ts'
import { storageConformance } from '../conformance/storage.ts'
import { getDelays, PROCESSES, type Program } from '../keys/support/pausing.ts'
import { type Child, childProgram } from '../storage/support/children.ts'
import { roundsUntil } from '../support/cpu-time.ts'
import { assert, skip, suite } from '../support/suite.ts'
import { type OpenClient, openClient, PACKAGES } from './redis-clients.ts'
import { redisConformance } from './redis-conformance.ts'
import { EMPTY } from './redis-scripts.ts'
import { findRedis, startCluster } from './redis-server.ts'

if (!existsSync(new URL('node_modules/redis', import.meta.url))) skip('services: the clients are not installed')

const server = await findRedis()
const cluster = server.isOwn ? await startCluster() : undefined

function conformance(name: string, open: () => Promise<OpenClient>) {
  storageConformance(`redis, with a ${name} client,`, redisConformance(open))
}

for (const name of PACKAGES) conformance(name, () => openClient(name, server.url))
conformance('ioredis with a prefix', () => openClient('ioredis', server.url, { keyPrefix: 'mine:' }))
if (cluster)
  for (const name of PACKAGES)
    conformance(`${name} for a cluster`, () => openClient(name, cluster.url, { isCluster: true }))

const test = suite<{ program?: Program }>('redis storage', {})

test.before(async (context) => {
  context.program = await childProgram(new URL('../keys/support/client-process.ts', import.meta.url))
})
test.after(async ({ program }) => {
  await program?.remove()
  await cluster?.remove()
  await server.remove()
})

/** Opens and empties the store with the default prefix, which the child programs also use. */
async function shared() {
  const { client, command, end } = await openClient('ioredis', server.url)
  await command('EVAL', EMPTY, '1', '{signalbox}:', '{signalbox}:')
  return { storage: redisStorage(client), end }
}

test('Redis storage loses none of 4 x 200 read-modify-writes by four processes', async ({ program }) => {
  const { storage, end } = await shared()
  const children = Array.from(
    { length: PROCESSES },
    () => program?.start(server.url, 'a secret of 32 characters or more') as Child,
  ) // set by `before`
  await Promise.all(children.map((child) => child.output('ready')))
  for (const child of children) child.go('add')
  await Promise.all(children.map((child) => child.output('added')))
  for (const child of children) child.go('end')
  assert.is((await storage.get('sum'))?.value, '800')
  await storage.close?.()
  end()
})

test('Redis storage: other processes reject a paused key within 100 ms', { timeoutMs: 300_000 }, async ({
  program,
}) => {
  const latest = await roundsUntil(100, async () => {
    const { storage, end } = await shared()
    const delays = await getDelays(program, { place: server.url, storage })
    end()
    return Math.max(...delays)
  })
  assert.ok(Math.min(...latest) <= 100, `ms until all processes rejected the key: ${latest}`)
})

test('Redis storage throws a TypeError for an invalid client or unknown options', () => {
  for (const client of [undefined, null, {}, 'redis://127.0.0.1'])
    assert.throws(() => redisStorage(client as never), /takes a redis or ioredis client/)
  const client = { call: async () => null, duplicate: () => client }
  assert.throws(() => redisStorage(client, { prefix: '{a}' }), /prefix/)
  assert.throws(() => redisStorage(client, { perfix: 'a' } as object), /perfix is not an option/)
})

test('an entry written by another program hides no other entries, and can be replaced', async () => {
  const { client, command, end } = await openClient('ioredis', server.url)
  const prefix = `foreign ${process.pid}`
  const storage = redisStorage(client, { prefix })
  await storage.set('a/good', '1')
  for (const [name, text] of [
    ['a/record', '{"order":1,"record":{"id":"written by another program"}}'],
    ['a/short', 'x'],
  ] as const) {
    await command('SET', `{${prefix}}:k:${name}`, text)
    await command('ZADD', `{${prefix}}:i`, '0', name)
    const found = await storage.get(name)
    assert.is(found?.value, text)
    assert.ok((await storage.list('a/')).some(({ key, value }) => key === name && value === text))
    assert.is(await storage.set(name, 'whole', { ifVersion: 'another' }), false)
    assert.ok(await storage.set(name, 'whole', { ifVersion: String(found?.version) }))
    assert.is((await storage.get(name))?.value, 'whole')
  }
  assert.equal(
    (await storage.list('a/')).map(({ key, value }) => `${key} ${value}`),
    ['a/good 1', 'a/record whole', 'a/short whole'],
  )
  await storage.close?.()
  end()
})
