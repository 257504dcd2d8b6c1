import { nodes } from '../runtimes/child.ts'
import { assert, suite } from '../support/suite.ts'
import { startApp, testHost } from './scenario.ts'

const HIJACK = `app.all('/ai/*', (request, reply) => { reply.hijack(); toNodeHandler(gateway)(request.raw, reply.raw) })`

for (const [version, node] of nodes) {
  testHost(`Fastify and Node ${version}`, () => startApp(node, ['apps/fastify.mjs']))
  testHost(`Fastify and Node ${version}, with the code suggested by the error message`, async () =>
    startApp(node, ['apps/fastify-code.mjs', await codeInError(node)]),
  )
}

const test = suite("a gateway behind Fastify's body parsers")

for (const path of ['/ai/v1/chat/completions', '/ai/v1/messages', '/ai/api/keys'])
  test(`the error for a body that Fastify has already parsed (${path}) contains the fix`, async () => {
    assert.match(await codeInError(process.execPath, path), /^app\.register\(.*\)$/)
  })

/** Returns the code that the error message suggests if the gateway is mounted after Fastify's body parsers, or else the full message. */
async function codeInError(node: string, path = '/ai/v1/chat/completions'): Promise<string> {
  const server = await startApp(node, ['apps/fastify-code.mjs', HIJACK])
  try {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer test-token-of-thirty-two-characters' },
      body: '{}',
    })
    assert.is(response.status, 500)
    const { error } = await response.json()
    const message: string = typeof error === 'string' ? error : error.message
    return /app\.register\(.*$/.exec(message)?.[0] ?? message
  } finally {
    await server.stop()
  }
}
