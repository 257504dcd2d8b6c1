import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { assert } from '../support/suite.ts'
import { LITELLM, NINE_ROUTER, PORTKEY, PORTKEY_CONDITIONS, writeSqlite } from './import-samples.ts'
import { fresh, importSuite, run, startImported, writeImported } from './imported.ts'

const test = importSuite('importing from other gateways')

const LITELLM_ENV = {
  AZURE_API_BASE: 'https://eu.openai.azure.com',
  AZURE_API_KEY: 'azure-key-1234567',
  OPENAI_API_KEY: 'openai-key-1234567',
  ANTHROPIC_API_KEY: 'anthropic-key-1234567',
  '10_0_0_5_API_KEY': '',
  KEY_10_0_0_5_API_KEY: 'lab-key-1234567',
  GROQ_API_KEY: 'groq-key-1234567',
}

test('converts a LiteLLM configuration to a file that starts a gateway with the same routing', async ({ folder }) => {
  const path = await writeImported(folder, '.yaml', LITELLM)
  const { output, file, warnings, chat, failing, api } = await startImported(folder, ['litellm', path], LITELLM_ENV)
  assert.equal(warnings, [])
  for (const text of [output, file]) assert.not.match(text, /canary/)
  for (const name of Object.keys(LITELLM_ENV).filter((value) => /^[A-Z]/.test(value)))
    assert.match(output, new RegExp(`^  ${name}: `, 'm'))

  const settings = await api.settings.get()
  assert.equal(settings.limits, { usd: { month: 100 }, parallel: 50 })
  assert.is(settings.requireApiKey, true)
  assert.is(settings.maxAttempts, 3)
  assert.is(settings.timeouts.totalMs, 30_000)
  assert.equal([settings.health.cooldownMs, settings.health.minCalls], [60_000, 4])
  const { groups } = await api.groups.list()
  assert.equal(
    groups.map(({ id, limits }) => [id, limits]),
    [['team-1', { usd: { day: 5 } }]],
  )
  await api.settings.update({ requireApiKey: false, limits: null })

  const { combos } = await api.combos.list()
  const shown = Object.fromEntries(combos.map(({ name, strategy, models }) => [name, { strategy, models }]))
  assert.equal(shown['gpt-4o-deployments'], {
    strategy: 'weighted',
    models: [
      { model: 'azure/gpt-4o-eu', weight: 480 },
      { model: 'openai/gpt-4o', weight: 120 },
    ],
  })
  assert.equal(shown['gpt-4o']?.models, ['gpt-4o-deployments', 'claude-deployments', '10.0.0.5/qwen3'])
  assert.equal(shown.claude?.models, ['claude-deployments', 'gpt-4o-deployments', '10.0.0.5/qwen3'])
  const params = { maxTokens: 4_000, temperature: 0.2, stopSequences: ['END'] }
  assert.equal(shown['claude-deployments']?.models, [{ model: 'anthropic/claude-sonnet-4-5', params }])
  assert.match(output, /model_list\[2\]: maxTokens, temperature, stopSequences -> "params" of its combo entry/)
  const { aliases } = await api.aliases.list()
  const ofStar = Object.entries(aliases).filter(([name, model]) => model === `openai/${name}`)
  assert.ok(ofStar.length > 10)
  assert.equal(Object.fromEntries(Object.entries(aliases).filter(([name, model]) => model !== `openai/${name}`)), {
    lab: '10.0.0.5/qwen3',
    llama: 'ollama/llama3',
    'gpt-4': 'gpt-4o',
    fast: 'ollama/llama3',
  })

  assert.equal(await chat('lab'), {
    status: 200,
    asked: [{ url: 'http://10.0.0.5:8000/v1/chat/completions', key: 'lab-key-1234567', model: 'qwen3' }],
  })
  assert.is((await chat('fast')).asked[0]?.url, 'http://localhost:11434/v1/chat/completions')
  assert.is((await chat('groq/llama-3.3-70b-versatile')).asked[0]?.key, 'groq-key-1234567')
  failing.add('claude-sonnet-4-5')
  const through = await chat('claude')
  assert.is(through.status, 200)
  assert.is(through.asked.length, 2, 'the second target responds after the first has failed')
  const { connections } = await api.connections.list()
  assert.equal(connections.find(({ id }) => id === '10.0.0.5')?.prices, { qwen3: { input: 1, output: 2 } })
})

