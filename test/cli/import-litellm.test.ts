import { assert } from '../support/suite.ts'
import { importedLiteLlm, importSuite, type LiteLlmModel, lab, litellmConfig } from './imported.ts'

const test = importSuite('importing from LiteLLM')

test('converts the deployment order to fallbacks', async ({ folder }) => {
  const { combos, chat, down } = await importedLiteLlm(
    folder,
    litellmConfig([
      ['m', lab('last')],
      ['m', lab('second-a', { order: 2, rpm: 3 })],
      ['m', lab('first', { order: 1 })],
      ['m', lab('second-b', { order: 2, rpm: 1 })],
    ]),
  )
  assert.equal(combos.m?.strategy, 'fallback')
  assert.equal(combos.m?.models, ['lab.test/first', 'm-order-2', 'lab.test/last'])
  assert.equal(combos['m-order-2']?.models, [
    { model: 'lab.test/second-a', weight: 3 },
    { model: 'lab.test/second-b', weight: 1 },
  ])
  down.add('first')
  const { status, asked } = await chat('m')
  assert.is(status, 200)
  assert.match(String(asked[1]?.model), /^second-/)
})

test('appends nested fallbacks, which can be aliases or match a wildcard', async ({ folder }) => {
  const { output, combos, aliases } = await importedLiteLlm(
    folder,
    litellmConfig(
      [
        ['a', lab('a')],
        ['b', lab('b')],
        ['c', lab('c')],
        ['claude/*', { model: 'anthropic/*' }],
        ['vectors', lab('v'), { model_info: { mode: 'embedding' } }],
      ],
      {
        router_settings: {
          fallbacks: [{ a: ['b'] }, { b: ['c', 'a', 'none'] }, { other: ['a'] }, { lost: ['a'] }],
          content_policy_fallbacks: [{ c: ['claude/claude-opus'] }],
          default_fallbacks: ['c'],
          model_group_alias: { other: { model: 'c', hidden: true }, again: 'a', nowhere: 'none' },
        },
      },
    ),
  )
  const models = (name: string) => combos[name]?.models
  assert.equal(models('a'), ['lab.test/a', 'lab.test/b', 'lab.test/c', 'anthropic/claude-opus'])
  assert.equal(models('b'), ['lab.test/b', 'lab.test/c', 'anthropic/claude-opus', 'lab.test/a'])
  assert.equal(models('other'), ['lab.test/c', 'lab.test/a', 'lab.test/b', 'anthropic/claude-opus'])
  assert.equal([models('c'), combos.c?.on], [['lab.test/c', 'anthropic/claude-opus'], ['content']])
  assert.is(combos.vectors, undefined)
  assert.equal(aliases, { vectors: 'lab.test/v', again: 'a' })
  for (const line of [
    'fallbacks: b to none -> No deployment has this model_name',
    'fallbacks: lost -> No deployment',
    'model_group_alias.nowhere -> No deployment',
    'model_group_alias.other.hidden -> Aliases are always listed, like models',
    'content_policy_fallbacks of c -> "on": ["content"] of combo c',
  ])
    assert.ok(output.includes(line), line)
})

test('follows nested fallbacks to the same depth as LiteLLM', async ({ folder }) => {
  const names = 'abcdefgh'.split('')
  const models = names.map((name): LiteLlmModel => [name, lab(name)])
  const fallbacks = names.slice(1).map((name, index) => ({ [names[index] ?? '']: [name] }))
  for (const [extra, last] of [
    [{}, 'f'],
    [{ max_fallbacks: 2 }, 'c'],
  ] as const) {
    const { combos, output } = await importedLiteLlm(
      folder,
      litellmConfig(models, { router_settings: { fallbacks, ...extra } }),
    )
    assert.is(combos.a?.models.at(-1), `lab.test/${last}`)
    assert.not.match(output, /max_fallbacks/)
  }
})

test('counts only priced models in a budget and allows models without a price, like LiteLLM', async ({ folder }) => {
  const { api, chat, output } = await importedLiteLlm(
    folder,
    litellmConfig([['m', lab('m')]], {
      litellm_settings: { max_budget: 10, budget_duration: '7d' },
      router_settings: { num_retries: 'os.environ/RETRIES' },
    }),
  )
  const { limits, whenPriceUnknown } = await api.settings.get()
  assert.equal([limits, whenPriceUnknown], [{ usd: { week: 10 } }, 'allow'])
  assert.is((await chat('m')).status, 200)
  assert.match(output, /router_settings\.num_retries -> Must be a number, not a variable/)
})

