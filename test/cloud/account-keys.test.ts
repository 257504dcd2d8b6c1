import { assert, suite } from '../support/suite.ts'
import { CLOUD_URL, openOverMsw } from './support/over-msw.ts'

const test = suite('account keys on a gateway with a cloud proxy')

test("account keys aren't synced, and the proxy drops a key that starts acting for accounts", async () => {
  const ends = openOverMsw()
  const { api } = ends.home
  const plain = await api.keys.create({ name: 'plain' })
  const own = await api.keys.create({ name: 'of alice', account: 'alice@example.com' })
  const host = await api.keys.create({ name: 'host', actsFor: {} })
  await api.settings.update({ cloudUrl: CLOUD_URL })
  await api.cloud.enable()
  const cloud = (await ends.tenant()).api
  const listNames = async () => {
    assert.equal((await api.cloud.sync()).conflicts, [])
    return (await cloud.keys.list()).keys.map(({ name }) => name)
  }
  assert.equal(await listNames(), ['plain'])
  await api.keys.update(plain.id, { actsFor: {} })
  assert.equal(await listNames(), [])
  assert.equal((await api.keys.list()).keys.map(({ id }) => id).sort(), [plain.id, own.id, host.id].sort())
  const sent = JSON.stringify(ends.recorded)
  for (const secret of ['alice@example.com', own.key, own.id, host.key, host.id]) assert.not.ok(sent.includes(secret))
  await ends.close()
})
