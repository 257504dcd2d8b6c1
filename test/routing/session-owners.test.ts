import { memoryStorage } from '../../adapters/storage/memory.ts'
import { assert, suite } from '../support/suite.ts'
import { joinPool, openPool, type Pool } from './support/pool.ts'

const test = suite('session owners')

const sticky = { models: ['one/m', 'two/m', 'three/m'], strategy: 'sticky' as const }
const body = { user: 'somebody' }

/** Creates two API keys. Returns the request headers for each. */
async function createKeys({ world }: Pick<Pool, 'world'>) {
  const [alice, bob] = await Promise.all(['alice', 'bob'].map((name) => world.api.keys.create({ name })))
  return {
    alice: { headers: { 'x-api-key': alice?.key ?? '' } },
    bob: { headers: { 'x-api-key': bob?.key ?? '' } },
  }
}

test("moving a session doesn't move another caller's session with the same name", async () => {
  const storage = memoryStorage()
  const pool = await openPool(sticky, { storage })
  const { sendAll, down } = pool
  const { alice, bob } = await createKeys(pool)
  const home = await sendAll(1, body, alice)
  assert.is(await sendAll(1, body, bob), home, 'both sessions start at the same target')
  down.set(home, 500)
  const [, other = ''] = (await sendAll(1, body, alice)).split('>')
  down.clear()
  await pool.world.api.health.reset()
  assert.is(await sendAll(1, body, alice), other)
  assert.is(await sendAll(1, body, bob), home)
  assert.is(await sendAll(1, body), home, 'without a key')
  const second = await joinPool(pool, { storage })
  assert.is(await second.sendAll(1, body, alice), other, 'on another instance, too')
  assert.is(await second.sendAll(1, body, bob), home)
})

test("a draining connection keeps only the sessions it served, not another caller's with the same name", async () => {
  const pool = await openPool({ models: ['one/m', 'two/m'], strategy: 'sticky' })
  const { sendAll, world } = pool
  const { alice, bob } = await createKeys(pool)
  const users = Array.from({ length: 12 }, (_, index) => `user-${index}`)
  const homes = new Map<string, string>()
  for (const user of users) homes.set(user, await sendAll(1, { user }, alice))
  for (const connection of (await world.api.connections.list()).connections)
    if (connection.provider === 'one') await world.api.connections.update(connection.id, { draining: true })
  assert.ok([...homes.values()].includes('one'))
  for (const user of users) {
    assert.is(await sendAll(1, { user }, bob), 'two', user)
    assert.is(await sendAll(1, { user }, alice), homes.get(user), user)
  }
})
