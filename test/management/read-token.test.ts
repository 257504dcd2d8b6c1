import { listServedOperations } from '../../src/management/operations.ts'
import { damageStore, fillStore } from '../storage/support/damaged-store.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement, TOKEN } from './open-management.ts'

const test = suite('a read-only token')

const READ = 'a-token-that-may-only-look-000000000000'
const readHeaders = { authorization: `Bearer ${READ}` }

test('the read token allows every GET and nothing else', async () => {
  const { send, call } = openManagement({ management: { token: TOKEN, readToken: READ } })
  for (const { method, path } of listServedOperations()) {
    const plain = path.replace(/\/:\w+\?$/, '').replace(/:\w+\+?/g, 'x')
    const { status } = await send(method, plain, { headers: readHeaders })
    if (method === 'GET') assert.is.not(status, 401, path)
    else assert.is(status, 403, `${method} ${path}`)
  }
  for (const [method, path] of [
    ['POST', '/api/try'],
    ['PATCH', '/api/settings'],
    ['OPTIONS', '/api/keys'],
  ] as const)
    assert.is((await send(method, path, { headers: readHeaders })).status, 403, `${method} ${path}`)
  const seen = await send('GET', '/api/info', { headers: readHeaders })
  assert.is(seen.status, 200)
  assert.match(JSON.stringify(seen), '"canWrite":false')
  assert.is((await call('GET', '/api/info')).status, 200)
  assert.is((await send('GET', '/api/info', { headers: { authorization: 'Bearer other' } })).status, 401)
  assert.is((await send('GET', '/api/info')).status, 401)
})

test("the read token never reveals a key's value or a stored record", async () => {
  const { storage } = await fillStore()
  const hurt = await damageStore(storage, 'aliases/', () => 'damaged')
  const { send, gateway, expect } = openManagement({ storage, management: { token: TOKEN, readToken: READ } })
  const { id, key } = await gateway.api.keys.create({ name: 'k' })
  for (const path of ['/api/keys', '/api/keys?limit=5', '/api/keys?values=none', `/api/keys/${id}`]) {
    const { status, body } = await send('GET', path, { headers: readHeaders })
    assert.is(status, 200, path)
    assert.not.ok(JSON.stringify(body).includes(key), path)
    assert.match(JSON.stringify(body), /"hint":"sbx_/)
  }
  assert.is((await send('GET', `/api/health/records/${hurt}`, { headers: readHeaders })).status, 403)
  assert.ok(JSON.stringify(await expect(200, 'GET', '/api/keys')).includes(key))
})

test('the read token must be long enough and differ from the admin token', () => {
  const open = (readToken: unknown) => openManagement({ management: { token: TOKEN, readToken: readToken as string } })
  assert.throws(() => open('short'), /management\.readToken must be at least 32/)
  assert.throws(() => open(TOKEN), /must differ from management\.token/)
  assert.throws(() => open(1), /management\.readToken/)
})
