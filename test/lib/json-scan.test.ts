import fc from 'fast-check'
import { replaceSpans, scanTopLevel } from '../../src/lib/json-scan.ts'
import { busyMs } from '../support/cpu-time.ts'
import { assert, suite } from '../support/suite.ts'

const rename = (text: string) => replaceSpans(text, scanTopLevel(text, ['model']).spans, '"new"')

const scan = suite('the JSON scan')

scan('the JSON scan replaces the value of a top-level field and changes nothing else', () => {
  assert.is(
    rename('{ "model" : "old" , "n": 12345678901234567890 }'),
    '{ "model" : "new" , "n": 12345678901234567890 }',
  )
  assert.is(rename('{"a":{"model":"inner"},"model":"old"}'), '{"a":{"model":"inner"},"model":"new"}')
  assert.is(rename('{"a":"model","model":"old"\n}'), '{"a":"model","model":"new"\n}')
})

scan("the JSON scan isn't fooled by quotes, escapes, and braces in strings", () => {
  assert.is(rename('{"a":"\\"model\\":\\"x\\"}{","model":"o\\"ld"}'), '{"a":"\\"model\\":\\"x\\"}{","model":"new"}')
  assert.is(rename('{"a":"\\\\","model":"old"}'), '{"a":"\\\\","model":"new"}')
  assert.is(rename('{"mod\\u0065l":"old"}'), '{"mod\\u0065l":"new"}')
  assert.is(rename('{"\\u006dod\\u0065\\u006c":"old"}'), '{"\\u006dod\\u0065\\u006c":"new"}')
})

scan('the JSON scan ignores keys that only resemble the name', () => {
  for (const key of ['model_x', 'mode', 'nodel', 'Model', 'xmodel', 'models\\u0065', '\\"odel', ''])
    assert.is(rename(`{"${key}":"old"}`), `{"${key}":"old"}`)
})

scan('the JSON scan replaces every occurrence of a repeated field', () => {
  assert.is(
    rename('{"model":"a","x":[1,{"y":2}],"model":{"b":[1,2]}}'),
    '{"model":"new","x":[1,{"y":2}],"model":"new"}',
  )
})

scan('the JSON scan returns the nesting depth', () => {
  assert.is(scanTopLevel('[[{"a":[]}],[]]', []).depth, 4)
  assert.is(scanTopLevel('"[[["', []).depth, 0)
})

scan('the JSON scan agrees with JSON.parse on random objects', () => {
  const spaces = fc.constantFrom(undefined, 1, '\t')
  fc.assert(
    fc.property(fc.dictionary(fc.oneof(fc.constant('model'), fc.string()), fc.jsonValue()), spaces, (object, space) => {
      const text = JSON.stringify(object, null, space)
      const expected = JSON.parse(text)
      if (Object.hasOwn(expected, 'model')) expected.model = 'new'
      assert.is(JSON.stringify(JSON.parse(rename(text))), JSON.stringify(expected))
    }),
  )
})

scan('the JSON scan terminates on any text, in linear time', () => {
  fc.assert(fc.property(fc.string(), (text) => void scanTopLevel(text, ['model'])))
  const before = busyMs()
  scanTopLevel(`{"a":"${'\\\\'.repeat(500_000)}${'\\"'.repeat(500_000)}"}`, ['model'])
  assert.ok(busyMs() - before < 5_000)
})
