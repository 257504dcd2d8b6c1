import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Management } from '../../src/management/operations.ts'
import { assert, suite } from '../support/suite.ts'
import { dyingStorage } from './support/failing-storage.ts'
import { CLOUD, openBothEnds } from './support/gateway-and-proxy.ts'

const test = suite('a gateway killed during a write of a cloud action')

type Action = 'enable' | 'sync' | 'disable'

/** How long a gateway that is killed while creating a key blocks other gateways, in ms. */
const LEASE_MS = 10_000

async function openWorld(action: Action) {
  let nowMs = 0
  const storage = dyingStorage(memoryStorage({ clock: { now: () => nowMs } }))
  const wait = (ms: number) => {
    nowMs += ms
  }
  const world = openBothEnds({ home: { storage } })
  const { api } = world
  await api.aliases.set({ alias: 'here', model: 'one/a' })
  await api.settings.update({ cloudUrl: CLOUD })
  if (action === 'enable') return { ...world, storage, wait, key: undefined, combo: '' }
  const key = await api.keys.create({ name: 'mine' })
  const gone = await api.combos.create({ name: 'gone', models: ['one/a'] })
  const { id: combo } = await api.combos.create({ name: 'both', models: ['one/a'] })
  await world.enable()
  const cloud = await world.tenant()
  await api.keys.update(key.id, { isActive: false })
  await api.combos.update(combo, { models: ['one/home'] })
  await cloud.combos.update(combo, { models: ['one/cloud'] })
  await cloud.combos.delete(gone.id)
  await cloud.aliases.set({ alias: 'far', model: 'one/a' })
  await cloud.keys.create({ name: 'made there' })
  return { ...world, storage, wait, key, combo }
}

/** Returns the data that must match on both sides. */
async function seenAt(api: Omit<Management, 'cloud'>) {
  const { keys } = await api.keys.list()
  return {
    keys: keys.map(({ id, name, isActive }) => `${id} ${name} ${isActive}`).sort(),
    combos: (await api.combos.list()).combos.map(({ id, name, models }) => ({ id, name, models })),
    aliases: (await api.aliases.list()).aliases,
  }
}

for (const action of ['enable', 'sync', 'disable'] as const)
  for (const when of ['before', 'after'] as const)
    test(`"${action}" succeeds when retried after the gateway was killed ${when} any one of its writes`, async () => {
      let write = 0
      for (let wasKilled = true; wasKilled; ) {
        const world = await openWorld(action)
        const { storage, wait, start, tenant, key, combo, far } = world
        storage.dieAt(++write, when)
        const first = await world.call('POST', '/api/sync/cloud', { action })
        wasKilled = storage.revive()
        wait(LEASE_MS + 1)
        const location = `write ${write}: ${first.status} ${JSON.stringify(first.body)}`
        const next = start()
        const { api } = next.gateway
        const isDone = (await api.settings.get()).cloudEnabled === (action === 'enable')
        const again = await next.call('POST', '/api/sync/cloud', { action })
        const expected = action === 'disable' && isDone ? [200, 409] : [200] // cloud sync is off, whether or not there was anything left to delete
        assert.ok(expected.includes(again.status), `${location} again: ${again.status} ${JSON.stringify(again.body)}`)
        assert.is((await api.settings.get()).cloudEnabled, action !== 'disable', location)

        const { keys } = await api.keys.list()
        assert.is(keys.length, action === 'enable' ? 1 : 2, location)
        assert.ok(
          keys.every(({ key }) => key.startsWith('sbx_')),
          location,
        )
        if (action === 'disable') assert.equal((await far.proxy.tenants.list()).tenants, [], location)
        else assert.equal(await seenAt(await tenant()), await seenAt(api), location)
        if (action === 'enable') continue
        assert.is((await api.keys.get(key?.id ?? '')).key.isActive, false, location)
        assert.equal((await api.aliases.list()).aliases, { far: 'one/a', here: 'one/a' }, location)
        assert.equal(
          (await api.combos.list()).combos.map(({ id, models }) => [id, models]),
          [[combo, ['one/home']]],
          location,
        )
        const { conflicts } = await api.cloud.get()
        assert.equal(
          conflicts.map(({ collection, id, kept }) => [collection, id, kept]),
          [['combos', combo, 'gateway']],
          location,
        )
      }
      assert.ok(write > 3, `${write} writes`)
    })
