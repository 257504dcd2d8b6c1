import { HttpResponse, http } from 'msw'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { assert, suite } from '../support/suite.ts'
import { upstream } from '../support/upstream.ts'
import { dyingStorage } from './support/failing-storage.ts'
import { CLOUD, openBothEnds } from './support/gateway-and-proxy.ts'

const test = suite('cloud actions on both sides')

/** Creates a mocked provider for the cloud. */
const provider = () =>
  upstream(
    http.post('https://api.openai.com/v1/chat/completions', ({ request }) =>
      HttpResponse.json({
        id: 'one',
        object: 'chat.completion',
        model: 'gpt-4o',
        choices: [
          {
            index: 0,
            finish_reason: 'stop',
            message: { role: 'assistant', content: `with ${request.headers.get('authorization')?.slice(-4)}` },
          },
        ],
      }),
    ),
  )

test("the cloud serves clients with the key created by enable, through the gateway's connection", async () => {
  const { enable, api, far, atCloud } = openBothEnds({ cloud: { fetch: provider() } })
  await api.connections.create({ provider: 'openai', apiKey: 'sk-test-0123456789-abcd' })
  const { verified, verifyError, createdKey } = await enable()
  assert.equal([verified, verifyError], [true, undefined])
  const response = await far.proxy.fetch(
    new Request(`${CLOUD}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${createdKey?.key}` },
      body: JSON.stringify({ model: 'openai/gpt-4o', messages: [{ role: 'user', content: 'Hello' }] }),
    }),
  )
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] }
  assert.is(choices[0]?.message.content, 'with abcd')
  await api.cloud.disable()
  assert.is(await atCloud(createdKey?.key ?? ''), 401)
})

test('a sync transfers changes from both sides, including the values of keys created at the cloud', async () => {
  const { enable, api, tenant, atCloud } = openBothEnds()
  const mine = await api.keys.create({ name: 'mine' })
  await enable()
  const cloud = await tenant()
  const created = await cloud.keys.create({ name: 'made there' })
  await cloud.aliases.set({ alias: 'far', model: 'one/a' })
  await api.keys.update(mine.id, { isActive: false })
  assert.equal(await api.cloud.sync(), { success: true, conflicts: [] })
  assert.is(await atCloud(mine.key), 403)
  assert.is((await api.keys.get(created.id)).key.key, created.key)
  assert.equal((await api.aliases.list()).aliases, { far: 'one/a' })
  assert.is(await atCloud(created.key), 200)
})

test('a sync reports conflicting changes, and the report survives a restart', async () => {
  const { enable, api, tenant, start, expect } = openBothEnds()
  const { id } = await api.combos.create({ name: 'fast', models: ['one/a'] })
  await enable()
  await (await tenant()).combos.update(id, { models: ['one/cloud'] })
  await api.combos.update(id, { models: ['one/home'] })
  const { conflicts } = await api.cloud.sync()
  const [conflict] = conflicts
  assert.equal([conflict?.collection, conflict?.id, conflict?.kept], ['combos', id, 'gateway'])
  assert.equal((await expect(200, 'GET', '/api/sync/cloud')) as unknown as object, { ...(await api.cloud.get()) })
  assert.equal((await start().gateway.api.cloud.get()).conflicts, conflicts)
  assert.equal((await (await tenant()).combos.get(id)).models, ['one/home'])
})

test("enabling cloud sync with another gateway's key returns a 409 that says so", async () => {
  const one = openBothEnds()
  const { key } = await one.api.keys.create({ name: 'shared' })
  await one.enable()
  const other = one.start({ storage: memoryStorage() })
  await other.gateway.api.keys.put({ name: 'stolen', key })
  await other.gateway.api.settings.update({ cloudUrl: CLOUD })
  const { status, body } = await other.call('POST', '/api/sync/cloud', { action: 'enable' })
  assert.is(status, 409)
  assert.match(body.error, /of keys is not synced: /)
  assert.is(await one.atCloud(key), 200)
})

test('a proxy that lost its storage or was restored from an old backup deletes nothing on the gateway', async () => {
  const storage = memoryStorage()
  const { enable, api, tenant, far, call, atCloud } = openBothEnds({ cloud: { storage } })
  const { key, id } = await api.keys.create({ name: 'mine' })
  await enable()
  const copy = await storage.list('')
  await api.keys.update(id, { name: 'renamed' })
  await api.aliases.set({ alias: 'new', model: 'one/a' })
  await api.cloud.sync()

  for (const isLost of [false, true]) {
    for (const { key: name } of await storage.list('')) await storage.delete(name)
    if (!isLost) for (const { key: name, value } of copy) await storage.set(name, value)
    far.restart()
    const { status } = await call('POST', '/api/sync/cloud', { action: 'sync' })
    if (isLost) assert.is(status, 502)
    assert.is((await call('POST', '/api/sync/cloud', { action: 'enable' })).status, 200)
    assert.equal((await api.aliases.list()).aliases, { new: 'one/a' })
    assert.is((await api.keys.get(id)).key.name, 'renamed')
    assert.equal((await (await tenant()).aliases.list()).aliases, { new: 'one/a' })
    assert.is((await (await tenant()).keys.get(id)).key.name, 'renamed')
    assert.is(await atCloud(key), 200)
  }
})

test('the proxy still recognizes the gateway after a secret was set for its storage', async () => {
  const { ownSecret: _, ...storage } = memoryStorage()
  const { enable, start, far, api } = openBothEnds({ home: { storage, logger: false } })
  await api.keys.create({ name: 'mine' })
  await enable()
  const sealed = start({ secret: 'a-secret-of-more-than-thirty-two-characters', cloud: {} })
  const { success } = await sealed.gateway.api.cloud.sync()
  assert.is(success, true)
  assert.is((await far.proxy.tenants.list()).tenants.length, 1)
})

for (const action of ['enable', 'sync', 'disable'] as const) {
  for (const when of ['before', 'after'] as const) {
    test(`"${action}" succeeds when retried after the proxy was killed ${when} any one of its writes`, async () => {
      let writes = 0
      for (let wasKilled = true; wasKilled; ) {
        const write = ++writes
        const storage = dyingStorage(memoryStorage())
        const { api, call, enable, tenant, far, atCloud } = openBothEnds({ cloud: { storage } })
        const { key, id } = await api.keys.create({ name: 'mine' })
        await api.settings.update({ cloudUrl: CLOUD })
        if (action !== 'enable') {
          await enable()
          await api.keys.update(id, { isActive: false })
          await (await tenant()).aliases.set({ alias: 'far', model: 'one/a' })
        }
        storage.dieAt(write, when)
        const first = await call('POST', '/api/sync/cloud', { action })
        wasKilled = storage.revive()
        far.restart()
        const location = `write ${write}: ${JSON.stringify(first.body)}`
        if (first.status !== 200) {
          assert.is(first.status, 502, location)
          const again = await call('POST', '/api/sync/cloud', { action })
          assert.is(again.status, 200, `${location} again: ${JSON.stringify(again.body)}`)
        }
        assert.is((await api.settings.get()).cloudEnabled, action !== 'disable', location)
        assert.is((await api.keys.list()).keys.length, 1, location)
        const expected = { enable: 200, sync: 403, disable: 401 }[action]
        assert.is(await atCloud(key), expected, location)
        if (action !== 'enable') assert.equal((await api.aliases.list()).aliases, { far: 'one/a' }, location)
      }
      assert.ok(writes > 4, `${writes} writes`)
    })
  }
}
