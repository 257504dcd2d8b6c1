import fc from 'fast-check'
import { times } from '../support/ci.ts'
import { suite } from '../support/suite.ts'
import { type History, histories, run } from './support/history.ts'
import { withQuickCrypto } from './support/quick-crypto.ts'

const test = suite('random histories of a mirror')

/*
 * Edits by the management's own operations, messages that are lost, come twice or come again later, clocks an hour apart, and processes that begin
 * anew or die at any write. `check` says what must hold when all has come to rest.
 */
const hold = (any: fc.Arbitrary<History>, count: number) =>
  withQuickCrypto(() =>
    fc.assert(
      fc.asyncProperty(any, async (history) => void (await run(history))),
      { numRuns: times(count) },
    ),
  )

const slowly = { timeoutMs: 300_000 }

test('with edits at home alone, the cloud follows', slowly, () => hold(histories('home'), 700))
test('with edits at the cloud alone, home follows', slowly, () => hold(histories('cloud'), 700))
test('with edits on both sides, both come to be equal, with nothing lost and nothing back', slowly, () =>
  hold(histories('home', 'cloud'), 3_600),
)
