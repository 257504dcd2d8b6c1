import { assert, suite } from '../support/suite.ts'
import { openDoor } from './door.ts'

const test = suite('the published models in the management API')

test('GET /api/models lists what GET /v1/models does, without an API key where one is required', async () => {
  const { expect, send, gateway } = openDoor()
  await expect(201, 'POST', '/api/connections', { provider: 'openai', apiKey: 'sk-0123456789-abcd' })
  await expect(201, 'POST', '/api/combos', { name: 'fast', models: ['openai/gpt-5-mini'] })
  await expect(200, 'PATCH', '/api/settings', { requireApiKey: true })
  assert.is((await send('GET', '/v1/models')).status, 401)
  const { key } = await gateway.api.keys.create({ name: 'app' })
  const { body } = await send('GET', '/v1/models', { headers: { authorization: `Bearer ${key}` } })
  assert.equal(await expect(200, 'GET', '/api/models'), body)
  const { data } = await gateway.api.models.published()
  assert.is(data[0]?.id, 'fast')
  assert.ok(data.length > 1 && data.slice(1).every(({ id }) => id.startsWith('openai/')))
})
