import { coolings, type FailureClass } from '../../src/routing/failure-class.ts'
import { createHealth } from '../../src/routing/health.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('health')

const connection = (id: string, provider = 'p', updatedAt = '1') => ({ id, provider, updatedAt })
const target = (id = 'a', model = 'm', updatedAt = '1') => ({
  provider: 'p',
  model,
  connection: connection(id, 'p', updatedAt),
})
const failure = (what: FailureClass, retryAfterMs?: number) => ({ class: what, message: `it is ${what}`, retryAfterMs })

/** Health on a clock that is set by hand, without jitter unless asked for. */
function open(random = () => 0) {
  let nowMs = 1_000_000
  const clock = { now: () => nowMs, sleep: () => new Promise<void>(() => {}) }
  const health = createHealth({ clock, random })
  const fail = (what: FailureClass, at = target(), retryAfterMs?: number) =>
    health.begin(at).failed(failure(what, retryAfterMs))
  const waitOf = (at = target()) => {
    const standing = health.standingOf(at)
    return standing && standing.retryAt - nowMs
  }
  function pass(ms: number) {
    nowMs += ms
  }
  return { health, fail, waitOf, pass }
}

const table: Array<[FailureClass, failures: number, firstMs: number, level: 'model' | 'connection']> = [
  ['credentials', 1, 60_000, 'connection'],
  ['rate-limit', 1, 1_000, 'connection'],
  ['network', 3, 5_000, 'connection'],
  ['server', 3, 5_000, 'model'],
  ['timeout', 3, 5_000, 'model'],
  ['content', 3, 5_000, 'model'],
  ['model-not-found', 1, 300_000, 'model'],
]
for (const [what, failures, firstMs, level] of table) {
  test(`${what}: after ${failures} in a row the ${level} is left alone for ${firstMs / 1_000} s`, () => {
    const { fail, waitOf, health } = open()
    for (let at = 1; at < failures; at++) {
      fail(what)
      assert.is(waitOf(), undefined)
    }
    fail(what)
    assert.is(waitOf(), firstMs)
    assert.is(health.standingOf(target())?.class, what)
    assert.is(
      waitOf(target('a', 'other')),
      level === 'connection' ? firstMs : undefined,
      'another model of the account',
    )
    assert.is(waitOf(target('b')), undefined, 'another account of the provider')
  })
}

for (const what of ['client', 'context-overflow', 'format'] as const) {
  test(`${what} says nothing about a target, neither bad nor good`, () => {
    const { fail, waitOf } = open()
    for (let at = 0; at < 10; at++) fail(what)
    assert.is(waitOf(), undefined)
    fail('server')
    fail(what)
    fail('server')
    fail(what)
    fail('server')
    assert.is(waitOf(), 5_000, 'three in a row, for all that came between')
    fail(what)
    assert.is(waitOf(), 5_000)
  })

  test(`${what} ends a probe: the target is back`, () => {
    const { fail, health, waitOf, pass } = open()
    for (const [failed, ms] of [
      ['credentials', 60_000],
      ['model-not-found', 300_000],
    ] as const) {
      fail(failed)
      pass(ms)
      fail(what)
      assert.is(waitOf(), undefined)
      assert.equal(health.list([connection('a')]), [])
    }
    for (let at = 0; at < 3; at++) fail('server')
    pass(5_000)
    fail(what)
    health.begin(target())
    assert.is(waitOf(), undefined, 'no other request has to probe')
    fail('server')
    assert.is(waitOf(), 10_000, 'but nothing has gone well in between')
  })
}

for (const [outcome, end] of [
  ['success', 'answered'],
  ['error of the client', 'failed'],
] as const) {
  test(`a late ${outcome} does not lift a cooldown that began after its call`, () => {
    for (const what of ['credentials', 'rate-limit', 'model-not-found'] as const) {
      const { health, fail, waitOf } = open()
      const early = health.begin(target())
      fail(what)
      const waited = waitOf()
      early[end](failure('client'))
      assert.is(waitOf(), waited, what)
      if (end === 'answered') {
        health.begin(target()).answered()
        assert.is(waitOf(), undefined, 'one that began afterwards does')
      }
    }
  })
}

test('failures of calls that began before the cooldown neither prolong it nor count against the probe', () => {
  const { health, fail, waitOf, pass } = open()
  const early = [1, 2, 3].map(() => health.begin(target()))
  fail('rate-limit')
  early[0]?.failed(failure('server'))
  pass(1_000)
  early[1]?.failed(failure('rate-limit'))
  assert.is(waitOf(), undefined, 'it may be probed')
  const probe = health.begin(target())
  early[2]?.failed(failure('rate-limit'))
  probe.answered()
  assert.is(waitOf(), undefined)
})

