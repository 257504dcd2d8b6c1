import fc from 'fast-check'
import { decodeUtf8, encodeUtf8 } from '../../src/lib/bytes.ts'
import { createSseParser, type SseEvent, sseFraming } from '../../src/lib/sse.ts'
import { createEventSplitter } from '../../src/lib/sse-split.ts'
import { busyMs } from '../support/cpu-time.ts'
import { assert, suite } from '../support/suite.ts'

function parse(...pieces: string[]): SseEvent[] {
  const events: SseEvent[] = []
  const parser = createSseParser((event) => events.push(event))
  for (const piece of pieces) parser.push(piece)
  parser.end()
  return events
}

const data = (...texts: string[]) => texts.map((text) => ({ event: undefined, data: text }))

const parser = suite('the SSE parser')

parser('the SSE parser reads events with names, several data lines, and comments', () => {
  assert.equal(parse('data: a\n\n: note\ndata:b\ndata: c\n\nevent: x\ndata: d\n\n'), [
    ...data('a', 'b\nc'),
    { event: 'x', data: 'd' },
  ])
})

parser('the SSE parser accepts every line ending, even split between two chunks', () => {
  assert.equal(parse('data: a\r\n\r\ndata: b\r\rdata: c\n\n'), data('a', 'b', 'c'))
  assert.equal(parse('data: a\r', '\n\r', '\ndata: b\r', '\r'), data('a', 'b'))
})

parser('the SSE parser drops a byte order mark, and accepts an unterminated last event', () => {
  assert.equal(parse('\ufeffdata: a\n\ndata: [DONE]'), data('a', '[DONE]'))
})

parser('with bareJson, the SSE parser reads JSON without a field name as an event', () => {
  const read = (text: string, options?: { bareJson: boolean }) => {
    const events: SseEvent[] = []
    const parser = createSseParser((event) => events.push(event), options)
    parser.push(text)
    parser.end()
    return events
  }
  const error = '{\n  "error": {\n    "code": 503\n  }\n}'
  const bareJson = { bareJson: true }
  assert.equal(read(`data: a\n\n${error}`, bareJson), data('a', error))
  assert.equal(read(`data: a\n\n${error}\r\n\r\ndata: b\n\n`, bareJson), data('a', error, 'b'))
  assert.equal(read(`data: a\n\n${error}`), data('a'))
  assert.equal(read(error, bareJson), [])
})

parser('the SSE parser reads the same events no matter where the text is split', () => {
  const line = fc.constantFrom('data: x', 'data:y', 'event: e', ': c', '', '', 'id: 1')
  const ending = fc.constantFrom('\n', '\r\n', '\r')
  const text = fc.tuple(fc.array(line), ending).map(([lines, end]) => lines.join(end))
  fc.assert(fc.property(text, (full) => assert.equal(parse(...full), parse(full))))
})

parser('the SSE parser reads long lines in linear time, and rejects lines over 16 MiB', () => {
  const piece = 'x'.repeat(1024)
  const before = busyMs()
  const pieces = ['data: ', ...Array.from({ length: 8_000 }, () => piece), '\n\n']
  assert.is(parse(...pieces)[0]?.data.length, 8_000 * 1024)
  assert.ok(busyMs() - before < 5_000)
  assert.throws(() => parse(...Array.from({ length: 17 * 1024 }, () => piece)), /16 MiB/)
})

parser('the SSE parser rejects an event over 16 MiB that consists of many lines', () => {
  const line = `data: ${'x'.repeat(1024)}\n`
  assert.throws(() => parse(...Array.from({ length: 17 * 1024 }, () => line)), /16 MiB/)
})

const framing = suite('the SSE framing')

framing('the SSE framing reads the same events wherever the bytes are split', () => {
  const bytes = encodeUtf8('\ufeffdata: a\n\ndata: \ufeff\n\ndata: ä€😀\ufeff\n\n')
  for (let index = 0; index <= bytes.length; index++) {
    const events: string[] = []
    const stream = sseFraming((event) => events.push(event.data))
    stream.push(bytes.subarray(0, index))
    stream.push(bytes.subarray(index))
    stream.end()
    assert.equal(events, ['a', '\ufeff', 'ä€😀\ufeff'], String(index))
  }
})

const splitter = suite('the SSE splitter')

function split(chunks: Uint8Array[]): string[] {
  const events = createEventSplitter()
  const completeEvents = chunks.flatMap((chunk) => events.split(chunk) ?? [])
  return [...completeEvents, events.flush()].map((bytes) => decodeUtf8(bytes))
}

splitter('the SSE splitter returns the same chunk if it ends with an event', () => {
  const chunk = encodeUtf8('data: a\n\ndata: b\r\n\r\n')
  assert.is(createEventSplitter().split(chunk), chunk)
})

splitter('the SSE splitter holds back an incomplete event until the rest arrives', () => {
  assert.equal(split(['data: a\n\nda', 'ta: b', '\n', '\ndata: c'].map(encodeUtf8)), [
    'data: a\n\n',
    'data: b\n\n',
    'data: c',
  ])
  assert.equal(split(['data: a\r\n\r', '\ndata: b\r\n', '\r\n'].map(encodeUtf8)), [
    'data: a\r\n\r\n',
    'data: b\r\n\r\n',
    '',
  ])
})

splitter('the SSE splitter ends pieces with an event and loses no bytes, wherever chunks end', () => {
  for (const end of ['\n', '\r\n', '\r']) {
    const full = encodeUtf8(`data: ä€😀${end}${end}: c${end}${end}event: e${end}data: 2${end}data: 3${end}${end}`)
    for (let index = 0; index <= full.length; index++) {
      for (let next = index; next <= full.length; next++) {
        const pieces = split([full.subarray(0, index), full.subarray(index, next), full.subarray(next)])
        assert.is(pieces.join(''), decodeUtf8(full))
        for (const piece of pieces.slice(0, -1)) assert.ok(piece.endsWith(end + end), JSON.stringify(pieces))
      }
    }
  }
})
