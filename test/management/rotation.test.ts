import { HttpResponse, http } from 'msw'
import { assert, suite } from '../support/suite.ts'
import { upstream } from '../support/upstream.ts'
import { openManagement } from './open-management.ts'

const test = suite('combo rotation')

/** Opens a gateway with a round-robin combo `pool` of three models. `turn` returns the model that served a request. */
async function openWithPool() {
  const served: unknown[] = []
  const provider = http.post('https://up.test/v1/chat/completions', async ({ request }) => {
    const body = await request.json()
    served.push(body && typeof body === 'object' && !Array.isArray(body) && body.model)
    const message = { role: 'assistant', content: 'hello' }
    return HttpResponse.json({
      id: '1',
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
    })
  })
  const management = openManagement({ fetch: upstream(provider) })
  const connection = { provider: 'up', apiKey: 'secret', providerSpecificData: { baseUrl: 'https://up.test/v1' } }
  await management.expect(201, 'POST', '/api/connections', connection)
  const models = ['up/1', 'up/2', 'up/3']
  const pool = await management.expect(201, 'POST', '/api/combos', { name: 'pool', models, strategy: 'round-robin' })

  async function turn(model = 'pool') {
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] })
    const headers = { 'content-type': 'application/json' }
    const response = await management.send('POST', '/v1/chat/completions', { headers, body })
    assert.is(response.status, 200, JSON.stringify(response.body))
    return served.at(-1)
  }
  return { ...management, turn, path: `/api/combos/${pool.id}` }
}

test('a round-robin combo moves on to the next model with each request', async () => {
  const { turn } = await openWithPool()
  assert.equal([await turn(), await turn(), await turn(), await turn()], ['1', '2', '3', '1'])
})

for (const change of [{}, { name: '' }, { name: 'pool' }, { strategy: 'round-robin' }, { models: ['up/1', 'up/2'] }]) {
  test(`a combo restarts at its first model after a PUT of ${JSON.stringify(change)}`, async () => {
    const { turn, expect, path } = await openWithPool()
    assert.is(await turn(), '1')
    await expect(200, 'PUT', path, change)
    assert.equal([await turn(), await turn()], ['1', '2'])
  })
}

test('a renamed combo, and a new combo with the old name, start at their first model', async () => {
  const { turn, expect, path } = await openWithPool()
  assert.is(await turn(), '1')
  await expect(200, 'PUT', path, { name: 'ring' })
  assert.is(await turn('ring'), '1')
  await expect(201, 'POST', '/api/combos', { name: 'pool', models: ['up/7', 'up/8'], strategy: 'round-robin' })
  assert.is(await turn('pool'), '7')
})

test('renaming also resets the rotation of the new name', async () => {
  const { turn, expect, path, storage, clock } = await openWithPool()
  const models = ['up/7', 'up/8']
  const old = await expect(201, 'POST', '/api/combos', { name: 'ring', models, strategy: 'round-robin' })
  assert.is(await turn('ring'), '7')
  await openManagement({ storage, clock }).expect(200, 'DELETE', `/api/combos/${old.id}`) // by another process
  await expect(200, 'PUT', path, { name: 'ring' })
  assert.is(await turn('ring'), '1')
})

test('deleting a combo deletes its rotation', async () => {
  const { turn, expect, path } = await openWithPool()
  assert.is(await turn(), '1')
  await expect(200, 'DELETE', path)
  await expect(201, 'POST', '/api/combos', { name: 'pool', models: ['up/7', 'up/8'], strategy: 'round-robin' })
  assert.is(await turn(), '7')
})

for (const [status, body] of [
  [400, { name: 'a b' }],
  [400, { name: 'other' }],
  [400, { models: ['pool'] }],
  [400, { strateg: 'fallback' }],
] as const) {
  test(`a rejected PUT of ${JSON.stringify(body)} doesn't change the rotation`, async () => {
    const { turn, expect, path } = await openWithPool()
    await expect(201, 'POST', '/api/combos', { name: 'other', models: ['up/9'] })
    assert.is(await turn(), '1')
    await expect(status, 'PUT', path, body)
    assert.is(await turn(), '2')
  })
}

test("changing one combo doesn't change the rotation of another", async () => {
  const { turn, expect } = await openWithPool()
  const other = await expect(201, 'POST', '/api/combos', { name: 'other', models: ['up/9'] })
  assert.is(await turn(), '1')
  await expect(200, 'PUT', `/api/combos/${other.id}`, { name: 'another' })
  await expect(200, 'DELETE', `/api/combos/${other.id}`)
  assert.is(await turn(), '2')
})
