import { connect } from 'node:net'
import { createGateway } from 'signalbox'
import { serveBun } from 'signalbox/bun'
import { memoryStorage } from 'signalbox/storage/memory'

/** Starts 300 concurrent streams under `serveBun`. Prints how many started, and what was logged. */
const CLIENTS = 300
/** Bun allows at least this many concurrent calls. A busy machine may take a while to start them. */
const LEAST = 256
const WAIT_MS = 30_000
const SETTLED_MS = 500

const warnings = []
let calls = 0
const chunk = `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }] })}\n\n`
const provider = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  fetch() {
    calls += 1
    const body = new ReadableStream({ start: (controller) => controller.enqueue(chunk) }) // never ends
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  },
})
const logger = { warn: (message) => warnings.push(message), error() {} }
const gateway = createGateway({ storage: memoryStorage(), logger })
const providerSpecificData = { baseUrl: `${provider.url.origin}/v1`, prefix: 'up' }
await gateway.api.connections.create({ provider: 'openai-compatible-up', apiKey: 'sk-up', providerSpecificData })
const server = serveBun(gateway)

let begun = 0
const body = JSON.stringify({ model: 'up/m', stream: true, messages: [{ role: 'user', content: 'Hi' }] })
const request = `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
for (let client = 0; client < CLIENTS; client++) {
  const socket = connect(server.port, '127.0.0.1') // Bun's `fetch` would queue like the gateway's calls
  socket.once('data', () => {
    begun += 1
  })
  socket.write(request)
}
for (const end = performance.now() + WAIT_MS; begun < LEAST && performance.now() < end; ) await Bun.sleep(20)
for (let before = -1; before !== begun; await Bun.sleep(SETTLED_MS)) before = begun
console.log(JSON.stringify({ begun, calls, warnings }))
process.exit()
