import { move } from '../../adapters/storage/file/move.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('moving a file into place')

/** Creates a rename function that fails with each of these codes in turn, and then succeeds. */
function renameWith(codes: string[]) {
  const calls: string[] = []
  const rename = async (from: string, to: string) => {
    calls.push(`${from} ${to}`)
    const code = codes.shift()
    if (code) throw Object.assign(new Error(code), { code })
  }
  return { calls, rename }
}

const outcome = (promise: Promise<void>) =>
  promise.then(
    () => 'moved',
    (error: Error) => error.message,
  )

test('moving a file is retried while another process has the file open', async () => {
  const { calls, rename } = renameWith(['EPERM', 'EACCES', 'EBUSY'])
  assert.is(await outcome(move('a', 'b', { attempts: 4, pauseMs: 0, rename })), 'moved')
  assert.equal(calls, ['a b', 'a b', 'a b', 'a b'])
})

test('moving a file fails after the maximum number of attempts', async () => {
  const { calls, rename } = renameWith(['EPERM', 'EPERM', 'EPERM'])
  assert.is(await outcome(move('a', 'b', { attempts: 2, pauseMs: 0, rename })), 'EPERM')
  assert.is(calls.length, 2)
})

test("moving a file isn't retried if the file is gone or only one attempt is allowed", async () => {
  for (const [code, attempts] of [
    ['ENOENT', 9],
    ['EPERM', 1],
  ] as const) {
    const { calls, rename } = renameWith([code, code])
    assert.is(await outcome(move('a', 'b', { pauseMs: 0, rename, attempts })), code)
    assert.is(calls.length, 1)
  }
})
