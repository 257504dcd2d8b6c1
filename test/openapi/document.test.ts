import { Validator } from '@seriousme/openapi-schema-validator'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { fieldDescriptions } from '../../src/admin/http/openapi/field-words.ts'
import type { OpenApiDocument } from '../../src/admin/openapi-document.ts'
import { createGateway } from '../../src/gateway.ts'
import { openManagement, TOKEN } from '../management/open-management.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the OpenAPI document')

const describe = () => openManagement().gateway.api.openapi()

/** Yields a value and all objects nested in it. */
function* listObjects(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value as Record<string, unknown>
  for (const inner of Object.values(value)) yield* listObjects(inner)
}

const listOperations = ({ paths }: OpenApiDocument) => Object.values(paths).flatMap((methods) => Object.values(methods))

test('the OpenAPI document is valid OpenAPI 3.1', async () => {
  const validator = new Validator()
  const { valid, errors } = await validator.validate(JSON.parse(JSON.stringify(await describe())))
  assert.ok(valid, JSON.stringify(errors))
  assert.is(validator.version, '3.1')
})

test('every OpenAPI reference points to a component, and every component is referenced', async () => {
  const document = await describe()
  const text = JSON.stringify(document)
  const getNames = (kind: string) =>
    Object.keys(document.components[kind] ?? {}).map((name) => `#/components/${kind}/${name}`)
  const components = ['schemas', 'responses', 'parameters', 'headers'].flatMap(getNames)
  const refs = new Set(Array.from(text.matchAll(/"\$ref":"([^"]+)"/g), ([, ref]) => ref))
  assert.equal([...refs].sort(), components.sort())
  const schemes = new Set(
    listOperations(document).flatMap(({ security }) => [...listObjects(security)].flatMap(Object.keys)),
  )
  assert.equal([...schemes].sort(), Object.keys(document.components.securitySchemes ?? {}).sort())
})

test('each OpenAPI operation has a unique id, a summary, and a declared tag', async () => {
  const document = await describe()
  const operations = listOperations(document)
  const ids = operations.map(({ operationId }) => String(operationId))
  assert.equal(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
  )
  assert.equal(
    ids.filter((id) => !/^[a-z][A-Za-z0-9]*$/.test(id)),
    [],
  )
  for (const { operationId, summary, tags, responses } of operations) {
    assert.match(String(summary), /^[A-Z][^.]+$/, String(operationId))
    assert.not.match(JSON.stringify(responses), /undefined/)
    assert.ok(Array.isArray(tags) && tags.length === 1, String(operationId))
  }
  const used = new Set(operations.flatMap(({ tags }) => tags))
  assert.equal([...used].sort(), document.tags.map(({ name }) => name).sort())
  assert.ok(ids.includes('keysList') && ids.includes('cloudSessionsRevoke') && ids.includes('chatCompletions'))
})

test('every field description belongs to a field in a schema', async () => {
  const { components } = await describe()
  const described = new Set<string>()
  for (const [name, { properties }] of Object.entries(components.schemas ?? {}))
    for (const [field, property] of Object.entries(Object(properties)))
      if (Object(property).description) described.add(`${name}.${field}: ${Object(property).description}`)
  for (const [name, fields] of Object.entries(fieldDescriptions))
    for (const [field, text] of Object.entries(fields))
      assert.ok(
        [...described].some((value) => value.startsWith(name) && value.endsWith(`.${field}: ${text}`)),
        `${name}.${field}`,
      )
  for (const value of ['Combo.hedge', 'CombosCreateInput.hedge', 'SettingsUpdateInput.health', 'AliasesSetInput.model'])
    assert.ok(
      [...described].some((line) => line.startsWith(`${value}:`)),
      value,
    )
})

test('the OpenAPI document is protected like the rest of /api, and also available in process', async () => {
  const { gateway, expect, send } = openManagement()
  await gateway.api.settings.update({ requireApiKey: false })
  const { key } = await gateway.api.keys.create({ name: 'client' })
  const path = '/api/openapi.json'
  assert.is((await send('GET', path)).status, 401)
  assert.is((await send('GET', path, { headers: { authorization: `Bearer ${key}` } })).status, 401)
  assert.equal(await expect(200, 'GET', path), await gateway.api.openapi())
  const { status, headers } = await send('GET', path, { headers: { authorization: `Bearer ${TOKEN}` } })
  assert.equal([status, headers.get('content-type')], [200, 'application/json'])
})

test('the OpenAPI document contains the base path as its server, and the package version', async () => {
  const getServers = async (basePath: string) => (await openManagement({ basePath }).gateway.api.openapi()).servers
  assert.equal(await getServers(''), [{ url: '/' }])
  assert.equal(await getServers('/ai/'), [{ url: '/ai' }])
  const { send, gateway } = openManagement()
  const { body } = await send('GET', '/health')
  assert.is((await gateway.api.openapi()).info.version, Reflect.get(body, 'version'))
})

test('the OpenAPI document requires a credential if the management API does', async () => {
  const openTo = async (management: Parameters<typeof createGateway>[0]['management']) => {
    const { api } = createGateway({ storage: memoryStorage(), logger: false, ...(management && { management }) })
    const { paths } = await api.openapi()
    return paths['/api/keys']?.get?.security
  }
  const token = [{ managementToken: [] }]
  assert.equal(await openTo({ token: TOKEN }), token)
  assert.equal(await openTo({ authorize: () => true }), token)
  assert.equal(await openTo(undefined), token)
  assert.equal(await openTo({ dangerouslyAllowUnauthenticated: true }), [])
})

test('each caller gets its own copy of the OpenAPI document', async () => {
  const { api } = openManagement().gateway
  const one = await api.openapi()
  for (const inner of [...listObjects(one)]) inner.changed = true
  assert.not.match(JSON.stringify(await api.openapi()), /changed":true/)
})
