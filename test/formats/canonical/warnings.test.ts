import { parseArguments, stringifyArguments } from '../../../src/protocols/formats/canonical/canonical-arguments.ts'
import { createWarnings } from '../../../src/protocols/formats/canonical/canonical-warnings.ts'
import { assert, suite } from '../../support/suite.ts'

const names = { maxOutputTokens: 'max_tokens' }
const test = suite('translation warnings')

test("each warning is reported once, with the client's field names", () => {
  const warnings = createWarnings({ isStrict: false, names })
  warnings.recordDrop('seed')
  warnings.recordChange('maxOutputTokens', 'clamped')
  warnings.recordDrop('seed')
  assert.equal(warnings.list(), ['dropped:seed', 'clamped:max_tokens'])
})

test('dropping an entire object causes no warnings about its nested fields', () => {
  const warnings = createWarnings({ isStrict: false })
  for (const field of ['config.thoughts.shown', 'config.thoughts', 'config.thoughtsBudget']) warnings.recordDrop(field)
  warnings.recordChange('config.thoughts.budget', 'clamped')
  assert.equal(warnings.list(), [
    ...['dropped:config.thoughts', 'dropped:config.thoughtsBudget'],
    'clamped:config.thoughts.budget',
  ])
})

test('strict mode rejects dropped fields and lists them', () => {
  const warnings = createWarnings({ isStrict: true, names })
  assert.throws(() => warnings.recordChange('maxOutputTokens', 'clamped'), /"max_tokens": it would be clamped/)
  assert.throws(
    () => warnings.recordDrop('seed'),
    (error: { status: number; data: object }) => error.status === 400 && 'param' in error.data,
  )
})

test("warnings contain the part's path", () => {
  const warnings = createWarnings({ isStrict: false })
  const part = {}
  warnings.setPath(part, 'messages[1].content[0]')
  assert.is(warnings.getPath(part, 'messages'), 'messages[1].content[0]')
  assert.is(warnings.getPath({}, 'messages'), 'messages')
})

const calls = suite('call arguments')

calls('call arguments become an object without data loss', () => {
  assert.equal(parseArguments(' '), {})
  assert.equal(parseArguments('{"a":1}'), { a: 1 })
  for (const text of ['{"path":"/tm', '[1]', '"x"', 'null']) assert.is(stringifyArguments(parseArguments(text)), text)
  assert.is(stringifyArguments({ a: 1 }), '{"a":1}')
  assert.is(stringifyArguments(undefined), '{}')
})
