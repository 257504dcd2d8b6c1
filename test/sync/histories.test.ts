import fc from 'fast-check'
import { randomCases } from '../support/ci.ts'
import { suite } from '../support/suite.ts'
import { type History, histories, run } from './support/history.ts'
import { withQuickCrypto } from './support/quick-crypto.ts'

const test = suite('random replica histories')

/*
 * Histories with edits through management operations; lost, duplicated, or replayed messages; clocks an hour apart; and processes that restart or die
 * at any write. `check` verifies the final state.
 */
const hold = (any: fc.Arbitrary<History>, count: number) =>
  withQuickCrypto(() =>
    fc.assert(
      fc.asyncProperty(any, async (history) => void (await run(history))),
      { numRuns: randomCases(count, count / 4) },
    ),
  )

const slowly = { timeoutMs: 600_000 }

test('the cloud follows edits on the gateway', slowly, () => hold(histories('home'), 700))
test('the gateway follows edits at the cloud', slowly, () => hold(histories('cloud'), 700))
test('edits on both sides lead to the same state, without lost or reverted changes', slowly, () =>
  hold(histories('home', 'cloud'), 3_600),
)
