import type { StreamEvent } from '../../../src/protocols/formats/canonical/canonical-stream.ts'
import { serializeParts } from '../../../src/protocols/formats/canonical/serialize-parts.ts'
import { assert, suite } from '../../support/suite.ts'

const start = (key: number): StreamEvent => ({
  type: 'part-start',
  key,
  candidate: 0,
  part: { type: 'text', text: '' },
})
const delta = (key: number, text: string): StreamEvent => ({ type: 'part-delta', key, text })
const end = (key: number): StreamEvent => ({ type: 'part-end', key })

function run(events: StreamEvent[]) {
  const result: StreamEvent[] = []
  const take = serializeParts((event) => result.push(event))
  for (const event of events) take(event)
  return result
}

const test = suite('serializing interleaved parts')

test('interleaved parts are emitted sequentially, in the order of their starts', () => {
  const events = [
    start(0),
    start(1),
    delta(0, 'a'),
    delta(1, 'x'),
    delta(0, 'b'),
    start(2),
    end(1),
    delta(2, '!'),
    end(0),
  ]
  assert.equal(run([...events, delta(2, '?'), end(2)]), [
    ...[start(0), delta(0, 'a'), delta(0, 'b'), end(0)],
    ...[start(1), delta(1, 'x'), end(1)],
    ...[start(2), delta(2, '!'), delta(2, '?'), end(2)],
  ])
})

test('events for the open part, and events outside any part, are emitted immediately', () => {
  const error: StreamEvent = { type: 'error', error: { kind: 'server', status: 500, message: '' } }
  assert.equal(run([{ type: 'start' }, start(0), start(1), delta(0, 'a'), error]), [
    { type: 'start' },
    start(0),
    delta(0, 'a'),
    error,
  ])
})
