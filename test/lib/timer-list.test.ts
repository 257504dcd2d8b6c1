import { inLists, type StartTimer } from '../../src/lib/timer-list.ts'
import { bytesHeld, collectGarbage } from '../support/garbage.ts'
import { assert, suite } from '../support/suite.ts'

/** Timers of a platform whose time passes by hand, and which leave out fractions. `earlyMs`: it runs them so much before their time. */
function timersByHand({ earlyMs = 0 } = {}) {
  const started: Array<{ at: number; onTime: () => void }> = []
  const everStarted: WeakRef<() => void>[] = []
  let now = 1_000
  const start = inLists(
    (ms, onTime) => {
      assert.ok(ms >= 0, 'platforms warn of negative times')
      const timer = { at: now + Math.floor(ms) - earlyMs, onTime }
      everStarted.push(new WeakRef(onTime))
      started.push(timer)
      return () => {
        const at = started.indexOf(timer)
        if (at >= 0) started.splice(at, 1)
      }
    },
    () => now,
  )
  return {
    start,
    /** Those of the platform that have not ended. */
    running: () => started.length,
    /** What those of the platform call that were ever started. */
    everStarted,
    pass(ms: number) {
      const end = now + ms
      for (;;) {
        const [next] = started.sort((one, other) => one.at - other.at)
        if (!next || next.at > end) break
        now = Math.max(now, next.at)
        started.shift()
        next.onTime()
      }
      now = end
    },
  }
}

const test = suite('timers in lists')

test('run in their time and order, each once, whatever their lengths', () => {
  const { start, pass, running } = timersByHand()
  const ran: string[] = []
  start(100, () => ran.push('100 from 0'))
  start(30, () => ran.push('30 from 0'))
  pass(10)
  start(100, () => ran.push('100 from 10'))
  pass(19)
  assert.equal(ran, [])
  pass(1)
  assert.equal(ran, ['30 from 0'])
  pass(70)
  assert.equal(ran, ['30 from 0', '100 from 0'])
  pass(9)
  assert.is(ran.length, 2)
  pass(1)
  assert.equal(ran, ['30 from 0', '100 from 0', '100 from 10'])
  pass(1_000)
  assert.is(ran.length, 3)
  assert.is(running(), 0)
})

test('cost the platform one timer for all of a length', () => {
  const { start, pass, everStarted, running } = timersByHand()
  const stops: Array<() => void> = []
  for (let i = 0; i < 50; i++) {
    stops.push(start(60_000, () => assert.unreachable()))
    pass(1)
    if (i >= 10) stops.shift()?.()
  }
  assert.is(everStarted.length, 1)
  for (const stop of stops) stop()
  assert.is(running(), 0, 'a timer that nobody needs keeps the process')
})

test('do not run when they were stopped: the first, the last, one between, or all', () => {
  const names = ['a', 'b', 'c', 'd']
  for (const stopped of ['a', 'd', 'bc', 'ab', 'cd', 'abcd', 'dcba', 'aacc']) {
    const { start, pass, running } = timersByHand()
    const ran: string[] = []
    const stops = new Map(names.map((name) => [name, start(50, () => ran.push(name))]))
    for (const name of stopped) stops.get(name)?.()
    pass(60)
    assert.equal(
      ran,
      names.filter((name) => !stopped.includes(name)),
    )
    assert.is(running(), 0)
  }
})

test('that come behind one that was stopped run in their time', () => {
  const { start, pass } = timersByHand()
  const ran: string[] = []
  start(50, () => ran.push('a'))
  start(50, () => ran.push('b'))()
  pass(10)
  start(50, () => ran.push('c'))
  pass(50)
  assert.equal(ran, ['a', 'c'])
})

test('that have run may be stopped, which stops no other', () => {
  const { start, pass } = timersByHand()
  const ran: string[] = []
  const stop = start(50, () => ran.push('a'))
  pass(20)
  start(50, () => ran.push('b'))
  pass(30)
  stop()
  pass(20)
  assert.equal(ran, ['a', 'b'])
})

