import { createHooksFeature, createReportError, type Hooks } from '../../src/features/observe/hooks.ts'
import { createBackground } from '../../src/lib/promises.ts'
import type { RequestListener } from '../../src/request/request-events.ts'
import type { RequestLog } from '../../src/request/request-log.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('hooks as request listeners')

async function listen(hooks: Hooks) {
  const lines: unknown[][] = []
  const log = (...line: unknown[]) => void lines.push(line)
  const logger = { warn: log, error: log }
  const background = createBackground(log)
  const events = (await createHooksFeature({ hooks, logger, background }).loadEvents?.()) ?? {}
  return { lines, events: events as RequestListener, reportError: createReportError(hooks, logger, background) }
}

test('hooks subscribe only to the events they need', async () => {
  assert.equal(Object.keys((await listen({ onError() {} })).events), [])
  assert.equal(Object.keys((await listen({ onAttempt() {} })).events), ['responded'])
  assert.equal(Object.keys((await listen({ onUsage() {} })).events), ['ended'])
})

test('a failing hook is logged, but not reported to onError', async () => {
  const errors: unknown[] = []
  const { events, lines, reportError } = await listen({
    onError: (error) => errors.push(error),
    onRequest() {
      throw new Error('The price cannot be read.')
    },
  })
  events.ended?.({ record: {} } as RequestLog)
  assert.equal(lines, [['A hook failed.', { error: 'Error: The price cannot be read.' }]])
  assert.equal(errors, [])
  reportError(new Error('Something else.'))
  assert.equal(errors.length, 1)
})
