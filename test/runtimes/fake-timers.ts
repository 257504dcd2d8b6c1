import { assert, suite } from '../support/suite.ts'
import { runScript } from './child.ts'

/** Tests requests under an app's fake timers. `ways` lists the ways to install them. `program` and `options` run a script in the runtime. */
export function addFakeTimerTests(
  runtime: string,
  ways: readonly string[],
  program: string,
  ...options: string[]
): void {
  const test = suite(`fake timers in ${runtime}`)
  for (const way of ways)
    test(`fake timers don't affect timeouts that are set in real time, and vice versa (${way})`, async () => {
      const output = JSON.parse(await runScript(program, [...options, 'apps/fake-timers.mjs', way]))
      assert.equal(output, { behindFake: 504, behindReal: 504, real: 504 })
    })
}
