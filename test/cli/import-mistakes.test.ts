import { assert } from '../support/suite.ts'
import { importSuite, run, startImported, writeImported } from './imported.ts'

const test = importSuite("importing mistakes in other gateways' files")

const ENV = { OPENAI_API_KEY: 'openai-key-1234567' }

test("converts other gateways' weights to valid entry weights", async ({ folder }) => {
  const target = (model: string, weight: unknown) => ({ provider: 'openai', weight, override_params: { model } })
  const targets = [target('a', 5_000), target('b', -5), target('c', 1), target('d', 'much')]
  const portkey = await writeImported(folder, '.json', JSON.stringify({ strategy: { mode: 'loadbalance' }, targets }))
  const models = [4_000, -1].map((weight) => ({
    model_name: 'm',
    litellm_params: { model: `openai/m${weight}`, weight },
  }))
  const litellm = await writeImported(folder, '.yaml', JSON.stringify({ model_list: models }))
  const cases: [args: [string, string], unmapped: RegExp[], weights: number[]][] = [
    [
      ['portkey', portkey],
      [/targets\[1\]\.weight -> Weights must be at least 0/, /targets\[3\]\.weight -> Must be a number/],
      [1_000, 0, 0.2, 0.2],
    ],
    [['litellm', litellm], [/model_list\[1\]\.litellm_params\.weight -> Weights must be at least 0/], [1_000, 0]],
  ]
  for (const [args, unmapped, weights] of cases) {
    const { output, warnings, api } = await startImported(folder, args, ENV)
    assert.equal(warnings, [])
    for (const line of unmapped) assert.match(output, line)
    const { combos } = await api.combos.list()
    assert.equal(
      combos[0]?.models.map((entry) => typeof entry === 'object' && entry.weight),
      weights,
    )
  }
})

const mistyped: [source: string, config: object, unmapped: string[]][] = [
  ['litellm', { model_list: 5 }, ['model_list -> Must be a list']],
  ['litellm', { model_list: { model_name: 'm' } }, ['model_list -> Must be a list']],
  ['litellm', { model_list: [], general_settings: [] }, ['general_settings -> Must be an object']],
  [
    'litellm',
    { router_settings: { fallbacks: { a: ['b'] }, model_group_alias: 'a' }, litellm_settings: 'cache' },
    [
      'router_settings.fallbacks -> Must be a list',
      'router_settings.model_group_alias -> Must be an object',
      'litellm_settings -> Must be an object',
    ],
  ],
  [
    'litellm',
    { model_list: [{ model_name: 'm', litellm_params: 'gpt-4o' }] },
    ['model_list[0].litellm_params -> Must be'],
  ],
  ['portkey', { targets: 5 }, ['targets -> Must be a list']],
  ['portkey', { targets: [{ override_params: [] }] }, ['targets[0].override_params -> Must be an object']],
  ['9router', { combos: {}, settings: [] }, ['combos -> Must be a list', 'settings -> Must be an object']],
]
for (const [source, config, unmapped] of mistyped)
  test(`reports wrong types in an import from ${source}: ${JSON.stringify(config)}`, async ({ folder }) => {
    const { code, out, err } = await run(source, await writeImported(folder, '.json', JSON.stringify(config)))
    assert.is(code, 0, err)
    for (const line of unmapped) assert.ok(out.includes(line), `${line} in ${out}`)
  })

test('renames 9router combos and keys that share a name', async ({ folder }) => {
  const combo = (name: string, model: string) => ({ name, models: [model] })
  const data = {
    providerConnections: [{ provider: 'openai', authType: 'apikey', name: 'a', apiKey: 'sk-canary' }],
    combos: [combo('best', 'openai/a'), combo('best-2', 'openai/b'), combo('best', 'openai/c'), combo('best', 'best')],
    apiKeys: [{ name: 'laptop', isActive: false }, { name: 'laptop' }],
  }
  const path = await writeImported(folder, '.json', JSON.stringify(data))
  const { output, api } = await startImported(folder, ['9router', path], ENV)
  const { combos } = await api.combos.list()
  assert.equal(
    combos.map(({ name, models }) => [name, models]),
    [
      ['best', ['openai/a']],
      ['best-2', ['openai/b']],
      ['best-3', ['openai/c']],
      ['best-4', ['best']],
    ],
  )
  assert.match(output, /combos\[2\] -> Another combo is already named "best", so this one is named best-3/)
  const { keys } = await api.keys.list()
  assert.equal(
    keys.map(({ name, isActive }) => [name, isActive]),
    [
      ['laptop', false],
      ['laptop-2', true],
    ],
  )
  assert.match(output, /apiKeys\[1\] -> Another key is already named "laptop", so this one is named laptop-2/)
})

test('lists omitted LiteLLM models under the names that clients use', async ({ folder }) => {
  const createModel = (name: string, model: string, extra = {}) => ({
    model_name: name,
    litellm_params: { model, ...extra },
  })
  const config = {
    model_list: [
      createModel('good', 'openai/gpt-5-mini'),
      createModel('chat', 'openai/gpt-5', { mock_response: 'x' }),
      createModel('fast', 'openai/gpt-5-mini', { mock_response: 'x' }),
      createModel('sagemaker-thing', 'sagemaker/endpoint'),
    ],
  }
  const file = await writeImported(folder, '.json', JSON.stringify(config))
  const { out } = await run('litellm', file)
  assert.match(
    out,
    /^ {2}model_list\[1\]\.litellm_params\.mock_response \(and 1 more like it\) -> .* \(models chat, fast\)$/m,
  )
  assert.match(out, /^ {2}model_list\[3\].* -> .* \(model sagemaker-thing\)$/m)
  const json = await run('litellm', file, '--json')
  const { unmapped } = JSON.parse(json.out) as { unmapped: { from: string; name?: string }[] }
  assert.equal([...new Set(unmapped.map(({ name }) => name))], ['chat', 'fast', 'sagemaker-thing'])
})
