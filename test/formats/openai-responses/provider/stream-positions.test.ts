import { assert, suite } from '../../../support/suite.ts'
import { createCompleted, read } from '../support/read-stream.ts'

const test = suite('matching events to items')

const origin = { format: 'openai-responses', account: 'vendor/1' } as const

const createItemAdded = (item: object, output_index?: number) => ({
  type: 'response.output_item.added',
  output_index,
  item,
})
const done = (item: object, output_index?: number) => ({ type: 'response.output_item.done', output_index, item })
const delta = (text: string, fields = {}) => ({ type: 'response.output_text.delta', delta: text, ...fields })
const message = (text?: string, fields = {}) => ({
  type: 'message',
  id: 'm',
  role: 'assistant',
  content: text === undefined ? [] : [{ type: 'output_text', text, annotations: [] }],
  ...fields,
})
const call = (fields = {}) => ({ type: 'function_call', call_id: 'c1', name: 'f', arguments: '', ...fields })
const text = (value: string) => ({ type: 'text', text: value })
const createCall = (value: string, fields = {}) => ({
  type: 'tool-call',
  id: 'c1',
  name: 'f',
  arguments: value,
  ...fields,
})

/** Streams from various providers, with the expected parts. */
const table: Record<string, [events: object[], content: object[]]> = {
  'IDs that change within the stream': [
    [
      createItemAdded(message(undefined, { id: 'x' }), 0),
      delta('a', { item_id: 'y', output_index: 0 }),
      delta('b', { item_id: 'z', output_index: 0 }),
      done(message('ab', { id: 'w' }), 0),
      createCompleted(message('ab', { id: 'v' })),
    ],
    [text('ab')],
  ],
  'indexes that do not start at 0': [
    [delta('a', { content_index: 1, output_index: 3 }), done(message('a'), 3), createCompleted(message('a'))],
    [text('a')],
  ],
  'two items with indexes that start at 1': [
    [
      delta('a', { output_index: 1 }),
      delta('b', { output_index: 2 }),
      createCompleted(message('a', { id: 'm1' }), message('b', { id: 'm2' })),
    ],
    [text('a'), text('b')],
  ],
  'IDs instead of indexes': [
    [createItemAdded(message(), 0), delta('a', { item_id: 'm' }), done(message('a')), createCompleted(message('a'))],
    [text('a')],
  ],
  'call IDs instead of indexes': [
    [
      createItemAdded(call(), 1),
      createItemAdded(call({ call_id: 'c2' }), 2),
      done(call({ arguments: '{"a":1}' })),
      done(call({ call_id: 'c2', arguments: '{"a":2}' })),
      createCompleted(),
    ],
    [createCall('{"a":1}'), createCall('{"a":2}', { id: 'c2' })],
  ],
  'no IDs or indexes': [
    [
      createItemAdded({ type: 'reasoning' }),
      done({ type: 'reasoning', summary: [], encrypted_content: 'e' }),
      createItemAdded({ type: 'reasoning' }),
      { type: 'response.reasoning_summary_text.delta', delta: 'hm' },
      done({ type: 'reasoning' }),
      delta('a'),
      createItemAdded(call()),
      { type: 'response.function_call_arguments.delta', delta: '{}' },
      createCompleted(),
    ],
    [
      { type: 'reasoning', text: '', state: { origin, kind: 'encrypted', data: 'e' } },
      { type: 'reasoning', text: 'hm', isSummary: true },
      text('a'),
      createCall('{}'),
    ],
  ],
  'arguments that appear only in the complete response, at another index': [
    [
      createItemAdded(call({ name: undefined }), 1),
      createItemAdded(call({ call_id: 'c2' }), 2),
      createCompleted(call({ arguments: '{"a":1}' }), call({ call_id: 'c2', arguments: '{"a":2}' })),
    ],
    [createCall('{"a":2}', { id: 'c2' }), createCall('{"a":1}')],
  ],
  'two messages, the first of which appears only in the complete response': [
    [delta('b', { output_index: 1 }), createCompleted(message('a'), message('b'))],
    [text('b'), text('a')],
  ],
  'a complete response that lacks earlier content': [
    [
      createItemAdded(message(), 0),
      delta('a', { output_index: 0 }),
      createItemAdded(message(undefined, { id: 'n' }), 1),
      createCompleted(message('b', { id: 'n' })),
    ],
    [text('a'), text('b')],
  ],
}

for (const [name, [events, content]] of Object.entries(table))
  test(`events match their items: ${name}`, () => {
    const recorded = read(...events)
    assert.equal(recorded.content, content)
    assert.is(recorded.events.filter(({ type }) => type === 'part-end').length, content.length)
  })
