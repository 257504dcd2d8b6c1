import { jsonLog } from '../../src/features/observe/log.ts'
import type { GatewayObserver, RequestFollower } from '../../src/features/observe/observer.ts'
import { prometheus } from '../../src/features/observe/prometheus.ts'
import type { Exchange } from '../../src/lib/exchange.ts'
import { never, sse } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { ADMIN, openObserved, read } from './world.ts'

const test = suite('observers')

const fail = (): never => {
  throw new Error('observer')
}
const reject = () => Promise.reject(new Error('observer'))
/** Creates an attempt observer whose methods all do this. */
const createAttemptObserver = (does: () => never) => ({ headers: does, begun: does, ended: does })

const faults: Record<string, () => unknown> = {
  'throws for a request': fail,
  'rejects for a request': reject,
  'returns a string instead of an object': () => 'nothing',
  'throws for each event': () => ({ asked: fail, attempt: fail, ended: fail }),
  'rejects for each event': () => ({ asked: reject, attempt: reject, ended: reject }),
  'throws for each event of an attempt': () => ({ attempt: () => createAttemptObserver(fail) }),
  'rejects for each event of an attempt': () => ({ attempt: () => createAttemptObserver(reject as never) }),
  'returns an attempt observer that is not an object': () => ({ attempt: () => 7 }),
  'never finishes': () => ({ ended: never }),
  'has headers that throw': () => ({
    attempt: () => ({ headers: () => Object.defineProperty({}, 'traceparent', { enumerable: true, get: fail }) }),
  }),
  'has invalid headers': () => ({
    attempt: () => ({
      headers: () => ({ traceparent: 'a\r\nx-evil: 1', 'a b': 'c', tracestate: 5, b3: 'ü', x: null }),
    }),
  }),
}

for (const [fault, request] of Object.entries(faults))
  test(`an observer that ${fault} doesn't affect the request or the other observers`, async () => {
    const lines: string[] = []
    const faulty = { request } as GatewayObserver
    const world = await openObserved([faulty, jsonLog((line) => void lines.push(line))])
    const reply = await world.chat()
    assert.is(reply.status, 200, await reply.text())
    assert.match(await read(world.chat({ stream: true })), /\[DONE\]/)
    assert.is(lines.length, 2)
    for (const { headers } of world.upstream.calls)
      assert.equal(
        ['traceparent', 'tracestate', 'b3', 'x', 'x-evil'].map((name) => headers.get(name)),
        [null, null, null, null, null],
      )
    await Promise.resolve()
    if (/throw|reject/.test(fault)) assert.ok(world.errors.length > 0)
  })

test('observers see no client credentials, IP addresses, or cookies', async () => {
  const seen: Record<string, string | undefined> = {}
  const names = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'cookie', 'x-forwarded-for', 'user-agent']
  const request = ({ header }: { header(name: string): string | undefined }) => {
    for (const name of names) seen[name] = header(name)
    return undefined
  }
  const world = await openObserved([{ request }])
  await read(world.chat({}, Object.fromEntries(names.map((name) => [name, `the ${name}`]))))
  assert.equal(
    Object.entries(seen).filter(([, value]) => value !== undefined),
    [['user-agent', 'the user-agent']],
  )
})

test('requests wait for observer code only until it has loaded', async () => {
  const { gateway } = await openObserved([{ request: () => undefined }])
  const foreign = { method: 'GET', path: '/not-the-gateway' } as Exchange
  const succeed = () => {
    const later = Promise.resolve().then(() => 'later')
    return Promise.race([gateway.exchange(foreign), later])
  }
  assert.equal([await succeed(), await gateway.exchange(foreign), await succeed()], ['later', undefined, undefined])
})

test("close waits for observers' slow writes", async () => {
  const { promise: written, resolve: finishWriting } = Promise.withResolvers<void>()
  let isClosed = false
  const world = await openObserved([jsonLog(() => written)])
  await read(world.chat())
  const closing = world.gateway.close().then(() => {
    isClosed = true
  })
  await new Promise((resolve) => setTimeout(resolve, 5))
  assert.not.ok(isClosed)
  finishWriting()
  await closing
})

test('closing the gateway ends its requests for observers and metrics', async () => {
  const ends: string[] = []
  const follower: RequestFollower = { ended: ({ end }) => void ends.push(end) }
  const metrics = prometheus({ token: ADMIN })
  const world = await openObserved([{ request: () => follower }, metrics], () =>
    sse(['data: {"choices":[{"index":0,"delta":{"content":"He"}}]}\n\n'], 'hang'),
  )
  const reply = await world.chat({ stream: true })
  const reading = reply.text().catch(() => '')
  await world.gateway.close({ graceMs: 0 })
  await reading
  assert.equal(ends, ['cut'])
  const { body } =
    (await metrics.page?.reply(
      { header: () => undefined },
      { isOneOfMany: false, targets: async () => [], limits: async () => [], catalogAgeMs: async () => undefined },
    )) ?? {}
  assert.match(String(body), /^signalbox_streams_active\{[^}]*\} 0$/m)
  assert.match(String(body), /^signalbox_requests_active\{[^}]*\} 0$/m)
})
