import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite("warnings about records that won't work as intended")

const catalog = {
  openai: { models: [{ id: 'gpt-5', price: { input: 1, output: 10 } }, { id: 'gpt-5-mini' }] },
  groq: { models: [{ id: 'llama' }] },
}
const lab = { provider: 'openai-compatible-lab', baseUrl: 'https://lab.test/v1', prefix: 'lab' }

async function openWithConnections() {
  const management = openManagement({ catalog })
  const { api } = management.gateway
  await api.connections.put({ id: 'main', provider: 'openai' })
  await api.connections.put({ id: 'lab', ...lab })
  await api.combos.create({ name: 'fast', models: ['openai/gpt-5-mini'] })
  await api.aliases.set({ alias: 'quick', model: 'fast' })
  return management
}

const useful = [
  'openai/gpt-5',
  'openai/*',
  'openai/gpt-*',
  'fast',
  'quick',
  'fa*',
  '*',
  '*/gpt-5',
  'op*',
  'lab/x',
  'openai-compatible-lab/x',
]
const useless: ReadonlyArray<[model: string, why: string]> = [
  ['gpt-5', 'no model, combo, or alias has this name. Did you mean "openai/gpt-5"?'],
  ['fsat', 'no model, combo, or alias has this name. Did you mean "fast"?'],
  ['groq/llama', 'there is no active connection to "groq".'],
  ['groq/*', 'there is no active connection to "groq".'],
  ['nobody/x', 'no model, combo, or alias has this name.'],
  ['nobody/*', 'no model, combo, or alias has this name.'],
  ['gpt-*', 'no model, combo, or alias has this name. Did you mean "openai/gpt-5"?'],
  ['opneai/*', 'no model, combo, or alias has this name.'],
]

test("lists models that don't resolve when a key or a group is created or changed", async () => {
  const { expect } = await openWithConnections()
  const output = useless.map(([model, why]) => `"${model}" in "models" doesn't resolve yet: ${why}`)
  const models = useless.map(([model]) => model)
  for (const resource of ['keys', 'groups']) {
    const good = await expect(201, 'POST', `/api/${resource}`, { name: 'good', models: useful })
    assert.is(good.warnings, undefined)
    const created = await expect(201, 'POST', `/api/${resource}`, { name: 'bad', models: [...useful, ...models] })
    assert.equal(created.warnings, output)
    const changed = await expect(200, 'PUT', `/api/${resource}/${good.id}`, { models })
    assert.equal(changed.warnings, output)
    const repaired = await expect(200, 'PUT', `/api/${resource}/${good.id}`, { models: null })
    assert.is(repaired.warnings, undefined)
  }
})

test("a key's warnings list ten of its many unresolved models", async () => {
  const { expect } = await openWithConnections()
  const models = Array.from({ length: 1_000 }, (_, index) => `nobody/${index}`)
  const { warnings } = await expect(201, 'POST', '/api/keys', { name: 'a', models })
  assert.is(Object(warnings).length, 11)
  assert.is(Object(warnings)[10], "990 more of its models don't resolve yet.")
})

test('reports an expired key when it is created, changed, put, and rotated', async () => {
  const { gateway, clock } = openManagement()
  const { keys } = gateway.api
  const expiresAt = new Date(clock.now()).toISOString()
  const message = [`The key expired at ${expiresAt}, so requests with it fail with a 401.`]
  const { id, warnings } = await keys.create({ name: 'a', expiresAt })
  assert.equal(warnings, message)
  assert.equal((await keys.update(id, { name: 'b' })).warnings, message)
  assert.equal((await keys.put({ name: 'c', expiresAt })).warnings, message)
  assert.equal((await keys.rotate(id)).warnings, message)
  const later = new Date(clock.now() + 1).toISOString()
  assert.is((await keys.update(id, { expiresAt: later })).warnings, undefined)
})

const price = { input: 1, output: 10 }
const perToken = { input: 0.000001, output: 0.00001 }
const UNIT = 'looks like the price of one token. Prices are in USD per million tokens. Did you mean'

const ofConnections: ReadonlyArray<[given: object, warnings: string[] | undefined]> = [
  [{ provider: 'openai', prices: { 'gpt-5': price } }, undefined],
  [
    { provider: 'openai', prices: { 'openai/gpt-5': price } },
    [`"prices" contains "openai/gpt-5", but prices are listed by the provider's model ID. Use "gpt-5".`],
  ],
  [
    { provider: 'openai', prices: { 'gpt-5-mni': price } },
    ['"prices" contains "gpt-5-mni", which is not a known model of this connection. Did you mean "gpt-5-mini"?'],
  ],
  [
    { provider: 'openai', prices: { zzz: price } },
    [
      '"prices" contains "zzz", which is not a known model of this connection. If the model exists, add it as a custom model.',
    ],
  ],
  [{ provider: 'openai', enabledModels: ['ft:x'], prices: { 'ft:x': price } }, undefined],
  [{ provider: 'openai', prices: { 'gpt-custom': price } }, undefined],
  [{ provider: 'openai', prices: { 'gpt-5': perToken } }, [`"prices" of "gpt-5": 0.000001 as "input" ${UNIT} 1?`]],
  [
    { provider: 'openai', prices: { 'gpt-5': { input: 1, output: 10, cacheRead: 0.0000001 } } },
    [`"prices" of "gpt-5": 0.0000001 as "cacheRead" ${UNIT} 0.1?`],
  ],
  [
    { provider: 'openai', prices: { 'gpt-5': { input: 0, output: 0.01, character: 0.000015, second: 0.0001 } } },
    undefined,
  ],
  [{ ...lab, enabledModels: ['a'], prices: { a: price } }, undefined],
  [
    { ...lab, enabledModels: ['a'], prices: { 'lab/a': price, other: perToken } },
    [
      `"prices" contains "lab/a", but prices are listed by the provider's model ID. Use "a".`,
      '"prices" contains "other", which is not a known model of this connection. If the model exists, add it as a custom model.',
      `"prices" of "other": 0.000001 as "input" ${UNIT} 1?`,
    ],
  ],
  [
    { ...lab, discover: false, prices: { 'openai-compatible-lab/a': price } },
    [`"prices" contains "openai-compatible-lab/a", but prices are listed by the provider's model ID. Use "a".`],
  ],
]

for (const [input, warnings] of ofConnections)
  test(`returns the expected price warnings: ${JSON.stringify(input)}`, async () => {
    const { gateway, expect } = openManagement({ catalog })
    await gateway.api.customModels.create({ providerAlias: 'openai', id: 'gpt-custom' })
    const created = await expect(201, 'POST', '/api/connections', { apiKey: 'key-1234567', ...input })
    const ofPrices = Object(created.warnings ?? []).filter((warning: string) => warning.startsWith('"prices"'))
    assert.equal(ofPrices, warnings ?? [])
  })

test('warns about the prices of a custom model that no connection serves, and about per-token prices', async () => {
  const { expect } = await openWithConnections()
  const created = await expect(201, 'POST', '/api/models/custom', {
    providerAlias: 'nobody',
    id: 'x',
    prices: perToken,
  })
  assert.equal(created.warnings, [
    '"prices" of "nobody/x": the model doesn\'t resolve yet because no model, combo, or alias has this name.',
    `"prices" of "nobody/x": 0.000001 as "input" ${UNIT} 1?`,
  ])
  const accepted = await expect(201, 'POST', '/api/models/custom', { providerAlias: 'lab', id: 'x', prices: price })
  assert.is(accepted.warnings, undefined)
})
