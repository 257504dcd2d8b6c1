import { guarded } from '../../src/lib/call.ts'
import type { PendingAnswer } from '../../src/lib/exchange.ts'
import { collectGarbage } from '../support/garbage.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('a guarded call')

/** A call whose body has chunks that are made when they are asked for, as long as there are `chunks`, and then hangs. */
function callOf(chunks: number): PendingAnswer {
  let left = chunks
  const next = () => (left-- > 0 ? Promise.resolve(new Uint8Array(1_000)) : new Promise<undefined>(() => {}))
  const body = { next, cancel() {} }
  return { answer: Promise.resolve({ status: 200, header: () => undefined, headers: () => [], body }), cancel() {} }
}

async function weakly(read: Promise<Uint8Array | undefined>): Promise<WeakRef<Uint8Array>> {
  const chunk = await read
  if (!chunk) throw new Error('There is no chunk.')
  return new WeakRef(chunk)
}

test('does not keep a chunk that it has handed on', async () => {
  const { answer } = guarded(callOf(1))
  const { body } = await answer
  const chunk = await weakly(body.next())
  await collectGarbage()
  assert.is(chunk.deref(), undefined)
  assert.ok(body)
})

test('rejects a read at once that waits when it is cancelled, also when one before it comes later', async () => {
  const call = guarded(callOf(1))
  const { body } = await call.answer
  const [first, second] = [body.next(), body.next()]
  await first
  call.cancel(new Error('left'))
  assert.is(await second.catch((error) => error.message), 'left')
})
