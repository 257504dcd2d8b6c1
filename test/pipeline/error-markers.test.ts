import { mayContainError } from '../../src/request/codec/stream-errors.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('error markers in an event stream')

const hasErrorMarker = (text: string) => mayContainError(new TextEncoder().encode(text))

for (const mark of ['"error"', 'event: error', 'event:error'])
  test(`the error marker ${mark} is found anywhere among events`, () => {
    for (let before = 0; before < 9; before++)
      for (let after = 0; after < 3; after++)
        assert.is(hasErrorMarker('x'.repeat(before) + mark + 'x'.repeat(after)), true, `${before}, ${after}`)
  })

for (const text of [
  '',
  'r',
  'rr',
  'error',
  '"error',
  '\\"error\\"',
  '"errors"',
  '"current"',
  '"mirror"',
  'terror',
  'an error',
])
  test(`text that only resembles an error marker isn't taken for one: ${JSON.stringify(text)}`, () => {
    for (let before = 0; before < 4; before++) assert.is(hasErrorMarker(`${'x'.repeat(before)}${text}`), false)
  })
