import { assert, suite } from '../../../support/suite.ts'
import { createCompleted, created, read } from '../support/read-stream.ts'

const test = suite('reading a Responses stream')

const origin = { format: 'openai-responses', account: 'vendor/1' } as const
const at = { output_index: 0, content_index: 0, item_id: 'i' }

const createItemAdded = (item: object, output_index = 0) => ({ type: 'response.output_item.added', output_index, item })
const done = (item: object, output_index = 0) => ({ type: 'response.output_item.done', output_index, item })
const delta = (text: string, fields = {}) => ({ type: 'response.output_text.delta', ...at, delta: text, ...fields })
const message = (...content: object[]) => ({ type: 'message', id: 'i', role: 'assistant', content })
const output = (text: string, fields = {}) => ({ type: 'output_text', text, annotations: [], ...fields })
const call = (fields = {}) => ({ type: 'function_call', id: 'i', call_id: 'c1', name: 'f', arguments: '', ...fields })
const args = (text: string, fields = {}) => ({
  type: 'response.function_call_arguments.delta',
  output_index: 0,
  item_id: 'i',
  delta: text,
  ...fields,
})
const createReasoning = (fields = {}) => ({ type: 'reasoning', id: 'i', summary: [], ...fields })
const citation = { type: 'url_citation', url: 'https://a', title: 'A', start_index: 0, end_index: 1 }
const text = (value: string, fields = {}) => ({ type: 'text', text: value, ...fields })
const createCall = (value: string, fields = {}) => ({
  type: 'tool-call',
  id: 'c1',
  name: 'f',
  arguments: value,
  ...fields,
})

/** Streams from various providers, with the expected parts. */
const table: Record<
  string,
  [events: (object | '[DONE]')[], content: object[], finish?: string, responseWarnings?: string[]]
