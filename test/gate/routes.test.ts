import { endpoints } from '../../src/protocols/kinds/kinds.ts'
import { createModelRoutes } from '../../src/request/door/model-routes.ts'
import { assert, suite } from '../support/suite.ts'
import { createRequest, getModels } from './support/endpoint-requests.ts'
import { openGate, readError } from './support/world.ts'

const test = suite('limits on every model route')

/** The endpoints behind the routes in the table. */
const served = createModelRoutes(async () => ({ status: 200, headers: {} })).map(({ path }) => ({
  path,
  endpoints: endpoints.filter((endpoint) =>
    path.endsWith(':id+') ? endpoint.path.startsWith(path.slice(0, -':id+'.length)) : endpoint.path === path,
  ),
}))

test('each route in the table has an endpoint, and each endpoint has a route', () => {
  for (const route of served) assert.ok(route.endpoints.length > 0, `${route.path} has no endpoint`)
  assert.is(new Set(served.flatMap((route) => route.endpoints)).size, endpoints.length)
})

for (const endpoint of endpoints)
  for (const model of getModels(endpoint))
    test(`POST ${endpoint.path} with ${model} counts once, then is rejected without a provider call`, async () => {
      const { post, upstream, used, reserved, reported } = await openGate({
        limits: { requests: { total: 1 }, tokens: { total: 1_000_000 }, usd: { total: 100 }, parallel: 1 },
      })
      const { path, body } = createRequest(endpoint, model)
      const reply = await post(path, body)
      const text = await reply.text()
      assert.is(reply.status, 200, text)
      const calls = upstream.calls.length
      const tokens = await used('tokens')
      assert.is(await used('requests'), 1)
      if (endpoint.operation.kind === 'moderation')
        assert.ok(tokens > 0, 'moderation providers report no tokens, so they are estimated')
      else assert.is(tokens, reported.tokens)
      assert.is(await reserved(), 0)
      if (endpoint.operation.name === 'count-tokens') assert.is(reported.tokens, 0)
      const rejected = await readError(await post(path, body))
      assert.equal([rejected.status, rejected.code, upstream.calls.length], [429, 'rate_limit_exceeded', calls])
      assert.is(await used('requests'), 1)
    })

test("listings, preflights, and unknown paths don't use any budget", async () => {
  const { gateway, key, chat } = await openGate({ limits: { requests: { total: 1 } } })
  assert.is((await chat()).status, 200)
  const headers = { authorization: `Bearer ${key}` }
  for (const [method, path, status] of [
    ['GET', '/v1/models', 200],
    ['HEAD', '/v1/models', 200],
    ['GET', '/v1/models/one/m', 200],
    ['GET', '/v1beta/models', 200],
    ['OPTIONS', '/v1/chat/completions', 204],
    ['GET', '/v1/chat/completions', 405],
    ['POST', '/v1/nothing', 404],
  ] as const)
    assert.is((await gateway.fetch(`http://gateway${path}`, { method, headers })).status, status, `${method} ${path}`)
})
