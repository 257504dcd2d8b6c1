import { encodeUtf8 } from '../../src/lib/bytes.ts'
import { replaceMembers } from '../../src/lib/json-edit.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('editing JSON body fields')

const addedMembers = { v: 'x' }

/** A body, and the same body without `model` and `other` and with `v`. */
const cases: [body: string, expected: string][] = [
  ['{"model":"m","n":1.0}', '{"v":"x","n":1.0}'],
  ['{"n":1,"model":"m"}', '{"v":"x","n":1}'],
  ['{"n":1, "model" : "m" , "o": {"model":2}}', '{"v":"x","n":1, "o": {"model":2}}'],
  ['{"model":"m","other":[1,"]"]}', '{"v":"x"}'],
  ['{"n":1,"model":"m","other":{}}', '{"v":"x","n":1}'],
  ['{"n":1,"model":"m"\n,\n"other":{}\n}', '{"v":"x","n":1\n}'],
  ['{"mod\\u0065l":"m","n":"\\"model\\":1"}', '{"v":"x","n":"\\"model\\":1"}'],
  ['{"model":"a","n":[],"model":"b"}', '{"v":"x","n":[]}'],
  ['{}', '{"v":"x"}'],
  [' {"n":12345678901234567890}', ' {"v":"x","n":12345678901234567890}'],
]

for (const [body, expected] of cases) {
  test(`fields are added to and removed from the JSON body ${body}`, () => {
    assert.is(replaceMembers(body, ['model', 'other'], addedMembers), expected)
    assert.is(replaceMembers(encodeUtf8(body), ['model', 'other'], addedMembers), expected)
    JSON.parse(expected)
  })
}

test('fields can be removed without adding any', () => {
  assert.is(replaceMembers('{"model":"m","n":1}', ['model'], {}), '{"n":1}')
})
