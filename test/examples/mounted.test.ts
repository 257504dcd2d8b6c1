import { assert } from '../support/suite.ts'
import { addWrongSecretTest, testExample, testMissingVariables } from './scenario.ts'

/** The examples of apps that serve a gateway below `/ai`, and each app's own response for an unknown path. */
const apps = { express: 'Cannot GET /elsewhere', fastify: 'Route GET:/elsewhere not found', hono: '404 Not Found' }

for (const [name, notFound] of Object.entries(apps)) {
  const test = testExample(name, () => ({ address: '127.0.0.1:3000/ai' }))

  test('the app keeps its routes and its 404', async ({ server }) => {
    const { origin } = new URL(server.url)
    assert.is(await (await fetch(origin)).text(), 'the app itself')
    const other = await fetch(`${origin}/elsewhere`)
    assert.is(other.status, 404)
    assert.match(await other.text(), notFound)
  })

  addWrongSecretTest(test)
  testMissingVariables(name, ['SIGNALBOX_SECRET', 'SIGNALBOX_ADMIN_TOKEN', 'APP_KEY', 'OPENAI_API_KEY'])
}