test("imports deployment timeouts without shortening LiteLLM's for non-streaming responses", async ({ folder }) => {
  const { api, combos, output } = await importedLiteLlm(
    folder,
    litellmConfig(
      [
        ['m', lab('a', { timeout: 300, stream_timeout: 10 })],
        ['m', lab('b', { timeout: '60' })],
        ['n', lab('c', { timeout: 30 })],
        ['o', lab('d', { timeout: 30 })],
        ['o', lab('e')],
      ],
      { router_settings: { timeout: 600, stream_timeout: 20 } },
    ),
  )
  const ms = (headers: number, total: number) => ({ headersMs: headers * 1_000, totalMs: total * 1_000 })
  assert.equal(combos.m?.timeouts, ms(300, 300))
  assert.equal(combos.n?.timeouts, ms(30, 30))
  assert.is(combos.o?.timeouts, undefined)
  const { headersMs, totalMs } = (await api.settings.get()).timeouts
  assert.equal({ headersMs, totalMs }, ms(600, 600))
  assert.match(output, /^ {2}stream_timeout -> Signalbox has one timeout/m)
  assert.match(output, /model_list\[3\]: timeout, stream_timeout -> Set timeouts on combos/)
})

const NAMES = [
  'GPT 4o (fast)',
  'gpt-4o-fast',
  'GPT-4o-fast-',
  '__proto__',
  'constructor',
  'team/größe:模型',
  `$${'{HOME}'}`,
  '-',
  'm-deployments',
]

test('keeps every model name that LiteLLM accepts', async ({ folder }) => {
  const models = NAMES.flatMap((name, index): LiteLlmModel[] => [
    [name, lab(`a${index}`)],
    [name, lab(`b${index}`)],
  ])
  const { output, warnings, chat } = await importedLiteLlm(
    folder,
    litellmConfig([...models, ['m', lab('c')], ['m', lab('d')], ['..', lab('e')], ['n'.repeat(300), lab('f')]], {
      router_settings: { fallbacks: [{ m: ['constructor'] }], routing_strategy: 'constructor' },
    }),
  )
  assert.equal(warnings, [])
  for (const [index, name] of NAMES.entries()) {
    const { status, asked } = await chat(name)
    assert.equal(
      [status, /^[ab]/.test(String(asked[0]?.model)), String(asked[0]?.model).slice(1)],
      [200, true, `${index}`],
      name,
    )
  }
  assert.is((await chat('m')).status, 200)
  assert.match(output, /An alias must have 1 to 200 characters/)
})

test('imports embedding and rerank models with their kinds, and calls the endpoint for the kind', async ({
  folder,
}) => {
  const { send, api, output } = await importedLiteLlm(
    folder,
    litellmConfig([
      [
        'vectors',
        lab('bge', { max_tokens: 5 }),
        { model_info: { mode: 'embedding', access_groups: ['a'], max_input_tokens: 9 } },
      ],
      ['order', lab('ranker'), { model_info: { mode: 'rerank' } }],
    ]),
  )
  const { asked } = await send('/v1/embeddings', { model: 'vectors', input: 'hello' })
  assert.equal(
    asked.map(({ url, model }) => [url, model]),
    [['http://lab.test/v1/embeddings', 'bge']],
  )
  assert.equal(
    (await api.customModels.list()).models.map(({ id, type }) => [id, type]),
    [
      ['bge', 'embedding'],
      ['ranker', 'rerank'],
    ],
  )
  assert.match(output, /model_list\[0\]\.model_info\.access_groups -> Set "models" on keys and groups/)
  assert.match(output, /model_list\[0\]\.model_info: max_input_tokens -> /)
})

test("infers a model's kind from the catalog or its name if the file doesn't specify it", async ({ folder }) => {
  const azure = (name: string) => ({
    model: 'azure/ada',
    api_base: `https://${name}.openai.azure.com`,
    api_key: 'os.environ/AZURE_API_KEY',
  })
  const info = { model_info: { base_model: 'text-embedding-ada-002' } }
  const { combos, send, api } = await importedLiteLlm(
    folder,
    litellmConfig([
      ['vectors', azure('one'), info],
      ['vectors', azure('two'), info],
      ['openai-vectors', { model: 'text-embedding-3-small' }],
      ['heard', lab('whisper-large')],
      ['chat', lab('embers')],
    ]),
  )
  assert.equal([combos.vectors?.kind, combos.vectors?.sameVectors], ['embedding', true])
  const { status, asked } = await send('/v1/embeddings', { model: 'vectors', input: 'hello' })
  assert.equal([status, asked.length], [200, 1])
  assert.equal(
    (await api.customModels.list()).models.map(({ id, type }) => [id, type]),
    [
      ['ada', 'embedding'],
      ['ada', 'embedding'],
      ['whisper-large', 'stt'],
    ],
  )
})

