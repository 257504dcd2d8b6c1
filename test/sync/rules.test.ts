import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Storage } from '../../src/types.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { getData, openHome, openPair, openProxy } from './support/pair.ts'

const test = suite('sync rules')

const listKept = (conflicts: readonly { collection: string; id: string; kept: string }[]) =>
  conflicts.map(({ collection, id, kept }) => ({ collection, id, kept }))

test('a deletion wins over a concurrent change on either side and is reported', async () => {
  const { home, cloud, sync } = await openPair(fakeClock())
  const [first, second] = [await home.api.keys.create({ name: 'one' }), await home.api.keys.create({ name: 'other' })]
  await sync()
  await home.api.keys.delete(first.id)
  await cloud.api.keys.update(first.id, { name: 'changed' })
  await cloud.api.keys.delete(second.id)
  await home.api.keys.update(second.id, { name: 'changed' })
  const { conflicts } = await sync()
  const both = [
    { collection: 'keys', id: first.id, kept: 'gateway' },
    { collection: 'keys', id: second.id, kept: 'cloud' },
  ]
  assert.equal(
    listKept(conflicts).sort((a, b) => (a.kept < b.kept ? 1 : -1)),
    both,
  )
  assert.equal((await home.api.keys.list()).keys, [])
  assert.equal(await getData(cloud), await getData(home))
})

test('a deletion wins over a concurrent pause on either side and is reported once', async () => {
  const { home, cloud, sync } = await openPair(fakeClock())
  const [first, second] = [await home.api.keys.create({ name: 'one' }), await home.api.keys.create({ name: 'other' })]
  await sync()
  await home.api.keys.delete(first.id)
  await cloud.api.keys.update(first.id, { isActive: false })
  await cloud.api.keys.delete(second.id)
  await home.api.keys.update(second.id, { isActive: false })
  const { conflicts } = await sync()
  assert.equal(
    listKept(conflicts).sort((a, b) => (a.kept < b.kept ? 1 : -1)),
    [
      { collection: 'keys', id: first.id, kept: 'gateway' },
      { collection: 'keys', id: second.id, kept: 'cloud' },
    ],
  )
  assert.equal((await sync()).conflicts, [])
  assert.equal((await home.api.keys.list()).keys, [])
  assert.equal(await getData(cloud), await getData(home))
})

test("a deletion after a pause isn't a conflict", async () => {
  const { home, cloud, sync } = await openPair(fakeClock())
  const [first, second] = [await home.api.keys.create({ name: 'one' }), await home.api.keys.create({ name: 'other' })]
  await sync()
  await home.api.keys.update(first.id, { isActive: false })
  await home.api.keys.delete(first.id)
  await cloud.api.keys.update(second.id, { isActive: false })
  await sync()
  await home.api.keys.delete(second.id)
  assert.equal((await sync()).conflicts, [])
  assert.equal(await getData(cloud), await getData(home))
})

test('pausing a key wins over a concurrent resume, and other changes are kept', async () => {
  const { home, cloud, sync } = await openPair(fakeClock())
  const { id } = await home.api.keys.create({ name: 'phone' })
  await home.api.keys.update(id, { isActive: false })
  await sync()
  await cloud.api.keys.update(id, { isActive: true })
  await cloud.replica((await getMirror(home.storage)) ?? '').listUnseen(1)
  await cloud.api.keys.update(id, { isActive: false })
  await home.api.keys.update(id, { isActive: true, name: 'renamed' })
  const { conflicts } = await sync()
  assert.equal(listKept(conflicts), [{ collection: 'keys', id, kept: 'cloud' }])
  const { key } = await cloud.api.keys.get(id)
  assert.equal([key.name, key.isActive], ['renamed', false])
  await home.api.keys.update(id, { isActive: true })
  assert.equal((await sync()).conflicts, [])
  assert.is((await cloud.api.keys.get(id)).key.isActive, true)
})

async function getMirror(storage: Storage): Promise<string | undefined> {
  const state = await storage.get('cloud/state')
  return state && JSON.parse(state.value).mirror
}

