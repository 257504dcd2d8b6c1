import { join } from 'node:path'
import { assert } from '../support/suite.ts'
import {
  importedLiteLlm,
  importSuite,
  type LiteLlmModel,
  lab,
  litellmConfig,
  run,
  startImported,
  writeImported,
} from './imported.ts'

const test = importSuite('importing accounts from LiteLLM')

test('uses each of two accounts with the same provider only for its own models', async ({ folder }) => {
  const azure = (name: string) => ({
    model: `azure/gpt-4o-${name}`,
    api_base: `https://${name}.openai.azure.com/`,
    api_key: `sk-${name}`,
    weight: name === 'eu' ? 1 : 0,
  })
  const path = await writeImported(
    folder,
    '.yaml',
    JSON.stringify(
      litellmConfig([
        ['gpt', azure('eu')],
        ['gpt', azure('us')],
      ]),
    ),
  )
  const { chat, down } = await startImported(folder, ['litellm', path], {
    AZURE_API_KEY: 'eu-key-1234567',
    AZURE_API_KEY_2: 'us-key-1234567',
  })
  down.add('gpt-4o-eu')
  const { asked } = await chat('gpt')
  assert.equal(
    asked.map(({ url, key, model }) => [new URL(url).host, key, model]),
    [
      ['eu.openai.azure.com', 'eu-key-1234567', 'gpt-4o-eu'],
      ['us.openai.azure.com', 'us-key-1234567', 'gpt-4o-us'],
    ],
  )
})

test('recognizes providers by URL, and gives custom servers with provider names their own prefix', async ({
  folder,
}) => {
  const createParams = (api_base: string) => ({ model: 'openai/m', api_base, api_key: 'os.environ/LAB_API_KEY' })
  const addresses = {
    a: 'http://ollama:11434/v1',
    b: 'http://groq/v1/chat/completions',
    c: 'https://openrouter.ai/api/v1',
    d: 'https://api.openai.com/v1/',
    e: 'os.environ/AZURE_API_BASE',
  }
  const { warnings, chat, aliases } = await importedLiteLlm(
    folder,
    litellmConfig(Object.entries(addresses).map(([name, address]) => [name, createParams(address)])),
  )
  assert.equal(warnings, [])
  assert.equal(aliases, {
    a: 'ollama-server/m',
    b: 'groq-server/m',
    c: 'openrouter/m',
    d: 'openai/m',
    e: 'azure-server/m',
  })
  const urls: string[] = []
  for (const name of Object.keys(addresses)) urls.push((await chat(name)).asked[0]?.url ?? '')
  assert.equal(urls, [
    'http://ollama:11434/v1/chat/completions',
    'http://groq/v1/chat/completions',
    'https://openrouter.ai/api/v1/chat/completions',
    'https://api.openai.com/v1/chat/completions',
    'https://one.openai.azure.com/chat/completions',
  ])
})

test('resolves credential_list entries, environment variables, and routes in model names the way LiteLLM does', async ({
  folder,
}) => {
  const { output, file, chat } = await importedLiteLlm(folder, {
    ...litellmConfig([
      ['one', { model: 'azure/gpt-4o', litellm_credential_name: 'eu' }],
      [
        'two',
        { model: 'azure/gpt-4o', api_key: 'os.environ/AZURE_API_KEY', api_version: 'os.environ/AZURE_API_VERSION' },
      ],
      ['three', { model: 'openai/responses/gpt-5-mini' }],
      ['four', { model: 'anthropic/claude-x', api_base: 'https://claude.test/v1/messages' }],
      ['lost', { model: 'azure/gpt-4o', litellm_credential_name: 'none' }],
    ]),
    credential_list: [
      {
        credential_name: 'eu',
        credential_values: {
          api_key: 'os.environ/AZURE_API_KEY',
          api_base: 'https://two.openai.azure.com',
          api_version: '2025-01-01-preview',
        },
        credential_info: { description: 'canary' },
      },
    ],
  })
  assert.not.match(output + file, /canary/)
  assert.match(output, /model_list\[0\]\.litellm_params\.litellm_credential_name -> credential_list "eu"/)
  assert.match(output, /model_list\[4\]\.litellm_params\.litellm_credential_name -> "none" is not in credential_list/)
  const getFirstRequest = async (name: string) => (await chat(name)).asked[0]
  assert.match((await getFirstRequest('one'))?.url ?? '', /^https:\/\/two\.openai\.azure\.com\/.*2025-01-01-preview/)
  assert.match(
    (await getFirstRequest('two'))?.url ?? '',
    /^https:\/\/one\.openai\.azure\.com\/openai\/deployments\/.*2024-10-21/,
  )
  assert.is((await getFirstRequest('three'))?.model, 'gpt-5-mini')
  assert.is((await getFirstRequest('four'))?.url, 'https://claude.test/v1/messages')
})

