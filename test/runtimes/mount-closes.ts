import { get, type IncomingMessage } from 'node:http'
import { assert, suite } from '../support/suite.ts'
import type { Server } from './child.ts'
import { getClient } from './client.ts'
import { startUpstream } from './upstream.ts'

/**
 * Tests the guarantees of adapters with their own server. On request, the app closes the server with a grace period of 200 ms, and exits with code 7.
 */
export function addServerTests(name: string, start: () => Promise<Server>): void {
  const test = suite(name)
  let server: Server
  test.before(async () => {
    server = await start()
  })
  test.after(() => server?.stop())

  test("the server only accepts Host headers that a page on another site can't have", async () => {
    const rejected = await answerTo('evil.example', server.url)
    assert.is(rejected.statusCode, 403)
    assert.is(rejected.headers['content-type'], 'application/json')
    assert.is(rejected.headers['cache-control'], 'no-store')
    assert.is(rejected.headers['x-content-type-options'], 'nosniff')
    assert.is((await answerTo('localhost', server.url)).statusCode, 200)
    assert.is((await answerTo('127.0.0.1', server.url)).statusCode, 200)
  })

  test("the server cuts off a stream that doesn't end in time when closing", async () => {
    const upstream = await startUpstream()
    try {
      const client = getClient(server.url)
      await client.connect(upstream.url)
      const cut = upstream.nextCut()
      const reader = (await client.chat('forever', true)).body?.getReader()
      await reader?.read()
      const exitCode = server.send()
      const end = await readToEnd(reader).catch((error: unknown) => error)
      assert.instance(end, Error, 'the stream ended as if it were complete')
      await cut
      assert.is(await exitCode, 7)
    } finally {
      upstream.close()
    }
  })
}

async function readToEnd(reader: ReadableStreamDefaultReader<Uint8Array> | undefined): Promise<void> {
  while (!(await reader?.read())?.done);
}

/** Returns the response to a request with a custom Host header, which `fetch` can't set. */
function answerTo(host: string, url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(`${url}/v1/models`, { headers: { host }, agent: false }, (response) => {
      response.resume()
      resolve(response)
    }).on('error', reject)
  })
}
