import { memoryStorage } from '../../adapters/storage/memory.ts'
import { chatResponse, messageResponse } from '../pipeline/support/responses.ts'
import { json } from '../pipeline/support/upstream.ts'
import type { World } from '../pipeline/support/world.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { joinPool, openPool } from './support/pool.ts'

const test = suite('moved sessions')

const sticky = { models: ['one/m', 'two/m', 'three/m'], strategy: 'sticky' as const }

const changes: Record<string, (api: World['api'], id: string) => Promise<unknown>> = {
  'is saved unchanged': (api, id) => api.combos.update(id, { strategy: 'sticky' }),
  'gets its models in another order': (api, id) => api.combos.update(id, { models: [...sticky.models].reverse() }),
  'is renamed and renamed back': async (api, id) => {
    await api.combos.update(id, { name: 'other' })
    await api.combos.update(id, { name: 'pool' })
  },
  'is deleted and recreated': async (api, id) => {
    await api.combos.delete(id)
    await api.combos.create({ name: 'pool', ...sticky })
  },
}
for (const [label, change] of Object.entries(changes)) {
  test(`a moved session returns to its own entry when the combo ${label}, on every instance`, async () => {
    const storage = memoryStorage()
    const first = await openPool(sticky, { storage })
    const second = await joinPool(first, { storage })
    const body = { user: 'somebody' }
    const home = await first.sendAll(1, body)
    first.down.set(home, 500)
    const [, other] = (await first.sendAll(1, body)).split('>')
    first.down.clear()
    assert.is(await second.sendAll(1, body), other)
    const [pool] = (await first.world.api.combos.list()).combos
    await change(first.world.api, pool?.id ?? '')
    await first.world.clock.advance(1_000)
    assert.is(await first.sendAll(1, body), home)
    assert.is(await second.sendAll(1, body), home)
  })
}

test("a session that was moved between a provider's connections returns to its own when the combo changes", async () => {
  const keys = ['key-a-of-one', 'key-b-of-one']
  const connections = keys.map((apiKey) => ({ provider: 'one', name: apiKey, apiKey }))
  const down = new Set<string>()
  const used: string[] = []
  const { world, sendAll } = await openPool(
    { models: ['one/m'], connectionStrategy: 'sticky' },
    {
      connections,
      respond: ({ headers }) => {
        const key = headers.get('authorization')?.replace('Bearer ', '') ?? ''
        used.push(key)
        return down.has(key) ? json({ error: { message: 'down' } }, 500) : json(chatResponse())
      },
    },
  )
  const body = { user: 'somebody' }
  await sendAll(1, body)
  const home = used.at(-1) ?? ''
  down.add(home)
  await sendAll(1, body)
  down.clear()
  await sendAll(1, body)
  assert.is.not(used.at(-1), home)
  const [pool] = (await world.api.combos.list()).combos
  await world.api.combos.update(pool?.id ?? '', {})
  await sendAll(1, body)
  assert.is(used.at(-1), home)
})

test("a session stays with its entry even if the entry doesn't support one of its requests", async () => {
  const { world, sendAll } = await openPool(
    { models: ['one/m', 'claude/c'], strategy: 'sticky' },
    { respond: ({ provider }) => json(provider === 'claude' ? messageResponse() : chatResponse()) },
  )
  const users = Array.from({ length: 20 }, (_, index) => ({ user: `user-${index}` }))
  const homes: string[] = []
  for (const user of users) homes.push(await sendAll(1, user))
  const body = users[homes.indexOf('claude')]
  assert.is(await sendAll(1, { ...body, n: 2 }), 'one')
  assert.is(world.recorded.requests.at(-1)?.skipped?.length, 1)
  assert.is(await sendAll(1, body), 'claude')
})

test("a faster hedge doesn't move a session", async () => {
  const clock = fakeClock()
  let slow = ''
  const { world, upstream } = await openPool(
    { models: ['one/m', 'two/m'], strategy: 'sticky', hedge: true },
    {
      clock,
      async respond({ provider }) {
        await clock.sleep(provider === slow ? 5_000 : 10)
        return json(chatResponse())
      },
    },
  )
  async function target() {
    const calls = upstream.calls.length
    const pending = world.chat({ model: 'pool', user: 'somebody' })
    while (upstream.calls.length === calls) await clock.advance(0)
    await clock.advance(100)
    return (await pending).headers.get('x-signalbox-target')
  }
  const home = await target()
  for (let time = 0; time < 30; time++) assert.is(await target(), home)
  slow = home?.split('/')[0] ?? ''
  assert.is.not(await target(), home)
  slow = ''
  assert.is(await target(), home)
})
