import { cpuMs } from '../../../support/cpu-time.ts'
import { assert, suite } from '../../../support/suite.ts'
import { call, chunk, read, stop, text } from '../support/read-stream.ts'

const test = suite('parsing a Gemini stream')

const piece = (jsonPath: string, value: object) => call({ partialArgs: [{ jsonPath, ...value }], willContinue: true })

const table: Record<string, [chunks: unknown[], parts: string[], finish?: string]> = {
  text: [[text('a'), text('b'), stop], ['text: ab']],
  'the finish reason with the last text': [
    [text('a'), text('b', { finishReason: 'MAX_TOKENS' })],
    ['text: ab'],
    'length',
  ],
  'a finish reason without parts': [[text('a'), { candidates: [{ finishReason: 'STOP' }] }], ['text: a']],
  'no finish reason because the stream was cut off': [[text('a')], ['text: a'], 'error'],
  'an unspecified finish reason after the last text': [
    [text('a'), text('', { finishReason: 'FINISH_REASON_UNSPECIFIED' })],
    ['text: a'],
  ],
  'an unspecified finish reason in every chunk': [
    [
      text('', { finishReason: 'FINISH_REASON_UNSPECIFIED' }),
      text('a', { finishReason: 'FINISH_REASON_UNSPECIFIED' }),
      text('', { finishReason: 'MAX_TOKENS' }),
    ],
    ['text: a'],
    'length',
  ],
  'text in a chunk with an unspecified finish reason because the stream was cut off': [
    [text('a', { finishReason: 'FINISH_REASON_UNSPECIFIED' })],
    ['text: a'],
    'error',
  ],
  'an end marker without a finish reason because the stream was cut off': [[text('a'), '[DONE]'], ['text: a'], 'error'],
  'only a finish reason': [[stop], []],
  'invalid JSON': [['oops', text('a'), stop], ['text: a']],
  'a chunk in an array': [[[text('a'), stop]], ['text: a']],
  'reasoning followed by text': [
    [chunk([{ text: 'h', thought: true }]), chunk([{ text: 'm', thought: true }, { text: 'a' }]), stop],
    ['reasoning: hm', 'text: a'],
  ],
  'a signature on the last text': [[text('a'), chunk([{ text: 'b', thoughtSignature: 's' }]), stop], ['text: ab <s>']],
  'a signature on an empty text part at the end': [
    [text('a'), chunk([{ text: '', thoughtSignature: 's' }], { finishReason: 'STOP' })],
    ['text: a <s>'],
  ],
  'a signature after a call': [
    [call({ name: 'f' }), chunk([{ text: '', thoughtSignature: 's' }]), stop],
    ['f#call_id1: {}', 'text:  <s>'],
    'tool-calls',
  ],
  'a signature between text parts': [
    [chunk([{ text: 'a', thoughtSignature: 's' }]), text('b'), stop],
    ['text: a <s>', 'text: b'],
  ],
  'signed reasoning without text': [[chunk([{ thought: true, thoughtSignature: 's' }]), stop], ['reasoning:  <s>']],
  'calls in separate chunks, without IDs': [
    [
      call({ name: 'f', args: { a: 1 } }, { thoughtSignature: 's' }),
      call({ name: 'f', args: { a: 2 } }),
      call({ name: 'g' }),
      stop,
    ],
    ['f#call_id1<s>: {"a":1}', 'f#call_id2: {"a":2}', 'g#call_id3: {}'],
    'tool-calls',
  ],
  'calls with IDs, one of which is already taken': [
    [chunk([{ functionCall: { id: 'x', name: 'f' } }, { functionCall: { id: 'x', name: 'f' } }]), stop],
    ['f#x: {}', 'f#call_id1: {}'],
    'tool-calls',
  ],
  'text after a call': [[call({ name: 'f' }), text('a'), stop], ['f#call_id1: {}', 'text: a'], 'tool-calls'],
  'a call cut off by the token limit': [
    [call({ name: 'f' }), text('', { finishReason: 'MAX_TOKENS' })],
    ['f#call_id1: {}'],
    'length',
  ],
  'a call without a name': [[text('a'), call({ args: {} }), stop], ['text: a']],
  'arguments in fragments, ended by an empty call': [
    [
      call({ name: 'f', id: 'x', willContinue: true }, { thoughtSignature: 's' }),
      piece('$.a', { stringValue: 'x', willContinue: true }),
      piece('$.a', { stringValue: 'y' }),
      piece("$['b c'].d[0]", { numberValue: 1 }),
      piece("$['b c'].d[1].e", { boolValue: true }),
      piece('$.n', { nullValue: 'NULL_VALUE' }),
      call({}),
      stop,
    ],
    ['f#x<s>: {"a":"xy","b c":{"d":[1,{"e":true}]},"n":null}'],
    'tool-calls',
  ],
  'arguments in fragments without an end': [
    [call({ name: 'f', willContinue: true }), piece('$.a', { stringValue: 'x' }), stop],
    ['f#call_id1: {"a":"x"}'],
    'tool-calls',
  ],
  'arguments in fragments, ended by the next call': [
    [
      call({ name: 'f', willContinue: true }),
      piece('$.a', { numberValue: 2 }),
      call({ name: 'g', args: { b: 1 } }),
      stop,
    ],
    ['f#call_id1: {"a":2}', 'g#call_id2: {"b":1}'],
    'tool-calls',
  ],
  'all fragments at once': [
    [call({ name: 'f', partialArgs: [{ jsonPath: '$.a', numberValue: 2 }] }), stop],
    ['f#call_id1: {"a":2}'],
    'tool-calls',
  ],
  'fragments with empty text parts between them': [
    [
      call({ name: 'f', willContinue: true }),
      text(''),
      piece('$.a', { stringValue: 'x', willContinue: true }),
      text(''),
      piece('$.a', { stringValue: 'y' }),
      stop,
    ],
    ['f#call_id1: {"a":"xy"}'],
    'tool-calls',
  ],
  'fragments with unsafe names and paths': [
    [
      call({ name: 'f', willContinue: true }),
      piece('$.__proto__.x', { numberValue: 1 }),
      piece('$.a[4000000000]', { numberValue: 1 }),
      piece('', { numberValue: 1 }),
      stop,
    ],
    ['f#call_id1: {"__proto__":{"x":1},"a":[1]}'],
    'tool-calls',
  ],
  'an image': [
    [chunk([{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' }, thoughtSignature: 's' }]), stop],
    ['image<s>: '],
  ],
  'several candidates': [
    [text('a'), { candidates: [{ index: 1, content: { parts: [{ text: 'b' }] }, finishReason: 'MAX_TOKENS' }] }, stop],
    ['text: a', '[1] text: b'],
    'stop,length',
  ],
  'an invalid index': [
    [{ candidates: [{ index: 4e9, content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' }] }],
    ['text: a'],
  ],
  'a blocked prompt': [[{ promptFeedback: { blockReason: 'SAFETY' } }], [], 'content-filter'],
  'a malformed call after text': [
    [text('a'), text('', { finishReason: 'MALFORMED_FUNCTION_CALL' })],
    ['text: a'],
    'error',
  ],
  'only a malformed call': [[text('', { finishReason: 'MALFORMED_FUNCTION_CALL' })], [], 'error'],
}

for (const [name, [chunks, parts, finish = 'stop']] of Object.entries(table)) {
  test(`parses a Gemini stream with ${name}`, () => {
    const result = read(chunks)
    assert.equal(result.parts, parts)
    assert.is(result.finish, finish)
  })
}

test('many small chunks, and arguments in many fragments, take linear time', () => {
  const time = (count: number) =>
    cpuMs(() =>
      read([
        ...Array.from({ length: count }, () => text('word ')),
        call({ name: 'f', willContinue: true }),
        ...Array.from({ length: count }, () => piece('$.a', { stringValue: 'word ', willContinue: true })),
        stop,
      ]),
    )
  time(500)
  assert.ok(time(20_000) < 3_000)
})
