import fc from 'fast-check'
import { parseWait } from '../../../src/protocols/formats/errors/retry-after.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('retry delays in error messages')

for (const [text, ms] of [
  ['Rate limit reached for m on tokens per min (TPM). Please try again in 20s. Visit https://x to learn more.', 20_000],
  ['Please try again in 1m30.5s.', 90_500],
  ['Please try again in 6ms.', 6],
  ['Please try again in 7h1m2s', 25_262_000],
  ['Please retry in 30.2s.', 30_200],
  ['Please retry after 59 seconds. To increase your limit …', 59_000],
  ['Try again in 26 seconds.', 26_000],
  ['Rate limit of 50 per 86400s exceeded. Please wait 86400 seconds before retrying.', 86_400_000],
  ['Please retry your requests after 10 seconds.', 10_000],
  ['Too many requests: the limit resets in 45 seconds', 45_000],
  ['Wait for 5 minutes', 300_000],
  ['try again in 1 hour and 30 minutes', 5_400_000],
  ['try again in 250 milliseconds', 250],
  ['Please try again later.', undefined],
  ['Try again in a few seconds', undefined],
  ['try again in 3 months', undefined],
  ['try again in 5', undefined],
  ['Limit 30000 per 20s', undefined],
  ['', undefined],
] as const)
  test(`parses a retry delay from an error message: ${text}`, () => assert.is(parseWait(text), ms))

test('the retry delay parsed from any error message is a nonnegative number or undefined', () => {
  const piece = fc.constantFrom(
    'try again in ',
    'retry after ',
    'wait ',
    '1',
    '9',
    '.',
    'm',
    's',
    'ms',
    ' ',
    'h',
    'and ',
    '-',
    '999999999',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const ms = parseWait(pieces.join(''))
      assert.ok(ms === undefined || (ms >= 0 && Number.isFinite(ms)))
    }),
    { seed: 7, numRuns: 300 },
  )
})
