import { type Client, ClientError, createClient, type LiveEvent } from '../../src/client/client.ts'
import type { Gateway } from '../../src/gateway.ts'
import { platformClock } from '../../src/platform.ts'
import { openManagement, TOKEN } from '../management/open-management.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('following live events')

const catalog = { one: { baseUrl: 'http://one.test/v1', models: [{ id: 'm' }] } }

async function openGateway() {
  const { gateway } = openManagement({
    catalog,
    clock: platformClock,
    fetch: async () => Response.json(chatResponse()),
  })
  await gateway.api.connections.create({ provider: 'one' })
  const send = async () => {
    const response = await gateway.fetch(
      new Request('http://gateway/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'one/m', messages: [] }),
      }),
    )
    await response.text()
    return response.headers.get('x-signalbox-request-id')
  }
  return { gateway, send }
}

/** Opens a client whose connection can be cut or moved to another gateway. Reconnection delays take 10 ms. */
function connectClient(first: Gateway, token = TOKEN) {
  const state = { gateway: first as Gateway | undefined, cut: () => {}, requests: [] as Array<string | null> }
  const clock = fakeClock()
  const client = createClient({
    baseUrl: 'http://gateway',
    token,
    clock: { now: clock.now, sleep: (ms, signal) => (ms > 20_000 ? clock.sleep(ms, signal) : moment()) },
    async fetch(input, init) {
      const request = new Request(input, init)
      state.requests.push(request.headers.get('last-event-id'))
      if (!state.gateway) throw new TypeError('fetch failed')
      const response = await state.gateway.fetch(request)
      const reader = response.body?.getReader()
      const body = new ReadableStream({
        start(controller) {
          state.cut = () => controller.error(new Error('cut'))
          init?.signal?.addEventListener('abort', state.cut)
        },
        async pull(controller) {
          const { value, done } = (await reader?.read()) ?? { done: true }
          if (done) controller.close()
          else controller.enqueue(value)
        },
        cancel: (reason) => reader?.cancel(reason),
      })
      return new Response(body, response)
    },
  })
  return { client, state }
}

const moment = () => new Promise<void>((resolve) => setTimeout(resolve, 10))

async function next(events: AsyncIterator<LiveEvent>): Promise<LiveEvent> {
  const { value, done } = await events.next()
  if (done) throw new Error('the events have ended')
  return value
}

const follow = (client: Client, options: Parameters<Client['live']>[0] = {}) =>
  client.live(options)[Symbol.asyncIterator]()

test('live() reconnects after a lost connection, and continues after the last event', async () => {
  const { gateway, send } = await openGateway()
  const { client, state } = connectClient(gateway)
  const recorded: Array<string | undefined> = []
  const stop = new AbortController()
  const events = follow(client, {
    types: ['running', 'finished', 'lost'],
    signal: stop.signal,
    onConnection: (error) => void recorded.push(error?.code),
  })
  const running = await next(events)
  assert.is(running.type, 'running')
  const waiting = next(events)
  await moment()
  state.gateway = undefined
  state.cut()
  const id = await send()
  state.gateway = gateway
  const finished = await waiting
  assert.is(finished.type === 'finished' && finished.data.id, id)
  assert.equal([...new Set(state.requests)], [null, running.id])
  assert.equal([recorded[0], recorded[1], recorded.at(-1)], [undefined, 'UNREACHABLE', undefined])

  const other = await openGateway() // as after a restart
  const later = next(events)
  await moment()
  state.gateway = other.gateway
  state.cut()
  assert.is((await later).type, 'lost')
  assert.is((await next(events)).type, 'running')
  const end = events.next()
  stop.abort()
  assert.equal(await end, { value: undefined, done: true })
})

test("live() throws the gateway's error for a wrong token or an invalid parameter", async () => {
  const { gateway } = await openGateway()
  for (const [client, options, status] of [
    [connectClient(gateway, 'another-token-of-forty-characters-0000000').client, {}, 401],
    [connectClient(gateway).client, { after: 'x' }, 400],
  ] as const) {
    const reason: unknown = await follow(client, options)
      .next()
      .catch((error: unknown) => error)
    assert.ok(reason instanceof ClientError && reason.status === status, String(reason))
  }
})

test('exiting the live() loop ends the request', async () => {
  const { gateway } = await openGateway()
  const { client, state } = connectClient(gateway)
  for await (const { type } of client.live()) {
    assert.is(type, 'running')
    break
  }
  state.gateway = undefined
  await gateway.close()
})
