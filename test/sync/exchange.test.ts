import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { getData, openPair } from './support/pair.ts'

const test = suite('a sync between gateway and cloud')

test('a sync transfers every collection, and each later change on either side', async () => {
  const { home, cloud, sync } = await openPair(fakeClock())
  const { id } = await home.api.keys.create({ name: 'phone' })
  await home.api.settings.update({ requireApiKey: true })
  await home.api.connections.create({ provider: 'acme', apiKey: 'secret-of-acme', priority: 1 })
  const combo = await home.api.combos.create({ name: 'fast', models: ['acme/a'] })
  await home.api.customModels.create({ id: 'x', providerAlias: 'acme' })
  await home.api.aliases.set({ alias: 'short', model: 'acme/x' })
  await home.api.providers.update('acme', { strategy: 'round-robin', stickyLimit: 3 })
  assert.equal(await sync(), { conflicts: [], rejected: [] })
  assert.equal(await getData(cloud), await getData(home))
  await cloud.api.keys.update(id, { isActive: false })
  await home.api.combos.update(combo.id, { name: 'faster' })
  await cloud.api.aliases.delete('short')
  assert.equal(await sync(), { conflicts: [], rejected: [] })
  assert.equal(await getData(cloud), await getData(home))
  assert.is((await home.api.keys.get(id)).key.isActive, false)
  assert.equal(
    (await cloud.api.combos.list()).combos.map(({ name }) => name),
    ['faster'],
  )
  assert.equal((await home.api.aliases.list()).aliases, {})
})
