import { memoryStorage } from '../../adapters/storage/memory.ts'
import { applyConfig, readConfigFile } from '../../src/cli/config-file.ts'
import { withManagement } from '../../src/cli/data-folder.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Management } from '../../src/management/operations.ts'
import type { GatewayOptions } from '../../src/options.ts'
import { assert } from '../support/suite.ts'
import { configSuite, findProblem, openData, write } from './config-files.ts'

const test = configSuite('the config file and configuration in code')

const CONFIG = {
  connections: {
    openai: { apiKey: 'sk-0123456789', priority: 1, tags: { region: 'eu', zdr: true } },
    lab: {
      provider: 'openai-compatible-lab',
      baseUrl: 'https://lab.test/v1',
      prefix: 'lab',
      providerSpecificData: { enabledModels: ['small'] },
    },
  },
  combos: {
    fast: ['openai/gpt-5-mini', { model: 'lab/small', weight: 2 }],
    careful: { models: ['openai/gpt-5'], strategy: 'weighted', maxAttempts: 2, health: { minCalls: 3 } },
  },
  aliases: { quick: 'fast' },
  models: { 'lab/drawing': 'image', 'lab/org/large': { type: 'llm', prices: { input: 1, output: 2 } } },
  groups: { team: { name: 'Team', models: ['fast'], limits: { usd: { month: 5 } }, metadata: { cost: 'rd' } } },
  plans: { free: { each: { requests: { day: 20 } } } },
  settings: { requireApiKey: true, maxAttempts: 4, limits: { usd: { month: 5 } } },
} as const satisfies GatewayOptions

/** Lists the records without their timestamps and their source. */
async function listRecords(api: Management) {
  const omitOrigin = (records: readonly object[]) =>
    records.map((record) => ({ ...record, source: undefined, createdAt: undefined, updatedAt: undefined }))
  return {
    connections: omitOrigin((await api.connections.list()).connections),
    combos: omitOrigin((await api.combos.list()).combos.map((combo) => ({ ...combo, id: undefined }))), // stored combos have random IDs
    aliases: (await api.aliases.list()).aliases,
    models: omitOrigin((await api.customModels.list()).models),
    groups: omitOrigin((await api.groups.list()).groups),
    settings: await api.settings.get(),
  }
}

test('a config file and configuration in code produce the same records', async ({ folder }) => {
  const { data } = openData()
  await applyConfig(await readConfigFile(await write(folder, 'same.json', JSON.stringify(CONFIG)), {}), data)
  const gateway = createGateway({ ...CONFIG, storage: memoryStorage(), logger: false })
  const fromFile = await withManagement(data, listRecords)
  assert.equal(fromFile, await listRecords(gateway.api))
  assert.equal([fromFile.models.length, fromFile.groups.length], [2, 2])
  await gateway.close()
})

const inEntry = (name: 'when' | 'params' | 'voices', value: unknown) => ({
  combos: { fast: [{ model: 'a/b', [name]: value }] },
})

const whens = [
  ['when must contain a condition; omit it for an entry that applies to all requests.', {}],
  ['when must be an object.', ['vision']],
  ['when.image is not a known field.', { image: true }],
  ['when.stream must be true or false.', { stream: 'yes' }],
  ['when.bytes must have "min", "max", or both.', { bytes: {} }],
  ['when.bytes.min must be a whole number of bytes.', { bytes: { min: -1 } }],
  ['when.bytes must have a "min" no greater than its "max".', { bytes: { min: 2, max: 1 } }],
  ['when.model must be a string or an array of strings.', { model: true }],
  ['when.model must contain at least one string.', { model: [] }],
  ['when.model[1] must be a string.', { model: ['a*', 1] }],
  ['when.headers must contain at least one.', { headers: {} }],
  ['when.headers.a b is not a header name.', { headers: { 'a b': true } }],
  ['when.headers.x must be a string, an array of strings, true, or false.', { headers: { x: 1 } }],
  ['when.metadata.tier must not be empty.', { metadata: { tier: '' } }],
  ['when.metadata must be an object whose values are patterns.', { metadata: 'x' }],
].map(([message, when]): [string, object] => [`combos.fast.models[0].${message}`, inEntry('when', when)])

