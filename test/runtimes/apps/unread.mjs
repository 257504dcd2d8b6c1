import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'

/*
 * Measures how much memory Node holds for streams with clients that don't read, in KiB per stream. Prints the results as JSON, by case. The clients
 * and the provider, which never stops sending, run in a separate thread, whose memory isn't counted.
 */
if (isMainThread) await measure()
else serveProvider()

async function measure() {
  const { serveNode, toNodeHandler } = await import('signalbox/node')
  const { openGateway } = await import('./gateway.mjs')
  const CLIENTS = 40
  const sockets = new Set()
  for (const channel of ['net.client.socket', 'net.server.socket'])
    subscribe(channel, ({ socket }) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
  const worker = new Worker(new URL(import.meta.url))
  const [baseUrl] = await once(worker, 'message')
  const gateway = openGateway()
  const providers = { chat: 'openai-compatible-up', messages: 'anthropic-compatible-up' }
  for (const [prefix, provider] of Object.entries(providers))
    await gateway.api.connections.create({ provider, apiKey: 'sk-up', providerSpecificData: { baseUrl, prefix } })

  const own = await serveNode(gateway)
  const host = createServer(toNodeHandler(gateway)).listen(0, '127.0.0.1') // with Node's defaults
  await once(host, 'listening')
  const urls = { serveNode: own.url, toNodeHandler: `http://127.0.0.1:${host.address().port}` }

  /** Returns the number of events that the provider has written. */
  async function ask(message) {
    worker.postMessage(message)
    return (await once(worker, 'message'))[0]
  }

  /** Resolves to a number that changes with each byte that the gateway receives or sends, and with each event that the provider writes. */
  async function look() {
    let moved = await ask('look')
    for (const { bytesRead, bytesWritten } of sockets) moved += bytesRead + bytesWritten
    return moved
  }

  /** Waits until all buffers are full, because garbage from a flowing stream would be counted. */
  async function stillBytes() {
    let moved = await look()
    for (let still = 0; still < 3; ) {
      await setTimeout(100)
      const now = await look()
      still = now === moved ? still + 1 : 0
      moved = now
    }
    const held = await bytesHeld()
    return (await look()) === moved ? held : stillBytes()
  }

  async function measureBuffer(terms) {
    await ask('leave')
    const before = await stillBytes()
    await ask({ ...terms, clients: CLIENTS })
    return ((await stillBytes()) - before) / CLIENTS
  }

  const held = {}
  for (const [mount, path, model] of [
    ['serveNode', '/v1/chat/completions', 'chat/m'],
    ['serveNode', '/v1/messages', 'chat/m'],
    ['toNodeHandler', '/v1/messages', 'messages/m'],
  ]) {
    const terms = { url: urls[mount], path, model }
    await measureBuffer(terms) // warms up the code for such a request
    held[`${mount}: ${path} of ${model}`] = Math.round((await measureBuffer(terms)) / 1024)
  }
  console.log(JSON.stringify(held))
  process.exit()
}

async function bytesHeld() {
  for (let round = 0; round < 4; round++) {
    await setTimeout(50)
    globalThis.gc()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function serveProvider() {
  const words = ' some words of an answer that does not stop'.repeat(4)
  const event = (data, name) => `${name ? `event: ${name}\n` : ''}data: ${JSON.stringify(data)}\n\n`
  const of = (type, more) => event({ type, ...more }, type)
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [] }
  const start =
    of('message_start', { message }) +
    of('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
  const delta = of('content_block_delta', { index: 0, delta: { type: 'text_delta', text: words } })
  const chunk = event({ id: 'c', choices: [{ index: 0, delta: { content: words }, finish_reason: null }] })
  let written = 0
  let sockets = []

  const provider = createServer((req, res) => {
    req.resume()
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    const isMessages = req.url.endsWith('/messages')
    if (isMessages) res.write(start)
    const pump = () => {
      if (res.destroyed) return
      written += 1
      if (res.write((isMessages ? delta : chunk).repeat(20))) setImmediate(pump)
      else res.once('drain', pump)
    }
    pump()
  })
  provider.listen(0, '127.0.0.1', () => parentPort.postMessage(`http://127.0.0.1:${provider.address().port}/v1`))

  async function open({ url, path, model }) {
    const body = JSON.stringify({ model, stream: true, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] })
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`)
    socket.write(`Content-Length: ${body.length}\r\n\r\n${body}`)
    await once(socket, 'readable') // the client doesn't read it
    return socket
  }

  parentPort.on('message', async (asked) => {
    if (asked === 'leave') {
      for (const socket of sockets) socket.destroy()
      sockets = []
    } else if (asked !== 'look') sockets = await Promise.all(Array.from({ length: asked.clients }, () => open(asked)))
    parentPort.postMessage(written)
  })
}