test('a cooldown under way may only grow, whatever the last resort brings, and keeps its reason', () => {
  const { health, fail, waitOf } = open()
  fail('credentials')
  fail('rate-limit', target(), 1_000)
  fail('rate-limit')
  assert.is(waitOf(), 60_000)
  assert.is(health.standingOf(target())?.class, 'credentials')
  fail('rate-limit', target(), 90_000)
  assert.is(waitOf(), 90_000)
  assert.is(health.standingOf(target())?.class, 'rate-limit')
  health.begin(target()).answered()
  assert.is(waitOf(), undefined, 'a success ends it')
})

test('every class has its row, or none', () => {
  assert.equal(Object.keys(coolings).sort(), table.map(([what]) => what).sort())
})

test('a success between failures starts the count anew', () => {
  const { health, fail, waitOf } = open()
  for (let at = 0; at < 10; at++) {
    fail('server')
    fail('server')
    health.begin(target()).answered()
  }
  assert.is(waitOf(), undefined)
})

test('what the provider asks for counts, for an hour at most, and jitter only adds', () => {
  for (const [asked, waited] of [
    [30_000, 30_000],
    [0, 0],
    [24 * 3_600_000, 3_600_000],
  ] as const) {
    const { fail, health, waitOf } = open()
    fail('rate-limit', target(), asked)
    assert.is(waitOf() ?? 0, waited)
    assert.is(health.list([connection('a')]).length, 1)
  }
  const late = open(() => 0.999)
  late.fail('rate-limit', target(), 10_000)
  assert.ok((late.waitOf() ?? 0) > 10_900 && (late.waitOf() ?? 0) <= 11_000)
})

test('a wait shorter than the first of its class is believed once, and then the back-off counts', () => {
  const { fail, waitOf, pass } = open()
  const waits: Array<number | undefined> = []
  for (const asked of [0, 0, 400, 1_500, 0]) {
    fail('rate-limit', target(), asked)
    waits.push(waitOf())
    pass(waitOf() ?? 0)
  }
  assert.equal(waits, [undefined, 2_000, 4_000, 1_500, 16_000])
})

test('a wait of nothing leaves nothing alone that takes several failures', () => {
  const { fail, health, waitOf } = open()
  fail('server', target(), 0)
  fail('server', target(), 0)
  const [entry] = health.list([connection('a')]).filter(({ level }) => level === 'model')
  assert.is(entry?.state, 'counting')
  fail('server')
  assert.is(waitOf(), 5_000)
})

test('when the time is over one request probes, and its outcome decides for all', () => {
  const { health, fail, waitOf, pass } = open()
  fail('rate-limit')
  pass(1_000)
  assert.is(waitOf(), undefined)
  const probe = health.begin(target())
  assert.is(waitOf(), Number.POSITIVE_INFINITY, 'a second one has to wait')
  probe.failed(failure('rate-limit'))
  assert.is(waitOf(), 2_000, 'twice as long')
  pass(2_000)
  health.begin(target()).dropped()
  assert.is(waitOf(), undefined, 'nobody saw the outcome: the next one probes')
  health.begin(target()).answered()
  fail('rate-limit')
  assert.is(waitOf(), 1_000, 'all was well in between')
})

test('the cooldown doubles up to its limit', () => {
  const { fail, waitOf, pass } = open()
  const waits: Array<number | undefined> = []
  for (let at = 0; at < 9; at++) {
    fail('rate-limit')
    waits.push(waitOf())
    pass(waitOf() ?? 0)
  }
  assert.equal(
    waits,
    [1, 2, 4, 8, 16, 32, 60, 60, 60].map((s) => s * 1_000),
  )
})

test('failures of requests that were under way, or tried it for want of another, do not prolong the cooldown', () => {
  const { fail, waitOf, pass } = open()
  for (let at = 0; at < 8; at++) fail('server')
  assert.is(waitOf(), 5_000)
  pass(2_000)
  fail('server')
  assert.is(waitOf(), 3_000)
})

test('a provider is left alone when two of its accounts fail, never for one', () => {
  const one = open()
  for (let at = 0; at < 50; at++) one.fail('network')
  assert.is(one.waitOf(target('b')), undefined)
  const two = open()
  for (const id of ['a', 'a', 'b', 'b', 'b']) two.fail('server', target(id, `model-${id}`))
  assert.is(two.waitOf(target('c', 'another')), 5_000)
  two.health.begin(target('c', 'another')).answered()
  assert.is(two.waitOf(target('d')), undefined, 'one success is enough')
})

test('streams that break off count, though each had begun, until an answer comes to its end', () => {
  const { health, waitOf, pass } = open()
  const stream = (end: 'cut' | 'answered') => {
    const trial = health.begin(target())
    trial.begun()
    trial[end](failure('network'))
  }
  stream('cut')
  stream('cut')
  stream('answered')
  stream('cut')
  stream('cut')
  assert.is(waitOf(), undefined)
  stream('cut')
  assert.is(waitOf(), 5_000)
  assert.is(health.standingOf(target())?.class, 'network')
  assert.is(waitOf(target('a', 'other')), undefined, 'another model of the account')
  pass(5_000)
  const probe = health.begin(target())
  assert.is(waitOf(), Number.POSITIVE_INFINITY)
  probe.begun()
  assert.is(waitOf(), undefined, 'it is used while the stream goes on')
  probe.cut(failure('network'))
  assert.is(waitOf(), 10_000)
  pass(10_000)
  stream('answered')
  assert.equal(health.list([connection('a')]), [])
})

