import { createTextBuffer } from '../../src/lib/text-buffer.ts'
import { bytesHeld } from '../support/garbage.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('a text buffer')

test('a text buffer returns all pieces in order, even if it is read between two additions', () => {
  const buffer = createTextBuffer()
  let expected = ''
  for (let index = 0; index < 1_000; index++) {
    buffer.append(`${index} `)
    expected += `${index} `
    if (index % 300 === 0) assert.is(buffer.text, expected)
  }
  assert.is(buffer.text, expected)
})

test('a text buffer starts with its first piece, even an empty one', () => {
  const buffer = createTextBuffer()
  assert.equal([buffer.hasStarted, buffer.text], [false, ''])
  buffer.append('')
  assert.equal([buffer.hasStarted, buffer.text], [true, ''])
})

test('a text buffer discards text beyond its limit', () => {
  const buffer = createTextBuffer(10)
  buffer.append('1234567890')
  assert.is(buffer.text, '1234567890')
  buffer.append('1')
  assert.is(buffer.text, undefined)
  buffer.append('2')
  assert.is(buffer.text, undefined)
})

test('a text buffer takes little more memory than its text', async () => {
  const before = await bytesHeld()
  const buffer = createTextBuffer()
  for (let index = 0; index < 1_000_000; index++) buffer.append(String(index).slice(-4))
  const held = (await bytesHeld()) - before
  assert.ok(held < 1.5 * (buffer.text?.length ?? 0), `${held} bytes`)
})
