import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { applyConfig, listConfigWarnings, readConfigFile } from '../../src/cli/config-file.ts'
import { withManagement } from '../../src/cli/data-folder.ts'
import { assert } from '../support/suite.ts'
import { configSuite, findProblem, openData, write } from './config-files.ts'

const test = configSuite('the config file')

const VALUE = `sbx_${'v'.repeat(40)}`
const env = { OPENAI_KEY: 'sk-canary-0123456789', HOST: 'lab.test', EMPTY: '', APP_KEY: VALUE }

const YAML = `
settings:
  requireApiKey: true
connections:
  openai:
    apiKey: \${OPENAI_KEY}
  lab:
    provider: openai-compatible-lab
    baseUrl: https://\${HOST}/v1
    prefix: lab
combos:
  fast: [openai/gpt-5-mini, lab/small]
  careful:
    models:
      - model: openai/gpt-5
        weight: 2
    strategy: weighted
aliases:
  quick: fast
models:
  lab/small: llm
  lab/org/large:
keys:
  app:
    key: \${APP_KEY}
  batch:
`

const JSON_TEXT = JSON.stringify({
  settings: { requireApiKey: true },
  connections: [
    { provider: 'openai', apiKey: '$' + '{OPENAI_KEY}' },
    { id: 'lab', provider: 'openai-compatible-lab', baseUrl: 'https://$' + '{HOST}/v1', prefix: 'lab' },
  ],
  combos: [
    { name: 'fast', models: ['openai/gpt-5-mini', 'lab/small'] },
    { name: 'careful', models: [{ model: 'openai/gpt-5', weight: 2 }], strategy: 'weighted' },
  ],
  aliases: [{ alias: 'quick', model: 'fast' }],
  customModels: [
    { providerAlias: 'lab', id: 'small', type: 'llm' },
    { providerAlias: 'lab', id: 'org/large' },
  ],
  keys: [{ name: 'app', key: '$' + '{APP_KEY}' }, 'batch'],
})

for (const [name, content] of [
  ['maps.yaml', YAML],
  ['lists.json', JSON_TEXT],
] as const) {
  test(`writes the records from ${name} when applied, and nothing when applied again`, async ({ folder }) => {
    const { data, written } = openData()
    const config = await readConfigFile(await write(folder, name, content), env)
    await applyConfig(config, data)
    assert.ok(written().length > 8)
    await withManagement(data, async (api) => {
      const { connections } = await api.connections.list()
      assert.equal(
        connections.map(({ id, provider, apiKey }) => [id, provider, apiKey]),
        [
          ['openai', 'openai', '…6789'],
          ['lab', 'openai-compatible-lab', undefined],
        ],
      )
      assert.equal(connections[1]?.providerSpecificData, { baseUrl: 'https://lab.test/v1', prefix: 'lab' })
      assert.equal(
        (await api.combos.list()).combos.map(({ name, models, strategy }) => ({ name, models, strategy })),
        [
          { name: 'fast', models: ['openai/gpt-5-mini', 'lab/small'], strategy: 'fallback' },
          { name: 'careful', models: [{ model: 'openai/gpt-5', weight: 2 }], strategy: 'weighted' },
        ],
      )
      assert.equal(await api.aliases.list(), { aliases: { quick: 'fast' } })
      assert.equal(await api.customModels.list(), {
        models: [
          { id: 'small', type: 'llm', providerAlias: 'lab' },
          { id: 'org/large', providerAlias: 'lab' },
        ],
      })
      const { keys } = await api.keys.list()
      assert.equal(
        keys.map(({ name }) => name),
        ['app', 'batch'],
      )
      assert.is(keys[0]?.key, VALUE)
      assert.is((await api.settings.get()).requireApiKey, true)
    })
    await applyConfig(config, data)
    assert.equal(written(), [])
  })
}

