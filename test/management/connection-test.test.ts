import { chatResponse, messageResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, type Respond } from '../pipeline/support/upstream.ts'
import { openWorld, token, type WorldOptions } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('testing a connection')

const respond: Respond = ({ provider }) => json(provider === 'claude' ? messageResponse('ok') : chatResponse('ok'))

async function open(createResponse: Respond, options: WorldOptions = {}) {
  const fetch = fakeUpstream(createResponse)
  const world = await openWorld({ usage: true, ...options, fetch })
  const { connections } = await world.api.connections.list()
  const getId = (provider: string) => connections.find((connection) => connection.provider === provider)?.id ?? ''
  return { ...world, fetch, idOf: getId }
}

test('a connection test calls only that connection, for at most 16 tokens', async () => {
  const { api, idOf, fetch, clock, recorded } = await open(async (call, index) => {
    await clock.advance(25)
    return respond(call, index)
  })
  assert.equal(await api.connections.test(idOf('two')), { ok: true, status: 200, ms: 25, model: 'm' })
  assert.equal(await api.connections.test(idOf('claude')), { ok: true, status: 200, ms: 25, model: 'c' })
  assert.equal(fetch.providers, ['two', 'claude'])
  for (const { body } of fetch.calls) {
    const { max_tokens, max_completion_tokens, stream } = JSON.parse(body)
    assert.is(max_tokens ?? max_completion_tokens, 16)
    assert.not.ok(stream)
  }
  assert.equal(
    recorded.requests.map(({ model, status, keyId }) => [model, status, keyId]),
    [
      ['two/m', 200, undefined],
      ['claude/c', 200, undefined],
    ],
  )
  const { totals } = await api.usage.summary()
  assert.equal([totals.requests, totals.tokens.output > 0], [2, true])
})

test('a connection can be tested even if it is paused, draining, or in cooldown', async () => {
  const twins = ['first', 'second'].map((name) => ({ provider: 'one', name, apiKey: `secret-of-${name}` }))
  let isHealthy = true
  const { api, fetch, chat } = await open(
    () => (isHealthy ? json(chatResponse('ok')) : json({ error: { message: 'overloaded' } }, 503)),
    { connections: twins },
  )
  const second = (await api.connections.list()).connections.find(({ name }) => name === 'second')?.id ?? ''
  const key = () => fetch.calls.at(-1)?.headers.get('authorization')
  for (const change of [{ isActive: false }, { isActive: true, draining: true }]) {
    await api.connections.update(second, change)
    assert.is((await api.connections.test(second)).ok, true)
    assert.is(key(), 'Bearer secret-of-second')
  }
  await api.connections.update(second, { draining: false })
  isHealthy = false
  await chat({})
  assert.is((await api.connections.test(second)).status, 503)
  isHealthy = true
  assert.is((await api.connections.test(second)).ok, true)
  assert.is(key(), 'Bearer secret-of-second')
})

test('a failed connection test returns the reason without the secret, and tries no other target', async () => {
  const secret = 'secret-of-one'
  const { api, idOf, fetch } = await open(() =>
    json({ error: { message: `Incorrect API key provided: ${secret}. ${'x'.repeat(1_000)}` } }, 401),
  )
  const tested = await api.connections.test(idOf('one'), { model: 'one/other' })
  assert.equal([tested.ok, tested.model, tested.status], [false, 'other', 401])
  assert.not.ok(JSON.stringify(tested).includes(secret))
  assert.ok((tested.message?.length ?? 0) <= 300 && tested.message !== '', tested.message)
  assert.equal([...new Set(fetch.providers)], ['one'])
  const health = (await api.health.list()).health.map(({ provider, reason }) => [provider, reason])
  assert.equal(health, [['one', 'credentials']])
})

test('a connection test times out after ten seconds', async () => {
  const { api, idOf, clock } = await open(() => new Promise<never>(() => {}))
  const testing = api.connections.test(idOf('one'))
  await clock.untilPending()
  await clock.advance(10_000)
  const { ok, status, ms } = await testing
  assert.equal([ok, status, ms], [false, 504, 10_000])
})

test('a connection test returns a 404 for an unknown connection, and requires a model ID if the connection lists none', async () => {
  const { api, gateway, post } = await open(respond, {
    connections: [{ provider: 'lab', providerSpecificData: { baseUrl: 'http://lab.test/v1' } }],
  })
  const [lab] = (await api.connections.list()).connections
  const send = (id: string | undefined, body?: object) =>
    body === undefined
      ? gateway.fetch(`http://gateway/api/connections/${id}/test`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}` },
        })
      : post(`/api/connections/${id}/test`, body, { headers: { authorization: `Bearer ${token}` } })
  const rejected = await send(lab?.id)
  assert.is(rejected.status, 400)
  assert.match((await rejected.json()).error, /"model" is required because/)
  assert.is((await send('nobody')).status, 404)
  assert.is((await send(lab?.id, { model: 1 })).status, 400)
  assert.is((await send(lab?.id, { models: 'm' })).status, 400)
  const response = await send(lab?.id, { model: 'any' })
  assert.equal([response.status, (await response.json()).ok], [200, true])
})
