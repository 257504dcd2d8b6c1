import { once } from 'node:events'
import { connect } from 'node:net'
import { isCi } from '../support/ci.ts'
import { assert, suite } from '../support/suite.ts'
import type { Server } from './child.ts'
import { getClient, LONG_PROMPT } from './client.ts'
import { accounts, phases, startHangingUpstream } from './hanging-upstream.ts'

const routes = [
  { path: '/v1/chat/completions', prefix: 'chat', stream: false },
  { path: '/v1/chat/completions', prefix: 'chat', stream: true },
  { path: '/v1/messages', prefix: 'talk', stream: false },
  { path: '/v1/messages', prefix: 'talk', stream: true },
  { path: '/v1/responses', prefix: 'chat', stream: false },
  { path: '/v1/responses', prefix: 'chat', stream: true },
] as const

/** The number of bytes that a client sends before it disconnects in the middle of its body. */
const PART = 5_000

/** The number of clients per route and phase. In CI, it makes about a thousand clients in total. */
const EACH = isCi ? 28 : 4
/** The number of concurrent clients, low enough that the retry budget covers every call to a second target. */
const AT_ONCE = phases.length * routes.length

/** Tests that clients on separate sockets, `EACH` per route and phase, leave nothing behind when they disconnect. */
export function addClientDisconnectTests(name: string, start: () => Promise<Server>): void {
  const clients = EACH * phases.length * routes.length
  const test = suite(`${clients} clients that disconnect from ${name}`)
  test('provider calls end within a second after their clients disconnect', async () => {
    const [server, upstream] = await Promise.all([start(), startHangingUpstream()])
    try {
      await connectTo(upstream.url, server.url)
      const recorded: string[] = []
      for (let first = 0; first < clients; first += AT_ONCE) {
        const batch = Array.from({ length: AT_ONCE }, (_, index) => leave(first + index, { server, upstream }))
        recorded.push(...(await Promise.all(batch)))
      }
      await upstream.idle(1_000)
      assert.is(upstream.open, 0, 'no provider calls are left open')
      const response = await getClient(server.url).manage('/health')
      assert.is(response.status, 200)
      assert.is(upstream.open, 0, 'no calls are made for disconnected clients')
      assert.is(recorded.length, clients)
      assert.equal(recorded.filter(Boolean), [], 'only started streams have output')
      const sum = clients / phases.length
      const { second = 0, ...calls } = upstream.calls
      assert.equal(calls, { headers: sum, 'first-event': sum, 'mid-answer': sum, 'error-body': sum, between: sum })
      assert.ok(second >= sum / 2 && second <= sum, `${second} calls to a second target`)
    } finally {
      await server.stop()
      upstream.close()
    }
  })
}

/** Creates two accounts for a provider of each format. */
async function connectTo(baseUrl: string, url: string) {
  for (const [provider, prefix] of [
    ['openai-compatible-test', 'chat'],
    ['anthropic-compatible-test', 'talk'],
  ]) {
    for (const [priority, apiKey] of accounts.entries()) {
      const providerSpecificData = { baseUrl, prefix }
      const connection = { provider, name: apiKey, apiKey, priority: priority + 1, providerSpecificData }
      const created = await getClient(url).manage('/connections', connection)
      assert.is(created.status, 201, await created.text())
    }
  }
}

interface Stage {
  server: Pick<Server, 'url'>
  upstream: Awaited<ReturnType<typeof startHangingUpstream>>
}

/** Runs a client from connect to disconnect. Returns any output that it shouldn't have received. */
async function leave(client: number, { server, upstream }: Stage): Promise<string> {
  const phase = phases[client % phases.length] ?? 'upload'
  const { path, prefix, stream } = routes[Math.floor(client / phases.length) % routes.length] ?? routes[0]
  const model = `${phase}-${client}`
  const body = JSON.stringify({
    model: `${prefix}/${model}`,
    stream,
    ...(path === '/v1/responses'
      ? { input: LONG_PROMPT }
      : { max_tokens: 9, messages: [{ role: 'user', content: LONG_PROMPT }] }),
  })
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`

  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  const closed = once(socket, 'close')
  const moment = Promise.withResolvers<void>()
  const isUpload = phase === 'upload'
  const isRead = phase === 'mid-answer' && stream
  let text = ''
  socket.on('error', () => {}) // `close` follows and handles it
  socket.on('data', (part) => {
    text += part
    if (isRead && text.includes('Hel')) moment.resolve()
  })
  socket.write(isUpload ? head + body.slice(0, PART) : head + body, () => isUpload && moment.resolve())
  if (!isRead) upstream.onMoment(model, moment.resolve)
  await Promise.race([moment.promise, closed])
  if (client % 4 > 1) await new Promise((resolve) => setTimeout(resolve, 3)) // the sent data has arrived
  if (client % 5 === 0) socket.resetAndDestroy()
  else socket.destroy()
  await closed
  return isRead && text.includes('Hel') ? '' : text
}
