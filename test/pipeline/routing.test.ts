import { assert, suite } from '../support/suite.ts'
import { routing } from './support/resolve-target.ts'
import { chatResponse } from './support/responses.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('routing')

const createConnection = (host: string, extra: object = {}) => ({ baseUrl: `http://${host}.test/v1`, ...extra })

test("a model can be requested under any of its provider's three names", async () => {
  const catalog = {
    vendor: { baseUrl: 'http://vendor.test/v1', alias: 'v', catalogAlias: 'filed' },
    plain: { baseUrl: 'http://plain.test/v1' },
  }
  const { asked } = await routing({ catalog, connections: ['vendor', 'plain'] })
  for (const model of ['v/m', 'filed/m', 'vendor/m']) assert.is(await asked(model), 'vendor/m')
  assert.is(await asked('plain/m'), 'plain/m')
  const { asked: prefixed } = await routing({
    catalog,
    connections: [{ provider: 'vendor', providerSpecificData: { prefix: ' work ' } }],
  })
  for (const model of ['work/m', 'filed/m', 'vendor/m']) assert.is(await prefixed(model), 'vendor/m')
  assert.match(await prefixed('v/m'), /^404 /, "the prefix replaces the provider's alias")
})

test('model IDs can contain slashes, and the longest matching provider name wins', async () => {
  const { asked } = await routing({
    connections: [
      { provider: 'one', providerSpecificData: createConnection('one') },
      { provider: 'two', providerSpecificData: createConnection('two', { prefix: 'one/team' }) },
      { provider: 'three', providerSpecificData: createConnection('three', { prefix: 'größe/模型' }) },
    ],
  })
  assert.is(await asked('one/vendor/m'), 'one/vendor/m')
  assert.is(await asked('one/team/m'), 'two/m')
  assert.is(await asked('one/team/x/m'), 'two/x/m')
  assert.is(await asked('one/teams/m'), 'one/teams/m')
  assert.is(await asked('one//m'), 'one//m')
  assert.is(await asked('größe/模型/😀'), 'three/😀')
  assert.match(await asked('one/'), /^404 /)
  assert.match(await asked('/one/m'), /^404 /)
  assert.match(await asked('one'), /^404 /)
  assert.match(await asked('ONE/m'), /^404 /)
})

test("a provider's connections are used by priority, then by age, and never while inactive", async () => {
  const connection = (host: string, extra: object) => ({
    provider: 'one',
    providerSpecificData: createConnection(host),
    ...extra,
  })
  const failing = fakeUpstream(() => json({ error: { message: 'no' } }, 500))
  const order = await openWorld({
    fetch: failing,
    limits: { maxAttempts: 9 },
    connections: [
      connection('old', {}),
      connection('late', { priority: 7 }),
      connection('off', { priority: 0, isActive: false }),
      connection('first', { priority: -1 }),
      connection('young', {}),
    ],
  })
  const response = await order.chat({})
  assert.is(response.status, 500)
  assert.equal(failing.providers, ['first', 'late', 'old', 'young'])
})

test('an alias can point to a model, another alias, or a combo', async () => {
  const { asked } = await routing({
    aliases: {
      fast: 'one/m',
      faster: 'fast',
      fastest: 'faster',
      team: 'group',
      'with/slash': 'two/m',
      'one/m2': 'three/x',
    },
    combos: { group: ['three/m', 'one/m'] },
  })
  for (const alias of ['fast', 'faster', 'fastest']) assert.is(await asked(alias), 'one/m')
  assert.is(await asked('team'), 'three/m')
  assert.is(await asked('with/slash'), 'two/m')
  assert.is(await asked('one/m2'), 'three/x', 'an alias takes precedence over a provider')
})

test('a combo takes precedence over an alias with the same name', async () => {
  const { asked } = await routing({ aliases: { both: 'one/m' }, combos: { both: ['two/m'] } })
  assert.is(await asked('both'), 'two/m')
})

test('names with arbitrary characters appear percent-encoded in the headers', async () => {
  const { world } = await routing({
    connections: [{ provider: 'one', providerSpecificData: createConnection('one', { prefix: 'größe, x' }) }],
  })
  const response = await world.chat({ model: 'größe, x/模 型=1' })
  assert.is(response.headers.get('x-signalbox-target'), 'one/%E6%A8%A1%20%E5%9E%8B=1')
  assert.is(response.headers.get('x-signalbox-attempts'), 'one/%E6%A8%A1%20%E5%9E%8B=1=200')
})

test('very long names are truncated in the headers', async () => {
  const { world } = await routing()
  const response = await world.chat({ model: `one/${'模'.repeat(990)}` })
  assert.is(response.status, 200)
  assert.ok([...response.headers].join('').length < 8_000)
})

test('the headers list each attempt in order, and the target that responded', async () => {
  const upstream = fakeUpstream(({ provider }) =>
    provider === 'three' ? json(chatResponse()) : json({}, provider === 'one' ? 503 : 401),
  )
  const world = await openWorld({ fetch: upstream, combos: { chain: ['one/m', 'two/m', 'three/m'] } })
  const response = await world.chat({ model: 'chain' })
  assert.is(response.headers.get('x-signalbox-target'), 'three/m')
  assert.is(
    response.headers.get('x-signalbox-attempts'),
    'one/m=503:server;via=chain:fallback, two/m=401:credentials, three/m=200',
  )
})

test('if two connections share a name, the one with a priority is used first, even with different providers', async () => {
  const { asked } = await routing({
    connections: [
      { provider: 'two', providerSpecificData: createConnection('two', { prefix: 'shared' }) },
      {
        provider: 'one',
        priority: 1,
        providerSpecificData: createConnection('one', { prefix: 'shared', sharesPrefix: true }),
      },
    ],
  })
  assert.is(await asked('shared/m'), 'one/m')
})
