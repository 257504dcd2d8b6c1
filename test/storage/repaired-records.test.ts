import { isGatewayError } from '../../src/errors.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld, token } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { damageStore, type Envelope, fillStore, kinds } from './support/damaged-store.ts'

const repairs = suite('repairing damaged records')

/** Opens a gateway on a storage with a damaged record, and its management API over HTTP. */
async function openManaged(prefix: keyof typeof kinds, how: (text: string) => string) {
  const { storage, key } = await fillStore()
  const location = await damageStore(storage, prefix, how)
  const world = await openWorld({ storage, connections: [], fetch: fakeUpstream(() => json(chatResponse())) })
  const manage = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const response = await world.gateway.fetch(new Request(`http://gateway/api/health${path}`, init))
    return { status: response.status, body: await response.json() }
  }
  return { ...world, storage, key, where: location, path: `/records/${encodeURIComponent(location)}`, manage }
}

const changed = (change: object) => (text: string) => {
  const envelope: Envelope = JSON.parse(text)
  return JSON.stringify({ ...envelope, record: { ...envelope.record, ...change } })
}

for (const prefix of Object.keys(kinds) as Array<keyof typeof kinds>) {
  repairs(
    `a damaged record in ${prefix} is listed, shown, and removable, and an invalid repair is rejected`,
    async () => {
      const { storage, where, path, manage } = await openManaged(prefix, () => '{"order":7,"record":{}}')
      const before = await manage('GET', '')
      assert.equal(
        before.body.damaged.map((item: { key: string }) => item.key),
        [where],
      )
      assert.match(before.body.damaged[0].problem, /, so it is skipped$/)
      const shown = await manage('GET', path)
      assert.equal(shown.body, { ...before.body.damaged[0], stored: '{"order":7,"record":{}}', record: {} })
      const rejected = await manage('PUT', path, { record: { some: 'thing' } })
      assert.is(rejected.status, 400)
      assert.match(rejected.body.error, /^The record you sent .*skipped/)
      assert.is((await storage.get(where))?.value, '{"order":7,"record":{}}')
      assert.equal((await manage('DELETE', path)).body, { success: true })
      assert.equal((await manage('GET', '')).body.damaged, [])
      assert.is((await manage('GET', path)).status, 404)
      assert.is(await storage.get(where), undefined)
    },
  )
}

repairs('a record is no longer listed as damaged once its fields are repaired', async () => {
  const { path, manage, api } = await openManaged('combos/', changed({ kind: null, strategy: 'odd' }))
  const { body } = await manage('GET', path)
  assert.match(
    body.problem,
    /"kind" is null and is read as "llm"; "strategy" is an invalid string and is read as "fallback"/,
  )
  const record = { ...body.record, kind: 'image', strategy: 'random' }
  assert.equal((await manage('PUT', path, { record })).body, { success: true })
  assert.equal((await manage('GET', '')).body.damaged, [])
  const combo = (await api.combos.list()).combos.find(({ name }) => name === 'hurt')
  assert.equal([combo?.kind, combo?.strategy], ['image', 'random'])
})

repairs('a repaired key is signed again', async () => {
  const { path, manage, api } = await openManaged('keys/', changed({ id: null }))
  const { body } = await manage('GET', path)
  assert.is((await manage('PUT', path, { record: { ...body.record, id: 'mended', isActive: false } })).status, 200)
  const repaired = (await api.keys.list()).keys.find(({ id }) => id === 'mended')
  assert.is(repaired?.isActive, false)
  assert.match(repaired?.error ?? '', /cannot be decrypted/) // it was encrypted for the lost ID
})

repairs('the repair API returns 404 for an intact record, and leaves it unchanged', async () => {
  const { storage, manage } = await openManaged('combos/', (text) => text)
  const path = '/records/combos%2Fgood'
  for (const [method, body] of [['GET'], ['PUT', { record: {} }], ['DELETE']] as const)
    assert.is((await manage(method, path, body)).status, 404)
  assert.ok(await storage.get('combos/good'))
})