test("keeps records and fields that the config file doesn't contain", async ({ folder }) => {
  const { data } = openData()
  const config = await readConfigFile(await write(folder, 'leave.yaml', YAML), env)
  await applyConfig(config, data)
  await withManagement(data, async (api) => {
    await api.connections.create({ provider: 'groq' })
    await api.connections.update('openai', { isActive: false, priority: 3 })
    const app = (await api.keys.list()).keys.find(({ name }) => name === 'app')
    await api.keys.update(app?.id ?? '', { isActive: false })
  })
  await applyConfig(config, data)
  await withManagement(data, async (api) => {
    const { connections } = await api.connections.list()
    assert.equal(
      connections.map(({ provider, isActive, priority }) => [provider, isActive, priority]),
      [
        ['openai', false, 3],
        ['openai-compatible-lab', true, undefined],
        ['groq', true, undefined],
      ],
    )
    assert.is((await api.keys.list()).keys.find(({ name }) => name === 'app')?.isActive, false)
  })
})

const unreadable: ReadonlyArray<[name: string, content: string, says: RegExp]> = [
  ['broken.json', '{"a":', /broken\.json is not valid JSON: /],
  ['broken.yaml', 'a: [1', /broken\.yaml is not valid YAML: .* at line 1/],
  ['twice.yaml', 'keys: {}\nkeys: {}', /twice\.yaml is not valid YAML: Map keys must be unique/],
  ['two.yaml', 'keys: {}\n---\nkeys: {}', /two\.yaml is not valid YAML: .*multiple documents/],
  ['text.toml', '', /the name of a config file must end in \.json, \.yaml, or \.yml/],
  [
    'list.json',
    '[]',
    /list\.json: must contain an object with these sections, which are all optional: "settings", "connections"/,
  ],
  ['section.yaml', 'conections: {}', /section\.yaml: conections is not a known section\. Did you mean "connections"\?/],
  [
    'unset.yaml',
    `connections: { main: { provider: openai, apiKey: "\${NOT_THERE}" } }`,
    /unset\.yaml: connections\.main\.apiKey needs the environment variable NOT_THERE, which is not set\./,
  ],
  [
    'several.yaml',
    `connections: { main: { provider: openai, apiKey: "\${ONE}" }, more: { provider: groq, apiKey: "\${TWO}\${ONE}" } }`,
    /connections\.main\.apiKey needs the environment variable ONE, which is not set\. Also missing: TWO\.$/m,
  ],
  [
    'empty.json',
    `{"keys":[{"name":"a","key":"\${EMPTY}"}]}`,
    /empty\.json: keys\[0\]\.key needs the environment variable EMPTY, which is empty\./,
  ],
  [
    'name.yaml',
    `aliases: { a: "x\${OPENAI-KEY}" }`,
    /name\.yaml: aliases\.a refers to "OPENAI-KEY", which is not a valid variable name/,
  ],
  ['shape.yaml', 'connections: text', /shape\.yaml: connections must be an object by ID or name\./],
  ['entry.yaml', 'connections: { a: text }', /entry\.yaml: connections\.a must be an object\./],
  ['settings.yaml', 'settings: []', /settings\.yaml: settings must be an object\./],
  [
    'twins.json',
    '{"connections":[{"provider":"openai"},{"provider":"openai"}]}',
    /twins\.json: connections\[1\] has the same "id" as connections\[0\]\. Change one of them\./,
  ],
  [
    'name.json',
    '{"combos":{"a":{"name":"b","models":[]}}}',
    /name\.json: combos\.a has a "name" that differs from its name in the map\. Remove one of them\./,
  ],
  [
    'env.yaml',
    'connections: { env-openai: { provider: openai } }',
    /env\.yaml: connections\.env-openai has an id that starts with "env-"/,
  ],
  ['custom.yaml', 'models: { small: {} }', /custom\.yaml: models\.small must be named <provider>\/<model ID>\./],
  ['unfinished.yaml', 'models: { lab/: {} }', /unfinished\.yaml: models\.lab\/ must be named <provider>\/<model ID>\./],
  [
    'both.yaml',
    'models: { lab/a: llm }\ncustomModels: { lab/a: image }',
    /both\.yaml: customModels\.lab\/a has the same "providerAlias" and "id" as models\.lab\/a\./,
  ],
]

