import type { Feature, GatewayCall } from '../../src/feature.ts'
import type { ByteStream, Reply } from '../../src/lib/exchange.ts'
import { assert, suite } from '../support/suite.ts'
import { openExtended } from './world.ts'

const test = suite('replies from steps')

const encoder = new TextEncoder()

/** Creates a feature with a step that replies to each call. */
const replying = (reply: (call: GatewayCall) => Reply | Response): Feature => ({
  name: 'replying',
  async aroundCall(call) {
    call.servedBy = 'cache'
    return reply(call)
  },
})

/** Creates a stream of two chunks. After the first, it continues, breaks off, or waits forever. */
function createStream(rest: 'complete' | 'broken' | 'waiting') {
  const stream = { canceled: 0, pulled: 0 }
  const body: ByteStream = {
    async next() {
      if (stream.pulled++ === 0) return encoder.encode('data: {"a":1}\n\n')
      if (rest === 'broken') throw new Error('gone')
      if (rest === 'waiting') return new Promise(() => {})
      return stream.pulled === 2 ? encoder.encode('data: [DONE]\n\n') : undefined
    },
    cancel: () => void stream.canceled++,
  }
  return { stream, body }
}

const streamed = (body: ByteStream): Reply => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body })
const ONE_AT_A_TIME = { parallel: 1, requests: { day: 100 } }
const turn = () => new Promise((resolve) => setTimeout(resolve, 0))

for (const [rest, status, end] of [
  ['complete', 200, 'complete'],
  ['broken', 500, 'cut'],
  ['waiting', 499, 'aborted'],
] as const)
  test(`a step's ${rest} stream counts toward the concurrency limit until it ends, and is recorded then`, async () => {
    const { stream, body } = createStream(rest)
    const { chat, records, addKey, gateway } = await openExtended([replying(() => streamed(body))])
    const key = await addKey('one at a time', ONE_AT_A_TIME)
    const reply = await chat({ stream: true }, key)
    assert.is((await chat({ stream: true }, key)).status, 429, 'the stream is still in flight')
    assert.equal([records.length, (await gateway.api.info()).inFlight], [1, 1])
    if (rest === 'waiting') {
      const reader = reply.body?.getReader()
      await reader?.read()
      await reader?.cancel()
    } else await reply.text().catch(() => {})
    await turn()
    assert.is((await gateway.api.info()).inFlight, 0)
    const record = records[1]
    assert.equal([record?.status, record?.end, record?.servedBy], [status, end, 'cache'])
    assert.is(stream.canceled > 0, rest !== 'complete')
    const next = await chat({ stream: true }, key)
    assert.is(next.status, 200, 'the concurrency limit is free again')
    await next.body?.cancel()
  })

test("a step's waiting stream is cut off when its key is paused", async () => {
  const { stream, body } = createStream('waiting')
  const { gateway, chat, records, addKey } = await openExtended([replying(() => streamed(body))])
  const key = await addKey('to pause')
  const reply = await chat({ stream: true }, key)
  const reading = reply.text().then(
    () => 'ended',
    () => 'broken',
  )
  const { keys } = await gateway.api.keys.list()
  await gateway.api.keys.update(keys.find(({ name }) => name === 'to pause')?.id ?? '', { isActive: false })
  assert.is(await reading, 'broken')
  assert.equal([records[0]?.end, records[0]?.error, stream.canceled > 0], ['cut', 'KEY_PAUSED', true])
})

test('a Response from a step is recorded as a complete reply from a cache, streamed or not', async () => {
  const { chat, records } = await openExtended([
    replying(({ stream }) =>
      stream ? new Response(new Blob(['data: [DONE]\n\n']).stream(), { status: 200 }) : Response.json({ ok: true }),
    ),
  ])
  assert.equal(await (await chat({})).json(), { ok: true })
  assert.is(await (await chat({ stream: true })).text(), 'data: [DONE]\n\n')
  assert.equal(
    records.map(({ end, servedBy }) => [end, servedBy]),
    [
      ['complete', 'cache'],
      ['complete', 'cache'],
    ],
  )
})

test('a provider stream that a step wraps is charged, and its record shows how it ended', async () => {
  for (const isCut of [false, true]) {
    const passing: Feature = {
      name: 'passing',
      async aroundCall(_, next) {
        const reply = await next()
        const body = reply.body as ByteStream
        return { ...reply, body: { next: () => body.next(), cancel: (reason?: unknown) => body.cancel(reason) } }
      },
    }
    const { chatEvents } = await import('../pipeline/support/responses.ts')
    const { chat, records } = await openExtended([passing], isCut ? chatEvents().slice(0, 3) : chatEvents())
    await (await chat({ stream: true })).text()
    await turn()
    const [record] = records
    assert.equal([record?.end, record?.servedBy, record?.attempts.length], [isCut ? 'cut' : 'complete', 'provider', 1])
    assert.ok((record?.usage?.outputTokens ?? 0) > 0)
  }
})

test("a client disconnect ends a request with a waiting step, and the step's late reply is dropped", async () => {
  const { stream, body } = createStream('complete')
  let resolveReply = (_: Reply) => {}
  let signal: AbortSignal | undefined
  const waiting: Feature = {
    name: 'waiting',
    aroundCall(call) {
      signal = call.signal
      return new Promise((resolve) => {
        resolveReply = resolve
      })
    },
  }
  const { chat, records } = await openExtended([waiting])
  const controller = new AbortController()
  const pending = chat({ stream: true }, undefined, { signal: controller.signal })
  while (!signal) await turn()
  controller.abort()
  assert.is((await pending).status, 499)
  assert.equal([records[0]?.end, signal.aborted], ['aborted', true])
  resolveReply(streamed(body))
  await turn()
  assert.is(stream.canceled, 1)
})

test('keys are checked before feature steps run, and a throwing listener has no effect', async () => {
  const errors: unknown[] = []
  const failing: Feature = {
    name: 'failing',
    aroundCall(call, next) {
      if (call.header('x-fail') === null) return next()
      if (call.header('x-fail')) throw new RangeError('odd')
      return next()
    },
    aroundRequest(request, next) {
      if (request.header('x-reject')) request.reject('Not today.', { status: 418 })
      return next()
    },
    events: {
      ended({ record }) {
        errors.push(record.error)
        throw new Error('a listener changes nothing')
      },
    },
  }
  const { send } = await openExtended([failing])
  const sendRequest = (name: string) =>
    send(
      'POST',
      '/v1/messages',
      { model: 'one/m', max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] },
      undefined,
      {
        headers: { 'x-api-key': 'none', 'content-type': 'application/json', [name]: 'yes' },
      },
    )
  assert.is((await sendRequest('x-fail')).status, 401, 'keys are checked first')
  assert.equal(errors, ['KEY_UNKNOWN'])
})

test('a step that changes the model reroutes the request, which can still be streamed', async () => {
  const { chat, upstream } = await openExtended([
    {
      name: 'renaming',
      aroundCall: ({ body }, next) => next({ model: 'one/other', body: { ...body, stream: false } }),
    },
  ])
  const reply = await chat({ stream: true })
  assert.is(reply.headers.get('x-signalbox-target'), 'openai-compatible-one/other')
  assert.match(await reply.text(), /data: /)
  assert.match(upstream.calls[0]?.body ?? '', /"stream":true/)
})
