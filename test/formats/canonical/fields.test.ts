import { readFields } from '../../../src/protocols/formats/canonical/canonical-fields.ts'
import { createBase64Source, parseMediaUrl } from '../../../src/protocols/formats/canonical/canonical-media.ts'
import { createWarnings } from '../../../src/protocols/formats/canonical/canonical-warnings.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('request fields')

test('fields are read by type, and null is treated as absent', () => {
  const fields = readFields({ a: 'x', b: null, c: { d: 1 } }, '', createWarnings({ isStrict: false }))
  assert.is(fields.string('a'), 'x')
  assert.is(fields.string('b'), undefined)
  assert.is(fields.fields('c')?.number('d'), 1)
})

test('a field of the wrong type is rejected with its path', () => {
  const fields = readFields({ c: { d: 1 } }, 'messages[2]', createWarnings({ isStrict: false }))
  assert.throws(() => fields.fields('c')?.string('d'), /"messages\[2\]\.c\.d": must be a string/)
  assert.throws(() => fields.oneOf('c', ['x']), /"messages\[2\]\.c": must be a string/)
})

test('unknown fields are reported as warnings', () => {
  const warnings = createWarnings({ isStrict: false })
  const fields = readFields({ a: 1, b: 2, c: null, d: 3 }, 'x', warnings)
  fields.number('a')
  fields.ignore('d')
  fields.dropUnread()
  assert.equal(warnings.list(), ['dropped:x.b'])
})

const data = suite('data URLs')
const PNG = 'iVBORw0KGgoAAAANSUhEUg=='

data('data URLs are decoded to their media type and bytes', () => {
  assert.equal(parseMediaUrl(`data:image/png;base64,${PNG}`), { type: 'base64', mediaType: 'image/png', data: PNG })
  assert.equal(parseMediaUrl('data:text/plain;charset=utf-8;base64,aGk='), createBase64Source('text/plain', 'aGk='))
  assert.equal(parseMediaUrl('data:,h%C3%A9', 'text/plain'), createBase64Source('text/plain', 'aMOp'))
  assert.equal(parseMediaUrl('https://a/b,c'), { type: 'url', url: 'https://a/b,c' })
})

data('data URLs get the media type that their bytes indicate, not the declared one', () => {
  assert.is(parseMediaUrl(`data:image/jpeg;base64,${PNG}`).mediaType, 'image/png')
  assert.is(createBase64Source('image/jpg', 'AAAA').mediaType, 'image/jpeg')
  assert.is(createBase64Source('image/png', btoa('RIFF\x10\0\0\0WEBPVP8 ')).mediaType, 'image/webp')
  assert.is(createBase64Source('audio/wav', btoa('RIFF\x10\0\0\0WAVEfmt ')).mediaType, 'audio/wav')
  assert.is(createBase64Source('image/png', 'iVBORw0KGgoA_-\n').data, 'iVBORw0KGgoA/+')
})
