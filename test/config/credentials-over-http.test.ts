import { serveNode } from '../../adapters/mount/node.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import type { AttemptRecord } from '../../src/request/hook-records.ts'
import type { CredentialRequest, CredentialSource } from '../../src/types.ts'
import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { sse } from '../pipeline/support/upstream.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('credential functions over HTTP')

interface Call {
  host: string
  authorization: string
}

type Respond = (call: Call) => Response | undefined

/** Opens a gateway on a port, with one account for all requests. */
async function serve(apiKey: CredentialSource, respond: Respond = () => undefined) {
  const clock = fakeClock()
  const calls: Call[] = []
  const attempts: AttemptRecord[] = []
  const gateway = createGateway({
    storage: memoryStorage({ clock }),
    clock,
    connections: {
      first: { provider: 'openai-compatible-first', baseUrl: 'http://first.test/v1', apiKey },
      second: { provider: 'openai-compatible-second', baseUrl: 'http://second.test/v1', apiKey: 'the-key-of-second' },
    },
    combos: { both: ['openai-compatible-first/m', 'openai-compatible-second/m'] },
    identify: () => ({ account: 'alice' }),
    fetch: async (url: unknown, init?: RequestInit) => {
      const authorization = new Headers(init?.headers).get('authorization') ?? ''
      const call = { host: new URL(String(url)).host, authorization }
      calls.push(call)
      const isStream = String(init?.body).includes('"stream":true')
      return respond(call) ?? (isStream ? sse(chatEvents()) : Response.json(chatResponse()))
    },
    hooks: { onAttempt: (attempt) => void attempts.push(attempt) },
    logger: false,
  })
  const server = await serveNode(gateway, { port: 0 })
  const send = async (body: object = {}) => {
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'openai-compatible-first/m',
        messages: [{ role: 'user', content: 'Hi' }],
        ...body,
      }),
    })
    return {
      status: response.status,
      attempts: response.headers.get('x-signalbox-attempts'),
      text: await response.text(),
    }
  }
  const close = async () => {
    await server.close({ graceMs: 0 })
    await gateway.close()
  }
  return { send, calls, attempts, clock, close }
}

type Server = Awaited<ReturnType<typeof serve>>

async function withGateway(
  body: (served: Server) => Promise<void>,
  ...[source, respond]: [CredentialSource, Respond?]
): Promise<void> {
  const server = await serve(source, respond)
  try {
    await body(server)
  } finally {
    await server.close()
  }
}

const unauthorized = () => Response.json({ error: { message: 'no' } }, { status: 401 })
const hosts = ({ calls }: Server) => calls.map(({ host }) => host)

test('1,000 concurrent first requests call the credential function once', async () => {
  let times = 0
  const source: CredentialSource = async () => {
    times++
    await new Promise((resolve) => setImmediate(resolve))
    return { apiKey: 'a-key-for-a-thousand', expiresAt: Number.MAX_SAFE_INTEGER }
  }
  await withGateway(async ({ send, calls }) => {
    const replies = await Promise.all(Array.from({ length: 1_000 }, () => send()))
    assert.equal(new Set(replies.map(({ status }) => status)), new Set([200]))
    assert.equal([times, calls.length], [1, 1_000])
    assert.equal(new Set(calls.map(({ authorization }) => authorization)), new Set(['Bearer a-key-for-a-thousand']))
  }, source)
})

