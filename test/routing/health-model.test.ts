import fc from 'fast-check'
import type { FailureClass } from '../../src/routing/failure-class.ts'
import { createHealth } from '../../src/routing/health.ts'
import { assert, suite } from '../support/suite.ts'
import { createModel } from './support/health-model.ts'

const test = suite('health, against a model')

/** What becomes of a call to one of the targets, or what else happens. */
type Step = { at: number; fail: FailureClass; asked?: number } | { at: number; event: Event } | { passMs: number }
type Event = 'answer' | 'drop' | 'change the account'

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
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ at, fail: fc.constantFrom(...classes) }) },
  {
    weight: 1,
    arbitrary: fc.record({ at, fail: fc.constantFrom(...classes), asked: fc.integer({ min: 1, max: 90_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ at, event: fc.constantFrom<Event>('answer', 'drop', 'change the account') }) },
  { weight: 2, arbitrary: fc.record({ passMs: fc.constantFrom(1, 900, 5_000, 60_000, 400_000) }) },
)

/** Two accounts of one provider, with two models each. */
const targets = ['a m', 'a n', 'b m', 'b n'].map((name) => {
  const [id = '', model = ''] = name.split(' ')
  return { provider: 'p', model, connection: { id, provider: 'p', updatedAt: '1' } }
})

test('over 10,000 histories of four targets it says the same', { timeoutMs: 60_000 }, () => {
  let [usable, cooling] = [0, 0]
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let nowMs = 1_000
      const health = createHealth({
        clock: { now: () => nowMs, sleep: () => new Promise<void>(() => {}) },
        random: () => 0,
      })
      const model = createModel()
      const now = targets.map((target) => ({ ...target, connection: { ...target.connection } }))
      for (const [index, one] of steps.entries()) {
        if ('passMs' in one) nowMs += one.passMs
        else {
          const target = now[one.at]
          if (!target) throw new Error('no such target')
          const { id } = target.connection
          if ('fail' in one) {
            health.begin(target).failed({ class: one.fail, message: '', retryAfterMs: one.asked })
            model.fail(target, one.fail, one.asked, nowMs)
          } else if (one.event === 'answer') {
            health.begin(target).answered()
            model.answer(target)
          } else if (one.event === 'drop') health.begin(target).dropped()
          else {
            for (const { connection } of now) if (connection.id === id) connection.updatedAt += '1'
            model.change(id)
          }
        }
        for (const target of now) {
          const isUsable = model.isUsable(target, nowMs)
          if (isUsable) usable++
          else cooling++
          assert.is(
            health.standingOf(target) === undefined,
            isUsable,
            `${target.connection.id}/${target.model}, step ${index}`,
          )
        }
      }
    }),
    { numRuns: 10_000 },
  )
  assert.ok(usable > 50_000 && cooling > 20_000, `${usable} times usable, ${cooling} times cooling`)
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