test('a key resumed and paused again between syncs stays paused despite a concurrent resume', async () => {
  for (const by of ['gateway', 'cloud'] as const) {
    const { home, cloud, sync } = await openPair(fakeClock())
    const [own, other] = by === 'gateway' ? [home, cloud] : [cloud, home]
    const { id } = await home.api.keys.create({ name: 'phone' })
    const connection = await home.api.connections.create({ provider: 'acme', name: 'a', isActive: false })
    await home.api.keys.update(id, { isActive: false })
    await sync()
    for (const isActive of [true, false]) {
      await own.api.keys.update(id, { isActive })
      await own.api.connections.update(connection.id, { isActive })
    }
    await other.api.keys.put({ id, name: 'phone', isActive: true })
    await other.api.connections.put({ id: connection.id, provider: 'acme', isActive: true })
    const { conflicts } = await sync()
    assert.equal(listKept(conflicts), [
      { collection: 'keys', id, kept: by },
      { collection: 'connections', id: connection.id, kept: by },
    ])
    assert.is((await other.api.keys.get(id)).key.isActive, false)
    assert.is((await other.api.connections.list()).connections[0]?.isActive, false)
    assert.equal(await getData(cloud), await getData(home))
    assert.equal((await sync()).conflicts, [])
  }
})

test('turning requireApiKey off and on between syncs wins over turning it off on the other side', async () => {
  for (const by of ['gateway', 'cloud'] as const) {
    const { home, cloud, sync } = await openPair(fakeClock())
    const [own, other] = by === 'gateway' ? [home, cloud] : [cloud, home]
    await home.api.settings.update({ requireApiKey: true })
    await sync()
    for (const requireApiKey of [false, true]) await own.api.settings.update({ requireApiKey })
    await other.api.settings.update({ requireApiKey: false })
    assert.equal(listKept((await sync()).conflicts), [{ collection: 'settings', id: 'settings', kept: by }])
    assert.is((await other.api.settings.get()).requireApiKey, true)
    assert.equal((await sync()).conflicts, [])
  }
})

test('pausing a key that is already paused wins over a concurrent resume', async () => {
  const { home, cloud, sync } = await openPair(fakeClock())
  const { id } = await home.api.keys.create({ name: 'phone' })
  await home.api.keys.update(id, { isActive: false })
  await sync()
  await home.api.keys.update(id, { isActive: false })
  await cloud.api.keys.update(id, { isActive: true })
  assert.equal(listKept((await sync()).conflicts), [{ collection: 'keys', id, kept: 'gateway' }])
  assert.is((await cloud.api.keys.get(id)).key.isActive, false)
})

test("a record's internal edit marker is never exposed", async () => {
  const { home } = await openPair(fakeClock())
  const { id } = await home.api.keys.create({ name: 'phone' })
  const { key } = await home.api.keys.update(id, { isActive: false })
  const settings = await home.api.settings.update({ requireApiKey: true })
  const connection = await home.api.connections.create({ provider: 'acme', isActive: false })
  for (const shown of [key, settings, await home.api.settings.get(), connection]) assert.not.ok('edit' in shown)
})

test("concurrently pausing and renaming a record isn't a conflict, and both changes apply", async () => {
  const { home, cloud, sync } = await openPair(fakeClock())
  const { id } = await home.api.connections.create({ provider: 'acme', name: 'a' })
  await sync()
  await home.api.connections.update(id, { isActive: false })
  await cloud.api.connections.update(id, { name: 'b' })
  assert.equal((await sync()).conflicts, [])
  const { connections } = await home.api.connections.list()
  assert.equal(
    connections.map(({ name, isActive }) => [name, isActive]),
    [['b', false]],
  )
})

test('if both sides create a combo with the same name, the smaller ID wins', async () => {
  for (let round = 0; round < 4; round++) {
    const { home, cloud, sync } = await openPair(fakeClock())
    const here = await home.api.combos.create({ name: 'fast', models: ['acme/here'] })
    const there = await cloud.api.combos.create({ name: 'fast', models: ['acme/there'] })
    const [stays, goes] = here.id < there.id ? [here, there] : [there, here]
    const { conflicts } = await sync()
    assert.equal(listKept(conflicts), [
      { collection: 'combos', id: goes.id, kept: stays === here ? 'gateway' : 'cloud' },
    ])
    for (const { api } of [home, cloud])
      assert.equal(
        (await api.combos.list()).combos.map(({ id }) => id),
        [stays.id],
      )
    assert.equal((await sync()).conflicts, [])
  }
})

test('swapping two combo names is synced in both directions', async () => {
  const { home, cloud, sync } = await openPair(fakeClock())
  const [a, b] = [
    await home.api.combos.create({ name: 'a', models: ['acme/1'] }),
    await home.api.combos.create({ name: 'b', models: ['acme/2'] }),
  ]
  await sync()
  for (const { api } of [home, cloud]) {
    const [first, second] = (await api.combos.list()).combos
    await api.combos.update(first?.id ?? '', { name: 'aside' })
    await api.combos.update(second?.id ?? '', { name: first?.name ?? '' })
    await api.combos.update(first?.id ?? '', { name: second?.name ?? '' })
    assert.equal(await sync(), { conflicts: [], rejected: [] })
    assert.equal(await getData(cloud), await getData(home))
  }
  assert.equal((await cloud.api.combos.get(a.id)).name, 'a')
  assert.equal((await home.api.combos.get(b.id)).name, 'b')
})

