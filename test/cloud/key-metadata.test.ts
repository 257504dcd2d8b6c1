import { assert, suite } from '../support/suite.ts'
import { CLOUD_URL, openOverMsw } from './support/over-msw.ts'

const test = suite('key metadata in a replica')

test('key metadata matches on both sides, regardless of which side changed or removed it', async () => {
  const ends = openOverMsw()
  const { api } = ends.home
  const { id } = await api.keys.create({ name: 'app', metadata: { team: 'ml' } })
  const { id: plain } = await api.keys.create({ name: 'plain' })
  await api.settings.update({ cloudUrl: CLOUD_URL })
  await api.cloud.enable()
  const cloud = (await ends.tenant()).api
  const readBoth = async (key: string) => {
    assert.equal((await api.cloud.sync()).conflicts, [])
    return [(await api.keys.get(key)).key.metadata, (await cloud.keys.get(key)).key.metadata]
  }
  assert.equal(await readBoth(id), [{ team: 'ml' }, { team: 'ml' }])
  assert.equal(await readBoth(plain), [undefined, undefined])
  await cloud.keys.update(id, { metadata: { team: 'web', since: '2026' } })
  assert.equal(await readBoth(id), Array(2).fill({ team: 'web', since: '2026' }))
  await api.keys.update(plain, { metadata: { a: 'b' } })
  await api.keys.update(id, { metadata: null })
  assert.equal([await readBoth(id), await readBoth(plain)], [[undefined, undefined], Array(2).fill({ a: 'b' })])
  const created = await cloud.keys.create({ name: 'made at the cloud', metadata: { by: 'cloud' } })
  assert.equal(created.metadata, { by: 'cloud' })
  assert.equal(await readBoth(created.id), Array(2).fill({ by: 'cloud' }))
  await ends.close()
})