for (const [name, content, message] of unreadable) {
  test(`rejects ${name}: ${message.source}`, async ({ folder }) => {
    assert.match(await findProblem(readConfigFile(await write(folder, name, content), env)), message)
  })
}

const rejected: ReadonlyArray<[content: string, says: RegExp]> = [
  [
    'connections: { main: { provider: openai, apikey: x } }',
    /: connections\.main\.apikey is not a known field\. Did you mean "apiKey"\?$/,
  ],
  ['connections: { main: {} }', /: connections\.main: Unknown provider "main"\. .*set "baseUrl"\.$/],
  [
    'settings: { requireApikey: true }',
    /: settings\.requireApikey is not a known field\. Did you mean "requireApiKey"\?$/,
  ],
  ['settings: { unpriced: allow }', /: settings\.unpriced was renamed\. Use "whenPriceUnknown"\.$/],
  [
    'combos: { a: [b], b: [a] }',
    /: combos\.a\.models\[0\] must not lead back to the combo itself \(a → b → a\)\. Remove it or use another model\.$/,
  ],
  ['keys: { a: { key: short } }', /: keys\.a\.key must be "sbx_" followed by 32 to 196/],
  ['aliases: { a: "" }', /: aliases\.a must not be blank\.$/],
]

for (const [content, message] of rejected) {
  test(`rejects ${content} with an error that contains the path, and writes nothing from the file`, async ({
    folder,
  }) => {
    const { data, written } = openData()
    const first = content.startsWith('combos') ? 'aliases: { z: openai/gpt-5 }' : 'combos: { z: [openai/gpt-5] }'
    const full = [first, content, ''].join('\n')
    const config = await readConfigFile(await write(folder, 'refused.yaml', full), env)
    assert.match(await findProblem(applyConfig(config, data)), message)
    assert.equal(written(), [])
  })
}

test("rejects a config file that would change an existing connection's provider", async ({ folder }) => {
  const { data } = openData()
  await withManagement(data, (api) => api.connections.put({ id: 'main', provider: 'groq' }))
  const config = await readConfigFile(
    await write(folder, 'other.yaml', 'connections: { main: { provider: openai } }'),
    env,
  )
  assert.match(await findProblem(applyConfig(config, data)), /connections\.main\.provider cannot be changed/)
})

test('turns an escaped $${…} into a literal one, and accepts an empty file', async ({ folder }) => {
  const config = await readConfigFile(await write(folder, 'text.yaml', `aliases: { a: "x$\${HOST}/\${HOST}" }`), env)
  assert.equal(config.aliases, [{ place: 'aliases.a', input: { alias: 'a', model: `x\${HOST}/lab.test` } }])
  const empty = await readConfigFile(await write(folder, 'nothing.yaml', '# nothing\n'), env)
  assert.equal(empty.connections, [])
})

test('reads custom models from "models" and from the former name, "customModels"', async ({ folder }) => {
  const content = 'models: { lab/a: image }\ncustomModels: [{ providerAlias: lab, id: b }]'
  const { models } = await readConfigFile(await write(folder, 'former.yaml', content), env)
  assert.equal(models, [
    { place: 'models.lab/a', input: { type: 'image', providerAlias: 'lab', id: 'a' } },
    { place: 'customModels[0]', input: { providerAlias: 'lab', id: 'b' } },
  ])
})

test('ignores "$schema" in a JSON file', async ({ folder }) => {
  const content = JSON.stringify({ $schema: './node_modules/signalbox/dist/config.schema.json', aliases: { a: 'b' } })
  const { aliases } = await readConfigFile(await write(folder, 'schema.json', content), env)
  assert.equal(aliases, [{ place: 'aliases.a', input: { alias: 'a', model: 'b' } }])
})

