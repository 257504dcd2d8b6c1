import { memoryStorage } from '../../adapters/storage/memory.ts'
import { plant } from '../support/canaries.ts'
import { assert, suite } from '../support/suite.ts'
import { openBothEnds } from './support/gateway-and-proxy.ts'
import { CLOUD_URL, type OverMsw, openOverMsw, PROVIDER_KEY } from './support/over-msw.ts'

const test = suite('a gateway and a cloud proxy')

/** Opens both sides with a synced connection, key, and combo. */
async function enabled(options: Parameters<typeof openOverMsw>[0] = {}) {
  const ends = openOverMsw(options)
  const { api } = ends.home
  await api.connections.put({ id: 'openai', provider: 'openai', apiKey: PROVIDER_KEY })
  const { key, id } = await api.keys.create({ name: 'app' })
  const combo = await api.combos.create({ name: 'fast', models: ['openai/gpt-5-mini'] })
  await api.settings.update({ cloudUrl: CLOUD_URL })
  const response = await api.cloud.enable()
  assert.equal(response, { success: true, verified: true, conflicts: [] })
  return { ends, api, key, keyId: id, combo }
}

/** Returns what an operator sees on both sides, except data that isn't synced. */
async function seenAt(api: Omit<OverMsw['home']['api'], 'cloud'>) {
  const { keys } = await api.keys.list()
  const { connections } = await api.connections.list()
  const { combos } = await api.combos.list()
  return {
    keys: keys.map(({ id, name, createdAt, isActive }) => ({ id, name, createdAt, isActive })),
    connections,
    combos,
    aliases: await api.aliases.list(),
    customModels: await api.customModels.list(),
    requireApiKey: (await api.settings.get()).requireApiKey,
  }
}

async function assertEqualSides({ home, tenant }: OverMsw) {
  assert.equal(await seenAt((await tenant()).api), await seenAt(home.api))
}

test('cloud sync works from enabling through a pause and edits at the cloud to disabling', async () => {
  const { ends, api, key, keyId, combo } = await enabled()
  await assertEqualSides(ends)
  assert.is((await ends.home.fetch(`${CLOUD_URL}/health`)).status, 200)
  assert.equal(ends.provided, [], 'enabling and verifying calls no provider')

  for (const model of ['openai/gpt-5-mini', 'fast']) {
    const { status, text } = await ends.chat(key, model)
    assert.is(status, 200, text)
    assert.match(text, /"Hel"[\s\S]*"lo"[\s\S]*data: \[DONE\]/)
  }
  assert.equal(ends.provided, Array(2).fill({ by: 'cloud', authorization: `Bearer ${PROVIDER_KEY}` }))

  await api.keys.update(keyId, { isActive: false })
  await api.cloud.sync()
  assert.is((await ends.chat(key)).status, 403)
  assert.is(ends.provided.length, 2)

  const cloud = (await ends.tenant()).api
  await cloud.keys.update(keyId, { isActive: true })
  await cloud.aliases.set({ alias: 'quick', model: 'fast' })
  const created = await cloud.keys.create({ name: 'made at the cloud' })
  plant(created.key)
  assert.equal(await api.cloud.sync(), { success: true, conflicts: [] })
  assert.equal(await api.aliases.list(), { aliases: { quick: 'fast' } })
  assert.is((await api.keys.get(keyId)).key.isActive, true)
  assert.is(
    (await api.keys.get(created.id)).key.key,
    created.key,
    'the gateway has the value of a key created at the cloud',
  )
  assert.is((await cloud.keys.get(created.id)).key.key, '', 'the cloud then drops the value')
  for (const value of [key, created.key]) assert.is((await ends.chat(value, 'quick')).status, 200)
  await assertEqualSides(ends)

  await api.combos.update(combo.id, { models: ['openai/home'] })
  await cloud.combos.update(combo.id, { models: ['openai/cloud'] })
  const { conflicts } = await api.cloud.sync()
  const at = new Date(ends.homeClock.now()).toISOString()
  assert.equal(conflicts, [{ collection: 'combos', id: combo.id, kept: 'gateway', at }])
  assert.equal((await api.cloud.get()).conflicts, conflicts)
  assert.equal((await cloud.combos.get(combo.id)).models, ['openai/home'])
  await assertEqualSides(ends)

  assert.equal(await api.cloud.disable(), { success: true, conflicts: [] })
  assert.is((await api.settings.get()).cloudEnabled, false)
  assert.equal(await ends.proxy.tenants.list(), { tenants: [] })
  assert.is((await ends.chat(key)).status, 401)
  const left = (await ends.cloudStorage.list('')).map(({ key }) => key.replace(/\/.*/, ''))
  const own = ['vault', 'settings', 'challenges']
  const kept = left.filter((name) => !own.includes(name))
  assert.equal(kept, ['enrolments'], "the cloud keeps only the enrollment, and none of the gateway's data")
  await ends.close()
})

