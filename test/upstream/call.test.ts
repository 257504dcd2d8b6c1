import type { UpstreamFetch } from '../../src/lib/exchange.ts'
import { fetchCall } from '../../src/lib/fetch-call.ts'
import { ProviderCall } from '../../src/request/upstream/provider-call.ts'
import { fakeClock } from '../support/clock.ts'
import { collectGarbage } from '../support/garbage.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('provider calls')

const REASON = new Error('the client has left')
const request = { url: 'http://one.test/', method: 'POST', headers: {}, body: '{}' } as const
const bare = { status: 200, headers: new Headers() }
const smallJson = { headers: { 'content-type': 'application/json', 'content-length': '2' } }
const limits = { headersTimeoutMs: 1_000, idleTimeoutMs: 1_000, totalTimeoutMs: 1_000 }

/** Opens a call. Returns the call and its response. */
function callBy(fetch: UpstreamFetch) {
  const call = new ProviderCall({ clock: fakeClock(), limits })
  return Object.assign(call, { response: call.open(request, fetch) })
}

/** Returns the reason that a promise rejects with. */
const rejection = (promise: Promise<unknown> = Promise.resolve()): Promise<unknown> =>
  promise.then(
    (value) => assert.unreachable(`It has resolved to ${String(value)}.`),
    (reason: unknown) => reason,
  )

/** Rejects with a copy of the signal's reason, as on some platforms. */
const untilAborted = (signal: AbortSignal | null | undefined): Promise<never> =>
  new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(new Error(String(signal.reason.message))))
  })

test('a canceled call rejects with the cancellation reason, before the response and in its body', async () => {
  const silent = callBy((_, init) => untilAborted(init?.signal))
  silent.cancel(REASON)
  assert.is(await rejection(silent.response), REASON)

  const streaming = callBy(async (_, init) => {
    const body = new ReadableStream({
      pull: (controller) => untilAborted(init?.signal).catch((copy) => controller.error(copy)),
    })
    return new Response(body)
  })
  const { body } = await streaming.response
  const pending = rejection(body.next())
  streaming.cancel(REASON)
  assert.is(await pending, REASON)
  assert.is(await rejection(body.next()), REASON)
})

test('a canceled call cancels a response that arrives later', async () => {
  let resolve = (_: Response) => {}
  const late = new Promise<Response>((settle) => {
    resolve = settle
  })
  const call = callBy(() => late)
  call.cancel(REASON)
  const canceled = new Promise((tell) => {
    resolve(new Response(new ReadableStream({ cancel: tell })))
  })
  assert.is(await rejection(call.response), REASON)
  assert.is(await canceled, REASON)
})

test('a canceled call never ends normally, even if all bytes have arrived', async () => {
  for (const init of [{}, smallJson]) {
    const call = callBy(async () => new Response('{}', init))
    const { body } = await call.response
    call.cancel(REASON)
    assert.is(await rejection(body.next()), REASON)
    assert.is(await rejection(body.whole?.() ?? body.next()), REASON)
  }
})

test("a call canceled during a read rejects with the cancellation reason, whatever the read's outcome", async () => {
  for (const end of [() => new ArrayBuffer(2), () => Promise.reject(new Error('a copy'))]) {
    const coming = Promise.withResolvers<void>()
    const response = Object.assign(new Response('{}', smallJson), { arrayBuffer: () => coming.promise.then(end) })
    const call = callBy(async () => response)
    const bytes = rejection((await call.response).body.whole?.())
    call.cancel(REASON)
    coming.resolve()
    assert.is(await bytes, REASON)
  }
})

test('a fetch that throws synchronously makes the call fail', async () => {
  const call = callBy(() => {
    throw REASON
  })
  assert.match(String(await rejection(call.response)), /is unreachable/)
})

test('a call reads the response only after the current event loop turn', async () => {
  const steps: string[] = []
  const fetch = async () => {
    steps.push('fetched')
    const response = new Response('', { status: 201 })
    return Object.defineProperty(response, 'headers', {
      get() {
        steps.push('read')
        return new Headers()
      },
    })
  }
  const turn = async () => {
    await undefined
    steps.push('turned')
  }
  assert.is((await fetchCall(fetch, request, turn).response).status, 201)
  assert.equal(steps.slice(0, 3), ['fetched', 'turned', 'read'])
})

test("canceling a call ends it in every phase, even if the host app's fetch never settles", async () => {
  const never = new Promise<never>(() => {})
  const silent = callBy(() => never)
  silent.cancel(REASON)
  assert.is(await rejection(silent.response), REASON)

  const deaf = Object.assign(new Response('{}', smallJson), { arrayBuffer: () => never })
  const reading = callBy(async () => deaf)
  const { body } = await reading.response
  const full = rejection(body.whole?.())
  reading.cancel(REASON)
  assert.is(await full, REASON)

  const reader = { read: () => never, cancel: async () => {} }
  const streaming = callBy(async () => ({ ...bare, body: { getReader: () => reader } }) as unknown as Response)
  const { body: stream } = await streaming.response
  const chunk = rejection(stream.next())
  streaming.cancel(REASON)
  assert.is(await chunk, REASON)
  assert.is(await rejection(stream.next()), REASON)
})

test("a call doesn't retain a chunk that it has returned", async () => {
  let left = 1
  const next = () => (left-- > 0 ? Promise.resolve(new Uint8Array(1_000)) : new Promise<undefined>(() => {}))
  const response = { status: 200, header: () => undefined, headers: () => [], body: { next, cancel() {} } }
  const raw = () => ({ response: Promise.resolve(response), cancel() {} })
  const call = callBy(Object.assign(async () => new Response(), { raw }))
  const { body } = await call.response
  const chunk = await weakly(body.next())
  await collectGarbage()
  assert.is(chunk.deref(), undefined)
  assert.ok(body)
})

async function weakly(read: Promise<Uint8Array | undefined>): Promise<WeakRef<Uint8Array>> {
  const chunk = await read
  if (!chunk) throw new Error('There is no chunk.')
  return new WeakRef(chunk)
}