test('a stream that has begun ends what is held against its target, but for streams that broke off', () => {
  const { health, fail, waitOf, pass } = open()
  for (const what of ['rate-limit', 'server', 'server'] as const) fail(what)
  pass(1_000)
  health.begin(target()).begun()
  assert.equal(health.list([connection('a')]), [])
  assert.is(waitOf(), undefined)
})

test('streams that come to their end say nothing of calls that fail meanwhile', () => {
  const { health, fail, waitOf } = open()
  const streams = [1, 2, 3].map(() => health.begin(target()))
  for (const stream of streams) stream.begun()
  for (const stream of streams) {
    fail('server')
    stream.answered()
  }
  assert.is(waitOf(), 5_000)
})

test('an old stream that breaks off does not prolong a cooldown that began after it', () => {
  const { health, fail, waitOf } = open()
  const old = health.begin(target())
  old.begun()
  for (let at = 0; at < 3; at++) fail('server')
  old.cut(failure('network'))
  assert.is(waitOf(), 5_000)
  assert.is(health.standingOf(target())?.class, 'server')
})

test('a changed connection is not what failed', () => {
  const { fail, waitOf, health } = open()
  fail('credentials')
  assert.is(waitOf(target('a', 'm', '2')), undefined)
  assert.equal(health.list([connection('a', 'p', '2')]), [])
})

test('a call that began before its connection was changed says nothing of what it is now', () => {
  const { health, fail, waitOf } = open()
  const [good, bad] = [health.begin(target()), health.begin(target())]
  fail('credentials', target('a', 'm', '2'))
  good.answered()
  bad.failed(failure('rate-limit', 600_000))
  assert.is(waitOf(target('a', 'm', '2')), 60_000)
  health.begin(target('a', 'm', '2')).answered()
  assert.is(waitOf(target('a', 'm', '2')), undefined)
})

test('operators see what is not well, and can forget it', () => {
  const { fail, health, pass } = open()
  fail('credentials')
  fail('server', target('b'))
  const [credentials, server] = health
    .list([connection('a'), connection('b')])
    .filter(({ level }) => level !== 'provider')
  assert.equal(credentials, {
    level: 'connection',
    provider: 'p',
    connectionId: 'a',
    state: 'cooling',
    reason: 'credentials',
    message: 'it is credentials',
    failures: 1,
    since: '1970-01-01T00:16:40.000Z',
    retryAt: '1970-01-01T00:17:40.000Z',
  })
  assert.is(server?.state, 'counting')
  assert.is(server?.model, 'm')
  pass(60_000)
  const stateOf = () => health.list([connection('a')]).find(({ level }) => level === 'connection')?.state
  assert.is(stateOf(), 'half-open')
  const probe = health.begin(target())
  assert.is(stateOf(), 'probing')
  probe.dropped()
  health.reset('a')
  assert.is(stateOf(), undefined)
  assert.is(health.list([connection('b')]).length, 2, 'the other one, and its provider')
  health.reset()
  assert.equal(health.list([connection('b')]), [])
})

test('model names that clients make up fill no memory, and make nothing forgotten that matters more', () => {
  const { fail, health, waitOf } = open()
  fail('credentials', target('b'))
  for (let at = 0; at < 3; at++) fail('server', target('c'))
  for (let at = 0; at < 1_050; at++) fail('model-not-found', target('a', `made-up-${at}`))
  for (let at = 0; at < 1_050; at++) fail('content', target('a', `failing-${at}`))
  assert.is(health.list([connection('a'), connection('b'), connection('c')]).length, 1_000)
  assert.is(waitOf(target('b')), 60_000)
  assert.is(waitOf(target('c')), 5_000)
  fail('rate-limit', target('d'))
  assert.is(waitOf(target('d')), 1_000, 'what is new has room')
})

test('as many models that cool as there is room for make room for each other, the oldest first', () => {
  const { fail, waitOf } = open()
  fail('credentials', target('b'))
  for (let at = 0; at < 3 * 1_001; at++) fail('content', target('a', `failing-${Math.floor(at / 3)}`))
  assert.is(waitOf(target('b')), 60_000)
  assert.is(waitOf(target('a', 'failing-0')), undefined)
  assert.is(waitOf(target('a', 'failing-1000')), 5_000)
})

test('what a provider says is kept as far as it helps', () => {
  const { health } = open()
  health.begin(target()).failed({ class: 'rate-limit', message: 'x'.repeat(60_000) })
  assert.is(health.list([connection('a')])[0]?.message.length, 300)
})
