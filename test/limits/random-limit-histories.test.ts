import fc from 'fast-check'
import { randomCases } from '../support/ci.ts'
import { suite } from '../support/suite.ts'
import { histories, live } from './support/history.ts'

const test = suite('random limit histories')

const HISTORIES = randomCases(20_000, 1_000)

/*
 * Three instances share one storage. Concurrent requests under up to three limited scopes include output that uses whatever fits, extensions, partial
 * settlements, overruns, crashes, pauses, clock jumps, window edges, resets, changed limits, and storage calls that fail before or after they take
 * effect, or that take effect late. `live` compares all counters with a model that recalculates everything.
 */
test(
  'in random histories, limits hold, requests that fit pass, and counters and reservations add up',
  { timeoutMs: 1_200_000 },
  () => fc.assert(fc.asyncProperty(histories, live), { numRuns: HISTORIES }),
)
