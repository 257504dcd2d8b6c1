import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite('custom models')

const PATH = '/api/models/custom'

test('creates custom models, lists them in creation order, and deletes them', async () => {
  const { expect } = openManagement()
  assert.equal(await expect(200, 'GET', PATH), { models: [] })
  const one = { id: 'z-model', providerAlias: 'oa' }
  const two = { id: 'a/model', type: 'embedding', providerAlias: 'oa' }
  assert.equal(await expect(201, 'POST', PATH, one), one)
  assert.equal(await expect(201, 'POST', PATH, two), two)
  assert.equal(await expect(200, 'GET', PATH), { models: [one, two] })
  assert.equal(await expect(200, 'DELETE', `${PATH}/oa/z-model`), { success: true })
  assert.equal(await expect(200, 'GET', PATH), { models: [two] })
})

for (const [field, model] of [
  ['id', { id: '..', providerAlias: 'oa' }],
  ['providerAlias', { id: 'm', providerAlias: '.' }],
] as const) {
  test(`rejects ${field} if it is a dot segment, which no URL can address`, () =>
    openManagement().expectError(400, `"${field}" must not be "." or "..", which cannot be used in a URL`, [
      'POST',
      PATH,
      model,
    ]))
}

test("trims a custom model's id and providerAlias", async () => {
  const { expect } = openManagement()
  assert.equal(await expect(201, 'POST', PATH, { id: ' m ', providerAlias: '\toa ' }), { id: 'm', providerAlias: 'oa' })
})

test('rejects a duplicate custom model, but allows the same id for another provider', async () => {
  const { expect, expectError } = openManagement()
  await expect(201, 'POST', PATH, { id: 'm', providerAlias: 'oa' })
  const again = { id: ' m', type: 'image', providerAlias: 'oa' }
  await expectError(400, 'The custom model "oa/m" already exists', ['POST', PATH, again])
  await expect(201, 'POST', PATH, { id: 'm', providerAlias: 'other' })
  await expect(201, 'POST', PATH, { id: 'a/m', providerAlias: 'o' })
  await expect(201, 'POST', PATH, { id: 'm', providerAlias: 'o/a' }) // a different model with the same full name
  await expect(200, 'DELETE', `${PATH}/other/m`)
  await expect(200, 'DELETE', `${PATH}/o/a%2Fm`)
  const left = [
    { id: 'm', providerAlias: 'oa' },
    { id: 'm', providerAlias: 'o/a' },
  ]
  assert.equal(await expect(200, 'GET', PATH), { models: left })
})

test('deletes an id with slashes by its path, encoded or not', async () => {
  const { expect, expectError } = openManagement()
  for (const path of ['oa/org/model:free', 'oa/org%2Fmodel%3Afree']) {
    await expect(201, 'POST', PATH, { id: 'org/model:free', providerAlias: 'oa' })
    await expect(200, 'DELETE', `${PATH}/${path}`)
    await expectError(404, 'Custom model not found', ['DELETE', `${PATH}/${path}`])
  }
  await expect(201, 'POST', PATH, { id: 'm', providerAlias: 'o/a' })
  await expect(200, 'DELETE', `${PATH}/o%2Fa/m`)
})

test('lists custom models of type llm as models, but no other types', async () => {
  const { expect, send } = openManagement({ catalog: {} })
  for (const model of [{ id: 'a' }, { id: 'b', type: 'llm' }, { id: 'c', type: 'tts' }]) {
    await expect(201, 'POST', PATH, { ...model, providerAlias: 'oa' })
  }
  const text = JSON.stringify((await send('GET', '/v1/models')).body)
  assert.equal(
    ['oa/a', 'oa/b', 'oa/c'].map((id) => text.includes(`"${id}"`)),
    [true, true, false],
  )
})

for (const [body, error] of [
  [{}, '"id" is required and must not be blank'],
  [{ id: 'm' }, '"providerAlias" is required and must not be blank'],
  [{ id: ' ', providerAlias: 'oa' }, '"id" must not be blank'],
  [{ id: 'm', providerAlias: '' }, '"providerAlias" must not be blank'],
  [{ id: 1, providerAlias: 'oa' }, '"id" must be a string'],
  [{ id: 'm\n2', providerAlias: 'oa' }, '"id" must not contain control characters'],
  [
    { id: 'm', providerAlias: 'oa', type: 'LLM' },
    '"type" must be one of "llm", "image", "tts", "stt", "embedding", "imageToText", "webSearch", "webFetch", "rerank", "moderation"',
  ],
  [{ id: 'm', provider: 'oa' }, 'Unknown field "provider". Did you mean "providerAlias"?'],
] as const) {
  test(`rejects the custom model ${JSON.stringify(body)}: ${error.slice(0, 50)}`, async () => {
    const { expectError, expect } = openManagement()
    await expectError(400, error, ['POST', PATH, body])
    assert.equal(await expect(200, 'GET', PATH), { models: [] })
  })
}
