import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assert, suite } from '../support/suite.ts'
import { run, started, written } from './imported.ts'

const test = suite('what a config of Portkey is here', { folder: '' })

test.before(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'signalbox-import-test-'))
})
test.after(({ folder }) => rm(folder, { recursive: true, force: true }))

const KEYS = {
  OPENAI_API_KEY: 'openai-key-1234567',
  OPENAI_API_KEY_2: 'written-key-1234567',
  OPENAI_PROD_API_KEY: 'vault-key-1234567',
  ANTHROPIC_API_KEY: 'anthropic-key-1234567',
  LAB_KEY: 'lab-key-1234567',
  BEDROCK_MAIN_API_KEY: 'id:secret-1234567',
  AWS_REGION: 'us-east-1',
}

async function imported(folder: string, config: object) {
  const path = await written(folder, '.json', JSON.stringify(config))
  const found = await started(folder, ['portkey', path], KEYS)
  const { combos } = await found.api.combos.list()
  return { ...found, combos: Object.fromEntries(combos.map((combo) => [combo.name, combo])) }
}

const openai = (model: string, more: object = {}) => ({ provider: 'openai', override_params: { model }, ...more })

test('a model of the catalog names its provider, and each of several keys stays with its targets', async ({
  folder,
}) => {
  const { said, combos, chat, down } = await imported(folder, {
    strategy: { mode: 'fallback' },
    targets: [
      { override_params: { model: '@openai-prod/gpt-5-mini' } },
      openai('gpt-a', { api_key: '{{OPENAI_API_KEY}}' }),
      openai('gpt-b', { api_key: 'sk-canary' }),
    ],
  })
  assert.not.match(said, /canary|has no provider/)
  assert.equal(combos.portkey?.models, ['openai-1/gpt-5-mini', 'openai-2/gpt-a', 'openai-3/gpt-b'])
  for (const model of ['gpt-5-mini', 'gpt-a']) down.add(model)
  assert.equal(
    (await chat('portkey')).asked.map(({ key, model }) => [key, model]),
    [
      ['vault-key-1234567', 'gpt-5-mini'],
      ['openai-key-1234567', 'gpt-a'],
      ['written-key-1234567', 'gpt-b'],
    ],
  )
})

test('a config of one provider has its attempts and its time-out', async ({ folder }) => {
  const { said, combos } = await imported(folder, { ...openai('m'), retry: { attempts: 3 }, request_timeout: 9_000 })
  assert.equal(
    [combos.portkey?.models, combos.portkey?.maxAttempts, combos.portkey?.timeouts],
    [['openai/m'], 4, { headersMs: 9_000, totalMs: 9_000 }],
  )
  assert.match(said, /the config: request_timeout -> timeouts/)
})

test('a combo tries all models below it, and time-outs of all its targets are its own', async ({ folder }) => {
  const { said, combos } = await imported(folder, {
    strategy: { mode: 'fallback', sticky_session: { ttl: 1 } },
    retry: { use_retry_after_header: true },
    targets: [
      {
        name: 'spread',
        strategy: { mode: 'loadbalance' },
        request_timeout: 5_000,
        targets: ['a', 'b', 'c'].map((m) => openai(m)),
      },
      openai('d', { request_timeout: 7_000, retry: { attempts: 2 } }),
    ],
  })
  assert.equal([combos.portkey?.maxAttempts, combos.portkey?.timeouts?.totalMs], [4, 7_000])
  assert.is(combos.spread?.timeouts?.totalMs, 5_000)
  assert.match(said, /targets\[0\] -> The attempts and time-outs of spread hold for requests that name it/)
  assert.match(said, /targets\[1\]: retry -> The next target is tried/)
  assert.match(said, /^ {2}strategy\.sticky_session -> See the strategy "sticky"/m)
  assert.match(said, /^ {2}retry\.use_retry_after_header -> /m)
})

