import { DatabaseSync } from 'node:sqlite'

/* Configurations of other gateways, shaped like the examples in their documentation. Each secret in them contains the word "canary". */

export const LITELLM = `
model_list:
  - model_name: gpt-4o
    litellm_params:
      model: azure/gpt-4o-eu
      api_base: os.environ/AZURE_API_BASE
      api_key: os.environ/AZURE_API_KEY
      api_version: "2025-04-01-preview"
      rpm: 480
  - model_name: gpt-4o
    litellm_params:
      model: gpt-4o
      api_key: sk-canary-written-out-1
      rpm: 120
  - model_name: claude
    litellm_params:
      model: anthropic/claude-sonnet-4-5
      temperature: 0.2
      max_tokens: "4000"
      stop: END
      top_p: 7
  - model_name: lab
    litellm_params:
      model: openai/qwen3
      api_base: http://10.0.0.5:8000/v1/
      api_key: sk-canary-written-out-2
      input_cost_per_token: 0.000001
      output_cost_per_token: 0.000002
  - model_name: llama
    litellm_params: { model: ollama/llama3, api_base: "http://localhost:11434" }
  - model_name: "groq/*"
    litellm_params: { model: "groq/*", api_key: os.environ/GROQ_API_KEY }
  - model_name: "*"
    litellm_params: { model: "openai/*", api_key: sk-canary-written-out-1 }
  - model_name: sage
    litellm_params: { model: sagemaker/llama }
router_settings:
  routing_strategy: simple-shuffle
  num_retries: 2
  timeout: 30
  cooldown_time: 60
  allowed_fails: 3
  fallbacks: [{ gpt-4o: [claude, lab] }, { claude: [gpt-4o] }]
  model_group_alias: { "gpt-4": gpt-4o, "fast": { model: llama, hidden: true } }
  redis_password: canary-redis
litellm_settings:
  drop_params: true
  cache: true
  max_budget: 100
  budget_duration: 30d
  default_team_settings:
    - { team_id: team-1, max_budget: 5, budget_duration: 1d, langfuse_secret: canary-langfuse }
general_settings:
  master_key: sk-canary-master
  global_max_parallel_requests: 50
environment_variables: { REDIS_PASSWORD: canary-environment }
`

export const PORTKEY = {
  strategy: { mode: 'fallback', on_status_codes: [429, 503] },
  retry: { attempts: 2 },
  request_timeout: 20_000,
  cache: { mode: 'semantic' },
  targets: [
    {
      name: 'shared',
      strategy: { mode: 'loadbalance' },
      targets: [
        { provider: 'openai', api_key: 'sk-canary-one', weight: 0.7, override_params: { model: 'gpt-4o' } },
        { provider: 'openai', apiKey: 'sk-canary-two', weight: 0.3, overrideParams: { model: 'gpt-4o' } },
      ],
    },
    { provider: '@mistral-ai-prod', override_params: { model: 'mistral-large-latest', temperature: 0 } },
    {
      provider: 'openai',
      custom_host: 'http://lab.test/v1/',
      api_key: '{{LAB_KEY}}',
      override_params: { model: 'qwen3' },
    },
    { provider: 'google', api_key: 'canary-google' },
    { provider: '@house', override_params: { model: 'x' } },
  ],
}

