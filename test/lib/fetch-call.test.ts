import { startCall } from '../../src/lib/call.ts'
import { FetchCall, type PlainFetch } from '../../src/lib/fetch-call.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('a call by fetch')

const REASON = new Error('the client has left')
const call = { url: 'http://one.test/', method: 'POST', headers: {}, body: '{}' } as const
const bare = { status: 200, headers: new Headers() }
const smallJson = { headers: { 'content-type': 'application/json', 'content-length': '2' } }

/** What a promise has rejected with. */
const rejection = (work: Promise<unknown> = Promise.resolve()): Promise<unknown> =>
  work.then(
    (value) => assert.unreachable(`It has resolved to ${String(value)}.`),
    (reason: unknown) => reason,
  )

/** Rejects as some platforms do, with a copy of the signal's reason. */
const untilAborted = (signal: AbortSignal | null | undefined): Promise<never> =>
  new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(new Error(String(signal.reason.message))))
  })

test('that is cancelled rejects with the very reason, before the answer and in its body', async () => {
  const silent = new FetchCall((_, { signal }) => untilAborted(signal), call)
  silent.cancel(REASON)
  assert.is(await rejection(silent.answer), REASON)

  const streaming = new FetchCall(async (_, { signal }) => {
    const body = new ReadableStream({
      pull: (controller) => untilAborted(signal).catch((copy) => controller.error(copy)),
    })
    return new Response(body)
  }, call)
  const { body } = await streaming.answer
  const pending = rejection(body.next())
  streaming.cancel(REASON)
  assert.is(await pending, REASON)
  assert.is(await rejection(body.next()), REASON)
})

test('lets go of an answer that comes after it was cancelled', async () => {
  let resolve = (_: Response) => {}
  const late = new Promise<Response>((settle) => {
    resolve = settle
  })
  const pending = new FetchCall(() => late, call)
  pending.cancel(REASON)
  const reasons: unknown[] = []
  resolve(new Response(new ReadableStream({ cancel: (reason) => void reasons.push(reason) })))
  assert.is(await rejection(pending.answer), REASON)
  assert.equal(reasons, [REASON])
})

test('never ends cleanly once it is cancelled, not even where everything had come', async () => {
  for (const init of [{}, smallJson]) {
    const pending = new FetchCall(async () => new Response('{}', init), call)
    const { body } = await pending.answer
    assert.is(body.whole !== undefined, true)
    pending.cancel(REASON)
    assert.is(await rejection(body.next()), REASON)
    assert.is(await rejection(body.whole?.()), REASON)
  }
})

test('that is cancelled while its bytes are awaited rejects with the very reason, also where they still come or fail', async () => {
  for (const end of [() => new Uint8Array(2), () => Promise.reject(new Error('a copy'))]) {
    const coming = Promise.withResolvers<void>()
    const answer = Object.assign(new Response('{}', smallJson), { bytes: () => coming.promise.then(end) })
    const pending = new FetchCall(async () => answer, call)
    const bytes = rejection((await pending.answer).body.whole?.())
    pending.cancel(REASON)
    coming.resolve()
    assert.is(await bytes, REASON)
  }
})

test('fails by what a fetch throws that is not async', async () => {
  const fetch: PlainFetch = () => {
    throw REASON
  }
  assert.is(await rejection(new FetchCall(fetch, call).answer), REASON)
})

test('is made when those of its batch are gathered, and waits for the turn before it looks at the answer', async () => {
  const steps: string[] = []
  const fetch: PlainFetch = async () => {
    steps.push('fetched')
    const response = new Response('', { status: 201 })
    return Object.defineProperty(response, 'headers', {
      get() {
        steps.push('read')
        return new Headers()
      },
    })
  }
  const gather = async () => {
    await undefined
    steps.push('gathered')
  }
  const turn = async () => {
    await undefined
    steps.push('turned')
  }
  const pending = new FetchCall(fetch, call, { gather, turn })
  assert.is((await pending.answer).status, 201)
  assert.equal(steps, ['gathered', 'fetched', 'turned', 'read'])
})

test('leaves its signal to others when it has come to its end, and only then', async () => {
  const signals: Array<AbortSignal | null | undefined> = []
  const pool: AbortController[] = []
  const called = (init: ResponseInit = smallJson) =>
    new FetchCall(
      async (_, { signal }) => {
        signals.push(signal)
        return new Response('{}', init)
      },
      call,
      { pool },
    )
  const isPooled = (at: number) => pool.some(({ signal }) => signal === signals[at])

  const whole = called()
  await (await whole.answer).body.whole?.()
  assert.ok(isPooled(0))

  const stream = called({})
  assert.is(signals[1], signals[0])
  const { body } = await stream.answer
  assert.ok(await body.next())
  assert.not.ok(isPooled(1))
  assert.is(await body.next(), undefined)
  assert.ok(isPooled(1))
  await body.next()
  assert.is(pool.length, 1, 'two calls would share it')

  const other = called()
  assert.is(signals[2], signals[0])
  whole.cancel(REASON)
  stream.cancel(REASON)
  assert.not.ok(signals[2]?.aborted, 'a call that is over has ended another')
  const bytes = rejection((await other.answer).body.whole?.())
  other.cancel(REASON)
  assert.is(await bytes, REASON)
  assert.ok(signals[2]?.aborted)
  assert.is(pool.length, 0)

  const failing = new FetchCall(() => Promise.reject(REASON), call, { pool })
  assert.is(await rejection(failing.answer), REASON)
  assert.is(pool.length, 0)
})

test("by a host's fetch that never ends anything ends when it is cancelled, in each phase", async () => {
  const never = new Promise<never>(() => {})
  const silent = startCall(() => never, call)
  silent.cancel(REASON)
  assert.is(await rejection(silent.answer), REASON)

  const deaf = Object.assign(new Response('{}', smallJson), { bytes: () => never })
  const pending = startCall(async () => deaf, call)
  const { body } = await pending.answer
  const whole = rejection(body.whole?.())
  pending.cancel(REASON)
  assert.is(await whole, REASON)

  const reader = { read: () => never, cancel: async () => {} }
  const streaming = startCall(async () => ({ ...bare, body: { getReader: () => reader } }) as unknown as Response, call)
  const { body: stream } = await streaming.answer
  const chunk = rejection(stream.next())
  streaming.cancel(REASON)
  assert.is(await chunk, REASON)
  assert.is(await rejection(stream.next()), REASON)
})
