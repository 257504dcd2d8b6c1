import { fieldsOf } from '../../../src/formats/canonical/fields.ts'
import { base64Source, sourceOfUrl } from '../../../src/formats/canonical/media.ts'
import { createWarnings } from '../../../src/formats/canonical/warnings.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('fields of a request')

test('fields are read by their type, null counting as absent', () => {
  const fields = fieldsOf({ a: 'x', b: null, c: { d: 1 } }, '', createWarnings({ isStrict: false }))
  assert.is(fields.text('a'), 'x')
  assert.is(fields.text('b'), undefined)
  assert.is(fields.fields('c')?.number('d'), 1)
})

test('fields of a wrong type are refused by their path', () => {
  const fields = fieldsOf({ c: { d: 1 } }, 'messages[2]', createWarnings({ isStrict: false }))
  assert.throws(() => fields.fields('c')?.text('d'), /"messages\[2\]\.c\.d": must be a string/)
  assert.throws(() => fields.word('c', ['x']), /"messages\[2\]\.c": must be a string/)
})

test('unknown fields are reported as warnings', () => {
  const warnings = createWarnings({ isStrict: false })
  const fields = fieldsOf({ a: 1, b: 2, c: null, d: 3 }, 'x', warnings)
  fields.number('a')
  fields.ignore('d')
  fields.drop()
  assert.equal(warnings.list(), ['dropped:x.b'])
})

const data = suite('data URLs')
const PNG = 'iVBORw0KGgoAAAANSUhEUg=='

data('data URLs become their bytes', () => {
  assert.equal(sourceOfUrl(`data:image/png;base64,${PNG}`), { type: 'base64', mediaType: 'image/png', data: PNG })
  assert.equal(sourceOfUrl('data:text/plain;charset=utf-8;base64,aGk='), base64Source('text/plain', 'aGk='))
  assert.equal(sourceOfUrl('data:,h%C3%A9', 'text/plain'), base64Source('text/plain', 'aMOp'))
  assert.equal(sourceOfUrl('https://a/b,c'), { type: 'url', url: 'https://a/b,c' })
})

data('data URLs have the type of their bytes, not the declared one', () => {
  assert.is(sourceOfUrl(`data:image/jpeg;base64,${PNG}`).mediaType, 'image/png')
  assert.is(base64Source('image/jpg', 'AAAA').mediaType, 'image/jpeg')
  assert.is(base64Source('image/png', btoa('RIFF\x10\0\0\0WEBPVP8 ')).mediaType, 'image/webp')
  assert.is(base64Source('audio/wav', btoa('RIFF\x10\0\0\0WAVEfmt ')).mediaType, 'audio/wav')
  assert.is(base64Source('image/png', 'iVBORw0KGgoA_-\n').data, 'iVBORw0KGgoA/+')
})
