import { assert, suite } from '../support/suite.ts'
import { CLOUD_URL, openOverMsw } from './support/over-msw.ts'

const test = suite('groups of keys in a replica')

test('groups and key permissions match on both sides, regardless of which side changed them', async () => {
  const ends = openOverMsw()
  const { api } = ends.home
  const limits = { usd: { day: 5 }, parallel: 2 }
  await api.groups.put({ id: 'team', name: 'Team', limits, models: ['one/*'] })
  const { id } = await api.keys.create({ name: 'app', group: 'team', limits, expiresAt: '2040-01-01T00:00:00Z' })
  await api.settings.update({ cloudUrl: CLOUD_URL })
  await api.cloud.enable()
  const cloud = (await ends.tenant()).api
  const readBoth = async () => {
    assert.equal((await api.cloud.sync()).conflicts, [])
    const [first, second] = [await api.groups.list(), await cloud.groups.list()]
    assert.equal(first, second)
    const [key, mirrored] = [(await api.keys.get(id)).key, (await cloud.keys.get(id)).key]
    const output = ({ group, limits, models, expiresAt }: typeof key) => ({ group, limits, models, expiresAt })
    assert.equal(output(key), output(mirrored))
    return { groups: first.groups, key }
  }
  const first = await readBoth()
  assert.equal(first.groups[0]?.limits, limits)
  assert.equal([first.key.group, first.key.limits, first.groups[0]?.error], ['team', limits, undefined])
  await cloud.groups.update('team', { isActive: false, limits: null })
  await cloud.keys.update(id, { limits: { parallel: 1 } })
  const second = await readBoth()
  assert.equal(
    [second.groups[0]?.isActive, second.groups[0]?.limits, second.key.limits],
    [false, undefined, { parallel: 1 }],
  )
  await api.keys.update(id, { group: null, limits: null, expiresAt: null })
  await api.groups.delete('team')
  assert.equal((await readBoth()).groups, [])
  await ends.close()
})