const conditions: [what: string, query: object, whens: object[] | undefined][] = [
  ['one text', { 'metadata.plan': 'paid' }, [{ metadata: { plan: 'paid' } }]],
  [
    'two members',
    { 'metadata.a': { $eq: 1 }, 'params.model': { $in: ['x', 'y'] } },
    [{ model: ['x', 'y'], metadata: { a: '1' } }],
  ],
  [
    'one of two',
    { $or: [{ 'metadata.a': 'x' }, { 'metadata.b': 'y' }] },
    [{ metadata: { a: 'x' } }, { metadata: { b: 'y' } }],
  ],
  ['a contradiction', { $and: [{ 'metadata.a': 'x' }, { 'metadata.a': { $in: ['y'] } }] }, undefined],
  ['another test', { 'metadata.a': { $ne: 'x' } }, undefined],
  ['a path', { 'url.pathname': '/v1/embeddings' }, undefined],
  ['a star', { 'metadata.a': 'x*' }, undefined],
  ['none of several', { $or: [] }, undefined],
  ['nothing', {}, undefined],
  ['a name of objects', { 'metadata.__proto__': 'x' }, undefined],
]
for (const [what, query, whens] of conditions)
  test(`a condition of Portkey on ${what} is said here or reported`, async ({ folder }) => {
    const { said, combos } = await imported(folder, {
      strategy: {
        mode: 'conditional',
        conditions: [
          Object.fromEntries([
            ['query', query],
            ['then', 'a'],
          ]),
        ],
        default: 'b',
      },
      targets: [openai('a', { name: 'a' }), openai('b', { name: 'b' })],
    })
    assert.equal(
      JSON.stringify(combos.portkey?.models),
      JSON.stringify([...(whens ?? []).map((when) => ({ model: 'openai/a', when })), 'openai/b']),
    )
    assert.is(/conditions\[0\] -> Only \$eq and \$in/.test(said), whens === undefined)
  })

test('a config is read as the API of Portkey answers with it, and in the form of its first version', async ({
  folder,
}) => {
  const config = { strategy: { mode: 'loadbalance' }, targets: [openai('a', { weight: 3 }), openai('b')] }
  const forms = [
    { success: true, data: { name: 'mine', config } },
    { id: 1, config: JSON.stringify(config) },
    { mode: 'loadbalance', options: config.targets },
  ]
  for (const form of forms) {
    const { combos } = await imported(folder, form)
    assert.equal(combos.portkey?.models, [
      { model: 'openai/a', weight: 3 },
      { model: 'openai/b', weight: 1 },
    ])
  }
})

test('servers of the user and clouds of Portkey are asked at their addresses', async ({ folder }) => {
  const { combos, chat, said } = await imported(folder, {
    strategy: { mode: 'fallback' },
    targets: [
      openai('a', { custom_host: 'https://api.openai.com/v1', api_key: '$LAB_KEY' }),
      openai('b', { custom_host: 'http://ollama/v1/chat/completions', api_key: '{{ LAB_KEY }}' }),
      {
        provider: 'anthropic',
        custom_host: 'https://claude.test/v1',
        api_key: '${LAB_KEY}',
        override_params: { model: 'c' },
      },
      { virtual_key: 'bedrock-main', override_params: { model: 'd' } },
      { provider: 'constructor', api_key: 'sk-canary' },
      { provider: 'azure-openai', api_key: 'sk-canary', resource_name: 'os.environ/X', deployment_id: 'd' },
    ],
  })
  assert.not.match(said, /canary/)
  assert.equal(combos.portkey?.models, ['openai/a', 'ollama-server/b', 'claude.test/c', 'bedrock/d'])
  assert.is((await chat('ollama-server/b')).asked[0]?.url, 'http://ollama/v1/chat/completions')
  assert.is((await chat('claude.test/c')).asked[0]?.url, 'https://claude.test/v1/messages')
  assert.match(said, /targets\[4\] -> Signalbox has no provider "constructor"/)
  assert.match(said, /targets\[5\] -> has a resource_name that is none/)
})

test('a key goes to no other provider than the one that it is written for', async ({ folder }) => {
  const path = await written(
    folder,
    '.json',
    JSON.stringify({
      provider: 'openai',
      api_key: 'sk-canary',
      targets: [{ provider: 'anthropic', override_params: { model: 'a' } }],
    }),
  )
  const { code, out } = await run('portkey', path, '--json')
  assert.is(code, 0)
  assert.equal(
    JSON.parse(out).variables.map(({ name }: { name: string }) => name),
    ['ANTHROPIC_API_KEY'],
  )
})
