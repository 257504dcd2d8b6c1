import { concatBytes, crc32, encodeUtf8 } from '../../../src/lib/bytes.ts'
import type { SseEvent } from '../../../src/lib/sse.ts'
import { eventStreamFraming } from '../../../src/protocols/formats/bedrock-converse/converse-event-stream.ts'
import { assert, suite } from '../../support/suite.ts'
import { converseFrames, exceptionFrame, frame, toFrame } from '../support/event-stream.ts'

const test = suite('AWS event streams')

function read(chunks: Iterable<Uint8Array>): SseEvent[] {
  const events: SseEvent[] = []
  const parser = eventStreamFraming((event) => events.push(event))
  for (const chunk of chunks) parser.push(chunk)
  parser.end()
  return events
}

test('event stream frames have the standard CRC-32 checksum', () => {
  assert.is(crc32(encodeUtf8('123456789')), 0xcbf43926)
})

test('the event stream parser returns the same frames wherever the bytes are split', () => {
  const bytes = concatBytes(converseFrames())
  const full = read([bytes])
  assert.is(full.length, 7)
  assert.equal(full[1], { event: 'contentBlockDelta', data: '{"contentBlockIndex":0,"delta":{"text":"Hello "}}' })
  for (let index = 1; index < bytes.length; index++)
    assert.equal(read([bytes.subarray(0, index), bytes.subarray(index)]), full, String(index))
  assert.equal(read(Array.from(bytes, (byte) => Uint8Array.of(byte))), full)
})

test('event stream exceptions and errors are parsed by name', () => {
  const error = { ':message-type': 'error', ':error-code': 'throttlingException', ':error-message': 'slow' }
  assert.equal(read([exceptionFrame('modelStreamErrorException', 'broken'), frame(error, '')]), [
    { event: 'modelStreamErrorException', data: '{"message":"broken"}' },
    { event: 'throttlingException', data: '{"message":"slow"}' },
  ])
})

test('an event stream frame can have headers of every type', () => {
  const name = [1, 0x61]
  const values = [[0], [1], [2, 9], [3, 0, 9], [4, 0, 0, 0, 9], [5, ...Array(8).fill(9)], [6, 0, 2, 9, 9]]
  const extra = [
    [8, ...Array(8).fill(9)],
    [9, ...Array(16).fill(9)],
  ]
  const type = encodeUtf8(':event-type')
  const headers = [...values, ...extra].flatMap((value) => [...name, ...value])
  const bytes = toFrame([...headers, type.length, ...type, 7, 0, 1, 0x78], encodeUtf8('{}'))
  assert.equal(read([bytes]), [{ event: 'x', data: '{}' }])
})

test('an incomplete event stream frame at the end is ignored', () => {
  const bytes = concatBytes(converseFrames())
  assert.is(read([bytes.subarray(0, -1)]).length, 6)
})

test('a corrupted event stream frame is rejected', () => {
  const [bytes = new Uint8Array()] = converseFrames()
  for (let index = 0; index < bytes.length; index++) {
    const wrong = bytes.slice()
    wrong[index] = (wrong[index] ?? 0) ^ 0x40
    assert.throws(() => read([wrong]), /corrupt event stream/, String(index))
  }
})

test('an event stream frame with headers that extend past its end is rejected', () => {
  for (const headers of [
    [5, 0x61],
    [1, 0x61, 7, 0xff, 0xff, 1],
    [1, 0x61, 77],
    [1, 0x61, 4, 0],
  ])
    assert.throws(() => read([toFrame(headers, encodeUtf8('{}'))]), /corrupt event stream/, String(headers))
})

test('an event stream frame over 16 MiB is rejected before it is buffered', () => {
  const prelude = new Uint8Array(12)
  const view = new DataView(prelude.buffer)
  view.setUint32(0, 0xf0000000)
  view.setUint32(8, crc32(prelude.subarray(0, 8)))
  assert.throws(() => read([prelude]), /longer than 16 MiB/)
})
