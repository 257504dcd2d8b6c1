import { assert, suite } from '../support/suite.ts'
import { CLOUD_URL, openOverMsw } from './support/over-msw.ts'

const test = suite('data policies in a replica')

test('tags of connections and required tags of keys and groups match on both sides', async () => {
  const ends = openOverMsw()
  const { api } = ends.home
  const connection = await api.connections.create({ provider: 'openai', apiKey: 'sk-0123456789', tags: { zdr: true } })
  const group = await api.groups.create({ name: 'team', require: { region: 'eu' } })
  const { id } = await api.keys.create({ name: 'app', require: { zdr: true } })
  await api.settings.update({ cloudUrl: CLOUD_URL })
  await api.cloud.enable()
  const cloud = (await ends.tenant()).api
  const list = async ({ connections, groups, keys }: Pick<typeof api, 'connections' | 'groups' | 'keys'>) => [
    (await connections.get(connection.id)).tags,
    (await groups.get(group.id)).require,
    (await keys.get(id)).key.require,
  ]
  const readBoth = async () => {
    assert.equal((await api.cloud.sync()).conflicts, [])
    return [await list(api), await list(cloud)]
  }
  assert.equal(await readBoth(), Array(2).fill([{ zdr: true }, { region: 'eu' }, { zdr: true }]))
  await cloud.connections.update(connection.id, { tags: { zdr: true, region: 'eu' } })
  await api.groups.update(group.id, { require: null })
  await cloud.keys.update(id, { require: { training: false } })
  assert.equal(await readBoth(), Array(2).fill([{ zdr: true, region: 'eu' }, undefined, { training: false }]))
  await ends.close()
})