> = {
  'text with all its events': [
    [
      created,
      createItemAdded(message()),
      { type: 'response.content_part.added', ...at, part: output('') },
      delta('a'),
      delta('b'),
      { type: 'response.output_text.done', ...at, text: 'ab' },
      { type: 'response.content_part.done', ...at, part: output('ab') },
      done(message(output('ab'))),
      createCompleted(message(output('ab'))),
    ],
    [text('ab')],
  ],
  'text with only its deltas': [[delta('a'), delta('b'), createCompleted()], [text('ab')]],
  'text with only its end event': [
    [{ type: 'response.output_text.done', ...at, text: 'ab' }, createCompleted()],
    [text('ab')],
  ],
  'text with a gap in its deltas': [
    [
      delta('a'),
      { type: 'response.output_text.done', ...at, text: 'ab' },
      done(message(output('abc'))),
      createCompleted(),
    ],
    [text('abc')],
  ],
  'text that differs between its end event and its deltas': [
    [delta('a'), { type: 'response.output_text.done', ...at, text: 'bc' }, createCompleted()],
    [text('a')],
  ],
  'text with only its item': [[done(message(output('ab'))), createCompleted()], [text('ab')]],
  'text with only the complete response': [[createCompleted(message(output('ab')))], [text('ab')]],
  'an open item that the complete response finishes': [
    [createItemAdded(message()), delta('ab'), createCompleted(message(output('ab', { annotations: [citation] })))],
    [text('ab', { citations: [{ url: 'https://a', title: 'A', start: 0, end: 1 }] })],
  ],
  'an item that appears only in the complete response': [
    [delta('ab'), createCompleted(message(output('ab')), call({ arguments: '{}' }))],
    [text('ab'), createCall('{}')],
    'tool-calls',
  ],
  'a message with two text parts, one of them empty, and a refusal': [
    [
      createItemAdded({ ...message(), phase: 'commentary' }),
      delta('a'),
      delta('', { content_index: 1 }),
      { type: 'response.refusal.delta', ...at, content_index: 2, delta: 'no' },
      { type: 'response.refusal.done', ...at, content_index: 2, refusal: 'no' },
      done(message(output('a'), output(''), { type: 'refusal', refusal: 'no' })),
      createCompleted(),
    ],
    [text('a', { phase: 'commentary' }), { type: 'refusal', text: 'no' }],
  ],
  'citations in the stream and again at the end': [
    [
      delta('ab'),
      { type: 'response.output_text.annotation.added', ...at, annotation_index: 0, annotation: citation },
      { type: 'response.content_part.done', ...at, part: output('ab', { annotations: [citation, citation] }) },
      createCompleted(),
    ],
    [text('ab', { citations: [1, 2].map(() => ({ url: 'https://a', title: 'A', start: 0, end: 1 })) })],
  ],
  'a call': [
    [
      createItemAdded(call()),
      args('{"a'),
      args('":1}'),
      { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"a":1}' },
      done(call({ arguments: '{"a":1}' })),
      createCompleted(),
    ],
    [createCall('{"a":1}')],
    'tool-calls',
  ],
  'a call with complete arguments': [
    [
      createItemAdded(call()),
      { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{}' },
      createCompleted(),
    ],
    [createCall('{}')],
    'tool-calls',
  ],
  'a placeholder before the arguments': [
    [createItemAdded(call()), args('{}'), args('{"a":1}'), createCompleted()],
    [createCall('{"a":1}')],
    'tool-calls',
  ],
  'empty arguments': [[createItemAdded(call()), args('{}'), createCompleted()], [createCall('{}')], 'tool-calls'],
  'null arguments': [[createItemAdded(call()), args('null'), createCompleted()], [createCall('{}')], 'tool-calls'],
  'arguments that only start like a placeholder': [
    [createItemAdded(call()), args('{}'), args(' '), createCompleted()],
    [createCall('{} ')],
    'tool-calls',
  ],
  'a call whose name arrives at the end': [
    [createItemAdded(call({ name: '', call_id: '' })), args('{}'), done(call({ arguments: '{}' })), createCompleted()],
    [createCall('{}')],
    'tool-calls',
  ],
  'a call without a name': [
    [createItemAdded(call({ name: '' })), args('{}'), createCompleted()],
    [],
    'stop',
    ['dropped:answer.function_call'],
  ],
  'two parallel calls with the same ID': [
    [
      createItemAdded(call()),
      createItemAdded(call(), 1),
      args('{"x":'),
      args('{}', { output_index: 1 }),
      args('1}'),
      createCompleted(),
    ],
    [createCall('{"x":1}'), createCall('{}', { id: 'call_id1' })],
    'tool-calls',
  ],
  'a free-form call': [
    [
      createItemAdded({ type: 'custom_tool_call', id: 'i', call_id: 'c1', name: 'patch', input: '' }),
      { type: 'response.custom_tool_call_input.delta', output_index: 0, delta: '***' },
      { type: 'response.custom_tool_call_input.done', output_index: 0, input: '***' },
      createCompleted(),
    ],
    [createCall('***', { name: 'patch', isFreeForm: true })],
    'tool-calls',
  ],
  'reasoning summaries with encrypted content': [
    [
      createItemAdded(createReasoning({ encrypted_content: 'early' })),
      { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'a' },
      { type: 'response.reasoning_summary_text.done', output_index: 0, summary_index: 0, text: 'a' },
      { type: 'response.reasoning_summary_text.done', output_index: 0, summary_index: 1, text: 'b' },
      done(createReasoning({ encrypted_content: 'g' })),
      createCompleted(),
    ],
    [
      {
        type: 'reasoning',
        text: 'a\n\nb',
        isSummary: true,
        state: { origin, kind: 'encrypted', data: 'g', id: 'i' },
      },
    ],
  ],
  'encrypted reasoning without a summary': [
    [
      createItemAdded(createReasoning()),
      done(createReasoning({ encrypted_content: 'g' })),
      delta('a', { output_index: 1 }),
      createCompleted(),
    ],
    [{ type: 'reasoning', text: '', state: { origin, kind: 'encrypted', data: 'g', id: 'i' } }, text('a')],
  ],
  'reasoning text under either event name': [
    [
      { type: 'response.reasoning_text.delta', ...at, delta: 'a' },
      { type: 'response.reasoning.delta', ...at, output_index: 1, delta: 'b' },
      done(createReasoning({ content: [{ type: 'reasoning_text', text: 'a' }] })),
      createCompleted(),
    ],
    [
      { type: 'reasoning', text: 'a', state: { origin, kind: 'text', data: '' } },
      { type: 'reasoning', text: 'b' },
    ],
  ],
  'empty reasoning': [
    [createItemAdded(createReasoning()), done(createReasoning()), delta('a', { output_index: 1 }), createCompleted()],
    [text('a')],
  ],
  'a search': [
    [
      createItemAdded({ type: 'web_search_call', id: 'ws_1', status: 'in_progress' }),
      { type: 'response.web_search_call.searching', output_index: 0, item_id: 'ws_1' },
      done({ type: 'web_search_call', id: 'ws_1', action: { type: 'search', query: 'q' } }),
      createCompleted({ type: 'web_search_call', id: 'ws_1', action: { type: 'search', query: 'q' } }),
    ],
    [{ type: 'server-tool', tool: 'web-search', id: 'ws_1', query: 'q', results: [] }],
  ],
  '[DONE] without the response': [[delta('a'), '[DONE]'], [text('a')]],
  'a response cut off by the token limit': [
    [
      createItemAdded(call()),
      args('{"pa'),
      {
        type: 'response.incomplete',
        response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      },
    ],
    [createCall('{"pa')],
    'length',
  ],
  'unknown events, and data that is not an event': [
    [{ type: 'keepalive' }, { type: 'response.compaction.compacting' }, {}, delta('a'), createCompleted()],
    [text('a')],
  ],
}

for (const [name, [events, content, finish = 'stop', responseWarnings = []]] of Object.entries(table))
  test(`parses ${name}`, () => {
    const recorded = read(...events)
    assert.equal(recorded.content, content)
    assert.is(recorded.finish?.reason, finish)
    assert.equal(recorded.responseWarnings, responseWarnings)
    assert.is(recorded.events.filter(({ type }) => type === 'part-start').length, content.length)
    assert.is(recorded.events.filter(({ type }) => type === 'part-end').length, content.length)
  })

test("finds the stream's ID, model, and usage", () => {
  const { events, usage: counted } = read(created, created, delta('a'), createCompleted())
  assert.equal(events[0], { type: 'start', id: 'resp_1', model: 'm-1' })
  assert.is(events.filter(({ type }) => type === 'start').length, 1)
  assert.is(counted?.inputTokens, 3)
})

test('a response that restarts after its first item ends with an error', () => {
  const { events } = read(
    created,
    createItemAdded(call()),
    args('{"pa'),
    created,
    createItemAdded(call()),
    args('{}'),
    createCompleted(),
  )
  assert.equal(
    events.map(({ type }) => type),
    ['start', 'part-start', 'part-delta', 'error'],
  )
  assert.match(JSON.stringify(events.at(-1)), /"UPSTREAM_CUT".*restarted its response/)
})
