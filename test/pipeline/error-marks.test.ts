import { mayContainError } from '../../src/request/codec/stream-errors.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('error markers in an event stream')

const speaks = (text: string) => mayContainError(new TextEncoder().encode(text))

for (const mark of ['"error"', 'event: error', 'event:error'])
  test(`error markers among events are found anywhere: ${mark}`, () => {
    for (let before = 0; before < 9; before++)
      for (let after = 0; after < 3; after++)
        assert.is(speaks('x'.repeat(before) + mark + 'x'.repeat(after)), true, `${before}, ${after}`)
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
  test(`strings that look like an error marker are not mistaken for one: ${text}`, () => {
    for (let before = 0; before < 4; before++) assert.is(speaks(`${'x'.repeat(before)}${text}`), false)
  })
