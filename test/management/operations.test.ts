import { listServedOperations, operations } from '../../src/management/operations.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite('the management operations table')

type Call = (...args: unknown[]) => Promise<unknown>

test('gateway.api has exactly the operations in the operations table', () => {
  function compare(of: unknown, rows: unknown, names: readonly string[] = []) {
    const isOperation = typeof rows === 'string' || typeof Reflect.get(rows as object, 'path') === 'string'
    assert.type(of, isOperation ? 'function' : 'object', names.join('.'))
    if (isOperation) return
    assert.equal(Object.keys(of as object).sort(), Object.keys(rows as object).sort(), names.join('.'))
    for (const [name, inner] of Object.entries(rows as object)) compare(getMember(of, [name]), inner, [...names, name])
  }
  compare(openManagement().gateway.api, operations)
})

test('each operation is served at its path and method', async () => {
  const { call } = openManagement()
  for (const { method, path } of listServedOperations()) {
    const plain = path.replace(/\/:\w+\?$/, '').replace(/:\w+\+?/g, 'x')
    const { status, headers } = await call('OPTIONS', plain)
    assert.is(status, 204, path)
    const allowed = headers.get('allow')?.split(', ') ?? []
    assert.ok(allowed.includes(method), `${method} ${path}: ${allowed}`)
    assert.is(allowed.includes('PATCH'), allowed.includes('PUT') || path === '/api/settings', path)
  }
})

test('each operation validates its input with its schema in the operations table', async () => {
  const { api } = openManagement({ catalog: { refresh: async () => 'unchanged' } }).gateway
  const withInput = listServedOperations().filter(({ input }) => input)
  assert.ok(withInput.length >= 15, `${withInput.length} operations have a schema`)
  for (const { names, path, input } of withInput) {
    const call = getMember(api, names) as Call
    const ids = Array.from(path.matchAll(/:/g), () => 'x')
    const refusal = await call(...ids, { zzzzzzzzzzzzzzzz: 1 }).then(
      () => '',
      (error: Error) => error.message,
    )
    const [, ...known] = Array.from(refusal.matchAll(/"(\w+)"/g), ([, field = '']) => field)
    const fields = Object.keys(input?.entries ?? {})
    assert.ok(known.length > 0 && known.every((field) => fields.includes(field)), `${names.join('.')}: ${refusal}`)
  }
})

const getMember = (value: unknown, path: readonly string[]): unknown =>
  path.reduce((inner, name) => Reflect.get(inner as object, name), value)