const names: [params: object, output: RegExp][] = [
  [{ model: 'us.anthropic.claude-x-v1:0' }, /model bedrock\/us\.anthropic\.claude-x-v1:0/],
  [{ model: 'bedrock/converse/eu-west-1/anthropic.m' }, /model bedrock\/anthropic\.m$/m],
  [{ model: 'my-model', api_base: 'http://lab.test/v1' }, /model lab\.test\/my-model/],
  [{ model: 'my-model' }, /-> Has no provider\./],
  [
    { model: 'watsonx/m', api_base: 'http://lab.test' },
    /Signalbox has no provider "watsonx", so it uses the OpenAI format at/,
  ],
  [
    { model: 'hosted_vllm/m', api_base: 'http://lab.test/v1' },
    /model hosted_vllm\/m$(?![\s\S]*uses the OpenAI format)/m,
  ],
  [{ model: 'os.environ/MODEL' }, /-> Reads its model from a variable/],
  [{ model: '*' }, /-> Matches the models of all providers/],
  [{ model: 'azure/', api_base: 'https://x.test' }, /-> Has no model name after "azure\/"/],
  [{ model: 'vertex_ai/m', vertex_project: 'My Project' }, /-> Has an invalid vertex_project/],
  [{ model: 'hosted_vllm/m' }, /HOSTED_VLLM_API_BASE: a base URL/],
  [{ model: 'm', custom_llm_provider: 'deepseek' }, /model deepseek\/m/],
]
for (const [params, output] of names)
  test(`reports which provider it chose for ${JSON.stringify(params)}`, async ({ folder }) => {
    const { code, out, err } = await run(
      'litellm',
      await writeImported(folder, '.json', JSON.stringify(litellmConfig([['m', params]]))),
    )
    assert.is(code, 0, err)
    assert.match(out, output)
  })

test("doesn't mistake built-in property names for providers", async ({ folder }) => {
  const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty']
  const path = await writeImported(
    folder,
    '.json',
    JSON.stringify(litellmConfig(names.map((name): LiteLlmModel => [name, { model: `${name}/m` }]))),
  )
  const { code, out, err } = await run('litellm', path)
  assert.is(code, 0, err)
  for (const name of names) assert.ok(out.includes(`Signalbox has no provider "${name}"`), out)
})

test('replaces each Vertex AI key file with a variable for its JSON', async ({ folder }) => {
  const vertex = (credentials?: string) => ({
    model: 'vertex_ai/gemini-2.5-pro',
    vertex_location: 'us-central1',
    vertex_credentials: credentials,
  })
  const models: LiteLlmModel[] = [
    ['a', vertex('/secrets/one.json')],
    ['b', vertex('/secrets/two.json')],
    ['c', vertex('/secrets/one.json')],
    ['d', vertex('os.environ/TEAM_ACCOUNT')],
    ['e', vertex()],
  ]
  const path = await writeImported(folder, '.yaml', JSON.stringify(litellmConfig(models)))
  const names = ['VERTEX_CREDENTIALS_2', 'VERTEX_CREDENTIALS_3', 'TEAM_ACCOUNT', 'VERTEX_CREDENTIALS']
  const planSampleAccount = (name: string) => ({
    ...{
      type: 'service_account',
      project_id: 'p-1',
      private_key: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----',
    },
    client_email: `${name}@p-1.iam.gserviceaccount.com`,
  })
  const env = Object.fromEntries(names.map((name) => [name, JSON.stringify(planSampleAccount(name), undefined, 2)]))
  const { output, api, warnings } = await startImported(folder, ['litellm', path], env)
  const label = 'the JSON key of a service account (the contents of the key file, not its path)'
  for (const name of names) assert.ok(output.includes(`  ${name}: ${label}\n`), output)
  const why = 'The key file is not read. Put its contents into the variable'
  assert.ok(
    output.includes(`model_list[0].litellm_params.vertex_credentials (and 1 more like it) -> ${why} ${names[0]}.`),
    output,
  )
  assert.ok(output.includes(`model_list[1].litellm_params.vertex_credentials -> ${why} ${names[1]}.`), output)
  assert.equal(warnings, [])
  assert.is((await api.connections.list()).connections.length, 4)
})

