import fc from 'fast-check'
import { isObject } from '../../../../src/lib/json.ts'
import type { AssistantPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import { assert, suite } from '../../../support/suite.ts'
import { getEvents, written } from '../support/events.ts'
import { createCompleted, read } from '../support/read-stream.ts'
import { answerOf, payloads, readStream } from '../support/streams.ts'

const test = suite('item IDs that change from event to event, without an index')

const createItemAdded = (item: object) => ({ type: 'response.output_item.added', item })
const done = (item: object) => ({ type: 'response.output_item.done', item })
const delta = (item_id: string, modelOutput: string) => ({
  type: 'response.output_text.delta',
  item_id,
  delta: modelOutput,
})
const message = (id: string, text?: string) => ({
  ...{ type: 'message', id, role: 'assistant' },
  content: text === undefined ? [] : [{ type: 'output_text', text, annotations: [] }],
})
const text = (modelOutput: string) => ({ type: 'text', text: modelOutput })

/** Streams from various providers, with the expected parts. */
const table: Record<string, [events: object[], content: object[]]> = {
  'of a message': [
    [
      createItemAdded(message('x')),
      delta('y', 'a'),
      delta('z', 'b'),
      { type: 'response.output_text.done', item_id: 'q', text: 'ab' },
      done(message('w', 'ab')),
      createCompleted(message('v', 'ab')),
    ],
    [text('ab')],
  ],
  'of an unannounced message': [[delta('y', 'a'), delta('z', 'b'), createCompleted(message('v', 'ab'))], [text('ab')]],
  'of two messages': [
    [
      createItemAdded(message('x')),
      delta('y', 'a'),
      done(message('w', 'a')),
      delta('z', 'b'),
      done(message('v', 'b')),
      createCompleted(message('u', 'a'), message('t', 'b')),
    ],
    [text('a'), text('b')],
  ],
  'of a message whose end event lacks earlier content': [
    [createItemAdded(message('x')), delta('y', 'a'), delta('z', 'b'), createCompleted()],
    [text('ab')],
  ],
}

for (const [name, [events, content]] of Object.entries(table))
  test(`changing IDs ${name} don't cause repeated text`, () => {
    const recorded = read(...events)
    assert.equal(recorded.content, content)
    assert.is(recorded.events.filter(({ type }) => type === 'part-end').length, content.length)
  })

const output = fc.string({ minLength: 1, unit: 'grapheme' })
const part: fc.Arbitrary<AssistantPart> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text: output }),
  fc.record({ type: fc.constant('refusal' as const), text: output }),
  fc.record({ type: fc.constant('reasoning' as const), text: output }),
  fc.record({
    type: fc.constant('tool-call' as const),
    id: output,
    name: fc.stringMatching(/^[a-z]{1,8}$/),
    arguments: fc.constantFrom('{}', '{"a":1}', '{"b":[1,2,3]}'),
  }),
)
const content = fc.uniqueArray(part, { selector: (each) => ('id' in each ? each.id : each), maxLength: 6 })

/** Removes item indexes, and gives every event a new ID. */
function rotateIds(events: readonly string[]): string {
  let next = 0
  const turned = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(turned)
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => name !== 'output_index')
        .map(([name, inner]) => [name, name === 'id' || name === 'item_id' ? `id_${next++}` : turned(inner)]),
    )
  }
  return payloads(events)
    .map((event) => `data: ${JSON.stringify(turned(event))}\n\n`)
    .join('')
}

test('a stream with changing IDs is parsed like one with stable IDs', () => {
  fc.assert(
    fc.property(content, (parts) => {
      const events = written(getEvents(parts))
      const getContent = (stream: string) => answerOf(readStream(stream).events).content
      assert.equal(getContent(rotateIds(events)), getContent(events.join('')))
    }),
    { numRuns: 50 },
  )
})
