import { createBackground } from '../../src/lib/promises.ts'
import { createObserver, type Hooks } from '../../src/pipeline/hooks.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the observer')

function observe(hooks: Hooks) {
  const lines: unknown[][] = []
  const log = (...line: unknown[]) => void lines.push(line)
  return { lines, observer: createObserver(hooks, { warn: log, error: log }, createBackground(log)) }
}

test('the observer makes a record only when a hook gets it', () => {
  const { observer, lines } = observe({ onError() {} })
  let records = 0
  const record = (): never => {
    records++
    throw new Error('made')
  }
  observer.onRequest(record)
  observer.onAttempt(record)
  observer.onUsage(record)
  assert.is(records, 0)
  assert.equal(lines, [])
})

test('logs what goes wrong with a record as a failure of its hook', () => {
  let calls = 0
  const { observer, lines } = observe({ onUsage: () => calls++ })
  observer.onUsage(() => {
    throw new Error('The price cannot be read.')
  })
  assert.equal(lines, [['A hook of the host failed.', { error: 'Error: The price cannot be read.' }]])
  assert.is(calls, 0)
})
