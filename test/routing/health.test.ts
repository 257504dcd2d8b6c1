import { type FailureClass, failureRules } from '../../src/request/routing/failure-class.ts'
import { defaultHealthTerms } from '../../src/request/routing/request-rules.ts'
import { assert, suite } from '../support/suite.ts'
import { connection, failure, open, target } from './support/health.ts'

const test = suite('target health')

const table: Array<[FailureClass, failures: number, firstMs: number, level: 'model' | 'connection']> = [
  ['credentials', 1, 60_000, 'connection'],
  ['rate-limit', 1, 1_000, 'connection'],
  ['network', 5, 5_000, 'model'],
  ['server', 5, 5_000, 'model'],
  ['timeout', 5, 5_000, 'model'],
  ['content', 5, 5_000, 'model'],
  ['forbidden', 5, 5_000, 'model'],
  ['model-not-found', 1, 300_000, 'model'],
]
for (const [label, failures, firstMs, level] of table) {
  test(`after ${failures} ${label} failure${failures === 1 ? '' : 's'} in a row, the ${level} is in cooldown for ${firstMs / 1_000} s`, () => {
    const { fail, waitOf, health } = open()
    for (let index = 1; index < failures; index++) {
      fail(label)
      assert.is(waitOf(), undefined)
    }
    fail(label)
    assert.is(waitOf(), firstMs)
    assert.is(health.getCooldown(target())?.class, label)
    assert.is(
      waitOf(target('a', 'other')),
      level === 'connection' ? firstMs : undefined,
      'another model on the same account',
    )
    assert.is(waitOf(target('b')), undefined, 'another account with the same provider')
  })
}

for (const label of ['client', 'context-overflow', 'format'] as const) {
  test(`a ${label} failure doesn't affect a target's health`, () => {
    const { fail, waitOf } = open()
    for (let index = 0; index < 10; index++) fail(label)
    assert.is(waitOf(), undefined)
    for (let index = 0; index < 5; index++) {
      assert.is(waitOf(), undefined)
      fail(label)
      fail('server')
    }
    assert.is(waitOf(), 5_000, 'five failures in five calls, despite the others in between')
    fail(label)
    assert.is(waitOf(), 5_000)
  })

  test(`a ${label} failure ends a probe, and the target is available again`, async () => {
    const { fail, health, waitOf, pass } = open()
    for (const [failed, ms] of [
      ['credentials', 60_000],
      ['model-not-found', 300_000],
    ] as const) {
      fail(failed)
      pass(ms)
      fail(label)
      assert.is(waitOf(), undefined)
      assert.equal(await health.list([connection('a')]), [])
    }
    for (let index = 0; index < 5; index++) fail('server')
    pass(5_000)
    fail(label)
    health.beginCall(target())
    assert.is(waitOf(), undefined, 'no further request has to probe')
    fail('server')
    assert.is(waitOf(), 10_000, 'there has been no success in between')
  })
}

test('every failure class with a cooldown is tested', () => {
  const cooling = Object.entries(failureRules).flatMap(([label, { cooldown }]) => (cooldown ? [label] : []))
  assert.equal(cooling.sort(), table.map(([label]) => label).sort())
})

test('a target with a failure rate below the threshold is used, even if many calls fail', () => {
  const { health, fail, waitOf } = open()
  for (let index = 0; index < 100; index++) {
    health.beginCall(target()).succeed()
    health.beginCall(target()).succeed()
    fail('server')
  }
  assert.is(waitOf(), undefined)
})

test('a 50% failure rate causes a cooldown, even if no two calls in a row fail', () => {
  const { health, fail, waitOf } = open()
  for (let index = 0; index < 3; index++) {
    assert.is(waitOf(), undefined)
    health.beginCall(target()).succeed()
    fail('server')
  }
  assert.is(waitOf(), 5_000)
})

test("failures older than the window don't count", () => {
  const { fail, waitOf, pass } = open()
  for (let index = 0; index < 4; index++) fail('server')
  pass(60_000)
  fail('server')
  assert.is(waitOf(), undefined)
  for (let index = 0; index < 4; index++) fail('server')
  assert.is(waitOf(), 5_000)
})