repairs('unreadable settings are listed, and the error for repairing them says how to set them again', async () => {
  const { storage, manage, api, chat, key } = await openManaged('combos/', (text) => text)
  await storage.set('settings', '{"requireApiKey":')
  const { body } = await manage('GET', '')
  assert.equal(
    body.damaged.map((item: { key: string }) => item.key),
    ['settings'],
  )
  for (const [method, sent] of [['PUT', { record: {} }], ['DELETE']] as const) {
    const { status, body } = await manage(method, '/records/settings', sent)
    assert.is(status, 409)
    assert.match(body.error, /PATCH \/api\/settings with "requireApiKey"/)
  }
  await api.settings.update({ requireApiKey: true })
  assert.equal((await manage('GET', '')).body.damaged, [])
  assert.is((await chat({}, { headers: { 'x-api-key': key } })).status, 200)
})

repairs(
  'invalid settings fields are listed with the values that are used instead, until the settings are saved again',
  async () => {
    const { storage, manage, api } = await openManaged('combos/', (text) => text)
    await api.settings.update({ requireApiKey: true })
    const { mac } = JSON.parse((await storage.get('settings'))?.value ?? '')
    const odd = { requireApiKey: 'true', cloudUrl: 5, maxAttempts: 'x', timeouts: 5, health: { minCalls: 'many' } }
    await storage.set('settings', JSON.stringify({ ...odd, mac }))
    const [damaged, ...others] = (await manage('GET', '')).body.damaged
    assert.equal(others, [])
    assert.is(
      damaged.problem,
      '"requireApiKey" is an invalid string and is read as true; "cloudUrl" is a number and is read as ""; ' +
        '"maxAttempts" is an invalid string and is ignored; "timeouts" is a number and is ignored; ' +
        '"health.minCalls" is an invalid string and is ignored',
    )
    await api.settings.update({ requireApiKey: true })
    assert.equal((await manage('GET', '')).body.damaged, [])
    assert.is(JSON.parse((await storage.get('settings'))?.value ?? '').requireApiKey, true)
  },
)

repairs(
  'keys with damaged signatures and connections with damaged credentials are listed and can be removed',
  async () => {
    for (const [prefix, change, problem] of [
      ['keys/', { mac: 'cut' }, /was not written by a gateway with this secret/],
      ['keys/', { isActive: 'false', mac: undefined }, /"isActive" is an invalid string/],
      ['connections/', { sealedApiKey: 'AAAA.AAAA' }, /has a credential that cannot be decrypted/],
    ] as const) {
      const { where, path, manage } = await openManaged(prefix, changed(change))
      const { body } = await manage('GET', '')
      assert.equal(
        body.damaged.map((item: { key: string }) => item.key),
        [where],
      )
      assert.match(body.damaged[0].problem, problem)
      assert.is((await manage('GET', path)).body.problem, body.damaged[0].problem)
      assert.is((await manage('DELETE', path)).status, 200)
      assert.equal((await manage('GET', '')).body.damaged, [])
    }
  },
)

repairs('a damaged vault is listed, and no operation replaces or removes it', async () => {
  for (const text of [
    '',
    '{',
    'null',
    '{"schema":3}',
    '{"schema":2,"wrappedBy":"","salt":"","keys":"cut"}',
    undefined,
  ]) {
    const { storage } = await fillStore()
    if (text === undefined) await storage.delete('vault')
    else await storage.set('vault', text)
    const { gateway, api, chat } = await openWorld({ storage, connections: [] })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const respond = async (method: string, path: string, body?: object) => {
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
      const response = await gateway.fetch(new Request(`http://gateway/api/${path}`, init))
      return { status: response.status, body: await response.json() }
    }
    const { body } = await respond('GET', 'health')
    assert.equal(
      body.damaged.map((item: { key: string }) => item.key),
      ['vault'],
    )
    assert.is((await chat({})).status, 500)
    for (const work of [api.keys.create({ name: 'n' }), api.settings.update({ requireApiKey: false })])
      assert.ok(isGatewayError(await work.catch((error: unknown) => error), 'STORAGE_FAILED'))
    for (const [method, sent] of [['PUT', { record: {} }], ['DELETE']] as const)
      assert.ok((await respond(method, 'health/records/vault', sent)).status >= 400)
    assert.is((await storage.get('vault'))?.value, text)
  }
})
