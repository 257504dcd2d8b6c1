import { type NodeServer, serveNode } from '../../../adapters/mount/node.ts'
import { clients } from '../../pipeline/support/sdk/clients/clients.ts'
import { EXPECTED } from '../../pipeline/support/sdk/conversation.ts'
import { MODEL, openBefore, openToolLoop, outputBy } from '../../pipeline/support/sdk/gateway.ts'
import { fakeUpstream, sse } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'

const servers: NodeServer[] = []
const test = suite('official SDKs over a port')
test.after(() => Promise.all(servers.map((server) => server.close({ graceMs: 0 }))))

/** Creates a `fetch` that sends the gateway's requests to its port. */
async function listen(gateway: Parameters<typeof serveNode>[0]): Promise<typeof globalThis.fetch> {
  const server = await serveNode(gateway)
  servers.push(server)
  return (input, init) => fetch(String(input).replace('http://gateway', server.url), init)
}

for (const [name, { create, format: own }] of Object.entries(clients)) {
  test(`a tool loop works with a provider that uses another format (${name})`, async () => {
    const { world } = await openToolLoop(own === 'gemini' ? 'anthropic-messages' : 'gemini', own)
    const { converse } = create(await listen(world.gateway))
    for (const stream of [false, true]) assert.equal(await converse(MODEL, { stream }), EXPECTED)
  })

  test(`the provider call ends when the client disconnects mid-stream (${name})`, async () => {
    const { events } = outputBy('anthropic-messages').response
    const started = events.slice(0, events.findIndex((event) => event.includes('Paris')) + 1)
    const closed = Promise.withResolvers<void>()
    const upstream = fakeUpstream(({ signal }) => {
      signal.addEventListener('abort', () => closed.resolve())
      return sse(started, 'hang')
    })
    const { world } = await openBefore('anthropic-messages', upstream)
    const controller = new AbortController()
    const onText = () => controller.abort()
    const { send } = create(await listen(world.gateway))
    const left = await send(MODEL, { stream: true, signal: controller.signal, onText }).then(
      () => false,
      () => true,
    )
    assert.ok(left)
    await closed.promise
    assert.is(upstream.open, 0)
  })
}
