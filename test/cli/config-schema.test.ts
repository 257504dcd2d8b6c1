import { readFile } from 'node:fs/promises'
import { Validator } from '@cfworker/json-schema'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { applyConfig, readConfigFile } from '../../src/cli/config-file.ts'
import { createConfigSchema } from '../../src/cli/config-schema/config-schema.ts'
import { isProblem } from '../../src/cli/problem.ts'
import { parseYaml } from '../../src/cli/yaml.ts'
import { readPages } from '../docs/pages.ts'
import { assert } from '../support/suite.ts'
import { configSuite, openData, write } from './config-files.ts'

const test = configSuite("the config file's JSON Schema")

const schema = createConfigSchema()
const validator = new Validator(schema, '2020-12')
const example = new URL('../../examples/container/signalbox.yaml', import.meta.url)
const env = { KEY: `sbx_${'k'.repeat(40)}`, STRATEGY: 'weighted' }

/** Returns whether the CLI accepts a config file with this content. */
async function isAccepted(folder: string, content: string): Promise<boolean> {
  const { data } = openData()
  const path = await write(folder, 'sample.yaml', content)
  try {
    await applyConfig(await readConfigFile(path, env), data)
    return true
  } catch (error) {
    if (isProblem(error)) return false
    throw error
  }
}

test('the config schema is valid JSON Schema without unresolved references', () => {
  const ajv = new Ajv2020({ validateFormats: false, allowUnionTypes: true, strictRequired: false })
  assert.ok(ajv.validateSchema(schema), JSON.stringify(ajv.errors))
  ajv.compile(schema)
})

test('the config schema accepts each config file in the documentation and the examples', async () => {
  const blocks = readPages()
    .flatMap(({ blocks }) => blocks)
    .filter(({ language, code }) => language === 'yaml' && /^connections:/m.test(code))
  assert.ok(blocks.length > 1, `only ${blocks.length} files found`)
  const files = [...blocks, { place: 'examples/container/signalbox.yaml', code: await readFile(example, 'utf8') }]
  for (const { place, code } of files) {
    const { errors } = validator.validate(parseYaml(code))
    assert.equal(errors, [], place)
  }
})

const accepted = [
  '# empty',
  'settings:\nconnections:\nkeys:',
  'connections: { openai: }\nkeys: { app: }',
  'x-shared: &shared { maxAttempts: 2 }\nsettings: { <<: *shared }',
  'connections: [{ provider: openai }, { id: groq, apiKey: gsk_1 }]',
  'connections: { lab: { provider: openai-compatible-lab, baseUrl: "http://lab.test/v1", tags: { zdr: true } } }',
  'combos: { fast: [openai/gpt-5, { model: openai/gpt-5-mini, weight: 2, when: { stream: true } }] }',
  `combos: { fast: { models: [openai/gpt-5], strategy: "\${STRATEGY}", hedge: null } }`,
  'combos: [{ name: fast, models: [openai/gpt-5], strategy: weighted, on: [content] }]',
  'aliases: { quick: openai/gpt-5, slow: { model: openai/gpt-5 } }',
  'aliases: [{ alias: quick, model: openai/gpt-5 }]',
  'models: { lab/a: image, lab/b/c: { type: llm, prices: { input: 1 } }, lab/d: }',
  'models: [{ providerAlias: lab, id: a }]',
  'customModels: { lab/a: { type: image } }',
  'groups: { team: , other: { name: Other, limits: { usd: { month: 5 } } } }',
  'groups: [{ name: team }, { id: other }]',
  'plans: { free: { each: { requests: { day: 20 } } } }',
  `keys: { app: { key: "\${KEY}", expiresAt: "2027-01-31T00:00:00Z", kinds: [llm] } }`,
  'keys: [app, { name: batch, models: ["openai/*"] }]',
]

for (const content of accepted) {
  test(`the config schema accepts ${JSON.stringify(content)}, like the CLI`, async ({ folder }) => {
    assert.equal(validator.validate(parseYaml(content)).errors, [])
    assert.ok(await isAccepted(folder, content))
  })
}

const rejected = [
  '[]',
  'conections: {}',
  'settings: []',
  'settings: { requireApikey: true }',
  'settings: { requireApiKey: "yes" }',
  'settings: { cloudEnabled: true }',
  'settings: { health: { failureShare: 2 } }',
  'connections: openai',
  'connections: { openai: sk-1 }',
  'connections: { openai: { apikey: sk-1 } }',
  'connections: { openai: { apiKey: "Bearer sk-1" } }',
  'connections: { openai: { priority: first } }',
  'connections: { openai: { baseUrl: "lab.test/v1" } }',
  'connections: { openai: { format: openai } }',
  'connections: { env-openai: {} }',
  'connections: { my openai: { provider: openai } }',
  'connections: [{ apiKey: sk-1 }]',
  'combos: { fast: openai/gpt-5 }',
  'combos: { fast: }',
  'combos: { fast: { strategy: weighted } }',
  'combos: { fast: { models: [openai/gpt-5], strategy: wieghted } }',
  'combos: { fast: [{ name: openai/gpt-5 }] }',
  'combos: { fast: [{ model: openai/gpt-5, weight: heavy }] }',
  'combos: { my/fast: [openai/gpt-5] }',
  'combos: [[openai/gpt-5]]',
  'aliases: { quick: [openai/gpt-5] }',
  'aliases: { quick: "" }',
  'models: { small: {} }',
  'models: { lab/: {} }',
  'models: { lab/small: vision }',
  'models: { lab/small: { kind: llm } }',
  'models: [{ id: a }]',
  'groups: [{ limits: { usd: { month: 5 } } }]',
  'groups: { team: { limits: { usd: 5 } } }',
  'plans: { free: { each: { usd: 5 } } }',
  'keys: { app: sbx_0123 }',
  'keys: { app: { key: short } }',
  'keys: { app: { limits: { usd: { mnth: 5 } } } }',
  'keys: { app: { expiresAt: tomorrow } }',
  'keys: [{ models: ["openai/*"] }]',
]

for (const content of rejected) {
  test(`the config schema rejects ${content}, like the CLI`, async ({ folder }) => {
    assert.not(validator.validate(parseYaml(content)).valid)
    assert.not(await isAccepted(folder, content))
  })
}
