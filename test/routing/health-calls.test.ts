import { assert, suite } from '../support/suite.ts'
import { connection, failure, open, target } from './support/health.ts'

const test = suite('health and in-flight calls')

for (const [outcome, end] of [
  ['success', 'succeed'],
  ['client error', 'fail'],
] as const) {
  test(`a late ${outcome} doesn't end a cooldown that started after the call did`, () => {
    for (const label of ['credentials', 'rate-limit', 'model-not-found'] as const) {
      const { health, fail, waitOf } = open()
      const early = health.beginCall(target())
      fail(label)
      const waited = waitOf()
      early[end](failure('client'))
      assert.is(waitOf(), waited, label)
      if (end === 'succeed') {
        health.beginCall(target()).succeed()
        assert.is(waitOf(), undefined, 'the success of a later call ends it')
      }
    }
  })
}

test("failures of calls that started before a cooldown don't extend it or count against the probe", () => {
  const { health, fail, waitOf, pass } = open()
  const early = [1, 2, 3].map(() => health.beginCall(target()))
  fail('rate-limit')
  early[0]?.fail(failure('server'))
  pass(1_000)
  early[1]?.fail(failure('rate-limit'))
  assert.is(waitOf(), undefined, 'it can be probed')
  const probe = health.beginCall(target())
  early[2]?.fail(failure('rate-limit'))
  probe.succeed()
  assert.is(waitOf(), undefined)
})

test('during a cooldown, only a longer requested wait extends it and changes its reason', () => {
  const { health, fail, waitOf } = open()
  fail('credentials')
  fail('rate-limit', target(), 1_000)
  fail('rate-limit')
  assert.is(waitOf(), 60_000)
  assert.is(health.getCooldown(target())?.class, 'credentials')
  fail('rate-limit', target(), 90_000)
  assert.is(waitOf(), 90_000)
  assert.is(health.getCooldown(target())?.class, 'rate-limit')
  health.beginCall(target()).succeed()
  assert.is(waitOf(), undefined, 'a success ends it')
})

test('streams that break off count as failures until one completes', async () => {
  const { health, waitOf, pass } = open()
  const stream = (end: 'failStream' | 'succeed') => {
    const trial = health.beginCall(target())
    trial.beginStream()
    trial[end](failure('network'))
  }
  for (let index = 0; index < 6; index++) stream('succeed')
  for (let index = 0; index < 5; index++) stream('failStream')
  assert.is(waitOf(), undefined, 'five failures in eleven calls')
  stream('failStream')
  assert.is(waitOf(), 5_000)
  assert.is(health.getCooldown(target())?.class, 'network')
  assert.is(waitOf(target('a', 'other')), undefined, 'another model on the same account')
  pass(5_000)
  const probe = health.beginCall(target())
  assert.is(waitOf(), Number.POSITIVE_INFINITY)
  probe.beginStream()
  assert.is(waitOf(), undefined, 'it is used while the stream continues')
  probe.failStream(failure('network'))
  assert.is(waitOf(), 10_000)
  pass(10_000)
  stream('succeed')
  assert.equal(await health.list([connection('a')]), [])
})

test("starting a stream clears its target's failures", async () => {
  const { health, fail, waitOf, pass } = open()
  for (const label of ['rate-limit', 'server', 'server'] as const) fail(label)
  pass(1_000)
  health.beginCall(target()).beginStream()
  assert.equal(await health.list([connection('a')]), [])
  assert.is(waitOf(), undefined)
})

test("a complete stream doesn't clear failures that occurred while it ran", () => {
  const { health, fail, waitOf } = open()
  const streams = [1, 2, 3, 4, 5].map(() => health.beginCall(target()))
  for (const stream of streams) stream.beginStream()
  for (const stream of streams) {
    fail('server')
    stream.succeed()
  }
  assert.is(waitOf(), 5_000)
})

test("an old stream that breaks off doesn't extend a cooldown that started after the stream did", () => {
  const { health, fail, waitOf } = open()
  const old = health.beginCall(target())
  old.beginStream()
  for (let index = 0; index < 5; index++) fail('server')
  old.failStream(failure('network'))
  assert.is(waitOf(), 5_000)
  assert.is(health.getCooldown(target())?.class, 'server')
})

test('changing a connection clears its failures', async () => {
  const { fail, waitOf, health } = open()
  fail('credentials')
  assert.is(waitOf(target('a', 'm', '2')), undefined)
  assert.equal(await health.list([connection('a', 'p', '2')]), [])
})

test("a call that started before its connection was changed doesn't affect the changed connection's health", () => {
  const { health, fail, waitOf } = open()
  const [good, bad] = [health.beginCall(target()), health.beginCall(target())]
  fail('credentials', target('a', 'm', '2'))
  good.succeed()
  bad.fail(failure('rate-limit', 600_000))
  assert.is(waitOf(target('a', 'm', '2')), 60_000)
  health.beginCall(target('a', 'm', '2')).succeed()
  assert.is(waitOf(target('a', 'm', '2')), undefined)
})

test("a provider's cooldown ends when one of the connections that caused it is changed", () => {
  const { failAddress, waitOf } = open()
  for (let index = 0; index < 10; index++) failAddress(target(index < 5 ? 'a' : 'b'))
  assert.is(waitOf(target('c')), 5_000)
  assert.is(waitOf(target('c', 'm', '2')), 5_000, "it hasn't failed")
  assert.is(waitOf(target('a', 'm', '2')), undefined)
  assert.is(waitOf(target('c')), undefined)
})
