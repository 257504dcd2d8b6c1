import fc from 'fast-check'
import type { FailureClass } from '../../src/request/routing/failure-class.ts'
import type { HealthTarget } from '../../src/request/routing/health-subject.ts'
import type { CircuitPermit } from '../../src/request/routing/permit.ts'
import { createHealth, loadFailureCode } from '../../src/request/routing/target-health.ts'
import { times } from '../support/ci.ts'
import { assert, suite } from '../support/suite.ts'
import { createModel, type ModelCall } from './support/health-model.ts'

await loadFailureCode()
const test = suite('target health compared with a model')

/** A step in a history: a call starts, an in-flight call ends, a connection changes, or time passes. */
type Step = { begin: number } | { end: number; as: End } | { change: number } | { passMs: number }
type End = 'answer' | 'stream' | 'drop' | { fail: FailureClass; requested?: number; level?: 'connection' }

const classes: FailureClass[] = [
  'client',
  'credentials',
  'rate-limit',
  'server',
  'network',
  'timeout',
  'content',
  'model-not-found',
]
const at = fc.nat(3)
const fail = fc.constantFrom(...classes)
const end: fc.Arbitrary<End> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ fail }) },
  {
    weight: 1,
    arbitrary: fc.record({
      fail,
      asked: fc.oneof(fc.constantFrom(0, 1, 900), fc.integer({ min: 1_000, max: 90_000 })),
    }),
  },
  { weight: 1, arbitrary: fc.constant<End>({ fail: 'network', level: 'connection' }) },
  { weight: 1, arbitrary: fc.constantFrom<End>('answer', 'drop') },
  { weight: 2, arbitrary: fc.constant<End>('stream') },
)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ begin: at }) },
  { weight: 5, arbitrary: fc.record({ end: fc.nat(2), as: end }) },
  { weight: 1, arbitrary: fc.record({ change: at }) },
  { weight: 2, arbitrary: fc.record({ passMs: fc.constantFrom(1, 900, 5_000, 60_000, 400_000) }) },
)

/** One provider's two accounts, with two models each. */
const targets = ['a m', 'a n', 'b m', 'b n'].map((name) => {
  const [id = '', model = ''] = name.split(' ')
  return { provider: 'p', model, connection: { id, provider: 'p', updatedAt: '1' } }
})

test(`over ${times(10_000)} random histories of four targets, health agrees with the model`, () => {
  let [usable, cooling] = [0, 0]
  fc.assert(
    fc.property(fc.array(step, { minLength: 12, maxLength: 40 }), (steps) => {
      let nowMs = 1_000
      const health = createHealth({
        clock: { now: () => nowMs, sleep: () => new Promise<void>(() => {}) },
        random: () => 0,
      })
      const model = createModel()
      const now = targets.map((target) => ({ ...target, connection: { ...target.connection } }))
      const inFlight: Array<{ trial: CircuitPermit; call: ModelCall; isStream: boolean }> = []

      function begin(target: HealthTarget) {
        const kept = { ...target, connection: { ...target.connection } } // a copy, because the target changes later
        inFlight.push({ trial: health.beginCall(kept), call: model.begin(kept, nowMs), isStream: false })
      }

      function end({ trial, call, isStream }: (typeof inFlight)[number], as: End) {
        if (isStream && as === 'answer') {
          trial.succeed()
          model.close(call, nowMs)
        } else if (isStream) {
          if (as === 'drop' || as === 'stream') return // the client has disconnected
          trial.failStream({ class: 'network', message: '' })
          model.cut(call, nowMs)
        } else if (as === 'stream') {
          trial.beginStream()
          model.open(call, nowMs)
          inFlight.push({ trial, call, isStream: true })
        } else if (as === 'answer') {
          trial.succeed()
          model.respond(call, nowMs)
        } else if (as === 'drop') {
          trial.drop()
          model.drop(call)
        } else {
          const { requested, level } = as
          trial.fail({ class: as.fail, message: '', retryAfterMs: requested, ...(level && { level, isCertain: true }) })
          model.fail(call, as.fail, { requested, level, now: nowMs })
        }
      }

      for (const [index, step] of steps.entries()) {
        if ('passMs' in step) nowMs += step.passMs
        else if ('begin' in step) begin(now[step.begin] ?? unknown())
        else if ('change' in step) {
          const id = now[step.change]?.connection.id ?? unknown()
          for (const { connection } of now) if (connection.id === id) connection.updatedAt += '1'
        } else {
          const [ended] = inFlight.splice(step.end, 1)
          if (ended) end(ended, step.as)
        }
        for (const target of now) {
          const isUsable = model.isUsable(target, nowMs)
          if (isUsable) usable++
          else cooling++
          if ((health.getCooldown(target) === undefined) === isUsable) continue
          assert.unreachable(`${target.connection.id}/${target.model}, step ${index}: ${isUsable}`)
        }
      }
    }),
    { numRuns: times(10_000) },
  )
  assert.ok(usable > times(300_000) && cooling > times(100_000), `usable ${usable} times, in cooldown ${cooling} times`)
})

function unknown(): never {
  throw new Error('no such target')
}

test('exactly one of many simultaneous requests sends a probe', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('begin', 'fail', 'answer', 'drop', 'pass'), { maxLength: 60 }), (steps) => {
      let nowMs = 1_000
      const clock = { now: () => nowMs, sleep: () => new Promise<void>(() => {}) }
      const health = createHealth({ clock, random: () => 0 })
      const target = { provider: 'p', model: 'm', connection: { id: 'a', provider: 'p', updatedAt: '1' } }
      health.beginCall(target).fail({ class: 'rate-limit', message: '' })
      const inFlight: Array<ReturnType<typeof health.beginCall>> = []
      let isHealthy = false
      for (const step of steps) {
        if (step === 'pass') nowMs += 61_000
        else if (step === 'begin') {
          if (health.getCooldown(target)) continue
          inFlight.push(health.beginCall(target))
          if (!isHealthy) assert.is(inFlight.length, 1, 'one at a time while the target is unhealthy')
        } else {
          const trial = inFlight.pop()
          if (step === 'fail') trial?.fail({ class: 'rate-limit', message: '' })
          else if (step === 'answer') trial?.succeed()
          else trial?.drop()
          if (trial && step === 'answer') isHealthy = true
          if (isHealthy) return
        }
      }
    }),
    { numRuns: times(2_000) },
  )
})