const params = [
  ['params must be an object.', inEntry('params', [])],
  ['params.temperatur is not a known field.', inEntry('params', { temperatur: 1 })],
  ['params.temperature must be a number from 0 to 2.', inEntry('params', { temperature: 3 })],
  ['params.maxTokens must be a whole number from 1 to 10000000.', inEntry('params', { maxTokens: 0.5 })],
  ['params.stopSequences[0] must be a string of 1 to 200 characters.', inEntry('params', { stopSequences: [''] })],
  ['params.reasoning must be one of "none", "minimal",', inEntry('params', { reasoning: 'hard' })],
  ['voices.alloy must be a string of 1 to 200 characters.', inEntry('voices', { alloy: '' })],
].map(([message, config]): [string, object] => [`combos.fast.models[0].${message}`, Object(config)])

const mistakes: ReadonlyArray<[says: string, config: object]> = [
  ['connections must be an object by ID or name.', { connections: 'openai' }],
  ['settings must be an object.', { settings: [] }],
  ['connections.openai must be an object.', { connections: { openai: 'sk-1' } }],
  ['combos.fast must be an object.', { combos: { fast: 'openai/gpt-5' } }],
  [
    'connections.opnai: Unknown provider "opnai". Did you mean "openai"? For any other provider, set "baseUrl".',
    { connections: { opnai: { apiKey: 'sk-1' } } },
  ],
  [
    'connections.openai.apikey is not a known field. Did you mean "apiKey"?',
    { connections: { openai: { apikey: 'sk-1' } } },
  ],
  [
    'connections.openai.apiKey must not be blank. Check that the variable it comes from is set. For none, omit it.',
    { connections: { openai: { apiKey: '' } } },
  ],
  [
    'connections.lab.baseUrl must not include "/chat/completions", which the gateway appends. Use "https://lab.test/v1".',
    { connections: { lab: { baseUrl: 'https://lab.test/v1/chat/completions' } } },
  ],
  ['settings.unpriced was renamed. Use "whenPriceUnknown".', { settings: { unpriced: 'allow' } }],
  ['settings.maxAttempts must be a whole number from 1 to 100.', { settings: { maxAttempts: 0 } }],
  ['combos.fast.models[1].model must not be blank.', { combos: { fast: ['a/b', { model: '' }] } }],
  [
    'combos.fast.models[0].weight must be a number from 0 to 1000.',
    { combos: { fast: [{ model: 'a/b', weight: -1 }] } },
  ],
  ...whens,
  ...params,
  [
    'combos.b.models[0] must not lead back to the combo itself (b → quick → c → b). Remove it or use another model.',
    { combos: { b: ['quick'], c: ['a/b', 'b'] }, aliases: { quick: 'c' } },
  ],
  ['aliases.one must not lead back to the alias itself: one → two → one.', { aliases: { one: 'two', two: 'one' } }],
  ['aliases.self must not lead back to the alias itself: self → self.', { aliases: { self: 'self' } }],
  ['aliases.quick must not be blank.', { aliases: { quick: '' } }],
  ['models.lab/a.type must be one of "llm", "image",', { models: { 'lab/a': 'vision' } }],
  [
    'groups.team.limits.usd.month must be a number above 0 and up to 9007199.',
    { groups: { team: { limits: { usd: { month: 0 } } } } },
  ],
  ['plans.free.each.usd must be an object.', { plans: { free: { each: { usd: 5 } } } }],
  ['plans.free has the same "id" as groups.free. Change one of them.', { groups: { free: {} }, plans: { free: {} } }],
]

for (const [expected, config] of mistakes) {
  test(`a config file and configuration in code cause the same error: ${expected}`, async ({ folder }) => {
    let message = ''
    assert.throws(
      () => createGateway({ ...config, logger: false }),
      (error: unknown) => {
        message = error instanceof TypeError ? error.message : ''
        return message.startsWith(expected)
      },
    )
    const path = await write(folder, 'mistake.json', JSON.stringify(config))
    const applying = readConfigFile(path, {}).then((read) => applyConfig(read, openData().data))
    assert.is(await findProblem(applying), `${path}: ${message}`)
  })
}