for (const content of [
  { general_settings: { master_key: 'sk-canary' } },
  { litellm_settings: { master_key: 'os.environ/KEY' } },
  { environment_variables: { LITELLM_MASTER_KEY: 'sk-canary' }, model_list: [] },
])
  test(`requires an API key after importing ${JSON.stringify(content)}`, async ({ folder }) => {
    const { api, output } = await importedLiteLlm(folder, content)
    assert.is((await api.settings.get()).requireApiKey, true)
    assert.equal(
      (await api.keys.list()).keys.map(({ name }) => name),
      ['imported'],
    )
    assert.match(output, /Clients need the new API keys: npx signalbox keys list --json --values all$/m)
    assert.not.match(output, /canary/)
  })

test('converts wildcard names to aliases for catalog models, except names with another meaning', async ({ folder }) => {
  const { aliases, chat, output, warnings } = await importedLiteLlm(
    folder,
    litellmConfig(
      [
        ['*', { model: 'openai/*' }],
        ['claude-*', { model: 'anthropic/claude-*' }],
        ['gpt-4o', lab('own', { rpm: 5 })],
        ['mine-*', lab('*')],
        ['vertex/gemini-*', { model: 'vertex_ai/gemini-*', vertex_project: 'p' }],
      ],
      { router_settings: { model_group_alias: { 'gpt-5': 'gpt-4o' } } },
    ),
  )
  assert.equal(warnings, [])
  const { 'gpt-5-mini': mini, 'claude-opus-4-5': opus, 'gpt-4o': own, 'gpt-5': five } = aliases
  assert.equal(
    [mini, opus, own, five],
    ['openai/gpt-5-mini', 'anthropic/claude-opus-4-5', 'lab.test/own', 'lab.test/own'],
  )
  assert.equal((await chat('claude-opus-4-5')).asked[0]?.model, 'claude-opus-4-5')
  assert.match(output, /model_list\[0\]: \* -> aliases for the models in the catalog: \S+ and \d+ more/)
  assert.match(
    output,
    /model_list\[0\]: \* -> Other names are not imported\. Connection openai serves .* openai\/<model>/,
  )
  assert.match(output, /model_list\[4\]: vertex\/gemini-\* -> connection vertex, which serves every vertex\/gemini-\*/)
  assert.match(output, /rpm -> Targets can't have limits\. After a 429/)
  assert.match(output, /model_list\[3\]: mine-\* -> Names with \* are not imported/)
})

test("converts LiteLLM's defaults for new keys to limits on the imported key", async ({ folder }) => {
  const { api, output } = await importedLiteLlm(folder, {
    litellm_settings: {
      default_key_generate_params: { max_budget: 5, tpm_limit: 1_000, models: ['m'], duration: '30d' },
    },
    general_settings: { master_key: 'sk-canary', max_parallel_requests: 20 },
  })
  const { keys } = await api.keys.list()
  assert.equal(keys[0]?.limits, { usd: { total: 5 }, tokens: { minute: 1_000 }, parallel: 20 })
  assert.match(
    output,
    /default_key_generate_params, max_parallel_requests -> limits of the key "imported", shared by everyone who uses it/,
  )
  assert.match(output, /default_key_generate_params\.models -> Set "models" on keys/)
  assert.match(output, /default_key_generate_params\.duration -> Set "expiresAt" on keys/)
})

test('reads the weight from the same deployment field as LiteLLM', async ({ folder }) => {
  const { combos } = await importedLiteLlm(
    folder,
    litellmConfig([
      ['m', lab('a', { rpm: 100 })],
      ['m', lab('b')],
      ['m', lab('c', { weight: 7, rpm: 300 })],
      ['n', lab('d')],
      ['n', lab('e', { weight: 7 })],
    ]),
  )
  assert.equal(combos.m?.models, [
    { model: 'lab.test/a', weight: 100 },
    { model: 'lab.test/b', weight: 0 },
    { model: 'lab.test/c', weight: 300 },
  ])
  assert.equal(combos.n?.models, ['lab.test/d', 'lab.test/e'])
})

test("reports fallback settings that it doesn't import", async ({ folder }) => {
  const { output, combos, file } = await importedLiteLlm(
    folder,
    litellmConfig(
      [
        ['a', lab('a')],
        ['b', lab('b')],
        ['c', lab('c')],
      ],
      {
        router_settings: {
          fallbacks: [{ a: [{ model: 'b', api_key: 'sk-canary', temperature: 1 }] }, 'c', { b: 'c' }],
        },
      },
    ),
  )
  assert.not.match(output + file, /canary/)
  assert.equal(combos.a?.models, ['lab.test/a', 'lab.test/b'])
  for (const line of [
    'fallbacks: a to b.api_key -> Has no equivalent.',
    'fallbacks: a to b.temperature -> Has no equivalent.',
    'fallbacks -> Each entry must be an object such as { name: [others] }; other entries are not imported.',
    'fallbacks: b -> Must be a list; not imported.',
  ])
    assert.ok(output.includes(line), `${line}\n${output}`)
})
