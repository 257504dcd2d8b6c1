import { assert } from '../support/suite.ts'
import { importSuite, run, startImported, writeImported } from './imported.ts'

const test = importSuite('importing from Portkey')

const KEYS = {
  OPENAI_API_KEY: 'openai-key-1234567',
  OPENAI_API_KEY_2: 'written-key-1234567',
  OPENAI_PROD_API_KEY: 'vault-key-1234567',
  ANTHROPIC_API_KEY: 'anthropic-key-1234567',
  LAB_KEY: 'lab-key-1234567',
  BEDROCK_MAIN_API_KEY: 'id:secret-1234567',
  AWS_REGION: 'us-east-1',
  HOUSE_API_KEY: 'house-key-1234567',
  OTHER_API_KEY: 'other-key-1234567',
  AZURE_EU_API_KEY: 'azure-key-1234567',
  AZURE_EU_BASE_URL: 'https://eu.openai.azure.com',
}

async function importPortkey(folder: string, config: object, extra: readonly string[] = []) {
  const path = await writeImported(folder, '.json', JSON.stringify(config))
  const found = await startImported(folder, ['portkey', path, ...extra], KEYS)
  const { combos } = await found.api.combos.list()
  return { ...found, combos: Object.fromEntries(combos.map((combo) => [combo.name, combo])) }
}

const openai = (model: string, extra: object = {}) => ({ provider: 'openai', override_params: { model }, ...extra })

