import { assert, suite } from '../support/suite.ts'
import { connection, open, target } from './support/health.ts'

const test = suite('the health list for operators')

test('operators can list and reset unhealthy targets', async () => {
  const { fail, health, pass } = open()
  fail('credentials')
  fail('server', target('b'))
  const [credentials, server] = (await health.list([connection('a'), connection('b')])).filter(
    ({ level }) => level !== 'provider',
  )
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
  const getState = async () => (await health.list([connection('a')])).find(({ level }) => level === 'connection')?.state
  assert.is(await getState(), 'half-open')
  const probe = health.beginCall(target())
  assert.is(await getState(), 'probing')
  probe.drop()
  health.reset('a')
  assert.is(await getState(), undefined)
  assert.is((await health.list([connection('b')])).length, 2, 'the other connection, and its provider')
  health.reset()
  assert.equal(await health.list([connection('b')]), [])
})

test("invented model names don't fill up memory or evict more important records", async () => {
  const { fail, health, waitOf } = open()
  fail('credentials', target('b'))
  for (let index = 0; index < 5; index++) fail('server', target('c'))
  for (let index = 0; index < 1_050; index++) fail('model-not-found', target('a', `made-up-${index}`))
  for (let index = 0; index < 1_050; index++) fail('content', target('a', `failing-${index}`))
  assert.is((await health.list([connection('a'), connection('b'), connection('c')])).length, 1_000)
  assert.is(waitOf(target('b')), 60_000)
  assert.is(waitOf(target('c')), 5_000)
  fail('rate-limit', target('d'))
  assert.is(waitOf(target('d')), 1_000, 'there is room for a new record')
})

test('if all records are models in cooldown, a new record evicts the oldest', () => {
  const { fail, waitOf } = open()
  fail('credentials', target('b'))
  for (let index = 0; index < 5 * 1_001; index++) fail('content', target('a', `failing-${Math.floor(index / 5)}`))
  assert.is(waitOf(target('b')), 60_000)
  assert.is(waitOf(target('a', 'failing-0')), undefined)
  assert.is(waitOf(target('a', 'failing-1000')), 5_000)
})

test("a provider's error message is truncated to 300 characters", async () => {
  const { health } = open()
  health.beginCall(target()).fail({ class: 'rate-limit', message: 'x'.repeat(60_000) })
  assert.is((await health.list([connection('a')]))[0]?.message.length, 300)
})
