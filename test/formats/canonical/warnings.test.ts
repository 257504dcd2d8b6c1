import { argumentsOf, argumentsText } from '../../../src/formats/canonical/arguments.ts'
import { createWarnings } from '../../../src/formats/canonical/warnings.ts'
import { assert, suite } from '../../support/suite.ts'

const names = { maxOutputTokens: 'max_tokens' }
const test = suite('warnings of a translation')

test("warnings of a translation are reported once each, by the client's names", () => {
  const warnings = createWarnings({ isStrict: false, names })
  warnings.noteDropped('seed')
  warnings.noteChanged('maxOutputTokens', 'clamped')
  warnings.noteDropped('seed')
  assert.equal(warnings.list(), ['dropped:seed', 'clamped:max_tokens'])
})

test('warnings name no member of a field that is dropped as a whole', () => {
  const warnings = createWarnings({ isStrict: false })
  for (const field of ['config.thoughts.shown', 'config.thoughts', 'config.thoughtsBudget']) warnings.noteDropped(field)
  warnings.noteChanged('config.thoughts.budget', 'clamped')
  assert.equal(warnings.list(), [
    ...['dropped:config.thoughts', 'dropped:config.thoughtsBudget'],
    'clamped:config.thoughts.budget',
  ])
})

test('losses are refused in strict mode, naming the field', () => {
  const warnings = createWarnings({ isStrict: true, names })
  assert.throws(() => warnings.noteChanged('maxOutputTokens', 'clamped'), /"max_tokens": it would be clamped/)
  assert.throws(
    () => warnings.noteDropped('seed'),
    (error: { status: number; data: object }) => error.status === 400 && 'param' in error.data,
  )
})

test('warnings name the place of a part', () => {
  const warnings = createWarnings({ isStrict: false })
  const part = {}
  warnings.place(part, 'messages[1].content[0]')
  assert.is(warnings.pathOf(part, 'messages'), 'messages[1].content[0]')
  assert.is(warnings.pathOf({}, 'messages'), 'messages')
})

const calls = suite('arguments of a call')

calls('arguments become an object, and none are lost', () => {
  assert.equal(argumentsOf(' '), {})
  assert.equal(argumentsOf('{"a":1}'), { a: 1 })
  for (const text of ['{"path":"/tm', '[1]', '"x"', 'null']) assert.is(argumentsText(argumentsOf(text)), text)
  assert.is(argumentsText({ a: 1 }), '{"a":1}')
  assert.is(argumentsText(undefined), '{}')
})
