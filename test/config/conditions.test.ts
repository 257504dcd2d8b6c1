import { isGatewayError } from '../../src/errors.ts'
import { createGateway } from '../../src/gateway.ts'
import type { GatewayOptions } from '../../src/options.ts'
import type { RouteCall } from '../../src/request/route-call.ts'
import { assert, suite } from '../support/suite.ts'
import { getOutcome, openRouted } from './support/routed.ts'

const test = suite('combo conditions that are functions')

type When = (request: RouteCall, context: { signal: AbortSignal }) => boolean | Promise<boolean>

const withCondition = (when: When, extra: GatewayOptions = {}): GatewayOptions => ({
  combos: { picky: [{ model: 'one/m', when }, 'two/m'], outer: ['picky'] },
  ...extra,
})

test('a condition function decides whether a request uses an entry', async () => {
  const requests: unknown[] = []
  const { chat, upstream, records } = openRouted(
    withCondition(async ({ model, body, header }) => {
      requests.push([model, header('x-tier')])
      return body.user === 'gold'
    }),
  )
  for (const [model, user] of [
    ['picky', 'gold'],
    ['picky', 'iron'],
    ['outer', 'iron'],
  ])
    assert.is((await chat({ model, user }, { headers: { 'x-tier': String(user) } })).status, 200)
  assert.equal(upstream.providers, ['one', 'two', 'two'])
  assert.equal(requests, [
    ['picky', 'gold'],
    ['picky', 'iron'],
    ['outer', 'iron'],
  ])
  assert.equal(
    records[1]?.skipped?.map((skip) => ('entry' in skip ? [skip.entry, skip.skipped] : [])),
    [['one/m', 'when.function']],
  )
})

test('a request fails if condition functions exclude all entries', async () => {
  const { chat } = openRouted({ combos: { none: [{ model: 'one/m', when: () => false }] } })
  assert.is(await getOutcome(await chat({ model: 'none' })), '400 invalid_request')
})

test('the condition functions of several entries run concurrently, once each', async () => {
  let calls = 0
  const slow: When = async () => {
    calls++
    await clock.sleep(900)
    return true
  }
  const { chat, clock, upstream } = openRouted({
    combos: {
      slow: [
        { model: 'one/m', when: slow },
        { model: 'two/m', when: slow },
      ],
    },
    respond: ({ provider }) =>
      provider === 'one' ? Response.json({}, { status: 500 }) : Response.json({ choices: [] }),
  })
  const pending = chat({ model: 'slow' })
  await clock.advance(900)
  await pending
  assert.equal([calls, upstream.providers], [2, ['one', 'two']])
})

const failing: Record<string, [When, RegExp]> = {
  throws: [
    () => {
      throw new Error('no quota service')
    },
    /no quota service/,
  ],
  rejects: [() => Promise.reject(new Error('no quota service')), /no quota service/],
  'returns a string': [() => 'yes' as never, /true or false/],
  'returns nothing': [() => undefined as never, /true or false/],
}

for (const [label, [when, problem]] of Object.entries(failing))
  test(`when a condition ${label}, the client gets a 503 and onError gets the cause`, async () => {
    const { chat, upstream, errors } = openRouted(withCondition(when))
    assert.is(await getOutcome(await chat({ model: 'picky' })), '503 route_failed')
    assert.equal([upstream.calls.length, errors.length], [0, 1])
    assert.ok(isGatewayError(errors[0], 'ROUTE_FAILED'))
    assert.match(errors[0]?.message ?? '', problem)
    assert.match(errors[0]?.message ?? '', /"one\/m" in the combo "picky"/)
  })

test('a condition that hangs fails after a second, and its signal aborts', async () => {
  const signals: AbortSignal[] = []
  const { chat, clock } = openRouted(
    withCondition((_, { signal }) => {
      signals.push(signal)
      return new Promise(() => {})
    }),
  )
  const pending = chat({ model: 'picky' })
  await clock.advance(1_000)
  assert.is(await getOutcome(await pending), '503 route_failed')
  assert.is(signals[0]?.aborted, true)
})

test('onRouteError: "ignore" uses the entry if its condition fails', async () => {
  const { chat, upstream, errors } = openRouted(withCondition(() => 'yes' as never, { onRouteError: 'ignore' }))
  assert.is((await chat({ model: 'picky' })).status, 200)
  assert.equal([upstream.providers, errors.length], [['one'], 1])
})

test('combos show which conditions are functions, and explanations show their results', async () => {
  const { api, upstream } = openRouted(withCondition(({ bytes }) => bytes > 1_000))
  const { combos } = await api.combos.list()
  const picky = combos.find(({ name }) => name === 'picky')
  assert.equal(picky?.models, [{ model: 'one/m', when: { function: 1 } }, 'two/m'])
  const { targets, leftOut } = await api.explain({ model: 'outer' })
  assert.equal(leftOut, [{ combo: 'picky', model: 'one/m', unmet: 'function' }])
  assert.equal(
    targets.map(({ provider }) => provider),
    ['two'],
  )
  const failed = openRouted(withCondition(() => 7 as never))
  const { error } = await failed.api.explain({ model: 'picky' })
  assert.equal([error?.status, error?.code], [503, 'ROUTE_FAILED'])
  assert.match(error?.message ?? '', /"one\/m" in the combo "picky".*true or false/)
  assert.equal([upstream.calls.length, failed.errors], [0, []])
})

test("functions are rejected in other combo fields, and so is a function's stored form", async () => {
  const make = (combo: unknown) => () => createGateway({ combos: { picky: combo as never }, logger: false })
  assert.throws(make({ models: ['one/m'], strategy: () => 'fallback' }), /combos\.picky\.strategy/)
  assert.throws(make([{ model: 'one/m', weight: () => 1 }]), /combos\.picky\.models\[0\]\.weight/)
  const { api } = openRouted({})
  const entry = { model: 'one/m', when: { function: 1 } }
  const refusal = await api.combos.create({ name: 'stored', models: [entry] }).catch((error: Error) => error.message)
  assert.match(String(refusal), /function" can only be set in code, where "when" is the function itself/)
  assert.throws(
    make([entry, { model: 'one/m', when: () => true }]),
    /models\[0\]\.when\.function can only be set in code/,
  )
  assert.throws(make([() => 'one/m']), /^combos\.picky\.models\[0\] must be a string or an object/)
  assert.throws(make([{ model: 'one/m', where: () => true }]), /combos\.picky\.models\[0\]\.where\.function/)
})
