import { ClientSignal } from '../../src/http/client-signal.ts'
import { createLookout } from '../../src/lib/lookout.ts'
import { assert, suite } from '../support/suite.ts'

/** A lookout whose moments pass by hand. */
function lookoutByHand() {
  const moments: Array<() => void> = []
  const lookout = createLookout((look) => moments.push(look))
  return {
    lookout,
    moments,
    async pass() {
      moments.shift()?.()
      await undefined
    },
  }
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

lookout('looks a moment later, once for all that have come since', async () => {
  const { lookout, moments, pass } = lookoutByHand()
  const watched: string[] = []
  const subject = (name: string) => ({ watch: () => watched.push(name) })
  lookout.add(subject('a'))
  lookout.add(subject('b'))
  assert.is(moments.length, 1)
  assert.equal(watched, [])
  await pass()
  assert.equal(watched, ['a', 'b'])
  assert.is(moments.length, 0, 'nobody is left')
  lookout.add(subject('c'))
  await pass()
  assert.equal(watched, ['a', 'b', 'c'])
})

lookout('looks at each in a task of its own, so that one that throws stops no other', () => {
  const moments: Array<() => void> = []
  const tasks: Array<() => void> = []
  const { queueMicrotask } = globalThis
  globalThis.queueMicrotask = (task) => void tasks.push(task)
  try {
    const lookout = createLookout((look) => moments.push(look))
    for (const name of ['a', 'b'])
      lookout.add({
        watch() {
          throw new Error(name)
        },
      })
    moments[0]?.()
  } finally {
    globalThis.queueMicrotask = queueMicrotask
  }
  for (const [at, name] of ['a', 'b'].entries()) assert.throws(() => tasks[at]?.(), name)
})

lookout('removes what is removed twice only once', async () => {
  const { lookout, pass } = lookoutByHand()
  const watched: string[] = []
  lookout.add({ watch: () => watched.push('a') })
  const last = lookout.add({ watch: () => watched.push('b') })
  lookout.remove(last)
  lookout.remove(last)
  await pass()
  assert.equal(watched, ['a'])
})

lookout('does not look at what is over by then', async () => {
  const { lookout, pass } = lookoutByHand()
  const watched: string[] = []
  const added = ['a', 'b', 'c', 'd'].map((name) => lookout.add({ watch: () => watched.push(name) }))
  for (const one of [added[1], added[3], added[1]]) if (one) lookout.remove(one)
  await pass()
  assert.equal(watched.sort(), ['a', 'c'])
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
  client(`tells a moment later of a client that leaves ${when} it is listened to`, async () => {
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
    await pass()
    abort.abort()
    assert.ok(signal.isAborted)
    assert.equal(told, ['second'])
    signal.onAbort(() => told.push('third'))
    assert.equal(told, ['second', 'third'])
  })

client('does not ask for the signal of a request that is over', async () => {
  const { lookout, pass } = lookoutByHand()
  const { request, asked } = requestOf(AbortSignal.abort())
  const signal = new ClientSignal(request, lookout)
  for (const forget of [signal.onAbort(() => {}), signal.onAbort(() => {})]) forget()
  await pass()
  assert.is(asked(), 0)
})

client('listens to the signal once, as long as anybody waits', () => {
  const abort = new AbortController()
  const { request } = requestOf(abort.signal)
  const listening = { adds: 0, removes: 0 }
  const { addEventListener, removeEventListener } = request.signal
  request.signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    listening.adds++
    addEventListener.apply(request.signal, args)
  }
  request.signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    listening.removes++
    removeEventListener.apply(request.signal, args)
  }
  const signal = new ClientSignal(request, undefined)
  const told: string[] = []
  const forgets = [signal.onAbort(() => told.push('a')), signal.onAbort(() => told.push('b'))]
  assert.equal(listening, { adds: 1, removes: 0 })
  for (const forget of [...forgets, ...forgets]) forget()
  assert.equal(listening, { adds: 1, removes: 1 })
  signal.onAbort(() => told.push('c'))
  assert.equal(listening, { adds: 2, removes: 1 })
  abort.abort()
  assert.equal(told, ['c'])
})

client('tells those who are left when one stops another', () => {
  const abort = new AbortController()
  const signal = new ClientSignal(requestOf(abort.signal).request, undefined)
  const told: string[] = []
  const forget = signal.onAbort(() => {
    told.push('a')
    forget()
  })
  signal.onAbort(() => told.push('b'))
  abort.abort()
  assert.equal(told, ['a', 'b'])
})

client('is looked after again when somebody else waits later', async () => {
  const { lookout, pass } = lookoutByHand()
  const abort = new AbortController()
  const signal = new ClientSignal(requestOf(abort.signal).request, lookout)
  const told: string[] = []
  signal.onAbort(() => told.push('a'))()
  await pass()
  signal.onAbort(() => told.push('b'))
  await pass()
  abort.abort()
  assert.equal(told, ['b'])
})
