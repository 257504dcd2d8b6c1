import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Identity } from '../../src/request/identity.ts'
import type { DataTags } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, type Respond } from '../pipeline/support/upstream.ts'
import { catalog } from '../pipeline/support/world.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('data policies of callers')

const respondEither: Respond = () => json(chatResponse())

async function readError(response: Response) {
  const { error } = (await response.json()) as { error: { message: string; code?: string } }
  return { status: response.status, code: error.code, message: error.message }
}

async function openApp(identity?: Omit<Identity, 'account'>) {
  const clock = fakeClock()
  const upstream = fakeUpstream(respondEither)
  const gateway = createGateway({
    storage: memoryStorage({ clock }),
    clock,
    fetch: upstream,
    catalog,
    logger: false,
    ...(identity && { identify: () => ({ account: 'alice', ...identity }) }),
  })
  const { api } = gateway
  const tags: Record<string, DataTags> = {
    one: { zdr: true },
    two: { zdr: true, region: 'eu' },
    three: { zdr: true, region: 'eu', training: false, tier: 'a' },
  }
  for (const provider of ['claude', 'one', 'two', 'three'])
    await api.connections.create({
      provider,
      apiKey: `secret-of-${provider}`,
      ...(tags[provider] && { tags: tags[provider] }),
    })
  await api.combos.create({ name: 'pool', models: ['claude/c', 'one/m', 'two/m', 'three/m'] })
  const send = (headers: Record<string, string> = {}) =>
    gateway.fetch('http://app.test/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'pool', messages: [] }),
    })
  return { gateway, api, upstream, send }
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

test('the policies of a key, its group, and the request header are combined', async () => {
  const { api, upstream, send } = await openApp()
  const { id: group } = await api.groups.create({ name: 'team', require: { region: 'eu' } })
  const { key, id } = await api.keys.create({ name: 'app', require: { zdr: true } })
  assert.is((await send(bearer(key))).status, 200)
  await api.keys.update(id, { group })
  assert.is((await send(bearer(key))).status, 200)
  assert.is((await send({ ...bearer(key), 'x-signalbox-require': 'tier=a' })).status, 200)
  assert.equal(upstream.providers, ['one', 'two', 'three'])
  const unmet = await readError(await send({ ...bearer(key), 'x-signalbox-require': 'zdr=false' }))
  assert.equal([unmet.status, unmet.code], [403, 'no_compliant_target'])
  await api.groups.update(group, { require: { region: 'us' } })
  const { message } = await readError(await send(bearer(key)))
  assert.match(message, 'the group "team" requires "region=us"')
  await api.groups.update(group, { require: null })
  await api.keys.update(id, { require: null })
  assert.is((await send(bearer(key))).status, 200)
  assert.ok(upstream.providers.includes('claude'))
})

test('the policies of an identity, its plan, its key, and the request header are combined', async () => {
  const { api, upstream, send } = await openApp({ require: { zdr: true }, plan: 'pro' })
  const { id: plan } = await api.groups.create({ name: 'pro' })
  assert.is((await send()).status, 200)
  await api.groups.update(plan, { require: { region: 'eu' } })
  assert.is((await send()).status, 200)
  assert.equal(upstream.providers, ['one', 'two'])
  const { key } = await api.keys.create({ name: 'own', account: 'alice', require: { training: false } })
  assert.is((await send(bearer(key))).status, 200)
  assert.is(upstream.providers.at(-1), 'three')
  const { message } = await readError(await send({ 'x-signalbox-require': 'region=us' }))
  assert.match(message, 'requires "region=us"')
  await api.groups.update(plan, { require: { region: 'moon' } })
  const { status, message: output } = await readError(await send())
  assert.equal([status, upstream.calls.length], [403, 3])
  assert.match(output, 'your account requires "region=moon"')
})

test("a request through as() follows its identity's policy", async () => {
  const { gateway, upstream } = await openApp()
  const response = await gateway
    .as({ account: 'bob', require: { region: 'eu' } })
    .fetch('http://app.test/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'pool', messages: [] }),
    })
  assert.is(response.status, 200)
  assert.equal(upstream.providers, ['two'])
})

test('a key restricted only by a data policy may send fields that other restricted keys may not', async () => {
  const { api, gateway, upstream } = await openApp()
  const { key } = await api.keys.create({ name: 'app', require: { zdr: true } })
  const response = await gateway.fetch('http://app.test/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer(key) },
    body: JSON.stringify({ model: 'one/m', messages: [], models: ['other'] }),
  })
  assert.equal([response.status, upstream.providers], [200, ['one']])
})

