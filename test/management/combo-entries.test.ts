import type { ComboModel } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite('combo entries')

const mixed = ['one/m', { model: 'two/m', weight: 0.5 }, { model: 'three/m' }, { model: 'four/m', weight: 0 }]

for (const strategy of ['fallback', 'round-robin', 'weighted', 'random', 'least-cost']) {
  test(`combo entries with "${strategy}" are returned unchanged, with their weights`, async () => {
    const { expect, send } = openManagement({ catalog: {} })
    const { warnings, ...created } = await expect(201, 'POST', '/api/combos', { name: 'a', models: mixed, strategy })
    assert.is(warnings?.length, 5, 'one for the combo, and one for each model without a connection')
    assert.equal([created.strategy, created.models], [strategy, mixed])
    assert.equal(await expect(200, 'GET', `/api/combos/${created.id}`), created)
    assert.equal(await expect(200, 'GET', '/api/combos'), { combos: [created] })
    assert.equal((await expect(200, 'PUT', `/api/combos/${created.id}`, created)).models, mixed)
    const models = [{ model: 'x', weight: 1_000 }, 'y']
    assert.equal((await expect(200, 'PUT', `/api/combos/${created.id}`, { models })).models, models)
    const { data } = (await send('GET', '/v1/models')).body as unknown as { data: Array<{ id: string }> }
    assert.equal(
      data.map(({ id }) => id),
      ['a'],
    )
  })
}

test('weights survive a strategy change', async () => {
  const { expect } = openManagement()
  const { id } = await expect(201, 'POST', '/api/combos', { name: 'a', models: mixed, strategy: 'weighted' })
  for (const strategy of ['fallback', 'weighted'])
    assert.equal((await expect(200, 'PUT', `/api/combos/${id}`, { strategy })).models, mixed)
})

test('trims model names in entry objects like other model names', async () => {
  const { expect } = openManagement()
  const combo = await expect(201, 'POST', '/api/combos', { name: 'a', models: [{ model: ' x ', weight: 2 }] })
  assert.equal(combo.models, [{ model: 'x', weight: 2 }])
})

test("returns an entry's parameters unchanged, and rejects them in non-chat combos", async () => {
  const { expect, expectError } = openManagement({ catalog: {} })
  const params = { maxTokens: 5, temperature: 0, stopSequences: ['a'], seed: -1, reasoning: 'none' }
  const models = ['y', { model: 'x', params }]
  const created = await expect(201, 'POST', '/api/combos', { name: 'a', models })
  assert.equal((await expect(200, 'GET', `/api/combos/${created.id}`)).models, models)
  const error = '"models[1].params" is only for chat combos ("kind": "llm"); omit it'
  await expectError(400, error, ['POST', '/api/combos', { name: 'b', models, kind: 'embedding' }])
  await expectError(400, error, ['PUT', `/api/combos/${created.id}`, { kind: 'embedding' }])
})

