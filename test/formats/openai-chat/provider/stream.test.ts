import { cpuMs } from '../../../support/cpu-time.ts'
import { assert, suite } from '../../../support/suite.ts'
import { call, delta, fn, read, stop } from '../support/read-stream.ts'

const test = suite('reading a Chat Completions stream')

const noChoices = { choices: [], prompt_filter_results: [] }

/** Streams from various vendors, with the expected parts and finish reason. */
const table: Record<string, [chunks: (object | '[DONE]')[], parts: string[], finish?: string]> = {
  'text, finish reason, and [DONE]': [
    [delta({ role: 'assistant', content: '' }), delta({ content: 'a' }), stop, '[DONE]'],
    ['text: a'],
  ],
  'no [DONE]': [[delta({ content: 'a' }), stop], ['text: a']],
  'no finish reason': [[delta({ content: 'a' }), '[DONE]'], ['text: a']],
  'no finish reason and no [DONE] because the stream was cut off': [[delta({ content: 'a' })], ['text: a'], 'error'],
  'a first chunk without choices, and a choice without delta': [
    [noChoices, delta({ content: 'a' }), stop, { choices: [{ index: 0, finish_reason: 'stop' }] }],
    ['text: a'],
  ],
  'null content, and array content': [
    [delta({ content: null }), delta({ content: [{ type: 'text', text: 'a' }] }), stop],
    ['text: a'],
  ],
  'a repeated finish reason': [
    [delta({ content: 'a' }), delta({ content: 'b' }, 'length'), stop],
    ['text: ab'],
    'length',
  ],
  'a missing index': [[{ choices: [{ delta: { content: 'a' }, finish_reason: 'stop' }] }], ['text: a']],
  'calls that all have index 0': [
    [call({ index: 0, id: 'a', ...fn('f', '{"x":1}') }), call({ index: 0, id: 'b', ...fn('f', '{"x":2}') }), stop],
    ['f#a: {"x":1}', 'f#b: {"x":2}'],
    'tool-calls',
  ],
  'calls without an index': [
    [
      call({ id: 'a', ...fn('f', '{}') }),
      call({ id: 'b', ...fn('g', '{"y":') }),
      call({ function: { arguments: '2}' } }),
      stop,
    ],
    ['f#a: {}', 'g#b: {"y":2}'],
    'tool-calls',
  ],
  'indexes that start at 1': [
    [call({ index: 1, id: 'a', ...fn('f', '') }), call({ index: 1, function: { arguments: '{}' } }), stop],
    ['f#a: {}'],
    'tool-calls',
  ],
  'interleaved calls': [
    [
      call({ index: 0, id: 'a', ...fn('f', '') }),
      call({ index: 1, id: 'b', ...fn('g', '') }),
      call({ index: 0, function: { arguments: '{"x"' } }),
      call({ index: 1, function: { arguments: '{"y"' } }),
      call({ index: 0, function: { arguments: ':1}' } }),
      call({ index: 1, function: { arguments: ':2}' } }),
      delta({}, 'tool_calls'),
    ],
    ['f#a: {"x":1}', 'g#b: {"y":2}'],
    'tool-calls',
  ],
  'a name in each chunk': [
    [call({ index: 0, id: 'a', ...fn('f', '{"x"') }), call({ index: 0, id: 'a', ...fn('f', ':1}') }), stop],
    ['f#a: {"x":1}'],
    'tool-calls',
  ],
  'calls without an ID': [
    [call({ index: 0, ...fn('f', '{"x":1}') }), call({ index: 0, ...fn('f', '{"x":2}') }), stop],
    ['f#call_id1: {"x":1}', 'f#call_id2: {"x":2}'],
    'tool-calls',
  ],
  'calls with the same ID': [
    [call({ index: 0, id: 'a', ...fn('f', '{}') }), call({ index: 1, id: 'a', ...fn('g', '{}') }), stop],
    ['f#a: {}', 'g#call_id1: {}'],
    'tool-calls',
  ],
  'arguments as an object': [[call({ index: 0, id: 'a', ...fn('f', { x: 1 }) }), stop], ['f#a: {"x":1}'], 'tool-calls'],
  'a placeholder before the arguments': [
    [call({ index: 0, id: 'a', ...fn('f', '{}') }), call({ index: 0, function: { arguments: '{"a":1}' } }), stop],
    ['f#a: {"a":1}'],
    'tool-calls',
  ],
  'arguments that are only the placeholder': [
    [call({ index: 0, id: 'a', ...fn('f', '{}') }), stop],
    ['f#a: {}'],
    'tool-calls',
  ],
  'null arguments': [[call({ index: 0, id: 'a', ...fn('f', 'null') }), stop], ['f#a: {}'], 'tool-calls'],
  'a call cut off by the token limit': [
    [call({ index: 0, id: 'a', ...fn('f', '{"path":"/tm') }), delta({}, 'length')],
    ['f#a: {"path":"/tm'],
    'length',
  ],
  'a call without a name': [
    [delta({ content: 'a' }), call({ index: 0, id: 'a', ...fn('', '{}') }), delta({}, 'tool_calls')],
    ['text: a'],
    'stop',
  ],
  'the legacy function call': [
    [
      delta({ function_call: { name: 'f', arguments: '' } }),
      delta({ function_call: { arguments: '{}' } }),
      delta({}, 'function_call'),
    ],
    ['f#call_id1: {}'],
    'tool-calls',
  ],
  'text after a call': [
    [call({ index: 0, id: 'a', ...fn('f', '{"a":1}') }), delta({ content: 'b' }), delta({}, 'eos')],
    ['f#a: {"a":1}', 'text: b'],
    'tool-calls',
  ],
  'reasoning in reasoning_content': [
    [delta({ reasoning_content: 'hm' }), delta({ content: 'a' }), stop],
    ['reasoning: hm', 'text: a'],
  ],
  'reasoning in reasoning': [
    [delta({ reasoning: 'hm', content: '' }), delta({ content: 'a', reasoning: null }), stop],
    ['reasoning: hm', 'text: a'],
  ],
  'reasoning in parts of the content': [
    [
      delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
      delta({ content: 'a' }),
      stop,
    ],
    ['reasoning: hm', 'text: a'],
  ],
  'reasoning in other fields': [
    [delta({ reasoning_text: 'a' }), delta({ thinking: 'b' }), delta({ reasoning_content: '', reasoning: 'c' }), stop],
    ['reasoning: abc'],
  ],
  'Databricks’ reasoning in the content': [
    [
      delta({ content: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] }] }),
      delta({ content: 'a' }),
      stop,
    ],
    ['reasoning: hm', 'text: a'],
  ],
  'reasoning text next to unreadable details': [
    [delta({ reasoning: 'hm', reasoning_details: [{ type: 'reasoning.encrypted', data: 'd' }] }), stop],
    ['reasoning: hm', 'reasoning: '],
  ],
  'a refusal': [[delta({ refusal: 'no' }), stop], ['refusal: no']],
  'a failure upstream of the provider': [[delta({ content: 'a' }), delta({}, 'network_error')], ['text: a'], 'error'],
  'several candidates': [
    [delta({ content: 'a' }), { choices: [{ index: 1, delta: { content: 'b' }, finish_reason: 'length' }] }, stop],
    ['text: a', '[1] text: b'],
    'stop,length',
  ],
  'a message that repeats all deltas': [
    [
      { choices: [{ index: 0, delta: { content: 'a' }, message: { content: 'a' } }] },
      { choices: [{ index: 0, message: { content: 'a' }, finish_reason: 'stop' }] },
    ],
    ['text: a'],
  ],
}

for (const [name, [chunks, parts, finish = 'stop']] of Object.entries(table)) {
  test(`parses ${name}`, () => {
    const recorded = read(chunks)
    assert.equal(recorded.parts, parts)
    assert.is(recorded.finish, finish)
  })
}

test("a complete call is closed when text follows, so the text isn't held back", () => {
  const { events } = read([call({ index: 0, id: 'a', ...fn('f', '{"a":1}') }), delta({ content: 'b' }), stop])
  assert.equal(
    events.map(({ type }) => type),
    ['start', 'part-start', 'part-delta', 'part-end', 'part-start', 'part-delta', 'part-end', 'end'],
  )
})

test('parsing megabytes of arguments takes linear time', () => {
  const piece = call({ index: 0, function: { arguments: '{"a":[{"b":1}]},' } })
  const time = (count: number) =>
    cpuMs(() =>
      read([call({ index: 0, id: 'a', ...fn('f', '[') }), ...Array.from({ length: count }, () => piece), stop]),
    )
  time(1_000)
  assert.ok(time(40_000) < 3_000)
})
