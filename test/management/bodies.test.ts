import fc from 'fast-check'
import { acceptsBody } from '../../src/admin/operation-table.ts'
import { gatewayError } from '../../src/errors.ts'
import { listServedOperations } from '../../src/management/operations.ts'
import { createManagementErrorReply } from '../../src/request/door/error-reply.ts'
import { anyText } from '../support/any-string.ts'
import { times } from '../support/ci.ts'
import { managementRoutes } from '../support/management-routes.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement, TOKEN } from './open-management.ts'

const test = suite('request bodies under /api')

const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
const bodiless = listServedOperations().filter((operation) => !acceptsBody(operation))
const writing = managementRoutes(openManagement().gateway.api)
  .filter((route) => !bodiless.some(({ method, path }) => method === route.method && path.startsWith(route.path)))
  .map(({ method, path }) => ({ method, path: path.replace(':id', 'nobody') }))

const NO_QUOTES = 'The request body is not valid JSON: a shell may have removed its double quotes.'

const bad: Array<[body: BodyInit, status: number, error: string]> = [
  ['', 400, 'The request body is empty. Send a JSON object.'],
  ['{', 400, NO_QUOTES],
  ['{name:a}', 400, NO_QUOTES],
  ["{'name':'a'}", 400, NO_QUOTES],
  ['{"name":"a",}', 400, 'The request body is not valid JSON: position 12.'],
  ['{"name":secret}', 400, 'The request body is not valid JSON.'],
  ['[]', 400, 'The request body must be a JSON object.'],
  ['"name"', 400, 'The request body must be a JSON object.'],
  ['null', 400, 'The request body must be a JSON object.'],
  [`{"name":${'['.repeat(64)}${']'.repeat(64)}}`, 400, 'The request body is nested deeper than 64 levels.'],
  [new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), 400, 'The request body is not valid UTF-8.'],
  [`{"name":"${'x'.repeat(1_048_576)}"}`, 413, 'The request body is larger than 1048576 bytes.'],
]
for (const { method, path } of writing) {
  test(`${method} ${path} rejects a body that isn't a JSON object or is too large`, async () => {
    const { send } = openManagement()
    for (const [body, status, error] of bad) {
      const response = await send(method, path, { headers, body })
      assert.equal([response.status, response.body], [status, { error }])
    }
  })
}

test('the size limit is configurable, and a body within it is accepted', async () => {
  const { send } = openManagement({ limits: { maxManagementBodyBytes: 12 } })
  assert.is((await send('POST', '/api/keys', { headers, body: '{"name":"a"}' })).status, 201)
  assert.is((await send('POST', '/api/keys', { headers, body: '{"name":"ab"}' })).status, 413)
})

test('a compressed body gets a 415', async () => {
  const { send } = openManagement()
  for (const encoding of ['gzip', 'br', 'GZIP, identity']) {
    const { status } = await send('POST', '/api/keys', {
      headers: { ...headers, 'content-encoding': encoding },
      body: '{"name":"a"}',
    })
    assert.is(status, 415)
  }
  const plain = { headers: { ...headers, 'content-encoding': 'identity' }, body: '{"name":"a"}' }
  assert.is((await send('POST', '/api/keys', plain)).status, 201)
})

test('a body can have a byte order mark and surrounding whitespace', async () => {
  const { send } = openManagement()
  assert.is((await send('POST', '/api/keys', { headers, body: '\ufeff \n{"name":"a"} ' })).status, 201)
})

test('arbitrary bodies never cause a 500, and every response is JSON', async () => {
  const names = [
    'name',
    'models',
    'isActive',
    'provider',
    'providerSpecificData',
    'apiKey',
    'alias',
    'model',
    'id',
    'kind',
    'cloudUrl',
  ]
  const value = fc.oneof(
    fc.json().map((text): unknown => JSON.parse(text)),
    anyText(),
    fc.array(fc.string()),
  )
  const field = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: fc.string() })
  const object = fc.dictionary(field, value).map((fields) => JSON.stringify(fields))
  const text = fc.oneof({ weight: 6, arbitrary: object }, { weight: 1, arbitrary: fc.string() })
  const management = openManagement()
  const property = fc.asyncProperty(fc.constantFrom(...writing), text, async ({ method, path }, body) => {
    const response = await management.send(method, path, { headers, body })
    assert.ok(response.status < 500, `${method} ${path} ${body}: ${response.status}`)
    assert.is(response.headers.get('content-type'), 'application/json')
    if (response.status >= 400) assert.equal(Object.keys(response.body), ['error'])
  })
  await fc.assert(property, { numRuns: times(2_000) })
})

test('arbitrary paths never cause a 500', async () => {
  const management = openManagement()
  const segment = fc.oneof(anyText().map(encodePart), fc.constantFrom('..', '%2e%2e', '%', '%ff', '', ';', '\\'))
  const prefix = fc.constantFrom(
    '/api/keys/',
    '/api/combos/',
    '/api/connections/',
    '/api/models/custom/',
    '/api/models/aliases/',
  )
  const property = fc.asyncProperty(prefix, segment, segment, async (start, value, two) => {
    for (const method of ['GET', 'DELETE']) {
      const response = await management.gateway.fetch(
        new Request(`http://h${start}${value}/${two}`, { method, headers }),
      )
      assert.ok(response.status < 500, `${method} ${start}${value}/${two}: ${response.status}`)
    }
  })
  await fc.assert(property, { numRuns: times(500) })
})

const encodePart = (text: string) => encodeURIComponent(text.replace(/\p{Cs}/gu, ''))

test('hides the details of an internal error from the client, and passes it to onError', () => {
  const errors: unknown[] = []
  const readBody = (error: unknown) => createManagementErrorReply(error, (recorded) => errors.push(recorded)).body
  const broken = new TypeError('secret')
  const named = gatewayError('STORAGE_FAILED', { message: 'keys/secret cannot be read', cause: broken })
  assert.is(readBody(broken), '{"error":"Internal server error"}')
  assert.is(readBody(named), '{"error":"The gateway cannot read its storage."}')
  assert.is(
    readBody(gatewayError('INTERNAL', { message: 'Failed to fetch keys', cause: named })),
    '{"error":"Failed to fetch keys"}',
  )
  assert.is(readBody(gatewayError('NOT_FOUND', { cause: broken })), '{"error":"Not found"}')
  assert.equal(errors, [broken, named, named])
})

test('PATCH works like PUT', async () => {
  const { expect } = openManagement()
  const key = await expect(201, 'POST', '/api/keys', { name: 'app' })
  const combo = await expect(201, 'POST', '/api/combos', { name: 'c', models: ['openai/x'] })
  const connection = await expect(201, 'POST', '/api/connections', { provider: 'openai' })
  for (const [path, body] of [
    [`/api/keys/${key.id}`, { isActive: false }],
    [`/api/combos/${combo.id}`, { name: 'd' }],
    [`/api/connections/${connection.id}`, { name: 'e' }],
    ['/api/models/aliases', { alias: 'a', model: 'openai/x' }],
    ['/api/providers/openai', { strategy: 'random' }],
  ] as const) {
    const responses = [await expect(200, 'PATCH', path, body), await expect(200, 'PUT', path, body)]
    const [patched, put] = responses.map(({ updatedAt, ...rest }) => rest)
    assert.equal(patched, put, path)
    await expect(400, 'PATCH', path, { unknown: 1 })
  }
})
