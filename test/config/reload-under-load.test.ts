import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createNodeFetch, serveNode } from '../../adapters/mount/node.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { CodeConfig } from '../../src/config/code-config.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Storage } from '../../src/types.ts'
import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('reloading the configuration under load')

/** Starts a provider that rejects all keys but its own. Its streams wait for `release` before their second half. */
async function startProvider(name: string) {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const seen = { calls: 0, streams: 0 }
  const server: Server = createServer(async (request: IncomingMessage, response) => {
    let body = ''
    for await (const part of request) body += part
    if (request.headers.authorization !== `Bearer the-key-of-${name}`)
      return void response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}')
    seen.calls++
    if (!JSON.parse(body).stream)
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(chatResponse(name)))
    seen.streams++
    const events = chatEvents(`Hello from ${name}`)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of events.slice(0, 2)) response.write(event)
    await released
    for (const event of events.slice(2)) response.write(event)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const config: CodeConfig = {
    connections: {
      [name]: {
        provider: `openai-compatible-${name}`,
        baseUrl: `http://127.0.0.1:${port}/v1`,
        apiKey: name === 'blue' ? `the-key-of-${name}` : () => `the-key-of-${name}`,
      },
    },
    combos: { smart: [`openai-compatible-${name}/m`] },
    settings: { maxAttempts: name === 'blue' ? 1 : 2 },
  }
  return { seen, config, release, close: () => server.close() }
}

/** Creates a store that doesn't report changes, and takes up to 2 ms per call. */
function slowStorage(): Storage {
  const { watch: _, ...inner } = memoryStorage()
  const wait = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 2))
  return {
    ...inner,
    get: async (...args) => {
      await wait()
      return inner.get(...args)
    },
    list: async (...args) => {
      await wait()
      return inner.list(...args)
    },
  }
}

for (const [name, storage, storeMaxAgeMs] of [
  ['a storage that reports changes', () => memoryStorage(), 1_000],
  ["a slow storage that doesn't report changes", slowStorage, 1],
] as const)
  test(`no request fails and no stream is dropped during reloads under load, with ${name}`, async () => {
    const [blue, green] = [await startProvider('blue'), await startProvider('green')]
    const network = createNodeFetch({})
    const gateway = createGateway({
      storage: storage(),
      fetch: network,
      logger: false,
      limits: { storeMaxAgeMs },
      ...blue.config,
    })
    const server = await serveNode(gateway)
    const send = (stream: boolean) =>
      fetch(`${server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'smart', stream, messages: [{ role: 'user', content: 'Hi' }] }),
      })
    try {
      const streams = Array.from({ length: 20 }, async () => {
        const response = await send(true)
        return `${response.status} ${await response.text()}`
      })
      while (blue.seen.streams < streams.length) await new Promise((resolve) => setTimeout(resolve, 1))

      const failed: string[] = []
      let isOver = false
      const clients = Array.from({ length: 8 }, async () => {
        while (!isOver) {
          const response = await send(false)
          const text = await response.text()
          if (response.status !== 200) failed.push(`${response.status} ${text}`)
        }
      })
      for (let round = 0; round < 40; round++) {
        await gateway.reload((round % 2 === 0 ? green : blue).config)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      await gateway.reload(green.config)
      const before = blue.seen.calls
      for (let index = 0; index < 10; index++) assert.match(await (await send(false)).text(), /"green"/)
      isOver = true
      await Promise.all(clients)
      assert.equal(failed, [])
      assert.ok(blue.seen.calls - before <= clients.length, 'only in-flight requests reach the previous target')

      blue.release()
      const texts = await Promise.all(streams)
      assert.ok(texts.every((text) => /^200 [\s\S]*"blue"[\s\S]*data: \[DONE\]\n\n$/.test(text)))
    } finally {
      await server.close({ graceMs: 0 })
      await gateway.close({ graceMs: 0 })
      network.close()
      blue.close()
      green.close()
    }
  })
