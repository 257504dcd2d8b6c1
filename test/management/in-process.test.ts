import { memoryStorage } from '../../adapters/storage/memory.ts'
import { isGatewayError } from '../../src/errors.ts'
import { createGateway } from '../../src/gateway.ts'
import { keyFields } from '../../src/types/records/key-fields.ts'
import { assert, suite } from '../support/suite.ts'
import { listFields } from './input-fields.ts'
import { openManagement } from './open-management.ts'

const test = suite('gateway.api')

const openGateway = () => createGateway({ storage: memoryStorage(), logger: false })

/** Resolves to the error of a failed call, which must be a gateway error. */
async function catchError(call: Promise<unknown>) {
  try {
    await call
  } catch (error) {
    if (isGatewayError(error)) return { code: error.code, status: error.status, message: error.message }
    throw error
  }
  throw new Error('it was accepted')
}

test('gateway.api works without a credential and returns the same body as HTTP', async () => {
  const { gateway, expect } = openManagement()
  const { api } = gateway
  const key = await api.keys.create({ name: 'a' })
  const combo = await api.combos.create({ name: 'c', models: ['x'] })
  const connection = await api.connections.create({ provider: 'openai', apiKey: 'sk-0123456789-abcd' })
  await api.customModels.create({ id: 'm', providerAlias: 'oa' })
  await api.aliases.set({ alias: 'a', model: 'x' })
  await api.settings.update({ cloudUrl: 'https://cloud.example/v1' })
  const assertSame = async (value: Promise<object>, path: string) =>
    assert.equal(await expect(200, 'GET', path), await value)
  await assertSame(api.keys.list(), '/api/keys')
  await assertSame(api.keys.get(key.id), `/api/keys/${key.id}`)
  await assertSame(api.settings.get(), '/api/settings')
  await assertSame(api.combos.list(), '/api/combos')
  await assertSame(api.combos.get(combo.id), `/api/combos/${combo.id}`)
  await assertSame(api.connections.list(), '/api/connections')
  await assertSame(api.connections.get(connection.id), `/api/connections/${connection.id}`)
  await assertSame(api.customModels.list(), '/api/models/custom')
  await assertSame(api.aliases.list(), '/api/models/aliases')
  await assertSame(api.providers.list(), '/api/providers')
  await assertSame(api.providers.get('openai'), '/api/providers/openai')
  for (const done of [
    api.keys.delete(key.id),
    api.combos.delete(combo.id),
    api.connections.delete(connection.id),
    api.customModels.delete('oa', 'm'),
    api.aliases.delete('a'),
  ]) {
    assert.equal(await done, { success: true })
  }
})

test('gateway.api validates like HTTP, and rejects with an error that has a code and a status', async () => {
  const { api } = openGateway()
  const invalid = (message: string) => ({ code: 'INVALID_REQUEST', status: 400, message })
  const untyped = (value: unknown) => value as { name: string; models: string[] } // JavaScript callers can pass this
  assert.equal(
    await catchError(api.keys.create(untyped({ nam: 'a' }))),
    invalid('Unknown field "nam". Did you mean "name"?'),
  )
  for (const input of [undefined, null, 'a', [], 5]) {
    assert.equal(
      await catchError(api.keys.create(untyped(input))),
      invalid(`Send an object with ${listFields(keyFields, 'create')}.`),
    )
  }
  assert.equal(await catchError(api.combos.create(untyped({ name: 'a b', models: ['x'] }))), {
    code: 'NAME_INVALID',
    status: 400,
    message: 'Name can only contain letters, numbers, -, _ and .',
  })
  await api.combos.create({ name: 'a', models: ['x'] })
  assert.is((await catchError(api.combos.create({ name: 'a', models: ['x'] }))).code, 'NAME_TAKEN')
  const missing = { code: 'NOT_FOUND', status: 404 }
  assert.equal(await catchError(api.combos.get('nobody')), { ...missing, message: 'Combo not found' })
  assert.equal(await catchError(api.keys.delete('nobody')), { ...missing, message: 'Key not found' })
  assert.equal(await catchError(api.connections.get('\ud800')), { ...missing, message: 'Connection not found' })
  assert.equal(await catchError(api.aliases.delete('\ud800')), { ...missing, message: 'Alias not found' })
  assert.equal(await catchError(api.customModels.delete('\ud800', 'm')), {
    ...missing,
    message: 'Custom model not found',
  })
})

test("an id that isn't a string is treated as unknown", async () => {
  const { api } = openGateway()
  for (const id of [undefined, null, 5, {}] as unknown[] as string[]) {
    // JavaScript callers can pass these
    for (const call of [
      () => api.keys.get(id),
      () => api.combos.get(id),
      () => api.connections.delete(id),
      () => api.aliases.delete(id),
      () => api.customModels.delete(id, id),
      () => api.providers.get(id),
      () => api.providers.update(id, { strategy: 'random' }),
    ]) {
      assert.is((await catchError(call())).code, 'NOT_FOUND', `${call} ${String(id)}`)
    }
  }
})

test('an undefined field is treated as absent', async () => {
  const { api } = openGateway()
  const untyped = <T>(value: unknown) => value as T // JavaScript callers can pass this
  const { id } = await api.keys.create({ name: 'a' })
  type KeyChange = Parameters<typeof api.keys.update>[1]
  assert.is((await api.keys.update(id, untyped<KeyChange>({ name: undefined, isActive: false }))).key.isActive, false)
  assert.is(
    (await catchError(api.keys.update(id, untyped<KeyChange>({ name: undefined })))).message,
    'Send "isActive", "name", or another field to change.',
  )
  const required = '"name" is required and must not be blank'
  assert.is((await catchError(api.keys.create(untyped<{ name: string }>({ name: undefined })))).message, required)
  const providerSpecificData = untyped<object>({ prefix: undefined, baseUrl: 'https://up.example' })
  const connection = await api.connections.create({ provider: 'openai', providerSpecificData })
  assert.equal(connection.providerSpecificData, { baseUrl: 'https://up.example' })
})

test('gateway.api returns copies: changing them changes nothing in the gateway', async () => {
  const { api } = openGateway()
  await api.combos.create({ name: 'a', models: ['x'] })
  await api.connections.create({ provider: 'openai', providerSpecificData: { enabledModels: ['m'] } })
  await api.customModels.create({ id: 'm', providerAlias: 'oa' })
  const [combo] = (await api.combos.list()).combos
  combo?.models.push('y')
  const [connection] = (await api.connections.list()).connections
  connection?.providerSpecificData?.enabledModels?.push('n')
  const [model] = (await api.customModels.list()).models
  if (model) model.id = 'changed'
  const settings = await api.settings.get()
  settings.requireApiKey = true
  assert.equal((await api.combos.list()).combos[0]?.models, ['x'])
  assert.equal((await api.connections.list()).connections[0]?.providerSpecificData, { enabledModels: ['m'] })
  assert.equal((await api.customModels.list()).models[0]?.id, 'm')
  assert.is((await api.settings.get()).requireApiKey, false)
})