test('finds the provider in a model catalog name, and calls each target with its own key', async ({ folder }) => {
  const { output, combos, chat, down } = await importPortkey(folder, {
    strategy: { mode: 'fallback' },
    targets: [
      { override_params: { model: '@openai-prod/gpt-5-mini' } },
      openai('gpt-a', { api_key: '{{OPENAI_API_KEY}}' }),
      openai('gpt-b', { api_key: 'sk-canary' }),
    ],
  })
  assert.not.match(output, /canary|Has no provider/)
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

test('imports the retry attempts and timeout from a single-provider config', async ({ folder }) => {
  const { output, combos } = await importPortkey(folder, {
    ...openai('m'),
    retry: { attempts: 3 },
    request_timeout: 9_000,
  })
  assert.equal(
    [combos.portkey?.models, combos.portkey?.maxAttempts, combos.portkey?.timeouts],
    [['openai/m'], 4, { headersMs: 9_000, totalMs: 9_000 }],
  )
  assert.match(output, /the config: request_timeout -> timeouts/)
  assert.match(output, /Point your clients to .*\/v1\. Use the model "portkey"\.$/m)
})

test('sets maxAttempts for all models of nested combos, and a timeout that every target has', async ({ folder }) => {
  const { output, combos } = await importPortkey(folder, {
    strategy: { mode: 'fallback', other: 1 },
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
  assert.match(output, /targets\[0\] -> The attempts, timeouts, and health of spread apply to requests for this combo/)
  assert.match(output, /targets\[1\]: retry -> Signalbox tries the next target/)
  assert.match(output, /^ {2}strategy\.other -> Has no equivalent/m)
  assert.match(output, /^ {2}retry\.use_retry_after_header -> /m)
})

const conditions: [what: string, query: object, whens: object[] | undefined][] = [
  ['a single metadata string', { 'metadata.plan': 'paid' }, [{ metadata: { plan: 'paid' } }]],
  [
    'two fields',
    { 'metadata.a': { $eq: 1 }, 'params.model': { $in: ['x', 'y'] } },
    [{ model: ['x', 'y'], metadata: { a: '1' } }],
  ],
  [
    'either one of two fields',
    { $or: [{ 'metadata.a': 'x' }, { 'metadata.b': 'y' }] },
    [{ metadata: { a: 'x' } }, { metadata: { b: 'y' } }],
  ],
  ['a contradiction', { $and: [{ 'metadata.a': 'x' }, { 'metadata.a': { $in: ['y'] } }] }, undefined],
  ['an unsupported operator', { 'metadata.a': { $ne: 'x' } }, undefined],
  ['a URL path', { 'url.pathname': '/v1/embeddings' }, undefined],
  ['a value with an asterisk', { 'metadata.a': 'x*' }, undefined],
  ['an empty list of alternatives', { $or: [] }, undefined],
  ['nothing', {}, undefined],
  ['a built-in property name', { 'metadata.__proto__': 'x' }, undefined],
]
for (const [label, query, whens] of conditions)
  test(`converts or reports a condition on ${label}`, async ({ folder }) => {
    const { output, combos } = await importPortkey(folder, {
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
    assert.is(combos.portkey?.strategy, 'conditional')
    assert.not.match(output, /has no equivalent/)
    assert.is(/conditions\[0\] -> Signalbox supports only \$eq and \$in/.test(output), whens === undefined)
  })

test("reads configs in the shape that Portkey's API returns, and in the first format version", async ({ folder }) => {
  const config = { strategy: { mode: 'loadbalance' }, targets: [openai('a', { weight: 3 }), openai('b')] }
  const forms = [
    { success: true, data: { name: 'mine', config } },
    { id: 1, config: JSON.stringify(config) },
    { mode: 'loadbalance', options: config.targets },
  ]
  for (const form of forms) {
    const { combos } = await importPortkey(folder, form)
    assert.equal(combos.portkey?.models, [
      { model: 'openai/a', weight: 3 },
      { model: 'openai/b', weight: 1 },
    ])
  }
})

test('calls custom hosts at their URLs, and reports invalid providers and resources', async ({ folder }) => {
  const { combos, chat, output } = await importPortkey(folder, {
    strategy: { mode: 'fallback' },
    targets: [
      openai('a', { custom_host: 'https://api.openai.com/v1', api_key: '$LAB_KEY' }),
      openai('b', { custom_host: 'http://ollama/v1/chat/completions', api_key: '{{ LAB_KEY }}' }),
      {
        provider: 'anthropic',
        custom_host: 'https://claude.test/v1',
        api_key: `$${'{LAB_KEY}'}`,
        override_params: { model: 'c' },
      },
      { virtual_key: 'bedrock-main', override_params: { model: 'd' } },
      { provider: 'constructor', api_key: 'sk-canary' },
      { provider: 'azure-openai', api_key: 'sk-canary', resource_name: 'os.environ/X', deployment_id: 'd' },
    ],
  })
  assert.not.match(output, /canary/)
  assert.equal(combos.portkey?.models, ['openai/a', 'ollama-server/b', 'claude.test/c', 'bedrock/d'])
  assert.is((await chat('ollama-server/b')).asked[0]?.url, 'http://ollama/v1/chat/completions')
  assert.is((await chat('claude.test/c')).asked[0]?.url, 'https://claude.test/v1/messages')
  assert.match(output, /targets\[4\] -> Signalbox has no provider "constructor"/)
  assert.match(output, /targets\[5\] -> Has an invalid resource_name/)
})

test("uses --provider for names in Portkey's store, and a separate base URL for Azure", async ({ folder }) => {
  const config = {
    strategy: { mode: 'fallback' },
    targets: [
      { provider: '@house', override_params: { model: 'a' } },
      { virtual_key: 'azure-eu', override_params: { model: 'b' } },
      { override_params: { model: '@other/c' } },
    ],
  }
  const { output, combos, chat } = await importPortkey(folder, config, [
    '--provider',
    'house=anthropic',
    '--provider',
    '@other=openai',
  ])
  assert.equal(combos.portkey?.models, ['anthropic/a', 'azure/b', 'openai/c'])
  assert.match(output, /^ {2}AZURE_EU_BASE_URL: a base URL, https:/m)
  assert.equal(
    [(await chat('anthropic/a')).asked[0]?.key, new URL((await chat('azure/b')).asked[0]?.url ?? '').host],
    ['house-key-1234567', 'eu.openai.azure.com'],
  )
  const path = await writeImported(folder, '.json', JSON.stringify(config))
  assert.match(
    (await run('portkey', path)).out,
    /Run the import again with its provider, for example: --provider house=openai/,
  )
  const { code, err } = await run('portkey', path, '--provider', 'house')
  assert.equal([code, /--provider needs a name from the config and its provider/.test(err)], [1, true])
})

test("converts a self-hosted gateway's integrations to connections, and keeps the model names", async ({ folder }) => {
  const { output, file, chat, combos } = await importPortkey(folder, {
    plugins_enabled: ['default'],
    credentials: { portkey: { apiKey: 'canary' } },
    cache: false,
    integrations: [
      {
        provider: 'anthropic',
        slug: 'dev_team',
        credentials: { apiKey: 'sk-canary' },
        rate_limits: [{ type: 'requests', unit: 'rph', value: 3 }],
        models: [
          { slug: 'claude-x', status: 'active', pricing_config: null },
          { slug: 'claude-y', status: 'inactive' },
        ],
      },
      { provider: 'nobody', slug: 'lost' },
    ],
  })
  assert.not.match(output + file, /canary/)
  assert.equal(combos, {})
  const { asked } = await chat('@dev_team/claude-x')
  assert.equal(
    asked.map(({ url, key, model }) => [url, key, model]),
    [['https://api.anthropic.com/v1/messages', 'anthropic-key-1234567', 'claude-x']],
  )
  assert.match(output, /integrations\[0\]\.rate_limits -> Keys, groups, and the gateway can have limits/)
  assert.match(output, /integrations\[1\] -> Signalbox has no provider "nobody"/)
  assert.not.match(output, /claude-y/)
})

test('keeps the model names that clients send if a condition tests the model', async ({ folder }) => {
  const { chat } = await importPortkey(folder, {
    strategy: {
      mode: 'conditional',
      conditions: [
        Object.fromEntries([
          ['query', { 'params.model': { $in: ['fastest', 'quick'] } }],
          ['then', 'small'],
        ]),
      ],
      default: 'large',
    },
    targets: [openai('a', { name: 'small' }), openai('b', { name: 'large' })],
  })
  const models: unknown[] = []
  for (const name of ['fastest', 'quick', 'portkey']) models.push((await chat(name)).asked[0]?.model)
  assert.equal(models, ['a', 'a', 'b'])
})

test('converts sticky load balancing and circuit breakers to the sticky strategy and health rules', async ({
  folder,
}) => {
  const { combos } = await importPortkey(folder, {
    strategy: {
      mode: 'loadbalance',
      sticky: { enabled: true, hash_fields: ['metadata.user_id'], ttl: 60 },
      cb_config: { failure_threshold_percentage: 20, minimum_requests: 10, cooldown_interval: 400_000 },
    },
    targets: [openai('a', { weight: 2 }), openai('b')],
  })
  assert.equal(
    [combos.portkey?.strategy, combos.portkey?.models, combos.portkey?.health],
    [
      'sticky',
      [
        { model: 'openai/a', weight: 2 },
        { model: 'openai/b', weight: 1 },
      ],
      { failureShare: 0.2, minCalls: 10, cooldownMs: 400_000, maxCooldownMs: 400_000 },
    ],
  )
})

test("uses a config's key only with its own provider", async ({ folder }) => {
  const path = await writeImported(
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

test('reports a target without a condition, and explains where to send metadata', async ({ folder }) => {
  const { combos, output } = await importPortkey(folder, {
    strategy: JSON.parse(`{
      "mode": "conditional",
      "conditions": [
        { "query": { "metadata.plan": { "$eq": "paid" } }, "then": "large" },
        { "query": { "params.temperature": { "$gte": 1 } }, "then": "wild" }
      ],
      "default": "small"
    }`),
    targets: [
      openai('gpt-large', { name: 'large' }),
      { name: 'wild', provider: 'openai', override_params: { model: 'gpt-wild', temperature: 1 } },
      openai('gpt-small', { name: 'small' }),
    ],
  })
  assert.equal(combos.portkey?.models, [
    { model: 'openai/gpt-large', when: { metadata: { plan: 'paid' } } },
    'openai/gpt-small',
  ])
  assert.match(output, /targets\[1\] -> Combo portkey never uses this target\. To use it, request openai\/gpt-wild\./)
  assert.not.match(output, /targets\[1\]\.override_params: temperature -> "params"/)
  assert.match(output, /conditions on metadata -> They check "metadata" in the request body\. .* x-portkey-metadata/)
})

test("reports each target field that the connection doesn't use", async ({ folder }) => {
  const path = await writeImported(
    folder,
    '.json',
    JSON.stringify({
      strategy: { mode: 'fallback' },
      targets: [
        { provider: 'vertex-ai', api_key: 'canary', vertex_service_account_json: '{"private_key":"canary"}' },
        { provider: 'bedrock', api_key: 'canary', aws_access_key_id: 'canary', custom_host: 'https://b.test' },
        { provider: 'azure-openai', api_key: '{{A}}', resource_name: 'canary', custom_host: 'https://a.test' },
        { provider: 'huggingface', api_key: '{{B}}', huggingface_base_url: 'https://canary.test', aws_region: 'x' },
        { provider: 'vertex-ai', vertex_service_account_json: '{{SERVICE_ACCOUNT}}', vertex_project_id: 'p-2' },
        { provider: 'vertex-ai', api_key: '{{TOKEN}}', vertex_project_id: 'p-3', vertex_region: 'eu' },
      ].map((target, index) => ({ ...target, override_params: { model: `m${index}` } })),
    }),
  )
  const { out } = await run('portkey', path, '--json')
  assert.not.match(out, /canary/)
  const { unmapped, variables } = JSON.parse(out)
  assert.equal(
    unmapped.map(({ from }: { from: string }) => from),
    [
      'targets[0].api_key',
      ...['targets[1].api_key', 'targets[1].custom_host'],
      'targets[2].resource_name',
      ...['targets[3].aws_region', 'targets[3].huggingface_base_url'],
    ],
  )
  assert.ok(variables.some(({ name }: { name: string }) => name === 'SERVICE_ACCOUNT'))
})

test("keeps variables in a target's URL", async ({ folder }) => {
  const path = await writeImported(
    folder,
    '.json',
    JSON.stringify({
      strategy: { mode: 'fallback' },
      targets: ['{{LAB}}', 'https://{{ LAB_HOST }}/v1', `\${LAB_SERVER}/v1`].map((custom_host, index) =>
        openai(`m${index}`, { custom_host, api_key: '{{LAB_KEY}}' }),
      ),
    }),
  )
  const addresses = { LAB: 'https://one.test/v1', LAB_HOST: 'two.test', LAB_SERVER: 'https://three.test' }
  const { output, chat, down } = await startImported(folder, ['portkey', path], { ...KEYS, ...addresses })
  assert.match(output, /^ {2}LAB: a base URL$/m)
  for (const model of ['m0', 'm1']) down.add(model)
  assert.equal(
    (await chat('portkey')).asked.map(({ url }) => new URL(url).host),
    ['one.test', 'two.test', 'three.test'],
  )
})
