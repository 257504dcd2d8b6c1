import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { redisStorage } from '../../adapters/storage/redis.ts'
import { assert, skip, suite } from '../support/suite.ts'
import { openClient, PACKAGES } from './redis-clients.ts'
import { findRedis, startRedis } from './redis-server.ts'

if (!existsSync(new URL('node_modules/redis', import.meta.url))) skip('services: the clients are not installed')

const server = await findRedis()
const test = suite('a subscriber that the app passes to redisStorage')
test.after(() => server.remove())

async function waitForMessage(recorded: string[], key: string): Promise<void> {
  const startedAt = performance.now()
  while (!recorded.includes(key)) {
    assert.ok(performance.now() - startedAt < 10_000, `never notified of ${key}`)
    await sleep(10)
  }
}

for (const name of PACKAGES)
  test(`${name} uses the app's subscriber, reuses it after a disconnect, and leaves it open`, async () => {
    const [main, subscriber, otherInstance] = [
      await openClient(name, server.url),
      await openClient(name, server.url),
      await openClient('ioredis', server.url),
    ]
    const prefix = `subscriber ${process.pid} ${name}`
    const clients = async () =>
      String(await otherInstance.command('CLIENT', 'LIST', 'TYPE', 'normal'))
        .trim()
        .split('\n').length
    const before = await clients()
    const storage = redisStorage(main.client, { prefix, subscriber: subscriber.client })
    const other = redisStorage(otherInstance.client, { prefix })
    const recorded: string[] = []
    storage.watch?.((key) => void recorded.push(key))
    await sleep(300)
    await other.set('first', '1')
    await waitForMessage(recorded, 'first')
    assert.is(await clients(), before)

    const id = String(await subscriber.command('CLIENT', 'ID'))
    await otherInstance.command('CLIENT', 'KILL', 'ID', id)
    await other.set('while it was cut', '1')
    await waitForMessage(recorded, 'while it was cut')
    await other.set('after', '1')
    await waitForMessage(recorded, 'after')

    await storage.close?.()
    await sleep(1_200) // longer than the adapter's blocking wait
    assert.ok(subscriber.isOpen())
    assert.is(await subscriber.command('PING'), 'PONG')
    assert.is(await main.command('PING'), 'PONG')
    recorded.length = 0
    await other.set('later', '1')
    await sleep(200)
    assert.equal(recorded, [])
    await other.close?.()
    for (const { end } of [main, subscriber, otherInstance]) end()
  })

for (const name of ['redis', 'redis-5'] as const)
  test(`the connection that watch creates with ${name} is closed, even if it isn't open yet`, async () => {
    const own = await startRedis()
    const host = await openClient(name, own.url)
    const monitor = await openClient('ioredis', own.url)
    const read = async (section: string, field: string) =>
      Number(new RegExp(`${field}:(\\d+)`).exec(String(await monitor.command('INFO', section)))?.[1])
    const received = await read('stats', 'total_connections_received')
    const connected = await read('clients', 'connected_clients')
    const until = async (isSo: () => Promise<boolean>, label: string) => {
      const startedAt = performance.now()
      while (!(await isSo())) {
        assert.ok(performance.now() - startedAt < 10_000, label)
        await sleep(10)
      }
    }

    const storage = redisStorage(host.client, { prefix: `left ${process.pid}` })
    storage.watch?.(() => {})
    await storage.close?.()
    await until(async () => (await read('stats', 'total_connections_received')) > received, 'never connected')
    await until(async () => (await read('clients', 'connected_clients')) === connected, 'left open')
    assert.is(await host.command('PING'), 'PONG')
    for (const { end } of [host, monitor]) end()
    await own.remove()
  })
