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

/** Lists the records, without the fields that tell when and where they were defined. */
async function listRecords(api: Management) {
  const omitOrigin = (records: readonly object[]) =>
    records.map((record) => ({ ...record, source: undefined, createdAt: undefined, updatedAt: undefined }))
  return {
    connections: omitOrigin((await api.connections.list()).connections),
    combos: omitOrigin((await api.combos.list()).combos.map((combo) => ({ ...combo, id: undefined }))), // a stored one has a random ID
    aliases: (await api.aliases.list()).aliases,
    models: omitOrigin((await api.customModels.list()).models),
    groups: omitOrigin((await api.groups.list()).groups),
    settings: await api.settings.get(),
  }
}

test('give the same records for the same content', async ({ folder }) => {
  const { data } = openData()
  await applyConfig(await readConfigFile(await write(folder, 'same.json', JSON.stringify(CONFIG)), {}), data)
  const gateway = createGateway({ ...CONFIG, storage: memoryStorage(), logger: false })
  const fromFile = await withManagement(data, listRecords)
  assert.equal(fromFile, await listRecords(gateway.api))
  assert.equal([fromFile.models.length, fromFile.groups.length], [2, 2])
  await gateway.close()
})

const mistakes: ReadonlyArray<[says: string, config: object]> = [
  ['connections must be an object by ID or name.', { connections: 'openai' }],
  ['settings must be an object.', { settings: [] }],
  ['connections.openai must be an object.', { connections: { openai: 'sk-1' } }],
  ['combos.fast must be an object.', { combos: { fast: 'openai/gpt-5' } }],
]

for (const [says, config] of mistakes) {
  test(`report the same mistake: ${says}`, async ({ folder }) => {
    assert.throws(
      () => createGateway({ ...config, logger: false }),
      (error: unknown) => error instanceof TypeError && error.message.endsWith(says),
    )
    const path = await write(folder, 'mistake.json', JSON.stringify(config))
    assert.is(await findProblem(readConfigFile(path, {})), `${path}: ${says}`)
  })
}