test('may stop others that are due, and start new ones', () => {
  const { start, pass } = timersByHand()
  const ran: string[] = []
  start(50, () => {
    ran.push('a')
    stop()
    start(50, () => ran.push('c'))
  })
  const stop = start(50, () => ran.push('b'))
  pass(99)
  assert.equal(ran, ['a'])
  pass(1)
  assert.equal(ran, ['a', 'c'])
})

test('run though one of them throws', () => {
  const { start, pass } = timersByHand()
  const ran: string[] = []
  start(50, () => {
    throw new Error('a')
  })
  start(50, () => ran.push('b'))
  pass(10)
  start(50, () => ran.push('c'))
  assert.throws(() => pass(40), 'a')
  pass(0)
  assert.equal(ran, ['b'])
  pass(10)
  assert.equal(ran, ['b', 'c'])
})

test('run in their time, though those of the platform are a little early', () => {
  const { start, pass, running } = timersByHand({ earlyMs: 0.4 })
  const ran: string[] = []
  start(50, () => ran.push('a'))
  pass(20)
  start(50, () => ran.push('b'))
  pass(29.9)
  assert.equal(ran, [])
  pass(1)
  assert.equal(ran, ['a'])
  pass(18.9)
  assert.equal(ran, ['a'])
  pass(1)
  assert.equal(ran, ['a', 'b'])
  assert.is(running(), 0)
})

test('never run before their time, be it a fraction', () => {
  const { start, pass } = timersByHand()
  const ran: string[] = []
  start(50, () => ran.push('a'))
  pass(20.5)
  start(50, () => ran.push('b'))
  pass(49.9)
  assert.equal(ran, ['a'])
  pass(1)
  assert.equal(ran, ['a', 'b'])
})

test('run at once that are overdue when another throws', () => {
  const { start, pass } = timersByHand({ earlyMs: -100 })
  const ran: string[] = []
  start(50, () => {
    throw new Error('a')
  })
  pass(20)
  start(50, () => ran.push('b'))
  assert.throws(() => pass(130), 'a')
  pass(100)
  assert.equal(ran, ['b'])
})

test('run all together that are due when the timer of the platform is late', () => {
  const { start, pass } = timersByHand({ earlyMs: -100 })
  const ran: string[] = []
  start(50, () => ran.push('a'))
  pass(20)
  start(50, () => ran.push('b'))
  pass(130)
  assert.equal(ran, ['a', 'b'])
})

/** Starts three timers and stops them, while another goes on. Keeps how the second is stopped, and what each would have called. */
function threeStopped(start: StartTimer) {
  const called: WeakRef<() => void>[] = []
  const [first, kept, last] = [0, 1, 2].map(() => {
    const onTime = () => assert.unreachable()
    called.push(new WeakRef(onTime))
    return start(50, onTime)
  })
  const stopOther = start(50, () => {})
  for (const stop of [kept, first, last]) stop?.()
  return { kept, called, stopOther }
}

test('that are over do not keep what they would have called, and no list keeps them', async () => {
  const { start } = timersByHand()
  const { kept, called, stopOther } = threeStopped(start)
  await collectGarbage()
  kept?.()
  stopOther()
  assert.is(called.filter((one) => one.deref()).length, 0)
})

test('that are over keep no chain of those that came after them', async () => {
  const { start } = timersByHand()
  const ignore = () => {}
  const kept = start(50, ignore)
  let stop = start(50, ignore)
  kept()
  const before = await bytesHeld()
  for (let i = 0; i < 100_000; i++) {
    const next = start(50, ignore)
    stop()
    stop = next
  }
  const held = (await bytesHeld()) - before
  kept()
  assert.ok(held < 1024 * 1024, `${held} bytes`)
})

test('leave no list behind when the last of a length is over', async () => {
  const { start, everStarted } = timersByHand()
  start(70, () => {})()
  await collectGarbage()
  assert.is(everStarted[0]?.deref(), undefined)
  start(70, () => {})()
})
