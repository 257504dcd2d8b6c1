import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import { listServedOperations } from '../../src/management/operations.ts'
import { assert } from '../support/suite.ts'
import { closeObjects, type Described, describedOperations } from './description.ts'

/** A request to the management API over HTTP, and its response. */
interface Exchanged {
  method: string
  /** The path after the base path, including the query. */
  path: string
  /** The request body, if it was JSON. */
  sent?: unknown
  status: number
  body: unknown
}

/** The described operations, each with a pattern for its path. They are the same for all gateways. */
let described: Promise<(Described & { pattern: RegExp; whole: Described })[]> | undefined

async function describe() {
  const document = await createGateway({ storage: memoryStorage(), logger: false }).api.openapi()
  const operations = describedOperations(document)
  const full = describedOperations(closeObjects(document))
  const all = operations.map((operation, index) =>
    Object.assign(operation, { pattern: toPattern(operation.path), whole: full[index] ?? operation }),
  )
  return all.sort((a, b) => b.path.length - a.path.length) // a parameter may contain slashes
}

const served = listServedOperations().map((item) => ({
  ...item,
  pattern: toPattern(
    item.path
      .replace(/\/:\w+\?$/, '(?:/[^/]+)?')
      .replace(/:\w+\+/g, '.+')
      .replace(/:\w+/g, '[^/]+'),
  ),
}))

/**
 * Fails unless a response matches its description: its status is documented, a success has exactly the described fields, and an error is a single
 * message. The request must match as well. Ignores paths without an operation. Resolves to the name of the operation if it succeeded.
 */
export async function checkResponse({ method, path, sent, status, body }: Exchanged): Promise<string | undefined> {
  described ??= describe()
  const plain = path.replace(/\?.*/, '')
  const operation = (await described).find((item) => item.method === method && item.pattern.test(plain))
  const row = findOperation(method, plain, Object(sent).action)
  if (!operation || !row || WITHOUT_ROUTE.test(JSON.stringify(body))) return undefined
  const label = `${method} ${path} ${JSON.stringify(sent)?.slice(0, 500)} answered ${status} ${JSON.stringify(body)?.slice(0, 500)}`
  assert.ok(operation.statuses.includes(`${status}`), `${label}; documented statuses: ${operation.statuses}`)
  const response = operation.response(status)
  assert.ok(response(body), `${label}: ${JSON.stringify(response.errors)}`)
  if (status >= 400) {
    const others = status === 409 ? ['current'] : [] // the current record, if the change was based on an older one
    assert.equal(
      Object.keys(Object(body)).filter((name) => !others.includes(name)),
      ['error'],
      label,
    )
    return undefined
  }
  const { request } = operation
  if (request && sent !== undefined)
    assert.ok(request(trim(sent)), `${label}; the description rejects the request: ${JSON.stringify(request.errors)}`)
  const name = row.names.join('.')
  const whole = operation.whole.response(status)
  assert.ok(whole(body), `${name} returns fields that aren't in its schema: ${JSON.stringify(whole.errors)}`)
  return name
}

/** Matches the error for a path or method without a route. */
const WITHOUT_ROUTE = /"There is no [A-Z]+ \/|"[A-Z]+ is not allowed here/

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, '.+')}$`)
}

const findOperation = (method: string, path: string, action: unknown) =>
  served.find(
    (item) =>
      (item.method === method || (item.method === 'PUT' && method === 'PATCH')) &&
      (item.action === undefined || item.action === action) &&
      item.pattern.test(path),
  )

/** Trims strings, as the gateway does. */
const trim = (sent: unknown): unknown =>
  JSON.parse(JSON.stringify(sent), (_, value) => (typeof value === 'string' ? value.trim() : value))
