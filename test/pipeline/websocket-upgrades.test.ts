import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('WebSocket upgrade requests')

const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }

const openGateway = (basePath?: string) =>
  createGateway({ storage: memoryStorage(), logger: false, ...(basePath && { basePath }) })

const get = (gateway: ReturnType<typeof openGateway>, path: string, headers: Record<string, string> = upgrade) =>
  gateway.fetch(new Request(`http://gateway${path}`, { headers }))

for (const path of ['/v1/responses', '/v1/realtime', '/v1/realtime?model=gpt-realtime']) {
  test(`a WebSocket upgrade request to ${path} gets a 426 that points to HTTP`, async () => {
    const response = await get(openGateway(), path)
    assert.is(response.status, 426)
    assert.is(response.headers.get('upgrade'), 'HTTP/1.1')
    assert.is(response.headers.get('x-should-retry'), 'false')
    const { error } = await response.json()
    assert.match(error.message, /WebSockets are not supported here/)
    assert.match(error.message, /HTTP/)
    assert.equal([error.type, error.code], ['invalid_request_error', 'websockets_not_served'])
  })
}

test('a WebSocket upgrade request gets a 426 below the base path', async () => {
  const gateway = openGateway('/ai')
  assert.is((await get(gateway, '/ai/v1/responses')).status, 426)
  assert.is((await get(gateway, '/v1/responses')).status, 404)
})

test('a WebSocket upgrade request must present a key first if keys are required', async () => {
  const gateway = openGateway()
  await gateway.api.settings.update({ requireApiKey: true })
  const { key } = await gateway.api.keys.create({ name: 'me' })
  assert.is((await get(gateway, '/v1/responses')).status, 401)
  assert.is((await get(gateway, '/v1/responses', { ...upgrade, authorization: `Bearer ${key}` })).status, 426)
})

test("plain GETs, other upgrades, and POSTs aren't treated as WebSocket upgrade requests", async () => {
  const gateway = openGateway()
  assert.is((await get(gateway, '/v1/responses', {})).status, 405)
  assert.is((await get(gateway, '/v1/realtime', {})).status, 404)
  assert.is((await get(gateway, '/v1/responses', { upgrade: 'h2c' })).status, 405)
  assert.is((await get(gateway, '/v1/chat/completions')).status, 405, 'no WebSocket exists at this path')
  const posted = await gateway.fetch(
    new Request('http://gateway/v1/responses', {
      method: 'POST',
      headers: upgrade,
      body: '{"model":"a/b","input":"Hi"}',
    }),
  )
  assert.is(posted.status, 404, 'treated as a request for an unknown model')
})
