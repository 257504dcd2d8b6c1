import { memoryStorage } from '../../adapters/storage/memory.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { rejectWith } from './support/failing.ts'
import { chatResponse } from './support/responses.ts'
import { fakeUpstream, json, type Respond } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('connections changed by another instance')

/** Opens two instances on one storage. The first one creates two connections, which `tried` makes unhealthy on the second one. */
async function pair(respond: Respond) {
  const clock = fakeClock()
  const storage = memoryStorage({ clock })
  const upstream = fakeUpstream(respond)
  const connections = ['a', 'b'].map((name) => ({ provider: 'one', name, apiKey: `key-of-${name}` }))
  const { api } = await openWorld({ fetch: upstream, clock, storage, connections })
  const world = await openWorld({ fetch: upstream, clock, storage, connections: [] })
  const ids = (await api.connections.list()).connections.map(({ id }) => id)
  async function tryRequest() {
    const response = await world.chat({ model: 'one/m' })
    await response.text()
    return (response.headers.get('x-signalbox-attempts') ?? '').replace(/;connection=[^,]*/g, '')
  }
  return { api, world, ids, tried: tryRequest }
}

test('a connection changed by another instance loses its failures, even within the same millisecond', async () => {
  const { api, ids, tried } = await pair(({ headers }) =>
    headers.get('authorization') === 'Bearer key-of-b' ? rejectWith(401)() : json(chatResponse()),
  )
  const [a = '', b = ''] = ids
  await api.connections.update(a, { isActive: false })
  assert.is(await tried(), 'one/m=401:credentials')
  await api.connections.update(b, { apiKey: 'key-that-is-new' })
  assert.is(await tried(), 'one/m=200')
  await api.connections.update(b, { apiKey: 'key-of-b' })
  assert.is(await tried(), 'one/m=401:credentials')
  await api.connections.update(b, { apiKey: 'key-that-is-new' })
  assert.is(await tried(), 'one/m=200')
})

test('a provider is tried again after another instance has changed its connection', async () => {
  const { api, world, ids, tried } = await pair(({ provider }) => {
    if (provider === 'mended') return json(chatResponse())
    throw Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error(), { code: 'ENOTFOUND' }) })
  })
  for (let times = 0; times < 4; times++) await tried()
  const levels = async () =>
    (await world.api.health.list()).health.map(({ level, state }) => `${level} ${state}`).sort()
  assert.ok((await levels()).includes('provider cooling'))
  const repaired = { apiKey: 'key-that-is-new', providerSpecificData: { baseUrl: 'http://mended.test' } }
  for (const id of ids) await api.connections.update(id, repaired)
  assert.equal(await levels(), [])
  assert.is(await tried(), 'one/m=200')
})
