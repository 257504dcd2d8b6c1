import { type ChildOptions, type Server, startChild } from '../runtimes/child.ts'
import { getClient } from '../runtimes/client.ts'
import { addStreamTests } from '../runtimes/streams.ts'
import { startUpstream } from '../runtimes/upstream.ts'
import { assert, suite } from '../support/suite.ts'

/** As long as coding tool prompts, and longer than what a host buffers of an unread body. */
const LONG = ' word'.repeat(4_000)

/** The maximum time that a call to a provider may continue after its client disconnects, in ms. */
const LEFT_MS = 30_000

/** Starts an app from `apps/`. */
export const startApp = (command: string, args: string[], options: ChildOptions = {}): Promise<Server> =>
  startChild(command, args, { folder: new URL('.', import.meta.url), ...options })

interface HostTraits {
  /** Matches the host's own 404 page. */
  notFound?: RegExp
  /** When the host notices client disconnects. Default: always. */
  seesClientsLeave?: 'always' | 'in mid stream' | 'never'
}

/** Tests the gateway behavior that every web framework must preserve below `/ai`. */
export function testHost(name: string, start: () => Promise<Server>, traits: HostTraits = {}): void {
  const { notFound = /the app/, seesClientsLeave = 'always' } = traits
  const test = suite(name)
  const closers: Array<() => unknown> = []
  let origin = ''
  let client: ReturnType<typeof getClient>
  let upstream: Awaited<ReturnType<typeof startUpstream>>

  test.before({ timeoutMs: 300_000 }, async () => {
    upstream = await startUpstream()
    closers.push(upstream.close)
    const server = await start()
    closers.push(server.stop)
    origin = server.url
    client = getClient(`${origin}/ai`)
    await client.connect(upstream.url)
  })
  test.after(async () => {
    for (const close of closers) await close()
  })

  for (const [size, content] of [
    ['a small request', 'Hi'],
    ['a 20 kB request', LONG],
    ['a 2 MB request', 'a'.repeat(2_000_000)],
  ] as const) {
    test(`${size} gets a non-streaming response`, async () => {
      const response = await client.chat(content, false)
      assert.is(response.status, 200, await response.clone().text())
      assert.is((await response.json()).choices[0].message.content, 'Hello')
    })

    test(`${size} gets a stream`, async () => {
      const response = await client.chat(content, true)
      assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
      assert.match(await response.text(), /"Hel"[\s\S]*"lo"[\s\S]*data: \[DONE\]\n\n$/)
    })
  }

  addStreamTests(test, () => ({ client, upstream }))

  test("errors are in the client's format", async () => {
    const chat = await client.chat('Hi', false, { model: 'nobody/m' })
    assert.is(chat.status, 404)
    assert.is((await chat.json()).error.code, 'model_not_found')
    const messages = await fetch(`${origin}/ai/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'nobody/m', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }),
    })
    assert.is(messages.status, 404)
    const { type, error } = await messages.json()
    assert.equal([type, error.type], ['error', 'not_found_error'])
    const bad = await fetch(`${origin}/ai/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"model":',
    })
    assert.is(bad.status, 400)
    assert.is((await bad.json()).error.type, 'invalid_request_error')
  })

  test("unknown paths get the app's 404, and unknown gateway paths get the gateway's", async () => {
    const response = await fetch(`${origin}/elsewhere`)
    assert.is(response.status, 404)
    assert.match(await response.text(), notFound)
    const gateways = await fetch(`${origin}/ai/v1/nowhere`)
    assert.is(gateways.status, 404)
    assert.match((await gateways.json()).error.message, 'nowhere')
    assert.is((await fetch(`${origin}/ai/health`)).status, 200)
  })

  test("the app's own routes still get parsed bodies", async () => {
    const response = await fetch(`${origin}/own`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"its":"own"}',
    })
    assert.equal(await response.json(), { its: 'own' })
  })

  if (seesClientsLeave === 'never') return
  test('a stream reaches its client in chunks, and the provider call ends when the client disconnects', async () => {
    const controller = new AbortController()
    const cut = upstream.nextCut()
    const response = await client.chat(`forever${LONG}`, true, { signal: controller.signal })
    await response.body?.getReader().read()
    controller.abort()
    await withTimeout(LEFT_MS, cut)
  })

  for (const stream of seesClientsLeave === 'always' ? [false, true] : [])
    test(`the provider call ends when the client disconnects before ${stream ? 'the stream starts' : 'the response arrives'}`, async () => {
      const controller = new AbortController()
      const cut = upstream.nextCut()
      const pending = client.chat(`never${LONG}`, stream, { signal: controller.signal }).catch(() => 'left')
      while (upstream.open === 0) await new Promise((resolve) => setTimeout(resolve, 5))
      controller.abort()
      assert.is(await pending, 'left')
      await withTimeout(LEFT_MS, cut)
    })
}

/** Settles like `promise`, or rejects after `ms`. */
function withTimeout<Value>(ms: number, promise: Promise<Value>): Promise<Value> {
  return Promise.race([
    promise,
    new Promise<never>((_, reject) => setTimeout(reject, ms, new Error(`took longer than ${ms} ms`)).unref()),
  ])
}
