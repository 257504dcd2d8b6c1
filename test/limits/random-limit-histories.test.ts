import fc from 'fast-check'
import { randomCases } from '../support/ci.ts'
import { suite } from '../support/suite.ts'
import { histories, live } from './support/history.ts'

const test = suite('random histories of limits')

const HISTORIES = randomCases(20_000, 1_000)

/*
 * Three instances on one storage, requests at once under up to three limited scopes, output that takes what fits, extensions, settlements in
 * parts, overruns, crashes, pauses, clocks that jump, window edges, resets, changed limits, and calls of the storage that fail before or after they
 * were made, or are made later. `live` compares all counters with a model that adds everything up afresh.
 */
test(
  'limits are never exceeded, nothing that fits is rejected, all counters add up, and no reservation is left',
  { timeoutMs: 1_200_000 },
  () => fc.assert(fc.asyncProperty(histories, live), { numRuns: HISTORIES }),
)