test('requests that arrive while a credential expires share one renewal, and none fails', async () => {
  const reasons: string[] = []
  const refreshed = Promise.withResolvers<string>()
  let now = () => 0
  const source: CredentialSource = async ({ reason }) => {
    const index = reasons.push(reason)
    if (index > 1) await refreshed.promise
    return { apiKey: `key-number-${index}`, expiresAt: now() + 10 * 60_000 }
  }
  await withGateway(async ({ send, calls, clock }) => {
    now = clock.now
    await send()
    const before = Array.from({ length: 100 }, () => send())
    await Promise.all(before)
    await clock.advance(9 * 60_000 + 1)
    const during = Promise.all(Array.from({ length: 200 }, () => send()))
    while (reasons.length < 2) await new Promise((resolve) => setTimeout(resolve, 1))
    refreshed.resolve('now')
    const replies = [...(await during), await send()]
    assert.ok(replies.every(({ status }) => status === 200))
    assert.equal(reasons, ['first', 'expired'])
    assert.equal(
      ['key-number-1', 'key-number-2'].map(
        (key) => calls.filter(({ authorization }) => authorization === `Bearer ${key}`).length,
      ),
      [101, 201],
    )
  }, source)
})

const createRotation = () => {
  const reasons: string[] = []
  const source: CredentialSource = ({ reason }: CredentialRequest) => `rotated-key-${reasons.push(reason)}`
  return { reasons, source }
}
const rejectsFirst: Respond = ({ authorization }) =>
  authorization === 'Bearer rotated-key-1' ? unauthorized() : undefined

test('a stream is retried with the rotated credential after a 401, and arrives complete', async () => {
  const { reasons, source } = createRotation()
  await withGateway(
    async (server) => {
      const { status, text } = await server.send({ stream: true })
      assert.is(status, 200)
      const words = [...text.matchAll(/"content":"([^"]*)"/g)].map(([, word]) => word)
      assert.is(words.join(''), 'Hello there, world')
      assert.is(text.match(/\[DONE\]/g)?.length, 1)
      assert.equal(reasons, ['first', 'rejected'])
      assert.is(server.calls.length, 2)
    },
    source,
    rejectsFirst,
  )
})

test('a stream falls back to the next target if the rotated credential is also rejected', async () => {
  const { reasons, source } = createRotation()
  await withGateway(
    async (server) => {
      const { status, attempts, text } = await server.send({ model: 'both', stream: true })
      assert.is(status, 200)
      assert.match(text, /Hello/)
      assert.equal(reasons, ['first', 'rejected'])
      assert.equal(hosts(server), ['first.test', 'first.test', 'second.test'])
      assert.is(attempts, 'openai-compatible-first/m=401:credentials;via=both:fallback, openai-compatible-second/m=200')
    },
    source,
    ({ host }) => (host === 'first.test' ? unauthorized() : undefined),
  )
})

test('100 concurrent requests and streams with a revoked credential share one renewal', async () => {
  const { reasons, source } = createRotation()
  await withGateway(
    async ({ send, calls }) => {
      const replies = await Promise.all(Array.from({ length: 100 }, (_, index) => send({ stream: index % 2 === 0 })))
      assert.ok(replies.every(({ status, text }) => status === 200 && text.includes('Hello')))
      assert.equal(reasons, ['first', 'rejected'])
      assert.ok(calls.length <= 200)
    },
    source,
    rejectsFirst,
  )
})

test('a credential function that hangs fails its target after five seconds, and the next target responds', async () => {
  let signal: AbortSignal | undefined
  const source: CredentialSource = (request) => {
    signal = request.signal
    return new Promise(() => {})
  }
  await withGateway(async (server) => {
    const { send, attempts, clock } = server
    const pending = send({ model: 'both' })
    while (!signal) await new Promise((resolve) => setTimeout(resolve, 1))
    await clock.advance(4_900)
    assert.equal([signal.aborted, server.calls.length], [false, 0])
    await clock.advance(200)
    const { status, attempts: header } = await pending
    assert.ok(signal.aborted)
    assert.is(status, 200)
    assert.is(header, 'openai-compatible-first/m=502:credentials;via=both:fallback, openai-compatible-second/m=200')
    assert.equal(
      attempts.map(({ connectionId, outcome }) => [connectionId, outcome]),
      [
        ['first', 'credentials'],
        ['second', 'answered'],
      ],
    )
    assert.equal(hosts(server), ['second.test'])
  }, source)
})
