import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { applyConfig, configWarnings, readConfigFile } from '../../src/cli/config-file.ts'
import { withManagement } from '../../src/cli/data.ts'
import { isProblem } from '../../src/cli/problem.ts'
import { defaultCatalog } from '../../src/providers/catalog.ts'
import type { Storage } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the file of --config', { folder: '' })

test.before(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'signalbox-config-'))
})
test.after(async ({ folder }) => {
  await rm(folder, { recursive: true, force: true })
})

const VALUE = `sbx_${'v'.repeat(40)}`
const env = { OPENAI_KEY: 'sk-canary-0123456789', HOST: 'lab.test', EMPTY: '', APP_KEY: VALUE }

/** Data to apply files to, and what was written to it since it was last asked. */
function openData() {
  const memory = memoryStorage()
  let writes: string[] = []
  const storage: Storage = {
    ...memory,
    set: (key, ...rest) => {
      writes.push(key)
      return memory.set(key, ...rest)
    },
  }
  const data = { storage, catalog: defaultCatalog, secret: 'a secret of at least 32 characters' }
  const written = () => {
    const all = writes
    writes = []
    return all
  }
  return { data, written }
}

async function write(folder: string, name: string, content: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, content)
  return path
}

async function problemOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  assert.ok(isProblem(error), String(error))
  return error.message
}

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
customModels:
  lab/small: { type: llm }
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
  test(`the records of ${name} are written at the first start, and nothing at the second`, async ({ folder }) => {
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

test('records and members that the file does not name are left alone', async ({ folder }) => {
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
  ['text.toml', '', /--config takes a file that ends in \.json, \.yaml or \.yml/],
  ['list.json', '[]', /list\.json: must hold an object with "settings", "connections"/],
  ['section.yaml', 'conections: {}', /section\.yaml: conections is not a section\. Did you mean "connections"\?/],
  [
    'unset.yaml',
    `connections: { main: { provider: openai, apiKey: "\${NOT_THERE}" } }`,
    /unset\.yaml: connections\.main\.apiKey needs the variable NOT_THERE, which is not set\./,
  ],
  [
    'several.yaml',
    `connections: { main: { provider: openai, apiKey: "\${ONE}" }, more: { provider: groq, apiKey: "\${TWO}\${ONE}" } }`,
    /connections\.main\.apiKey needs the variable ONE, which is not set\. So is TWO\.$/m,
  ],
  [
    'empty.json',
    `{"keys":[{"name":"a","key":"\${EMPTY}"}]}`,
    /empty\.json: keys\[0\]\.key needs the variable EMPTY, which is empty\./,
  ],
  ['name.yaml', `aliases: { a: "x\${OPENAI-KEY}" }`, /name\.yaml: aliases\.a names "OPENAI-KEY", which is no variable/],
  ['shape.yaml', 'connections: text', /shape\.yaml: connections must be a list, or a map by name\./],
  ['entry.yaml', 'connections: { a: text }', /entry\.yaml: connections\.a must be an object\./],
  ['settings.yaml', 'settings: []', /settings\.yaml: settings must be an object\./],
  [
    'twins.json',
    '{"connections":[{"provider":"openai"},{"provider":"openai"}]}',
    /twins\.json: connections\[1\] has the same "id" as connections\[0\]; give one of them another\./,
  ],
  [
    'name.json',
    '{"combos":{"a":{"name":"b","models":[]}}}',
    /name\.json: combos\.a has "name", which its name in the map says already\./,
  ],
  [
    'env.yaml',
    'connections: { env-openai: { provider: openai } }',
    /env\.yaml: connections\.env-openai must not have an id that begins with "env-"/,
  ],
  [
    'custom.yaml',
    'customModels: { small: {} }',
    /custom\.yaml: customModels\.small must be called <providerAlias>\/<id>\./,
  ],
]

for (const [name, content, says] of unreadable) {
  test(`${name} is refused: ${says.source}`, async ({ folder }) => {
    assert.match(await problemOf(readConfigFile(await write(folder, name, content), env)), says)
  })
}

const refused: ReadonlyArray<[content: string, says: RegExp]> = [
  [
    'connections: { main: { provider: openai, apikey: x } }',
    /: connections\.main: Unknown field "apikey"\. Did you mean "apiKey"\?$/,
  ],
  ['connections: { main: {} }', /: connections\.main: Unknown provider "main"\./],
  ['settings: { requireApikey: true }', /: settings: Unknown field "requireApikey"\. Did you mean "requireApiKey"\?$/],
  ['combos: { a: [b], b: [a] }', /: combos\.b: .*must not lead back to the combo itself/],
  ['keys: { a: { key: short } }', /: keys\.a: "key" must be "sbx_" and 32 to 196/],
  ['aliases: { a: "" }', /: aliases\.a: "model" must not be blank$/],
]

for (const [content, says] of refused) {
  test(`${content} is refused with its place, and nothing of the file is written`, async ({ folder }) => {
    const { data, written } = openData()
    const first = content.startsWith('combos') ? 'aliases: { z: openai/gpt-5 }' : 'combos: { z: [openai/gpt-5] }'
    const whole = [first, content, ''].join('\n')
    const config = await readConfigFile(await write(folder, 'refused.yaml', whole), env)
    assert.match(await problemOf(applyConfig(config, data)), says)
    assert.equal(written(), [])
  })
}

test('records in the data count when a file is checked', async ({ folder }) => {
  const { data } = openData()
  await withManagement(data, (api) => api.connections.put({ id: 'main', provider: 'groq' }))
  const config = await readConfigFile(
    await write(folder, 'other.yaml', 'connections: { main: { provider: openai } }'),
    env,
  )
  assert.match(await problemOf(applyConfig(config, data)), /connections\.main: "provider" cannot be changed/)
})

test('texts keep what is escaped, and an empty file names nothing', async ({ folder }) => {
  const config = await readConfigFile(await write(folder, 'text.yaml', `aliases: { a: "x$\${HOST}/\${HOST}" }`), env)
  assert.equal(config.aliases, [{ place: 'aliases.a', input: { alias: 'a', model: `x\${HOST}/lab.test` } }])
  const empty = await readConfigFile(await write(folder, 'nothing.yaml', '# nothing\n'), env)
  assert.equal(empty.connections, [])
})

test('a file that is not there, or a folder, is named', async ({ folder }) => {
  assert.match(await problemOf(readConfigFile(join(folder, 'none.yaml'), env)), /none\.yaml \(there is no such file\)/)
  await mkdir(join(folder, 'folder.yaml'))
  assert.match(await problemOf(readConfigFile(join(folder, 'folder.yaml'), env)), /folder\.yaml \(it is a folder\)/)
})

test('what leads nowhere once the file is applied is said with its place, and nothing is written for it', async ({
  folder,
}) => {
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
    /warnings\.yaml: connections\.openai-compatable: The provider "openai-compatable" is not of the kind/,
  )
  assert.match(unlisted, /warnings\.yaml: connections\.openai-compatable: .*"discover"/)
  assert.equal(others, [])
  written()
  assert.equal(await configWarnings(config, data), [
    `${path}: aliases.lost: The alias leads nowhere yet: "nothing", no model, combo or alias has this name.`,
    `${path}: combos.broken: The combo leads nowhere yet: requests for it get a 404.`,
    `${path}: combos.broken: "groq/llama" leads nowhere yet: no active connection to "groq".`,
  ])
  await withManagement(data, (api) => api.connections.put({ id: 'env-groq', provider: 'groq' }))
  assert.is((await configWarnings(config, data)).length, 1)
  assert.equal(written(), ['connections/env-groq'])
})