const WEIGHT = 'must be a number from 0 to 1000'
const refusals: Array<[entry: unknown, error: string]> = [
  [{}, '"models[1].model" is required and must not be blank'],
  [{ weight: 1 }, '"models[1].model" is required and must not be blank'],
  [{ model: ' ' }, '"models[1].model" must not be blank'],
  [{ model: 5 }, '"models[1].model" must be a string'],
  [{ model: { model: 'x' } }, '"models[1].model" must be a string'],
  [{ model: 'x'.repeat(513) }, '"models[1].model" must not be longer than 512 characters'],
  [{ model: 'x\u0007' }, '"models[1].model" must not contain control characters'],
  [{ model: 'x', weight: -1 }, `"models[1].weight" ${WEIGHT}`],
  [{ model: 'x', weight: 1_000.1 }, `"models[1].weight" ${WEIGHT}`],
  [{ model: 'x', weight: '1' }, `"models[1].weight" ${WEIGHT}`],
  [{ model: 'x', weight: null }, `"models[1].weight" ${WEIGHT}`],
  [{ model: 'x', wieght: 1 }, 'Unknown field "models[1].wieght". Did you mean "weight"?'],
  [
    { model: 'x', zone: 'eu' },
    'Unknown field "models[1].zone". Known: "model", "weight", "when", "where", "voices", "params", "promptCaching".',
  ],
  [
    { model: 'x', params: { foo: 1 } },
    'Unknown field "models[1].params.foo". Known: "maxTokens", "temperature", "topP", "topK", "stopSequences", "seed", "presencePenalty", "frequencyPenalty", "reasoning".',
  ],
  [{ model: 'x', params: { max_tokens: 1 } }, 'Unknown field "models[1].params.max_tokens". Did you mean "maxTokens"?'],
  [{ model: 'x', params: [] }, '"models[1].params" must be an object'],
  [{ model: 'x', params: 5 }, '"models[1].params" must be an object'],
  [{ model: 'x', params: { maxTokens: 0 } }, '"models[1].params.maxTokens" must be a whole number from 1 to 10000000'],
  [
    { model: 'x', params: { maxTokens: 1.5 } },
    '"models[1].params.maxTokens" must be a whole number from 1 to 10000000',
  ],
  [{ model: 'x', params: { temperature: '1' } }, '"models[1].params.temperature" must be a number from 0 to 2'],
  [{ model: 'x', params: { topP: 1.1 } }, '"models[1].params.topP" must be a number from 0 to 1'],
  [{ model: 'x', params: { presencePenalty: 3 } }, '"models[1].params.presencePenalty" must be a number from -2 to 2'],
  [{ model: 'x', params: { stopSequences: [] } }, '"models[1].params.stopSequences" must contain at least one string'],
  [
    { model: 'x', params: { stopSequences: [''] } },
    '"models[1].params.stopSequences[0]" must be a string of 1 to 200 characters',
  ],
  [
    { model: 'x', params: { reasoning: 'much' } },
    '"models[1].params.reasoning" must be one of "none", "minimal", "low", "medium", "high", "xhigh", "max"',
  ],
  [['x'], '"models[1]" must be a string or an object with "model"'],
  [5, '"models[1]" must be a string or an object with "model"'],
  [null, '"models[1]" must be a string or an object with "model"'],
]
for (const [entry, error] of refusals) {
  test(`rejects the combo entry ${JSON.stringify(entry).slice(0, 40)}: ${error}`, async () => {
    const { expectError, expect } = openManagement()
    await expectError(400, error, ['POST', '/api/combos', { name: 'a', models: ['x', entry] }])
    assert.equal(await expect(200, 'GET', '/api/combos'), { combos: [] })
    const { id } = await expect(201, 'POST', '/api/combos', { name: 'a', models: ['x'] })
    await expectError(400, error, ['PUT', `/api/combos/${id}`, { models: ['x', entry] }])
  })
}

test("gateway.api rejects weights that JSON can't represent, and treats undefined as absent", async () => {
  const { api } = openManagement().gateway
  for (const weight of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    const created = api.combos.create({ name: 'a', models: [{ model: 'x', weight }] })
    assert.is(await created.catch((error: Error) => error.message), `"models[0].weight" ${WEIGHT}`)
  }
  const entry = { model: 'x', weight: undefined } as unknown as ComboModel // JavaScript callers can pass this
  const { models } = await api.combos.create({ name: 'a', models: [entry] })
  assert.is(JSON.stringify(models), '[{"model":"x"}]')
  assert.equal(Object.keys(models[0] ?? {}), ['model'])
})

test('gateway.api returns a deep copy of a combo', async () => {
  const { api } = openManagement().gateway
  const sent = { model: 'x', weight: 2 }
  const created = await api.combos.create({ name: 'a', models: [sent] })
  sent.weight = 3
  for (const { models } of [created, ...(await api.combos.list()).combos]) {
    const [entry] = models
    if (typeof entry === 'object') entry.weight = 7
  }
  assert.equal((await api.combos.get(created.id)).models, [{ model: 'x', weight: 2 }])
})

test('combo cycles are detected through entry objects and through names', async () => {
  const { expectError, expect } = openManagement()
  const cycle = (way: string) =>
    `"models[1]" must not lead back to the combo itself (${way}). Remove it or use another model`
  const createLead = (name: string, model: string) => ({ name, models: ['x', { model, weight: 0 }] })
  await expectError(400, cycle('a → a'), ['POST', '/api/combos', createLead('a', 'a')])
  await expect(201, 'POST', '/api/combos', createLead('a', 'b'))
  await expectError(400, cycle('b → a → b'), ['POST', '/api/combos', createLead('b', 'a')])
  await expect(201, 'POST', '/api/combos', createLead('b', 'short'))
  const error = '"model" must not lead back to the alias itself: short → a → b → short'
  await expectError(400, error, ['PUT', '/api/models/aliases', { alias: 'short', model: 'a' }])
})