test("explain lists each target's unmet tag, and the error if no target complies", async () => {
  const { api, upstream } = await openApp()
  const { id: keyId } = await api.keys.create({ name: 'app', require: { region: 'eu' } })
  const { targets } = await api.explain({ model: 'pool', keyId, headers: { 'X-Signalbox-Require': 'training=false' } })
  assert.equal(
    targets.map(({ provider, use }) => [provider, use]),
    [
      ['claude', 'skipped'],
      ['one', 'skipped'],
      ['two', 'skipped'],
      ['three', 'first'],
    ],
  )
  assert.match(targets[1]?.why ?? '', 'the API key "app" requires "region=eu"')
  assert.match(targets[2]?.why ?? '', 'the header "x-signalbox-require" requires "training=false"')
  const { error } = await api.explain({ model: 'pool', keyId, headers: { 'x-signalbox-require': 'hipaa' } })
  assert.equal([error?.status, error?.code], [403, 'NO_COMPLIANT_TARGET'])
  await api.combos.create({ name: 'eu', models: [{ model: 'one/m', where: { region: 'eu' } }, 'two/m'] })
  const entries = (await api.explain({ model: 'eu' })).targets
  assert.match(entries[0]?.why ?? '', '"where" of "one/m" in "eu" requires "region=eu"')
  assert.is(upstream.calls.length, 0)
})

test('connections and combos defined in code can have tags and "where"', async () => {
  const upstream = fakeUpstream(respondEither)
  const { fetch } = createGateway({
    storage: memoryStorage(),
    fetch: upstream,
    catalog,
    logger: false,
    connections: { one: { apiKey: 'a' }, two: { apiKey: 'b', tags: { region: 'eu' } } },
    combos: { pool: ['one/m', { model: 'two/m', where: { region: 'eu' } }] },
  })
  const response = await fetch('http://app.test/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-signalbox-require': 'region=eu' },
    body: JSON.stringify({ model: 'pool', messages: [] }),
  })
  assert.equal([response.status, upstream.providers], [200, ['two']])
})

for (const [config, message] of [
  [{ connections: { one: { tags: { zdr: 1 } } } }, /connections\.one\.tags\.zdr must be true, false, or 1 to 64/],
  [
    { connections: { one: { tags: { 'a b': true } } } },
    /connections\.one\.tags has an invalid field name: each must be 1 to 64 letters/,
  ],
  [
    { combos: { pool: [{ model: 'one/m', where: { zdr: [] } }] } },
    /combos\.pool\.models\[0\]\.where\.zdr must be true/,
  ],
] as const)
  test(`a gateway with ${JSON.stringify(config)} throws an error that mentions the invalid field`, () => {
    const wrong = config as unknown as object
    assert.throws(() => createGateway({ storage: memoryStorage(), catalog, logger: false, ...wrong }), message)
  })

test("a program with write access to the storage can't remove the policy of a key or a group", async () => {
  const clock = fakeClock()
  const storage = memoryStorage({ clock })
  const gateway = createGateway({ storage, clock, fetch: fakeUpstream(respondEither), catalog, logger: false })
  await gateway.api.connections.create({ provider: 'one', apiKey: 'secret-of-one' })
  const { id: group } = await gateway.api.groups.create({ name: 'team', require: { zdr: true } })
  const keys = [
    await gateway.api.keys.create({ name: 'own', require: { zdr: true } }),
    await gateway.api.keys.create({ name: 'of the team', group }),
  ]
  const getStatus = async (key: string) => {
    const response = await gateway.fetch('http://app.test/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer(key) },
      body: JSON.stringify({ model: 'one/m', messages: [] }),
    })
    return response.status
  }
  for (const { key } of keys) assert.is(await getStatus(key), 403)
  for (const { key: location, value } of await storage.list('')) {
    if (!/require/.test(value)) continue
    const { require: _, ...record } = JSON.parse(value).record ?? JSON.parse(value)
    const full = JSON.parse(value)
    await storage.set(location, JSON.stringify(full.record ? { ...full, record } : record))
  }
  await clock.advance(60_000)
  for (const { key } of keys) assert.is(await getStatus(key), 500)
})

test("a route function sees the tags of candidates, but can't bypass a request's policy", async () => {
  const upstream = fakeUpstream(respondEither)
  const seen: unknown[] = []
  let chosen: string | string[] = 'one/m'
  const { fetch } = createGateway({
    storage: memoryStorage(),
    fetch: upstream,
    catalog,
    logger: false,
    connections: { one: { apiKey: 'a' }, two: { apiKey: 'b', tags: { region: 'eu' } } },
    route: (_, { candidates }) => {
      seen.push(candidates('two/m')[0]?.tags)
      return chosen
    },
  })
  const send = (headers: Record<string, string>) =>
    fetch('http://app.test/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'two/m', messages: [] }),
    })
  const eu = { 'x-signalbox-require': 'region=eu' }
  assert.is((await send({})).status, 200)
  assert.equal([(await readError(await send(eu))).code, upstream.providers], ['no_compliant_target', ['one']])
  chosen = ['one/m', 'two/m']
  assert.is((await send(eu)).status, 200)
  assert.equal([upstream.providers, seen[0]], [['one', 'two'], { region: 'eu' }])
})
