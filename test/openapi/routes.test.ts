import { createTryRoute } from '../../src/admin/http/try.ts'
import { liveRoute } from '../../src/features/live/live.ts'
import { liveUsageRoute } from '../../src/features/live/usage-live.ts'
import { endpoints } from '../../src/protocols/kinds/kinds.ts'
import type { HttpRoute } from '../../src/request/door/router.ts'
import { openManagement, TOKEN } from '../management/open-management.ts'
import { servedRoutes } from '../support/served-routes.ts'
import { assert, suite } from '../support/suite.ts'
import { describedOperations } from './description.ts'

const test = suite('routes in the OpenAPI document')

/** The routes of the gateway and its features, and routes that aren't operations. */
const routes: ReadonlyArray<Pick<HttpRoute, 'method' | 'path'>> = [
  ...servedRoutes,
  liveRoute({} as Parameters<typeof liveRoute>[0]), // only the path is read
  liveUsageRoute(undefined),
  createTryRoute({} as Parameters<typeof createTryRoute>[0]), // only the path is read
]

const template = (path: string) => path.replace(/:(\w+)\+?/g, '{$1}')

/** Matches a model with or without a method such as `:generateContent`. Routes with a method share an entry in the route table. */
const METHOD = /\{model\}(?::\w+)?$/

test('the OpenAPI document contains /health and the routes in all tables, and nothing else', async () => {
  const described = describedOperations(await openManagement().gateway.api.openapi()).map(
    ({ method, path }) => `${method} ${path.replace(METHOD, '{id}')}`,
  )
  const served = ['GET /health', ...routes.map(({ method, path }) => `${method} ${template(path)}`)]
  assert.equal([...new Set(described)].sort(), served.sort())
})

test('the OpenAPI document contains every Gemini model method that is an endpoint', async () => {
  const described = describedOperations(await openManagement().gateway.api.openapi())
    .map(({ path }) => path)
    .filter((path) => METHOD.test(path))
  const named = endpoints.map(({ path }) => path).filter((path) => METHOD.test(path))
  assert.ok(named.length >= 6)
  assert.equal(described.sort(), named.sort())
})

test('every documented route exists, and responds with a documented status and body', async () => {
  const { gateway } = openManagement()
  for (const { method, path, statuses, response, request } of describedOperations(await gateway.api.openapi())) {
    for (const credential of [TOKEN, undefined]) {
      const headers = {
        'content-type': 'application/json',
        ...(credential && { authorization: `Bearer ${credential}` }),
      }
      const reply = await gateway.fetch(
        new Request(`http://gateway.test${path.replace(/\{\w+\}/g, 'x')}`, {
          method,
          headers,
          ...(request && { body: '{}' }),
        }),
      )
      const label = `${method} ${path}: ${reply.status}`
      assert.ok(statuses.includes(`${reply.status}`), label)
      if (reply.status === 204) continue
      if (reply.headers.get('content-type') === 'text/event-stream') {
        await reply.body?.cancel()
        continue
      }
      const body: unknown = await reply.json()
      const check = response(reply.status)
      assert.ok(check(body), `${label} ${JSON.stringify(body)} ${JSON.stringify(check.errors)}`)
      assert.not.match(JSON.stringify(body), /There is no \w+ \//, label) // the error for a path without a route
    }
  }
})