test('ten failures in a row start a cooldown, even after a thousand successes', () => {
  const { health, fail, waitOf } = open()
  for (let index = 0; index < 1_000; index++) health.beginCall(target()).succeed()
  for (let index = 0; index < 9; index++) fail('server')
  assert.is(waitOf(), undefined)
  fail('server')
  assert.is(waitOf(), 5_000)
})

test('a recovered target is judged only by its calls since the recovery', () => {
  const { health, fail, waitOf, pass } = open()
  for (let index = 0; index < 5; index++) fail('server')
  pass(5_000)
  health.beginCall(target()).succeed()
  for (let index = 0; index < 4; index++) fail('server')
  assert.is(waitOf(), undefined)
  fail('server')
  assert.is(waitOf(), 5_000)
})

test('a definitive failure starts a cooldown immediately, and other failures only if their rate is high enough', () => {
  for (const [isCertain, wait] of [
    [true, 5_000],
    [false, undefined],
  ] as const) {
    const { health, waitOf } = open()
    health.beginCall(target()).fail({ ...failure('network'), level: 'connection', isCertain })
    assert.is(waitOf(), wait)
  }
})

test('only requested waits, rejected keys, and missing models cause mandatory cooldowns', () => {
  for (const [label, isCertain, requested, isMandatory] of [
    ['rate-limit', false, 1_000, true],
    ['server', false, 1_000, true],
    ['credentials', false, undefined, true],
    ['model-not-found', false, undefined, true],
    ['rate-limit', false, undefined, false],
    ['network', true, undefined, false],
  ] as const) {
    const { health } = open()
    health.beginCall(target()).fail({ ...failure(label, requested), isCertain })
    assert.is(health.getCooldown(target())?.isMandatory, isMandatory, `${label} ${requested}`)
  }
})

test("only definitive failures under a combo's health rules affect other requests", () => {
  const { health, waitOf } = open()
  const combo = health.withSettings({ ...defaultHealthTerms, minCalls: 2, cooldownMs: 1_000, combo: 'sensitive' })
  combo.beginCall(target()).fail(failure('server'))
  assert.is(combo.getCooldown(target()), undefined)
  combo.beginCall(target()).fail(failure('server'))
  assert.is(Number(combo.getCooldown(target())?.retryAt) - 1_000_000, 1_000)
  assert.is(waitOf(), undefined)
  combo.beginCall(target('b')).fail(failure('credentials'))
  assert.is(waitOf(target('b')), 60_000)
})

test('a wait requested by the provider is respected exactly, up to an hour', async () => {
  for (const [requestCount, waited] of [
    [30_000, 30_000],
    [0, 0],
    [24 * 3_600_000, 3_600_000],
  ] as const) {
    const { fail, health, waitOf } = open(() => 0.999)
    fail('rate-limit', target(), requestCount)
    assert.is(waitOf() ?? 0, waited)
    assert.is((await health.list([connection('a')])).length, 1)
  }
})

test('jitter extends a backoff by up to a tenth, and never shortens it', () => {
  for (const [random, wait] of [
    [0, 60_000],
    [0.999, 65_994],
  ] as const) {
    const { fail, waitOf } = open(() => random)
    fail('credentials')
    assert.is(waitOf(), wait)
  }
})

test('a requested wait shorter than the first backoff is used once, and then the backoff applies', () => {
  const { fail, waitOf, pass } = open()
  const waits: Array<number | undefined> = []
  for (const pending of [0, 0, 400, 1_500, 0]) {
    fail('rate-limit', target(), pending)
    waits.push(waitOf())
    pass(waitOf() ?? 0)
  }
  assert.equal(waits, [undefined, 2_000, 4_000, 1_500, 16_000])
})

test("a requested wait of zero doesn't start a cooldown for a failure class that needs several failures", async () => {
  const { fail, health, waitOf } = open()
  for (let index = 0; index < 4; index++) fail('server', target(), 0)
  const [entry] = (await health.list([connection('a')])).filter(({ level }) => level === 'model')
  assert.is(entry?.state, 'counting')
  fail('server')
  assert.is(waitOf(), 5_000)
})

