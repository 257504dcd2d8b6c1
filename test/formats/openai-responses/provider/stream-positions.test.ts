import { assert, suite } from '../../../support/suite.ts'
import { completed, read } from '../support/read-stream.ts'

const test = suite('matching events to items')

const origin = { format: 'openai-responses', account: 'vendor/1' } as const

const added = (item: object, output_index?: number) => ({ type: 'response.output_item.added', output_index, item })
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
const called = (value: string, fields = {}) => ({ type: 'tool-call', id: 'c1', name: 'f', arguments: value, ...fields })

/** Streams of different providers, with the expected parts. */
const table: Record<string, [events: object[], content: object[]]> = {
  'IDs that change within the stream': [
    [
      added(message(undefined, { id: 'x' }), 0),
      delta('a', { item_id: 'y', output_index: 0 }),
      delta('b', { item_id: 'z', output_index: 0 }),
      done(message('ab', { id: 'w' }), 0),
      completed(message('ab', { id: 'v' })),
    ],
    [text('ab')],
  ],
  'indexes that do not start at 0': [
    [delta('a', { content_index: 1, output_index: 3 }), done(message('a'), 3), completed(message('a'))],
    [text('a')],
  ],
  'two items whose indexes start at 1': [
    [
      delta('a', { output_index: 1 }),
      delta('b', { output_index: 2 }),
      completed(message('a', { id: 'm1' }), message('b', { id: 'm2' })),
    ],
    [text('a'), text('b')],
  ],
  'IDs instead of indexes': [
    [added(message(), 0), delta('a', { item_id: 'm' }), done(message('a')), completed(message('a'))],
    [text('a')],
  ],
  'call IDs instead of indexes': [
    [
      added(call(), 1),
      added(call({ call_id: 'c2' }), 2),
      done(call({ arguments: '{"a":1}' })),
      done(call({ call_id: 'c2', arguments: '{"a":2}' })),
      completed(),
    ],
    [called('{"a":1}'), called('{"a":2}', { id: 'c2' })],
  ],
  'no IDs or indexes': [
    [
      added({ type: 'reasoning' }),
      done({ type: 'reasoning', summary: [], encrypted_content: 'e' }),
      added({ type: 'reasoning' }),
      { type: 'response.reasoning_summary_text.delta', delta: 'hm' },
      done({ type: 'reasoning' }),
      delta('a'),
      added(call()),
      { type: 'response.function_call_arguments.delta', delta: '{}' },
      completed(),
    ],
    [
      { type: 'reasoning', text: '', state: { origin, kind: 'encrypted', data: 'e' } },
      { type: 'reasoning', text: 'hm', isSummary: true },
      text('a'),
      called('{}'),
    ],
  ],
  'arguments that only the complete response has, at another index': [
    [
      added(call({ name: undefined }), 1),
      added(call({ call_id: 'c2' }), 2),
      completed(call({ arguments: '{"a":1}' }), call({ call_id: 'c2', arguments: '{"a":2}' })),
    ],
    [called('{"a":2}', { id: 'c2' }), called('{"a":1}')],
  ],
  'two messages, the first only in the complete response': [
    [delta('b', { output_index: 1 }), completed(message('a'), message('b'))],
    [text('b'), text('a')],
  ],
  'a complete response that lacks earlier content': [
    [
      added(message(), 0),
      delta('a', { output_index: 0 }),
      added(message(undefined, { id: 'n' }), 1),
      completed(message('b', { id: 'n' })),
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
