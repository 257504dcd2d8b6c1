import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite('model aliases')

const PATH = '/api/models/aliases'

test('sets, changes, lists, and deletes aliases', async () => {
  const { expect, expectError } = openManagement()
  assert.equal(await expect(200, 'GET', PATH), { aliases: {} })
  for (const alias of ['z', 'a', 'm']) {
    const set: object = await expect(200, 'PUT', PATH, { alias, model: 'oa/gpt' })
    assert.equal({ ...set, warnings: undefined }, { alias, model: 'oa/gpt', warnings: undefined })
  }
  await expect(200, 'PUT', PATH, { alias: 'z', model: 'oa/other' })
  const list: object = await expect(200, 'GET', PATH)
  assert.is(JSON.stringify(list), '{"aliases":{"z":"oa/other","a":"oa/gpt","m":"oa/gpt"}}')
  assert.equal(await expect(200, 'DELETE', `${PATH}/a`), { success: true })
  await expectError(404, 'Alias not found', ['DELETE', `${PATH}/a`])
  assert.is(JSON.stringify(await expect(200, 'GET', PATH)), '{"aliases":{"z":"oa/other","m":"oa/gpt"}}')
})

test('trims an alias and its model', async () => {
  const { expect } = openManagement()
  await expect(200, 'PUT', PATH, { alias: ' fast ', model: '\toa/gpt\n' })
  const list: object = await expect(200, 'GET', PATH)
  assert.equal(list, { aliases: { fast: 'oa/gpt' } })
})

test("sets an alias that doesn't resolve yet, with a warning", async () => {
  const { expect, gateway } = openManagement()
  const listWarnings = async (model: string) => {
    const response: object = await expect(200, 'PUT', PATH, { alias: 'a', model })
    return (response as { warnings?: string[] }).warnings // most responses have no warnings
  }
  await expect(201, 'POST', '/api/combos', { name: 'none', models: [] })
  assert.equal(await listWarnings('openai/gpt-5'), [
    'The alias doesn\'t resolve yet: it points to "openai/gpt-5", but there is no active connection to "openai".',
  ])
  assert.equal(await listWarnings('nothing'), [
    'The alias doesn\'t resolve yet: it points to "nothing", but no model, combo, or alias has this name.',
  ])
  assert.equal(await listWarnings('none'), ['The combo "none" has no models.'])
  const list: object = await expect(200, 'GET', PATH)
  assert.equal(list, { aliases: { a: 'none' } })
  const { id } = await expect(201, 'POST', '/api/connections', { provider: 'openai', isActive: false })
  assert.is((await listWarnings('openai/gpt-5'))?.length, 1, "a paused connection doesn't count")
  await expect(200, 'PUT', `/api/connections/${id}`, { isActive: true })
  assert.equal(await gateway.api.aliases.set({ alias: 'b', model: 'a' }), { alias: 'b', model: 'a' })
  assert.is(await listWarnings('openai/gpt-5'), undefined)
})

test('accepts any alias name, and deletes an alias by its path, encoded or not', async () => {
  const { expect } = openManagement()
  for (const alias of ['a/b', 'gpt 5', 'ä', '__proto__', '100%', '?', 'a#b', '...']) {
    await expect(200, 'PUT', PATH, { alias, model: 'oa/gpt' })
    const list: object = await expect(200, 'GET', PATH)
    assert.is(JSON.stringify(list), JSON.stringify({ aliases: Object.fromEntries([[alias, 'oa/gpt']]) }))
    await expect(200, 'DELETE', `${PATH}/${encodeURIComponent(alias)}`)
  }
  await expect(200, 'PUT', PATH, { alias: 'a/b', model: 'oa/gpt' })
  await expect(200, 'DELETE', `${PATH}/a/b`)
})

for (const alias of ['.', ' .. ']) {
  test(`rejects the alias ${JSON.stringify(alias)}, because no URL could address it for deletion`, () =>
    openManagement().expectError(400, '"alias" must not be "." or "..", which cannot be used in a URL', [
      'PUT',
      PATH,
      { alias, model: 'oa/gpt' },
    ]))
}

test('an alias can have the name of its model or a combo, and point to either', async () => {
  const { expect } = openManagement()
  await expect(201, 'POST', '/api/combos', { name: 'smart', models: ['oa/gpt'] })
  await expect(200, 'PUT', PATH, { alias: 'oa/gpt', model: 'oa/gpt' })
  await expect(200, 'PUT', PATH, { alias: 'clever', model: 'smart' })
  await expect(200, 'PUT', PATH, { alias: 'cleverer', model: 'clever' })
  await expect(200, 'PUT', PATH, { alias: 'smart', model: 'oa/other' })
})

test("aliases can't point to each other", async () => {
  const { expect, expectError } = openManagement()
  await expect(200, 'PUT', PATH, { alias: 'a', model: 'b' })
  await expect(200, 'PUT', PATH, { alias: 'b', model: 'c' })
  const error = '"model" must not lead back to the alias itself: c → a → b → c'
  await expectError(400, error, ['PUT', PATH, { alias: 'c', model: 'a' }])
  await expect(200, 'PUT', PATH, { alias: 'b', model: 'x' }) // free a slot for the alias
  await expect(200, 'PUT', PATH, { alias: 'c', model: 'a' })
})

test("an alias can't point to itself", async () => {
  const { expect, expectError } = openManagement()
  for (const name of ['x', 'x/', '/x', 'gpt 5']) {
    const error = `"model" must not lead back to the alias itself: ${name} → ${name}`
    await expectError(400, error, ['PUT', PATH, { alias: name, model: ` ${name}` }])
  }
  assert.equal(await expect(200, 'GET', PATH), { aliases: {} })
})

for (const [body, error] of [
  [{}, '"alias" is required and must not be blank'],
  [{ alias: 'a' }, '"model" is required and must not be blank'],
  [{ alias: ' ', model: 'm' }, '"alias" must not be blank'],
  [{ alias: 'a', model: '' }, '"model" must not be blank'],
  [{ alias: 'a', model: ['m'] }, '"model" must be a string'],
  [{ alias: 'a\u0000', model: 'm' }, '"alias" must not contain control characters'],
  [{ alias: 'a'.repeat(201), model: 'm' }, '"alias" must not be longer than 200 characters'],
  [{ alias: '\udfff', model: 'm' }, '"alias" must not contain control characters'],
  [{ name: 'a', model: 'm' }, 'Unknown field "name". Known: "alias", "model".'],
  [{ a: 'oa/gpt' }, 'Unknown field "a". Known: "alias", "model".'],
] as const) {
  test(`rejects the alias input ${JSON.stringify(body).slice(0, 40)}: ${error}`, async () => {
    const { expectError, expect } = openManagement()
    await expectError(400, error, ['PUT', PATH, body])
    assert.equal(await expect(200, 'GET', PATH), { aliases: {} })
  })
}
