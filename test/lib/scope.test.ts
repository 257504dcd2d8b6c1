import { createClientScope, Scope } from '../../src/lib/scope.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('cancellation scopes')

const REASON = new Error('it is over')

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => assert.unreachable('It has not rejected.'),
    (reason: unknown) => reason,
  )

test('ending a scope cancels everything in it once and in order', () => {
  const canceled: string[] = []
  const scope = new Scope()
  const gone = () => canceled.push('gone')
  scope.add((reason) => canceled.push(`first ${reason === REASON}`))
  scope.add(gone)
  scope.add(() => canceled.push('second'))
  scope.remove(gone)
  scope.end(REASON)
  scope.end(new Error('again'))
  assert.equal(canceled, ['first true', 'second'])
  assert.equal([scope.hasEnded, scope.reason === REASON], [true, true])
})

test('anything added to an ended scope is canceled immediately', () => {
  const scope = new Scope()
  scope.end(REASON)
  const reasons: unknown[] = []
  scope.add((reason) => reasons.push(reason))
  assert.is(reasons[0], REASON)
})

test('a race in a scope settles like its promise, or rejects when the scope ends first', async () => {
  const scope = new Scope()
  assert.is(await scope.race(Promise.resolve(1)), 1)
  assert.is(await rejection(scope.race(Promise.reject(REASON))), REASON)
  const waiting = scope.race(new Promise(() => {}))
  scope.end(REASON)
  assert.is(await rejection(waiting), REASON)
  assert.is(await rejection(scope.race(Promise.resolve(2))), REASON)
})

test("a client's scope ends when the client disconnects, but not after it was closed", async () => {
  let leave = () => {}
  const exchange = {
    onAbort(listener: () => void) {
      leave = listener
      return () => {
        leave = () => {}
      }
    },
  }
  const { scope } = createClientScope(exchange)
  leave()
  assert.is(Object(scope.reason).code, 'CLIENT_CLOSED_REQUEST')
  const closed = createClientScope(exchange)
  closed.close()
  leave()
  assert.is(closed.scope.hasEnded, false)
})