test("changing requireApiKey on only one side isn't a conflict", async () => {
  const { home, cloud, sync } = await openPair(fakeClock())
  await home.api.settings.update({ requireApiKey: true })
  assert.equal((await sync()).conflicts, [])
  assert.is((await cloud.api.settings.get()).requireApiKey, true)
  await cloud.api.settings.update({ requireApiKey: false })
  assert.equal((await sync()).conflicts, [])
  assert.is((await home.api.settings.get()).requireApiKey, false)
})

test('the value of a key created in the cloud is synced to the gateway', async () => {
  const { home, cloud, sync } = await openPair(fakeClock())
  const { id, key } = await cloud.api.keys.create({ name: 'made there' })
  await sync()
  assert.is((await home.api.keys.get(id)).key.key, key)
  assert.equal(await (await home.store.loadKeyAccess()).lookup.find(key).then((found) => found?.id), id)
  assert.equal(await (await cloud.store.loadKeyAccess()).lookup.find(key).then((found) => found?.id), id)
  const shown = (await cloud.api.keys.get(id)).key
  assert.equal([shown.key, shown.error], ['', undefined])
  assert.equal(
    (await cloud.store.keys.all()).map(({ sealedKey }) => sealedKey),
    [''],
  )
})

test("confirming a key's old value doesn't make the cloud drop its newer value", async () => {
  const { home, cloud, sync } = await openPair(fakeClock())
  await cloud.api.keys.put({ id: 'a', name: 'made there' })
  let replaced = ''
  await home.sync(async (request) => {
    if (JSON.parse(request).seen.length > 0 && replaced === '') {
      await cloud.api.keys.delete('a')
      replaced = (await cloud.api.keys.put({ id: 'a', name: 'made again' })).key.key
    }
    return cloud.sync(request)
  })
  assert.not.equal(replaced, '')
  await sync()
  assert.is((await home.api.keys.get('a')).key.key, replaced)
})

test('a key that belongs to another tenant is rejected, and everything else is synced', async () => {
  const claims = { acquire: async () => false, release: async () => {} }
  const { home, cloud, sync } = await openPair(fakeClock(), { claims })
  const { id } = await home.api.keys.create({ name: 'phone' })
  await home.api.aliases.set({ alias: 'a', model: 'acme/x' })
  const { rejected } = await sync()
  assert.equal(
    rejected.map((item) => [item.id, item.code]),
    [[id, 'KEY_TAKEN']],
  )
  assert.equal((await cloud.api.keys.list()).keys, [])
  assert.equal((await cloud.api.aliases.list()).aliases, { a: 'acme/x' })
})

test("a key's claim moves with its value, and ends when the key is deleted", async () => {
  const claimed = new Set<string>()
  const claims = {
    acquire: async (digest: string) => claimed.add(digest).has(digest),
    release: async (digest: string) => void claimed.delete(digest),
  }
  const { home, sync } = await openPair(fakeClock(), { claims })
  const { id } = await home.api.keys.create({ name: 'phone' })
  await sync()
  const [first] = claimed
  await home.api.keys.put({ id, name: 'phone', key: `sbx_${'a'.repeat(40)}` })
  await sync()
  assert.is(claimed.size, 1)
  assert.not.ok(claimed.has(first ?? ''))
  await home.api.keys.delete(id)
  await sync()
  assert.is(claimed.size, 0)
})

test('a record too large for a message is reported, and everything else is synced', async () => {
  const { home, cloud, sync } = await openPair(fakeClock())
  const enabledModels = Array.from({ length: 5_000 }, (_, index) => `${index}`.padEnd(512, '語'))
  const large = await home.api.connections.create({ provider: 'acme', enabledModels })
  const small = await home.api.connections.create({ provider: 'acme', name: 'small' })
  const { rejected } = await sync()
  assert.equal(
    rejected.map(({ id }) => id),
    [large.id],
  )
  assert.equal(
    (await cloud.api.connections.list()).connections.map(({ id }) => id),
    [small.id],
  )
})

