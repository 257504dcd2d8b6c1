import fc from 'fast-check'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Storage } from '../../src/types.ts'
import { times } from '../support/ci.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { getData, openHome, openPair, openProxy } from './support/pair.ts'
import { withQuickCrypto } from './support/quick-crypto.ts'
import { rollbackHistories, runRollbacks } from './support/rollbacks.ts'

const test = suite('storages restored from old copies')

test('after either side is restored, both converge without silently undoing a pause or deletion', () =>
  withQuickCrypto(() => fc.assert(fc.asyncProperty(rollbackHistories, runRollbacks), { numRuns: times(400) })))

async function copyStorage(storage: Storage): Promise<Storage> {
  const copy = memoryStorage()
  for (const { key, value } of await storage.list('')) await copy.set(key, value)
  return copy
}

const getIds = (conflicts: readonly { id: string }[]) => conflicts.map(({ id }) => id)

test("on a restored gateway, a new pause or deletion wins over the cloud's later changes", async () => {
  const clock = fakeClock()
  const { home, cloud, sync } = await openPair(clock)
  const { id } = await home.api.keys.create({ name: 'phone' })
  const gone = await home.api.connections.create({ provider: 'acme', name: 'a' })
  await sync()
  const old = await copyStorage(home.storage)
  await home.api.keys.update(id, { isActive: false })
  await home.api.connections.update(gone.id, { name: 'b' })
  await sync()
  await cloud.api.keys.update(id, { isActive: true })
  await cloud.api.connections.update(gone.id, { name: 'c' })
  await sync()
  const again = openHome({ storage: old, clock })
  await again.api.keys.update(id, { isActive: false })
  await again.api.connections.delete(gone.id)
  const { conflicts } = await again.sync(cloud.sync)
  assert.equal(getIds(conflicts), [id, gone.id])
  assert.is((await cloud.api.keys.get(id)).key.isActive, false)
  assert.equal((await cloud.api.connections.list()).connections, [])
  assert.equal(await getData(cloud), await getData(again))
})

test('a gateway restored from a backup that is one sync old gets all later changes', async () => {
  const clock = fakeClock()
  const { home, cloud, sync } = await openPair(clock)
  const { id } = await home.api.keys.create({ name: 'phone' })
  await sync()
  const old = await copyStorage(home.storage)
  await home.api.keys.update(id, { isActive: false })
  const created = await home.api.keys.create({ name: 'made since' })
  await sync()
  const again = openHome({ storage: old, clock })
  assert.equal((await again.sync(cloud.sync)).conflicts, [])
  assert.is((await again.api.keys.get(id)).key.isActive, false)
  assert.is((await again.api.keys.get(created.id)).key.name, 'made since')
  assert.equal(await getData(cloud), await getData(again))
})

test('changes at a cloud restored from a backup conflict with any number of later gateway changes', async () => {
  const clock = fakeClock()
  const { home, cloud, sync } = await openPair(clock)
  const { id } = await home.api.keys.create({ name: 'phone' })
  await sync()
  const old = await copyStorage(cloud.storage)
  await cloud.api.keys.update(id, { isActive: false })
  await sync()
  const again = openProxy({ storage: old, clock })
  const lossy = (text: string) => again.sync(text).then(() => Promise.reject(new Error('The answer was lost.')))
  for (const _ of Array.from({ length: 3 })) {
    for (const isActive of [false, true]) await again.api.keys.update(id, { isActive })
    await home.sync(lossy).catch(() => {})
  }
  assert.equal(getIds((await home.sync(again.sync)).conflicts), [id])
  assert.is((await again.api.keys.get(id)).key.isActive, false)
  assert.equal(await getData(again), await getData(home))
})

test("a lost response isn't mistaken for a restore, so nothing is resent and nothing conflicts", async () => {
  const { home, cloud } = await openPair(fakeClock())
  const { id } = await home.api.keys.create({ name: 'phone' })
  const sent: { full?: boolean }[] = []
  const send = async (text: string) => {
    sent.push(JSON.parse(text))
    return cloud.sync(text)
  }
  for (const isActive of [false, true]) {
    await home.api.keys.update(id, { isActive })
    const lost = await home.sync((text) => send(text).then(() => Promise.reject(new Error('lost')))).catch(() => 'lost')
    assert.is(lost, 'lost')
    await home.sync(() => Promise.reject(new Error('The request was lost.'))).catch(() => {})
  }
  assert.equal(await home.sync(send), { conflicts: [], rejected: [] })
  assert.not.ok(sent.some(({ full }) => full))
  assert.equal(await getData(cloud), await getData(home))
})

test("a concurrent sync by another gateway process isn't mistaken for a restore", async () => {
  const clock = fakeClock()
  const { home, cloud } = await openPair(clock)
  const sent: { full?: boolean }[] = []
  const send = async (text: string) => {
    sent.push(JSON.parse(text))
    return cloud.sync(text)
  }
  const other = openHome({ storage: home.storage, clock })
  let isFirst = true
  const meanwhile = (action: () => Promise<unknown>) => async (text: string) => {
    if (isFirst) {
      isFirst = false
      await action()
    }
    return send(text)
  }
  await home.api.keys.create({ name: 'phone' })
  assert.equal(await other.sync(meanwhile(() => home.sync(send))), { conflicts: [], rejected: [] })
  assert.not.ok(sent.some(({ full }) => full))
  assert.equal(await getData(cloud), await getData(home))
})
