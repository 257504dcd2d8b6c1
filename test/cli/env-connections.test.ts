import { memoryStorage } from '../../adapters/storage/memory.ts'
import { withManagement } from '../../src/cli/data-folder.ts'
import { applyEnvironment } from '../../src/cli/env-connections.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('connections from the environment')

const KEY = 'sk-canary-0123456789'

function openData() {
  const data = { storage: memoryStorage(), catalog: defaultCatalog, secret: 'a secret of at least 32 characters' }
  const list = () => withManagement(data, async ({ connections }) => (await connections.list()).connections)
  const apply = (env: Record<string, string | undefined>) =>
    withManagement(data, (api) => applyEnvironment(env, api, data))
  return { data, list, apply }
}

test('connects a provider for each standard variable, with the variable in the connection name', async () => {
  const { list, apply } = openData()
  const env = {
    OPENAI_API_KEY: KEY,
    ANTHROPIC_API_KEY: ` ${KEY}\n`,
    GOOGLE_API_KEY: KEY,
    GROQ_API_KEY: '',
    PATH: '/bin',
  }
  const found = [
    { variable: 'OPENAI_API_KEY', provider: 'openai' },
    { variable: 'ANTHROPIC_API_KEY', provider: 'anthropic' },
    { variable: 'GOOGLE_API_KEY', provider: 'google' },
  ]
  assert.equal(await apply(env), found)
  const before = await list()
  assert.equal(
    before.map(({ id, provider, name, apiKey }) => [id, provider, name, apiKey]),
    found.map(({ variable, provider }) => [
      `env-${provider}`,
      provider,
      `${defaultCatalog[provider]?.name} from ${variable}`,
      '…6789',
    ]),
  )
  assert.equal(await apply(env), found)
  assert.equal(await list(), before, 'applying the same variables again changes nothing')
})

test('removes quotes around a key in a variable', async () => {
  const { data, list, apply } = openData()
  await apply({ OPENAI_API_KEY: KEY })
  const before = await list()
  for (const quoted of [`"${KEY}"`, `'${KEY}'`, ` "${KEY}" `]) {
    assert.equal(await apply({ OPENAI_API_KEY: quoted }), [{ variable: 'OPENAI_API_KEY', provider: 'openai' }])
    assert.equal(await list(), before, 'the quotes are not part of the key')
  }
  const [empty] = await apply({ OPENAI_API_KEY: '""' })
  assert.is(empty?.problem, 'it is not set')
  await withManagement(data, async ({ connections }) => {
    for (const apiKey of [`"${KEY}"`, `'${KEY}'`])
      await connections.create({ provider: 'openai', apiKey }).then(
        () => assert.unreachable(),
        (error: unknown) => assert.match(String(error), '"apiKey" is in quotes, which would be sent as part of it'),
      )
  })
})

test('every standard variable belongs to a built-in provider', async () => {
  const { apply } = openData()
  const any = new Proxy({}, { get: (_, name) => (String(name).endsWith('_API_KEY') ? KEY : undefined) })
  const found = await apply(any)
  assert.ok(found.length > 10)
  for (const { provider, problem } of found) assert.equal([provider in defaultCatalog, problem], [true, undefined])
})

test("a changed variable updates its connection's key, and a missing one removes the connection", async () => {
  const { list, apply } = openData()
  await apply({ GEMINI_API_KEY: KEY, OPENAI_API_KEY: KEY })
  await apply({ GOOGLE_API_KEY: 'AIza-other-0123456789', OPENAI_API_KEY: KEY })
  const [, google] = (await list()).sort((a, b) => (a.provider > b.provider ? -1 : 1))
  assert.equal(
    [google?.id, google?.name, google?.apiKey],
    ['env-google', `${defaultCatalog.google?.name} from GOOGLE_API_KEY`, '…6789'],
  )
  await apply({})
  assert.equal(await list(), [])
})

test("keeps the operator's changes to a connection from the environment", async () => {
  const { data, list, apply } = openData()
  await apply({ OPENAI_API_KEY: KEY })
  const change = { isActive: false, name: 'Mine', priority: 5 }
  await withManagement(data, ({ connections }) => connections.update('env-openai', change))
  await apply({ OPENAI_API_KEY: `${KEY}-2` })
  const [connection] = await list()
  assert.equal(
    [connection?.isActive, connection?.name, connection?.priority, connection?.apiKey],
    [false, 'Mine', 5, '…89-2'],
  )
})

for (const isActive of [true, false]) {
  test(`skips a provider that already has ${isActive ? 'an active' : 'a paused'} connection`, async () => {
    const { data, list, apply } = openData()
    await apply({ OPENAI_API_KEY: KEY })
    await withManagement(data, ({ connections }) => connections.create({ provider: 'openai', isActive }))
    const problem = '"openai" already has a connection'
    assert.equal(await apply({ OPENAI_API_KEY: KEY }), [{ variable: 'OPENAI_API_KEY', provider: 'openai', problem }])
    assert.equal(
      (await list()).map(({ id }) => id.startsWith('env-')),
      [false],
    )
  })
}

for (const [env, problem] of [
  [{ OPENAI_API_KEY: `sbx_${'x'.repeat(40)}` }, /^it contains a Signalbox API key$/],
  [
    { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: 'http://127.0.0.1:4000/v1' },
    /^OPENAI_BASE_URL is set, so the key is for another server$/,
  ],
  [{ OPENAI_API_KEY: 'sk with blanks' }, /must be the bare key/],
] as const) {
  test(`skips an unusable variable: ${problem.source}`, async () => {
    const { list, apply } = openData()
    await apply({ OPENAI_API_KEY: KEY })
    const [found] = await apply(env)
    assert.match(found?.problem ?? '', problem)
    assert.equal(await list(), [])
  })
}