test('a proxy without a secret rejects credentials', async () => {
  const { home, cloud, sync } = await openPair(fakeClock(), { keepsSecrets: false })
  const { id } = await home.api.connections.create({ provider: 'acme', apiKey: 'secret-of-acme' })
  await home.api.connections.put({ id: 'open', provider: 'acme' })
  const { rejected } = await sync()
  assert.equal(
    rejected.map((item) => [item.id, item.code]),
    [[id, 'NO_SECRET']],
  )
  assert.equal(
    (await cloud.store.connections.all()).map((item) => item.id),
    ['open'],
  )
})

test('a proxy that lost its storage removes nothing from the gateway, and gets all data again', async () => {
  const clock = fakeClock()
  const { home } = await openPair(clock)
  await home.api.aliases.set({ alias: 'a', model: 'acme/x' })
  const before = await getData(home)
  const cloud = openProxy({ storage: memoryStorage(), clock })
  const failed = await home.sync(cloud.sync).catch((error: Error) => error)
  assert.match(String(failed), /MIRROR_GONE/)
  await home.sync(cloud.sync, { create: true })
  assert.equal(await getData(home), before)
  assert.equal(await getData(cloud), before)
})

test('a cloud restored from a backup removes nothing from the gateway', async () => {
  const clock = fakeClock()
  const { home, cloud, sync } = await openPair(clock)
  const { id } = await home.api.keys.create({ name: 'phone' })
  await home.api.aliases.set({ alias: 'gone', model: 'acme/x' })
  await sync()
  const old = await copyStorage(cloud.storage)
  await home.api.keys.update(id, { isActive: false })
  await home.api.aliases.delete('gone')
  await cloud.api.aliases.set({ alias: 'new', model: 'acme/y' })
  await sync()
  const before = await getData(home)
  const again = openProxy({ storage: old, clock })
  assert.equal((await home.sync(again.sync)).conflicts, [])
  assert.equal(await getData(home), before)
  assert.equal(await getData(again), before)
})

test('a gateway restored from a backup gets later changes, and keeps changes made since the restore', async () => {
  const clock = fakeClock()
  const { home, cloud, sync } = await openPair(clock)
  const { id } = await home.api.keys.create({ name: 'phone' })
  await home.api.aliases.set({ alias: 'a', model: 'acme/1' })
  await sync()
  const old = await copyStorage(home.storage)
  for (const model of ['acme/2', 'acme/3']) {
    await home.api.aliases.set({ alias: 'a', model })
    await sync()
  }
  await home.api.keys.update(id, { isActive: false })
  await sync()
  const again = openHome({ storage: old, clock })
  await again.api.aliases.set({ alias: 'a', model: 'acme/4' })
  const { conflicts } = await again.sync(cloud.sync)
  assert.equal(listKept(conflicts), [{ collection: 'aliases', id: 'a', kept: 'gateway' }])
  assert.equal((await cloud.api.aliases.list()).aliases, { a: 'acme/4' })
  assert.is((await again.api.keys.get(id)).key.isActive, false)
  assert.equal(await getData(cloud), await getData(again))
})

async function copyStorage(storage: Storage): Promise<Storage> {
  const copy = memoryStorage()
  for (const { key, value } of await storage.list('')) await copy.set(key, value)
  return copy
}

test("an unreadable record is reported, and isn't deleted on the other side", async () => {
  const clock = fakeClock()
  const { home, cloud } = await openPair(clock)
  await home.api.combos.create({ name: 'fast', models: ['acme/x'] })
  await home.sync(cloud.sync)
  await home.storage.set('combos/fast', '{')
  const again = openHome({ storage: home.storage, clock })
  const { rejected } = await again.sync(cloud.sync)
  assert.equal(
    rejected.map(({ collection, code }) => [collection, code]),
    [['combos', 'INVALID']],
  )
  assert.equal((await cloud.api.combos.list()).combos.length, 1)
})

test('a record state that no operation would accept is rejected', async () => {
  const { cloud, home } = await openPair(fakeClock())
  const replica = cloud.replica((await getMirror(home.storage)) ?? '')
  const state = { collection: 'aliases', id: 'a', revision: [1, 0] } as const
  for (const record of [{ alias: 'b', model: 'x' }, { alias: 'a' }, { alias: 'a', model: 'x', more: 1 }, {}]) {
    const [verdict] = await replica.accept([{ ...state, record }])
    assert.is(typeof verdict === 'object' && verdict.code, 'INVALID', JSON.stringify(record))
  }
  const right = { ...state, record: { alias: 'a', model: 'x' } }
  assert.equal(await replica.accept([right, right]), ['taken', 'known'])
})