export const NINE_ROUTER = {
  providerConnections: [
    {
      id: 'a',
      provider: 'glm',
      authType: 'apikey',
      name: 'Main',
      apiKey: 'sk-canary-glm',
      priority: 2,
      isActive: true,
    },
    {
      id: 'b',
      provider: 'glm',
      authType: 'apikey',
      name: 'Spare',
      apiKey: 'sk-canary-spare',
      priority: 1,
      isActive: false,
    },
    {
      id: 'c',
      provider: 'claude',
      authType: 'oauth',
      email: 'me@canary.test',
      accessToken: 'canary-token',
      priority: 1,
    },
    {
      id: 'd',
      provider: 'openai-compatible-chat-1234',
      authType: 'apikey',
      name: 'Lab',
      apiKey: 'sk-canary-lab',
      providerSpecificData: { prefix: 'lab', apiType: 'chat', baseUrl: 'http://lab.test/v1' },
    },
  ],
  providerNodes: [
    {
      id: 'openai-compatible-chat-1234',
      type: 'openai-compatible',
      name: 'Lab',
      prefix: 'lab',
      apiType: 'chat',
      baseUrl: 'http://lab.test/v1',
    },
  ],
  combos: [
    { id: '1', name: 'best', models: ['cc/claude-opus', 'lab/qwen3', 'glm/glm-4.7'] },
    { id: '2', name: 'turns', models: ['best', 'lab/qwen3'] },
  ],
  modelAliases: { quick: 'lab/qwen3', lost: 'cc/claude-haiku' },
  customModels: [{ providerAlias: 'lab', id: 'qwen3', type: 'llm' }],
  pricing: { glm: { 'glm-4.7': { input: 0.6, output: 2.2, cached: 0.1 } } },
  apiKeys: [
    { id: 'k', key: 'sk-canary-client', name: 'laptop', isActive: true },
    { id: 'l', key: 'sk-canary-other', name: 'phone', isActive: false },
  ],
  settings: {
    requireApiKey: false,
    cloudEnabled: true,
    comboStrategies: { turns: { fallbackStrategy: 'round-robin' } },
    password: 'canary',
  },
}

/** Writes the same data to a SQLite database with 9router's tables. */
export function writeSqlite(path: string): void {
  const database = new DatabaseSync(path)
  database.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE settings (id INTEGER PRIMARY KEY, data TEXT NOT NULL);
    CREATE TABLE providerConnections (id TEXT PRIMARY KEY, provider TEXT, authType TEXT, name TEXT, email TEXT, priority INTEGER, isActive INTEGER, data TEXT);
    CREATE TABLE providerNodes (id TEXT PRIMARY KEY, type TEXT, name TEXT, data TEXT);
    CREATE TABLE apiKeys (id TEXT PRIMARY KEY, key TEXT, name TEXT, isActive INTEGER);
    CREATE TABLE combos (id TEXT PRIMARY KEY, name TEXT, kind TEXT, models TEXT);
    CREATE TABLE kv (scope TEXT, key TEXT, value TEXT);`)
  const add = (table: string, ...values: (string | number | null)[]) =>
    database.prepare(`INSERT INTO ${table} VALUES (${values.map(() => '?').join()})`).run(...values)
  add('settings', 1, JSON.stringify(NINE_ROUTER.settings))
  for (const { id, provider, authType, name, priority, isActive, ...data } of NINE_ROUTER.providerConnections)
    add(
      'providerConnections',
      id,
      provider,
      authType,
      name ?? null,
      null,
      priority ?? null,
      isActive === false ? 0 : 1,
      JSON.stringify(data),
    )
  for (const { id, type, name, ...data } of NINE_ROUTER.providerNodes)
    add('providerNodes', id, type, name, JSON.stringify(data))
  for (const { id, key, name, isActive } of NINE_ROUTER.apiKeys) add('apiKeys', id, key, name, isActive ? 1 : 0)
  for (const { id, name, models } of NINE_ROUTER.combos) add('combos', id, name, null, JSON.stringify(models))
  for (const [alias, model] of Object.entries(NINE_ROUTER.modelAliases))
    add('kv', 'modelAliases', alias, JSON.stringify(model))
  for (const customModel of NINE_ROUTER.customModels)
    add('kv', 'customModels', customModel.id, JSON.stringify(customModel))
  for (const [provider, prices] of Object.entries(NINE_ROUTER.pricing))
    add('kv', 'pricing', provider, JSON.stringify(prices))
  database.close()
}

/** A Portkey config with a conditional strategy. */
export const PORTKEY_CONDITIONS = `{
  "strategy": {
    "mode": "conditional",
    "conditions": [
      { "query": { "$or": [{ "metadata.plan": { "$eq": "paid" } }, { "metadata.team": { "$in": ["a", "b"] } }] }, "then": "large" },
      { "query": { "params.temperature": { "$gte": 1 } }, "then": "large" }
    ],
    "default": "small"
  },
  "targets": [
    { "name": "large", "provider": "openai", "api_key": "sk-canary", "override_params": { "model": "gpt-4o" } },
    { "name": "small", "provider": "openai", "api_key": "sk-canary", "override_params": { "model": "gpt-4o-mini" } }
  ]
}`
