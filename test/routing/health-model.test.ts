import fc from 'fast-check'
import { coolings, type FailureClass } from '../../src/routing/failure-class.ts'
import { createHealth } from '../../src/routing/health.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('health, against a model of one target')

type Step = { fail: FailureClass; asked?: number } | 'answer' | 'drop' | { passMs: number }

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
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record(
    { fail: fc.constantFrom(...classes), asked: fc.integer({ min: 1, max: 90_000 }) },
    { requiredKeys: ['fail'] },
  ),
  fc.constantFrom<Step>('answer', 'drop'),
  fc.record({ passMs: fc.constantFrom(1, 900, 5_000, 60_000, 400_000) }),
)

/** What is held against the account and against the model, written as plainly as can be. */
function createModel() {
  const held = { connection: { failures: 0, times: 0, until: 0 }, model: { failures: 0, times: 0, until: 0 } }
  const clear = () => {
    for (const level of Object.values(held)) Object.assign(level, { failures: 0, times: 0, until: 0 })
  }
  return {
    clear,
    isUsable: (now: number) => held.connection.until <= now && held.model.until <= now,
    fail(what: FailureClass, asked: number | undefined, now: number) {
      const cooling = coolings[what]
      if (!cooling) return clear()
      const record = held[cooling.level]
      record.failures += 1
      const cools = record.until > now
      const opens = record.until > 0 || record.failures >= cooling.after || asked !== undefined
      if (cools ? asked === undefined : !opens) return
      if (!cools) record.times += 1
      record.until = now + (asked ?? Math.min(cooling.maxMs, cooling.baseMs * 2 ** (record.times - 1)))
    },
  }
}

test('over 10,000 histories it says the same', { timeoutMs: 60_000 }, () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let nowMs = 1_000
      const clock = { now: () => nowMs, sleep: () => new Promise<void>(() => {}) }
      const health = createHealth({ clock, random: () => 0 })
      const target = { provider: 'p', model: 'm', connection: { id: 'a', provider: 'p', updatedAt: '1' } }
      const model = createModel()
      for (const [at, one] of steps.entries()) {
        if (typeof one === 'object' && 'passMs' in one) nowMs += one.passMs
        else {
          const trial = health.begin(target)
          if (one === 'drop') trial.dropped()
          else if (one === 'answer') {
            trial.answered()
            model.clear()
          } else {
            trial.failed({ class: one.fail, message: '', retryAfterMs: one.asked })
            model.fail(one.fail, one.asked, nowMs)
          }
        }
        assert.is(health.standingOf(target) === undefined, model.isUsable(nowMs), `after step ${at}`)
      }
    }),
    { numRuns: 10_000 },
  )
})

test('however many come at once, exactly one probes', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('begin', 'fail', 'answer', 'drop', 'pass'), { maxLength: 60 }), (steps) => {
      let nowMs = 1_000
      const clock = { now: () => nowMs, sleep: () => new Promise<void>(() => {}) }
      const health = createHealth({ clock, random: () => 0 })
      const target = { provider: 'p', model: 'm', connection: { id: 'a', provider: 'p', updatedAt: '1' } }
      health.begin(target).failed({ class: 'rate-limit', message: '' })
      const underWay: Array<ReturnType<typeof health.begin>> = []
      let isWell = false
      for (const step of steps) {
        if (step === 'pass') nowMs += 61_000
        else if (step === 'begin') {
          if (health.standingOf(target)) continue
          underWay.push(health.begin(target))
          if (!isWell) assert.is(underWay.length, 1, 'one at a time while it is not well')
        } else {
          const trial = underWay.pop()
          if (step === 'fail') trial?.failed({ class: 'rate-limit', message: '' })
          else if (step === 'answer') trial?.answered()
          else trial?.dropped()
          if (trial && step === 'answer') isWell = true
          if (isWell) return
        }
      }
    }),
    { numRuns: 2_000 },
  )
})
