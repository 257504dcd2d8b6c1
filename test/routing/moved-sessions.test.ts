import { memoryStorage } from '../../adapters/storage/memory.ts'
import { chatAnswer } from '../pipeline/support/answers.ts'
import { json } from '../pipeline/support/upstream.ts'
import type { World } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { joinPool, openPool } from './support/pool.ts'

const test = suite('sessions that were moved')

const sticky = { models: ['one/m', 'two/m', 'three/m'], strategy: 'sticky' as const }

const changes: Record<string, (api: World['api'], id: string) => Promise<unknown>> = {
  'is written again as it is': (api, id) => api.combos.update(id, { strategy: 'sticky' }),
  'has its models in another order': (api, id) => api.combos.update(id, { models: [...sticky.models].reverse() }),
  'is renamed there and back': async (api, id) => {
    await api.combos.update(id, { name: 'other' })
    await api.combos.update(id, { name: 'pool' })
  },
  'is deleted and made anew': async (api, id) => {
    await api.combos.delete(id)
    await api.combos.create({ name: 'pool', ...sticky })
  },
}
for (const [what, change] of Object.entries(changes)) {
  test(`a session that was moved goes home when the combo ${what}, on every instance`, async () => {
    const storage = memoryStorage()
    const first = await openPool(sticky, { storage })
    const second = await joinPool(first, { storage })
    const body = { user: 'somebody' }
    const home = await first.asks(1, body)
    first.down.set(home, 500)
    const [, other] = (await first.asks(1, body)).split('>')
    first.down.clear()
    assert.is(await second.asks(1, body), other)
    const [pool] = (await first.world.api.combos.list()).combos
    await change(first.world.api, pool?.id ?? '')
    await first.world.clock.advance(1_000)
    assert.is(await first.asks(1, body), home)
    assert.is(await second.asks(1, body), home)
  })
}

test('so does one that was moved between the connections of a provider by that combo', async () => {
  const keys = ['key-a-of-one', 'key-b-of-one']
  const connections = keys.map((apiKey) => ({ provider: 'one', name: apiKey, apiKey }))
  const down = new Set<string>()
  const used: string[] = []
  const { world, asks } = await openPool(
    { models: ['one/m'], connectionStrategy: 'sticky' },
    {
      connections,
      answer: ({ headers }) => {
        const key = headers.get('authorization')?.replace('Bearer ', '') ?? ''
        used.push(key)
        return down.has(key) ? json({ error: { message: 'down' } }, 500) : json(chatAnswer())
      },
    },
  )
  const body = { user: 'somebody' }
  await asks(1, body)
  const home = used.at(-1) ?? ''
  down.add(home)
  await asks(1, body)
  down.clear()
  await asks(1, body)
  assert.is.not(used.at(-1), home)
  const [pool] = (await world.api.combos.list()).combos
  await world.api.combos.update(pool?.id ?? '', {})
  await asks(1, body)
  assert.is(used.at(-1), home)
})