test('reports a config file that is missing, or is a directory', async ({ folder }) => {
  assert.match(
    await findProblem(readConfigFile(join(folder, 'none.yaml'), env)),
    /Cannot read the config file .*none\.yaml: no such file\./,
  )
  await mkdir(join(folder, 'folder.yaml'))
  assert.match(await findProblem(readConfigFile(join(folder, 'folder.yaml'), env)), /folder\.yaml: it is a directory\./)
})

test('warns about unresolved names, with their paths, once the file is applied', async ({ folder }) => {
  const { data, written } = openData()
  const path = await write(
    folder,
    'warnings.yaml',
    `
connections: { openai-compatable: { baseUrl: "http://lab.test/v1" }, openai: {} }
aliases: { quick: fast, lost: nothing }
combos: { fast: [openai/gpt-5], broken: [groq/llama] }
`,
  )
  const config = await readConfigFile(path, env)
  const [near = '', unlisted = '', ...others] = await applyConfig(config, data)
  assert.match(
    near,
    /warnings\.yaml: connections\.openai-compatable: The provider name "openai-compatable" does not start with/,
  )
  assert.match(unlisted, /warnings\.yaml: connections\.openai-compatable: .*"discover"/)
  assert.equal(others, [])
  written()
  assert.equal(await listConfigWarnings(config, data), [
    `${path}: aliases.lost: The alias doesn't resolve yet: it points to "nothing", but no model, combo, or alias has this name.`,
    `${path}: combos.broken: No model in this combo resolves yet, so requests for it fail with a 404.`,
    `${path}: combos.broken: "groq/llama" doesn't resolve yet: there is no active connection to "groq".`,
  ])
  await withManagement(data, (api) => api.connections.put({ id: 'env-groq', provider: 'groq' }))
  assert.is((await listConfigWarnings(config, data)).length, 1)
  assert.equal(written(), ['connections/env-groq'])
})

test("warns about keys, groups, and prices that won't work as intended", async ({ folder }) => {
  const { data, written } = openData()
  const path = await write(
    folder,
    'mistakes.yaml',
    `connections:
  openai: { prices: { openai/gpt-5: { input: 1, output: 2 } } }
models: { openai/ft: { prices: { input: 0.000001, output: 0.000002 } } }
groups: { team: { models: [env-only/x, nobody/x] } }
keys: { app: { models: [gpt-5], expiresAt: "2020-01-01T00:00:00Z" } }
`,
  )
  const config = await readConfigFile(path, env)
  const ofPrices = `${path}: connections.openai: "prices" contains "openai/gpt-5", but prices are listed by the provider's model ID. Use "gpt-5".`
  assert.equal(await applyConfig(config, data), [ofPrices])
  written()
  const fromEnvironment = {
    id: 'env',
    provider: 'openai-compatible-env',
    baseUrl: 'http://env.test/v1',
    prefix: 'env-only',
  }
  await withManagement(data, (api) => api.connections.put(fromEnvironment))
  const warnings = (await listConfigWarnings(config, data)).map((warning) => warning.replace(`${path}: `, ''))
  assert.match(warnings[0] ?? '', /^models\.openai\/ft: "prices" of "openai\/ft": 0\.000001 as "input" looks like/)
  assert.equal(warnings.slice(1), [
    'groups.team: "nobody/x" in "models" doesn\'t resolve yet: no model, combo, or alias has this name.',
    'keys.app: The key expired at 2020-01-01T00:00:00Z, so requests with it fail with a 401.',
    'keys.app: "gpt-5" in "models" doesn\'t resolve yet: no model, combo, or alias has this name. Did you mean "openai/gpt-5"?',
  ])
  assert.ok(written().every((key) => !/^(?:custom|group|key)/i.test(key)))
})