test('never prints or writes a possible secret, wherever it is in a LiteLLM configuration', async ({ folder }) => {
  const canary = (name: string) => `sk-canary-${name}-0123456789abcdef`
  const content = litellmConfig(
    [
      [
        'a',
        lab('a', { api_key: canary('key'), extra_headers: { authorization: canary('header') }, tags: [canary('tag')] }),
      ],
      ['b', { model: 'openai/b', api_base: `https://user:${canary('password')}@lab.test/v1`, api_key: 'x' }],
      ['c', { model: 'openai/c', api_base: `https://lab.test/${canary('path')}/v1`, api_key: 'x' }],
      ['d', { model: 'openai/d', api_base: `https://lab.test/v1?key=${canary('query')}`, api_key: 'x' }],
      [
        'e',
        {
          model: 'azure/e',
          api_base: 'https://e.openai.azure.com',
          azure_ad_token: canary('entra'),
          client_secret: canary('client'),
        },
      ],
      ['f', { model: 'bedrock/f', api_key: canary('bedrock'), aws_secret_access_key: canary('aws') }],
      ['g', { model: 'vertex_ai/g', vertex_credentials: { type: 'service_account', private_key: canary('vertex') } }],
      ['*', { model: 'openai/*', api_key: canary('star') }],
    ],
    {
      general_settings: {
        master_key: canary('master'),
        database_url: `postgres://u:${canary('database')}@db/x`,
        ui_password: canary('ui'),
      },
      litellm_settings: {
        cache_params: { password: canary('redis') },
        callbacks: [canary('callback')],
        model_alias_map: { a: canary('map') },
      },
      router_settings: { redis_password: canary('router'), redis_url: `redis://:${canary('url')}@r` },
      environment_variables: { KEY: canary('environment') },
      guardrails: [{ litellm_params: { api_key: canary('guardrail') } }],
      credential_list: [{ credential_name: 'x', credential_values: { api_key: canary('credential') } }],
      [canary('section')]: { x: 1 },
    },
  )
  const path = await writeImported(folder, '.yaml', JSON.stringify(content))
  const out = join(folder, 'secrets.yaml')
  for (const args of [[], ['--json'], ['--out', out]]) {
    const { code, out: output, err } = await run('litellm', path, ...args)
    assert.is(code, 0, err)
    assert.not.match(output + err, /canary/)
  }
})

test("reports each deployment field that the connection doesn't use", async ({ folder }) => {
  const vertex = { model: 'vertex_ai/gemini-2.5-pro', vertex_project: 'p-1', vertex_location: 'us-central1' }
  const aws = { aws_access_key_id: 'AKIA-canary', aws_secret_access_key: 'canary', aws_region_name: 'eu-west-1' }
  const azure = { model: 'azure/m', api_base: 'https://one.openai.azure.com' }
  const { output, file } = await importedLiteLlm(
    folder,
    litellmConfig(
      [
        ['a', { ...vertex, api_key: 'sk-canary', api_base: 'https://v.test' }],
        ['b', { model: 'bedrock/us-east-1/m', ...aws, api_key: 'os.environ/LAB_API_KEY', base_url: 'https://b.test' }],
        ['c', { ...azure, api_key: `\${AZURE_API_KEY:-canary}`, azure_ad_token: 'canary' }],
        ['d', { model: 'anthropic/m', api_version: '2023-06-01' }],
        ['e', { ...azure, api_key: `\${AZURE_API_KEY}`, api_version: '2024-10-21' }],
      ],
      {
        litellm_settings: { vertex_project: 'all' },
        credential_list: [{ credential_name: 'spare', credential_values: { api_key: 'canary' } }],
      },
    ),
  )
  assert.not.match(output + file, /canary/)
  const left = [...output.matchAll(/model_list\[(\d)\]\.litellm_params\.(\w+) -> (?!The default)/g)]
  assert.equal(
    left.map(([, at, name]) => `${at} ${name}`),
    [
      ...['0 api_key', '0 api_base'],
      ...['1 aws_access_key_id', '1 aws_secret_access_key', '1 aws_region_name', '1 base_url'],
      ...['2 azure_ad_token', '3 api_version'],
    ],
    output,
  )
  assert.match(
    output,
    /model_list\[2\]\.litellm_params\.api_key -> The default value is not imported\. Set AZURE_API_KEY\./,
  )
  assert.match(output, /credential_list: spare -> No deployment in the file uses it\./)
})

test('keeps variables in URLs, and removes usernames and queries, which the gateway rejects', async ({ folder }) => {
  const createParams = (model: string, api_base: string) => ({
    model: `openai/${model}`,
    api_base,
    api_key: 'os.environ/KEY',
  })
  const path = await writeImported(
    folder,
    '.yaml',
    JSON.stringify(
      litellmConfig([
        ['a', createParams('a', `https://\${HOST}/\${TENANT}/v1`)],
        ['p', createParams('p', `http://p.test:\${PORT}/v1`)],
        ['s', createParams('s', `\${SERVER}/v1`)],
        ['b', createParams('b', 'https://user:canary@b.test/v1')],
        ['c', createParams('c', `https://c.test/v1?key=\${QUERY_KEY}`)],
      ]),
    ),
  )
  const { output, file, chat } = await startImported(folder, ['litellm', path], {
    ...{ KEY: 'key-1234567', HOST: 'a.test', TENANT: 'us', PORT: '8080', SERVER: 'http://s.test' },
    ...{ B_TEST_BASE_URL: 'https://b.test/v1', C_TEST_BASE_URL: 'https://c.test/v1' },
  })
  assert.not.match(output + file, /canary/)
  assert.match(output, /^ {2}HOST: part of a base URL$/m)
  assert.match(output, /^ {2}B_TEST_BASE_URL: the base URL from the file, without username, password, and query/m)
  const url = async (name: string) => (await chat(name)).asked[0]?.url
  assert.is(await url('a'), 'https://a.test/us/v1/chat/completions')
  assert.is(await url('p'), 'http://p.test:8080/v1/chat/completions')
  assert.is(await url('s'), 'http://s.test/v1/chat/completions')
  assert.is(await url('c'), 'https://c.test/v1/chat/completions')
})
