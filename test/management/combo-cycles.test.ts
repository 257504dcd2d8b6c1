import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite('combo cycles')

const cycle = (way: string, index: number) =>
  `"models[${index}]" must not lead back to the combo itself (${way}). Remove it or use another model`

test("a combo can't contain itself", async () => {
  const { expectError, expect } = openManagement()
  await expectError(400, cycle('a → a', 1), ['POST', '/api/combos', { name: 'a', models: ['x', 'a'] }])
  const { id } = await expect(201, 'POST', '/api/combos', { name: 'a', models: ['x'] })
  await expectError(400, cycle('a → a', 0), ['PUT', `/api/combos/${id}`, { models: ['a'] }])
  assert.equal((await expect(200, 'GET', `/api/combos/${id}`)).models, ['x'])
})

test("a combo can't contain itself through other combos, regardless of which is created last", async () => {
  const { expectError, expect } = openManagement()
  await expect(201, 'POST', '/api/combos', { name: 'a', models: ['x', 'b'] })
  await expect(201, 'POST', '/api/combos', { name: 'b', models: ['y', 'c'] })
  await expectError(400, cycle('c → a → b → c', 1), ['POST', '/api/combos', { name: 'c', models: ['z', 'a'] }])
  const c = await expect(201, 'POST', '/api/combos', { name: 'c', models: ['z'] })
  await expectError(400, cycle('c → b → c', 0), ['PUT', `/api/combos/${c.id}`, { models: ['b'] }])
})

test("a rename can't create a cycle", async () => {
  const { expectError, expect } = openManagement()
  await expect(201, 'POST', '/api/combos', { name: 'a', models: ['b'] })
  const c = await expect(201, 'POST', '/api/combos', { name: 'c', models: ['a'] })
  await expectError(400, cycle('b → a → b', 0), ['PUT', `/api/combos/${c.id}`, { name: 'b' }])
  await expect(200, 'PUT', `/api/combos/${c.id}`, { name: 'b', models: ['x'] })
})

test("a combo that appears twice, or is reachable along two paths, isn't a cycle", async () => {
  const { expect } = openManagement()
  await expect(201, 'POST', '/api/combos', { name: 'leaf', models: ['x'] })
  await expect(201, 'POST', '/api/combos', { name: 'left', models: ['leaf'] })
  await expect(201, 'POST', '/api/combos', { name: 'right', models: ['leaf', 'left'] })
  await expect(201, 'POST', '/api/combos', { name: 'top', models: ['left', 'right', 'left', 'leaf'] })
})

test("a provider's model isn't a combo, even if its last part is a combo name", async () => {
  const { expect } = openManagement()
  await expect(201, 'POST', '/api/combos', { name: 'gpt-5', models: ['openai/gpt-5'] })
})

test('cycle detection follows aliases, unless a combo has the same name', async () => {
  const { expectError, expect } = openManagement()
  await expect(200, 'PUT', '/api/models/aliases', { alias: 'short', model: 'a' })
  await expectError(400, cycle('a → short → a', 0), ['POST', '/api/combos', { name: 'a', models: ['short'] }])
  await expect(201, 'POST', '/api/combos', { name: 'short', models: ['x'] }) // takes precedence over the alias
  await expect(201, 'POST', '/api/combos', { name: 'a', models: ['short'] })
})

test("an alias can't create a cycle either", async () => {
  const { expectError, expect } = openManagement()
  await expect(201, 'POST', '/api/combos', { name: 'a', models: ['short'] })
  const error = '"model" must not lead back to the alias itself: short → a → short'
  await expectError(400, error, ['PUT', '/api/models/aliases', { alias: 'short', model: 'a' }])
  await expect(200, 'PUT', '/api/models/aliases', { alias: 'short', model: 'x' })
})

test("a long chain of combos isn't a cycle, and is followed to its end", async () => {
  const { expectError, expect } = openManagement()
  for (let index = 0; index < 60; index++)
    await expect(201, 'POST', '/api/combos', { name: `c${index}`, models: [`c${index + 1}`] })
  const response = await openManagement().call('POST', '/api/combos', { name: 'c60', models: ['c0'] })
  assert.is(response.status, 201) // on another gateway, which has no chain
  const way = Array.from({ length: 60 }, (_, index) => `c${index}`).join(' → ')
  await expectError(400, cycle(`c60 → ${way} → c60`, 0), ['POST', '/api/combos', { name: 'c60', models: ['c0'] }])
})

test('cycle detection handles 40 levels of combos that each contain the next one twice', async () => {
  const { expect } = openManagement()
  for (let index = 0; index < 40; index++) {
    await expect(201, 'POST', '/api/combos', { name: `c${40 - index}`, models: [`c${41 - index}`, `c${41 - index}`] })
  }
  await expect(201, 'POST', '/api/combos', { name: 'c0', models: ['c1', 'c1'] })
})

test('rejects one of two concurrent combos that would contain each other', async () => {
  const { api } = openManagement().gateway
  const models = (name: string) => ({ name, models: [name === 'a' ? 'b' : 'a'] })
  const made = (calls: Promise<unknown>[]) =>
    Promise.allSettled(calls).then((all) => all.map(({ status }) => status).sort())
  assert.equal(await made([api.combos.create(models('a')), api.combos.create(models('b'))]), ['fulfilled', 'rejected'])
  const aliases = openManagement().gateway.api.aliases
  const one = { alias: 'a', model: 'b' }
  const two = { alias: 'b', model: 'a' }
  assert.equal(await made([aliases.set(one), aliases.set(two)]), ['fulfilled', 'rejected'])
  const both = openManagement().gateway.api
  assert.equal(await made([both.combos.create(models('a')), both.aliases.set(two)]), ['fulfilled', 'rejected'])
  const reversed = openManagement().gateway.api
  assert.equal(await made([reversed.aliases.set(two), reversed.combos.create(models('a'))]), ['fulfilled', 'rejected'])
})
