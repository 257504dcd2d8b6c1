import { ClientSignal } from '../../src/http/client-signal.ts'
import { createLookout } from '../../src/lib/lookout.ts'
import { assert, suite } from '../support/suite.ts'

/** A lookout whose moments pass by hand. */
function lookoutByHand() {
  const moments: Array<() => void> = []
  const lookout = createLookout((look) => moments.push(look))
  return { lookout, moments, pass: () => moments.shift()?.() }
}

/** A request that counts how often its signal is asked for. */
function requestOf(signal: AbortSignal) {
  const request = new Request('http://host/', { signal })
  let asked = 0
  const counting = new Proxy(request, {
    get(target, name) {
      if (name === 'signal') asked++
      return Reflect.get(target, name, target)
    },
  })
  return { request: counting, asked: () => asked }
}

const lookout = suite('the lookout')

lookout('looks a moment later, once for all that have come since', () => {
  const { lookout, moments, pass } = lookoutByHand()
  const watched: string[] = []
  const subject = (name: string) => ({ watch: () => watched.push(name) })
  lookout.add(subject('a'))
  lookout.add(subject('b'))
  assert.is(moments.length, 1)
  assert.equal(watched, [])
  pass()
  assert.equal(watched, ['a', 'b'])
  assert.is(moments.length, 0, 'nobody is left')
  lookout.add(subject('c'))
  pass()
  assert.equal(watched, ['a', 'b', 'c'])
})

lookout('does not look at what is over by then', () => {
  const { lookout, pass } = lookoutByHand()
  const watched: string[] = []
  const added = ['a', 'b', 'c', 'd'].map((name) => lookout.add({ watch: () => watched.push(name) }))
  for (const one of [added[1], added[3], added[1]]) if (one) lookout.remove(one)
  pass()
  assert.equal(watched.sort(), ['a', 'c'])
  for (const one of added) lookout.remove(one)
})

const client = suite('the signal of a client')

client('tells at once of a client that has left, without a lookout', () => {
  const { request } = requestOf(AbortSignal.abort())
  const signal = new ClientSignal(request, undefined)
  const told: string[] = []
  assert.ok(signal.isAborted)
  signal.onAbort(() => told.push('left'))
  assert.equal(told, ['left'])
})

for (const when of ['before', 'after'] as const)
  client(`tells a moment later of a client that leaves ${when} it is listened to`, () => {
    const { lookout, pass } = lookoutByHand()
    const abort = new AbortController()
    const { request, asked } = requestOf(abort.signal)
    const signal = new ClientSignal(request, lookout)
    const told: string[] = []
    const forget = signal.onAbort(() => told.push('first'))
    signal.onAbort(() => told.push('second'))
    if (when === 'before') abort.abort()
    assert.not.ok(signal.isAborted)
    assert.is(asked(), 0, 'the signal was asked for')
    forget()
    pass()
    abort.abort()
    assert.ok(signal.isAborted)
    assert.equal(told, ['second'])
    signal.onAbort(() => told.push('third'))
    assert.equal(told, ['second', 'third'])
  })

client('does not ask for the signal of a request that is over', () => {
  const { lookout, pass } = lookoutByHand()
  const { request, asked } = requestOf(AbortSignal.abort())
  const signal = new ClientSignal(request, lookout)
  for (const forget of [signal.onAbort(() => {}), signal.onAbort(() => {})]) forget()
  pass()
  assert.is(asked(), 0)
})