test('reports LiteLLM settings without an equivalent, with their path and the reason', async ({ folder }) => {
  const path = await writeImported(folder, '.yaml', LITELLM)
  const { out } = await run('litellm', path)
  for (const line of [
    /model_list\[7\] -> Signalbox has no provider "sagemaker"/,
    /model_list\[6\]: \* -> Other names are not imported/,
    /model_list\[2\]\.litellm_params\.top_p -> /,
    /litellm_settings\.cache -> Signalbox has no response cache/,
    /router_settings\.redis_password -> /,
    /default_team_settings\[0\]\.langfuse_secret -> /,
    /environment_variables -> /,
    /Nothing was written\./,
  ])
    assert.match(out, line)
})

const PORTKEY_ENV = {
  OPENAI_API_KEY: 'openai-key-1234567',
  OPENAI_API_KEY_2: 'openai-two-1234567',
  MISTRAL_AI_PROD_API_KEY: 'mistral-key-1234567',
  LAB_KEY: 'lab-key-1234567',
  GOOGLE_API_KEY: 'google-key-1234567',
}

test('converts a Portkey config to a combo "portkey" with nested combos, and starts', async ({ folder }) => {
  const path = await writeImported(folder, '.json', JSON.stringify(PORTKEY))
  const { output, file, warnings, chat, failing, api } = await startImported(folder, ['portkey', path], PORTKEY_ENV)
  assert.equal(warnings, [])
  for (const text of [output, file]) assert.not.match(text, /canary/)
  assert.match(output, /targets\[3\] -> Has no override_params\.model .*--model/)
  assert.match(output, /targets\[4\] -> "house" is a name in Portkey's store/)
  assert.match(output, /cache -> Signalbox has no response cache/)
  const { combos } = await api.combos.list()
  const [top, inner] = ['portkey', 'shared'].map((name) => combos.find((combo) => combo.name === name))
  const mistral = { model: 'mistral/mistral-large-latest', params: { temperature: 0 } }
  assert.equal(top?.models, ['shared', mistral, 'lab.test/qwen3'])
  assert.equal(
    [top?.strategy, top?.maxAttempts, top?.timeouts],
    ['fallback', 6, { headersMs: 20_000, totalMs: 20_000 }],
  )
  assert.equal(
    [inner?.strategy, inner?.models],
    [
      'weighted',
      [
        { model: 'openai-1/gpt-4o', weight: 0.7 },
        { model: 'openai-2/gpt-4o', weight: 0.3 },
      ],
    ],
  )
  const found = await chat('portkey')
  assert.is(found.status, 200)
  assert.match(found.asked[0]?.key ?? '', /^openai-/)
  failing.add('qwen3')
  assert.is((await chat('lab.test/qwen3')).asked[0]?.url, 'http://lab.test/v1/chat/completions')
  await startImported(folder, ['portkey', path, '--model', 'gemini-3-flash-preview'], PORTKEY_ENV).then(
    async ({ api }) => {
      const { combos } = await api.combos.list()
      assert.ok(combos.find(({ name }) => name === 'portkey')?.models.includes('google/gemini-3-flash-preview'))
    },
  )
})

test('converts a conditional Portkey strategy to entries with conditions', async ({ folder }) => {
  const path = await writeImported(folder, '.json', PORTKEY_CONDITIONS)
  const { output, chat } = await startImported(folder, ['portkey', path], PORTKEY_ENV)
  assert.match(output, /conditions\[1\] -> Signalbox supports only \$eq and \$in/)
  assert.is((await chat('portkey', { metadata: { team: 'b' } })).asked[0]?.model, 'gpt-4o')
  assert.is((await chat('portkey', { metadata: { plan: 'paid' } })).asked[0]?.model, 'gpt-4o')
  assert.is((await chat('portkey', { metadata: { team: 'c' } })).asked[0]?.model, 'gpt-4o-mini')
})

test('converts override_params in a Portkey config to entry parameters, including inherited ones', async ({
  folder,
}) => {
  const config = {
    strategy: {
      mode: 'conditional',
      conditions: JSON.parse('[{ "query": { "metadata.plan": "paid" }, "then": "large" }]'),
      default: 'two',
    },
    override_params: { temperature: 0.5, user: 'u', max_tokens: 100 },
    targets: [
      { name: 'large', provider: 'openai', override_params: { model: 'gpt-4o', max_tokens: 9, top_p: 3, stop: 'END' } },
      {
        name: 'two',
        targets: [{ provider: 'openai', overrideParams: { model: 'gpt-4o-mini', reasoningEffort: 'low', topP: 0.1 } }],
      },
    ],
  }
  const path = await writeImported(folder, '.json', JSON.stringify(config))
  const { output, api } = await startImported(folder, ['portkey', path], PORTKEY_ENV)
  assert.match(
    output,
    /targets\[0\]\.override_params: maxTokens, temperature, stopSequences -> "params" of its combo entry/,
  )
  assert.match(output, /targets\[0\]\.override_params\.top_p -> Has no equivalent/)
  assert.match(output, /targets\[1\]\.targets\[0\]\.override_params\.user -> Has no equivalent/)
  const { combos } = await api.combos.list()
  assert.equal(Object.fromEntries(combos.map(({ name, models }) => [name, models])), {
    portkey: [
      {
        model: 'openai/gpt-4o',
        when: { metadata: { plan: 'paid' } },
        params: { maxTokens: 9, temperature: 0.5, stopSequences: ['END'] },
      },
      'two',
    ],
    two: [{ model: 'openai/gpt-4o-mini', params: { maxTokens: 100, temperature: 0.5, topP: 0.1, reasoning: 'low' } }],
  })
})

const NINE_ROUTER_ENV = {
  ZAI_API_KEY: 'glm-key-1234567',
  ZAI_API_KEY_2: 'spare-key-1234567',
  LAB_API_KEY: 'lab-key-1234567',
}

async function createFolder(folder: string): Promise<string> {
  const path = fresh(folder, '')
  await mkdir(join(path, 'db'), { recursive: true })
  return path
}

for (const kind of ['db.json', 'db/data.sqlite'] as const) {
  test(`converts 9router data in ${kind} to a file that starts a gateway with the same routing`, async ({ folder }) => {
    const path = await createFolder(folder)
    if (kind === 'db.json') await writeFile(join(path, kind), JSON.stringify(NINE_ROUTER))
    else writeSqlite(join(path, kind))
    const before = await readFile(join(path, kind))
    const { output, file, warnings, chat, api } = await startImported(folder, ['9router', path], NINE_ROUTER_ENV)
    assert.equal(await readFile(join(path, kind)), before, "9router's data is left unchanged")
    assert.equal(warnings, [])
    for (const text of [output, file]) assert.not.match(text, /canary/)
    assert.match(output, /\(claude\) -> Signs in with a personal account/)
    assert.match(output, /combo best: cc\/claude-opus -> Has no imported connection/)
    assert.match(output, /modelAliases\.lost -> /)
    assert.match(output, /settings\.cloudEnabled -> /)
    const { connections } = await api.connections.list()
    assert.equal(
      connections.map(({ id, provider, isActive, prices }) => [id, provider, isActive, prices]),
      [
        ['zai', 'zai', false, { 'glm-4.7': { input: 0.6, output: 2.2, cacheRead: 0.1 } }],
        ['zai-2', 'zai', true, { 'glm-4.7': { input: 0.6, output: 2.2, cacheRead: 0.1 } }],
        ['lab', 'openai-compatible-lab', true, undefined],
      ],
    )
    const { combos } = await api.combos.list()
    assert.equal(
      combos.map(({ name, strategy, models }) => [name, strategy, models]),
      [
        ['best', 'fallback', ['lab/qwen3', 'zai/glm-4.7']],
        ['turns', 'round-robin', ['best', 'lab/qwen3']],
      ],
    )
    const { keys } = await api.keys.list()
    assert.equal(
      keys.map(({ name, isActive }) => [name, isActive]),
      [
        ['laptop', true],
        ['phone', false],
      ],
    )
    assert.equal((await chat('quick')).asked, [
      { url: 'http://lab.test/v1/chat/completions', key: 'lab-key-1234567', model: 'qwen3' },
    ])
    assert.is((await chat('zai/glm-4.7')).status, 200)
  })
}

test('an import explains what is wrong with the file or arguments, without quoting the file', async ({ folder }) => {
  const broken = await writeImported(folder, '.json', '{"targets": [{"api_key": "sk-canary" "x"}]}')
  const list = await writeImported(folder, '.yaml', '- sk-canary')
  const good = await writeImported(folder, '.yaml', LITELLM)
  const cases: [args: string[], says: RegExp][] = [
    [['portkey', broken], /is not valid YAML or JSON; see line 1, column \d+\.$/m],
    [['litellm', list], /This is not a LiteLLM configuration/],
    [['portkey', good], /This is not a Portkey config/],
    [['9router', good], /This is not 9router data/],
    [['9router', folder], /neither db\/data\.sqlite nor db\.json/],
    [['9router', join(folder, 'none')], /doesn't exist\. .*DATA_DIR/],
    [['litellm', join(folder, 'none.yaml')], /no such file/],
    [['litellm', good, '--out', good], /already exists/],
    [['litellm', good, '--out', join(folder, 'a.json')], /must end in \.yaml or \.yml/],
    [['litellm'], /Missing <file>/],
    [[], /"signalbox import" needs an action: litellm, portkey, 9router\./],
    [['kong', good], /has no action "kong"/],
  ]
  for (const [args, message] of cases) {
    const { code, err, out } = await run(...args)
    assert.match(err, message, args.join(' '))
    assert.is(code, 1)
    assert.not.match(err + out, /canary/)
  }
  assert.is(await readFile(good, 'utf8'), LITELLM)
})

test("rejects a 9router database that isn't SQLite, and suggests exporting the data", async ({ folder }) => {
  const path = await createFolder(folder)
  await writeFile(join(path, 'db/data.sqlite'), 'no database')
  const { code, err } = await run('9router', path)
  assert.is(code, 1)
  assert.match(err, /Use "Export" in the settings/)
})

test("doesn't assign a plain-text key to a variable that LiteLLM reads for other deployments", async ({ folder }) => {
  const models = [
    '{ model_name: one, litellm_params: { model: gpt-4o, api_key: sk-canary } }',
    '{ model_name: two, litellm_params: { model: gpt-4o } }',
    '{ model_name: three, litellm_params: { model: bedrock/m, api_key: sk-canary } }',
  ]
  const path = await writeImported(folder, '.yaml', `model_list: [${models.join(', ')}]`)
  const env = {
    OPENAI_API_KEY: 'read-1234567',
    OPENAI_API_KEY_2: 'written-1234567',
    AWS_ACCESS_KEY_ID: 'A',
    AWS_SECRET_ACCESS_KEY: 'b',
    AWS_REGION: 'eu-central-1',
  }
  const { output, file, chat } = await startImported(folder, ['litellm', path], env)
  assert.is((await chat('one')).asked[0]?.key, 'written-1234567')
  assert.is((await chat('two')).asked[0]?.key, 'read-1234567')
  assert.not.match(output, /BEDROCK_API_KEY/, "no variable that the file doesn't use")
  assert.not.match(file, /\{\}/)
})

test('an import keeps strings that look like variables, instead of expanding them', async ({ folder }) => {
  const home = `$${'{HOME}'}`
  const path = await writeImported(
    folder,
    '.yaml',
    'model_list:\n  - model_name: "a-DOLLAR{HOME}"\n    litellm_params: { model: "openai/xDOLLAR{HOME}", api_key: sk-canary, api_base: "https://u:canary@lab.test/v1" }\n'.replaceAll(
      'DOLLAR',
      '$',
    ),
  )
  const { output, api } = await startImported(folder, ['litellm', path], {
    LAB_TEST_API_KEY: 'lab-key-1234567',
    LAB_TEST_BASE_URL: 'https://lab.test/v1',
  })
  assert.not.match(output, /canary/)
  assert.equal(await api.aliases.list(), { aliases: { [`a-${home}`]: `lab.test/x${home}` } })
})
