import { maySpeakOfErrors } from '../../src/codec/stream-errors.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('marks of an error among events')

const speaks = (text: string) => maySpeakOfErrors(new TextEncoder().encode(text))

for (const mark of ['"error"', 'event: error', 'event:error'])
  test(`marks of an error among events are found wherever they stand: ${mark}`, () => {
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
  test(`texts that look like a mark of an error among events are none: ${text}`, () => {
    for (let before = 0; before < 4; before++) assert.is(speaks(`${'x'.repeat(before)}${text}`), false)
  })
