import { assert, suite } from '../support/suite.ts'
import { runScript } from './child.ts'

/** Tests the timeouts of several concurrent requests. `program` and `options` run a script in the runtime. */
export function addAsyncContextTests(runtime: string, program: string, ...options: string[]): void {
  const test = suite(`concurrent requests with the same timeout in ${runtime}`)
  test('timeouts fire on time, and reach hooks and calls in the async context of their request', async () => {
    const { answers, recorded } = JSON.parse(await runScript(program, [...options, 'apps/in-context.mjs']))
    const each = [0, 1, 2, 3, 4, 5]
    assert.equal(
      answers,
      each.map(() => ({ status: 504, isInTime: true })),
    )
    const own = each.map(() => 'its own')
    assert.equal(recorded, { onAttempt: own, onRequest: own, abort: own })
  })
}