test('if one side edits a record while the other deletes it, the deletion wins', async () => {
  const { ends, api, keyId, combo } = await enabled()
  const cloud = (await ends.tenant()).api
  await api.combos.update(combo.id, { strategy: 'round-robin' })
  await cloud.combos.delete(combo.id)
  await api.keys.delete(keyId)
  await cloud.keys.update(keyId, { name: 'renamed' })
  const { conflicts } = await api.cloud.sync()
  const kept = conflicts.map(({ collection, kept }) => `${collection} ${kept}`).sort()
  assert.equal(kept, ['combos cloud', 'keys gateway'])
  assert.equal((await api.combos.list()).combos, [])
  assert.equal((await cloud.keys.list()).keys, [])
  await assertEqualSides(ends)
  await ends.close()
})

test('two combos created with the same name on both sides are merged', async () => {
  const { ends, api } = await enabled()
  const cloud = (await ends.tenant()).api
  await api.combos.create({ name: 'both', models: ['openai/home'] })
  await cloud.combos.create({ name: 'both', models: ['openai/cloud'] })
  const { conflicts } = await api.cloud.sync()
  assert.is(conflicts.length, 1)
  assert.is((await api.combos.list()).combos.filter(({ name }) => name === 'both').length, 1)
  await assertEqualSides(ends)
  assert.equal((await api.cloud.sync()).conflicts, [])
  await ends.close()
})

test('both sides continue after a restart, and changes made while the cloud was down are synced', async () => {
  const { ends, api, key, keyId } = await enabled()
  ends.setAway(true)
  await api.keys.update(keyId, { isActive: false })
  const failed = await api.cloud.sync().then(
    () => undefined,
    (error: { code?: string }) => error,
  )
  assert.is(failed?.code, 'CLOUD_FAILED')
  assert.is((await ends.chat(key)).status, 200, "the cloud can't know about the pause yet")
  ends.restart()
  ends.setAway(false)
  assert.equal(await ends.home.api.cloud.sync(), { success: true, conflicts: [] })
  assert.is((await ends.chat(key)).status, 403)
  await assertEqualSides(ends)
  await ends.close()
})

test('a key paused on the gateway is rejected at the cloud within five seconds without a manual sync', async () => {
  const { ends, api, key, keyId } = await enabled()
  await api.keys.update(keyId, { isActive: false })
  const end = ends.homeClock.now() + 5_000
  while ((await ends.chat(key)).status === 200 && ends.homeClock.now() < end) await ends.homeClock.advance(50)
  assert.is((await ends.chat(key)).status, 403)
  await ends.close()
})

test('a cloud that lost its storage deletes nothing, and enabling cloud sync again makes both sides equal', async () => {
  const { ends, api, key } = await enabled()
  for (const { key } of await ends.cloudStorage.list('')) await ends.cloudStorage.delete(key)
  ends.restart()
  const before = await seenAt(ends.home.api)
  const failed = await ends.home.api.cloud.sync().then(
    () => undefined,
    (error: { message?: string }) => error,
  )
  assert.match(failed?.message ?? '', /enable/)
  assert.equal(await seenAt(ends.home.api), before)
  assert.is((await ends.home.api.cloud.enable()).verified, true)
  assert.is((await ends.chat(key)).status, 200)
  assert.equal(await seenAt(api), before)
  await assertEqualSides(ends)
  await ends.close()
})

test('a gateway restored from a one-sync-old backup catches up on a paused key and a new key', async () => {
  const world = openBothEnds({ home: { secret: 'secret-of-the-gateway-of-forty-characters' } })
  const { api, storage, enable, start, atCloud } = world
  await enable()
  const { id, key } = await api.keys.create({ name: 'phone' })
  await api.cloud.sync()
  const old = memoryStorage()
  for (const { key: name, value } of await storage.list('')) await old.set(name, value)
  await api.keys.update(id, { isActive: false })
  const created = await api.keys.create({ name: 'made since' })
  await api.cloud.sync()
  await world.gateway.close()
  const again = start({ storage: old }).gateway.api
  assert.equal(await again.cloud.sync(), { success: true, conflicts: [] })
  assert.equal(
    [(await again.keys.get(id)).key.isActive, (await again.keys.get(created.id)).key.name],
    [false, 'made since'],
  )
  assert.equal([await atCloud(key), await atCloud(created.key)], [403, 200])
})