test('after a cooldown, one request acts as a probe, and its outcome determines the state for all', () => {
  const { health, fail, waitOf, pass } = open()
  fail('rate-limit')
  pass(1_000)
  assert.is(waitOf(), undefined)
  const probe = health.beginCall(target())
  assert.is(waitOf(), Number.POSITIVE_INFINITY, 'a second request has to wait')
  probe.fail(failure('rate-limit'))
  assert.is(waitOf(), 2_000, 'twice as long')
  pass(2_000)
  health.beginCall(target()).drop()
  assert.is(waitOf(), undefined, 'the outcome is unknown, so the next request probes')
  health.beginCall(target()).succeed()
  fail('rate-limit')
  assert.is(waitOf(), 1_000, 'there was a success in between')
})

test('the cooldown doubles with each failed probe, up to its limit', () => {
  const { fail, waitOf, pass } = open()
  const waits: Array<number | undefined> = []
  for (let index = 0; index < 9; index++) {
    fail('rate-limit')
    waits.push(waitOf())
    pass(waitOf() ?? 0)
  }
  assert.equal(
    waits,
    [1, 2, 4, 8, 16, 32, 60, 60, 60].map((s) => s * 1_000),
  )
})

test("failures of in-flight and last-resort requests don't extend a server-error cooldown", () => {
  const { fail, waitOf, pass } = open()
  for (let index = 0; index < 8; index++) fail('server')
  assert.is(waitOf(), 5_000)
  pass(2_000)
  fail('server')
  assert.is(waitOf(), 3_000)
})

test("a model that fails on every account doesn't put other models in cooldown, unless the accounts are unreachable", () => {
  const bad = open()
  for (let index = 0; index < 20; index++) bad.fail('server', target(index % 2 ? 'a' : 'b', 'bad'))
  assert.is(bad.waitOf(target('a', 'good')), undefined)
  const gone = open()
  for (let index = 0; index < 10; index++) gone.failAddress(target(index % 2 ? 'a' : 'b', 'only'))
  assert.is(gone.waitOf(target('c', 'good')), 5_000)
})

test('an unreachable connection puts all its models in cooldown', () => {
  const { failAddress, waitOf } = open()
  failAddress()
  assert.is(waitOf(target('a', 'other')), 5_000)
  assert.is(waitOf(target('b')), undefined)
})

test('network failures with two models put a key in cooldown, but failures with one model never do', () => {
  const { fail, waitOf, health } = open()
  for (let index = 0; index < 20; index++) fail('network', target('a', 'bad'))
  assert.is(waitOf(target('a', 'good')), undefined)
  health.beginCall(target('a', 'good')).succeed()
  for (let index = 0; index < 9; index++) fail('network', target('a', index % 2 ? 'bad' : 'worse'))
  assert.is(waitOf(target('a', 'good')), undefined, 'a success in between resets the count')
  fail('network', target('a', 'worse'))
  assert.is(waitOf(target('a', 'good')), 5_000)
})

test("a model with network failures on every account doesn't put the provider in cooldown", () => {
  const { fail, waitOf } = open()
  for (let index = 0; index < 20; index++) fail('network', target(index % 2 ? 'a' : 'b', 'bad'))
  assert.is(waitOf(target('a', 'good')), undefined)
  assert.is(waitOf(target('c', 'bad')), undefined)
})

test('failures on two accounts put a provider in cooldown, but failures on one account never do', () => {
  const first = open()
  for (let index = 0; index < 50; index++) first.fail('network')
  assert.is(first.waitOf(target('b')), undefined)
  const two = open()
  for (let index = 0; index < 10; index++) two.fail('server', target(index < 5 ? 'a' : 'b', `model-${index}`))
  assert.is(two.waitOf(target('c', 'another')), 5_000)
  two.health.beginCall(target('c', 'another')).succeed()
  assert.is(two.waitOf(target('d')), undefined, 'one success is enough')
})
