import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Storage } from '../../src/types.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { chatEvents, chatResponse } from './support/responses.ts'
import { fakeUpstream, json, never, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('a storage that hangs')

type Operation = 'get' | 'set' | 'list'

/** Opens a gateway on a store without `watch` that can be made to hang. */
async function open() {
  const clock = fakeClock()
  const { watch: _, increment: __, ...memory } = memoryStorage({ clock })
  let isHanging = (_operation: Operation, _key: string) => false
  const storage: Storage = {
    ...memory,
    get: (key) => (isHanging('get', key) ? never() : memory.get(key)),
    set: (key, ...rest) => (isHanging('set', key) ? never() : memory.set(key, ...rest)),
    list: (prefix, ...rest) => (isHanging('list', prefix) ? never() : memory.list(prefix, ...rest)),
  }
  const upstream = fakeUpstream(({ body }) => (JSON.parse(body).stream ? sse(chatEvents()) : json(chatResponse())))
  const turn = { models: ['one/m', 'two/m'], strategy: 'round-robin' as const }
  await openWorld({ clock, storage, combos: { turn } })
  const world = await openWorld({ fetch: upstream, clock, storage, connections: [] }) // a gateway with nothing cached
  return {
    ...{ upstream, world, clock },
    hang: (which: typeof isHanging) => {
      isHanging = which
    },
  }
}

const headers = { 'x-signalbox-timeout-ms': '700' }

for (const [label, which] of Object.entries({
  'all storage operations hang': () => true,
  'reading the settings hangs': (_: Operation, key: string) => key.startsWith('settings'),
  'reading the connections hangs': (_: Operation, key: string) => key.startsWith('connections'),
  'reading the credentials hangs': (_: Operation, key: string) => key === 'vault',
})) {
  test(`the client's deadline applies if ${label}`, async () => {
    const { world, clock, hang, upstream } = await open()
    hang(which)
    let response: Response | undefined
    const pending = world.chat({ model: 'turn' }, { headers }).then((reply) => {
      response = reply
    })
    await clock.advance(699)
    assert.is(response, undefined)
    await clock.advance(1)
    await pending
    assert.is(response?.status, 504)
    assert.is(response?.headers.get('x-should-retry'), 'false')
    assert.match((await response?.text()) ?? '', /within the 700 ms/)
    assert.is(upstream.calls.length, 0)
    await clock.advance(5_000) // until the gateway stops waiting for the storage
    assert.is(clock.pending(), 0)
  })
}

test("while the storage hangs, round-robin falls back to the instance's own rotation after two seconds", async () => {
  const { world, clock, hang } = await open()
  hang((_, key) => key.startsWith('routing/'))
  for (const expected of ['one/m', 'two/m', 'one/m']) {
    const pending = world.chat({ model: 'turn' })
    await clock.advance(2_000)
    assert.is((await pending).headers.get('x-signalbox-target'), expected)
  }
  assert.is(clock.pending(), 0)
})
