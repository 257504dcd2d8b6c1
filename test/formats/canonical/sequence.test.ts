import { createEventSequencer } from '../../../src/protocols/formats/canonical/canonical-sequence.ts'
import type { ReaderEvent, StreamEvent } from '../../../src/protocols/formats/canonical/canonical-stream.ts'
import { assert, suite } from '../../support/suite.ts'

const text = (key: number): ReaderEvent => ({ type: 'part-start', key, candidate: 0, part: { type: 'text', text: '' } })
const call = (key: number): ReaderEvent => ({
  type: 'part-start',
  key,
  candidate: 0,
  part: { type: 'tool-call', id: `call_${key}`, name: 'f', arguments: '' },
})
const finish = (reason: 'stop' | 'tool-calls' | 'length'): ReaderEvent => ({
  type: 'finish',
  candidate: 0,
  finish: { reason },
})
const usage = { inputTokens: 1, outputTokens: 2 }

function run(events: readonly ReaderEvent[]): StreamEvent[] {
  const result: StreamEvent[] = []
  const sequence = createEventSequencer((event) => result.push(event))
  for (const event of events) sequence.push(event)
  sequence.end()
  return result
}

const last = (events: readonly ReaderEvent[]) => run(events).at(-1)

const test = suite('the event sequence of a stream')

test('candidates beyond the requested number are dropped', () => {
  const result: StreamEvent[] = []
  const sequence = createEventSequencer((event) => result.push(event), 1)
  const events: ReaderEvent[] = [
    text(0),
    { type: 'part-start', key: 1, candidate: 1, part: { type: 'text', text: '' } },
    { type: 'part-delta', key: 1, text: 'b' },
    { type: 'finish', candidate: 1, finish: { reason: 'length' } },
    { type: 'part-delta', key: 0, text: 'a' },
    finish('stop'),
  ]
  for (const event of events) sequence.push(event)
  sequence.end()
  assert.equal(result.slice(2), [
    { type: 'part-delta', key: 0, text: 'a' },
    { type: 'part-end', key: 0 },
    { type: 'end', finishes: [{ reason: 'stop' }] },
  ])
})

test('a stream starts once, closes its parts, and ends with the finish reason and usage', () => {
  const expected = [
    { type: 'start' },
    text(0),
    { type: 'part-delta', key: 0, text: 'a' },
    { type: 'part-end', key: 0 },
    { type: 'end', finishes: [{ reason: 'length' }], usage },
  ]
  const delta: ReaderEvent = { type: 'part-delta', key: 0, text: 'a' }
  assert.equal(run([{ type: 'usage', usage }, text(0), delta, finish('length'), { type: 'done' }]), expected)
  assert.equal(run([text(0), delta, finish('length'), { type: 'usage', usage }]), expected)
  assert.equal(
    run([{ type: 'start' }, text(0), { type: 'start' }, delta, finish('length'), { type: 'usage', usage }]),
    expected,
  )
})

test('a stream without a finish or an end marker ends with an error', () => {
  const end = last([text(0)])
  assert.ok(end?.type === 'error' && end.error.code === 'UPSTREAM_CUT')
  assert.is(last([])?.type, 'error')
  assert.equal(last([text(0), finish('stop')]), { type: 'end', finishes: [{ reason: 'stop' }] })
  assert.equal(last([text(0), { type: 'done' }]), { type: 'end', finishes: [{ reason: 'stop' }] })
})

test("an unreadable event between a response's start and finish fails the stream", () => {
  const unreadable: ReaderEvent = { type: 'unreadable' }
  const end = last([text(0), unreadable, finish('stop'), { type: 'done' }])
  assert.ok(end?.type === 'error' && end.error.code === 'UPSTREAM_INVALID')
  assert.is(last([unreadable, text(0), finish('stop')])?.type, 'end')
  assert.is(last([text(0), finish('stop'), unreadable])?.type, 'end')
})

test("a stream in which one of several candidates didn't finish ends with an error", () => {
  const second: ReaderEvent = { type: 'part-start', key: 1, candidate: 1, part: { type: 'text', text: '' } }
  assert.is(last([text(0), second, finish('stop')])?.type, 'error')
})

test('the finish reason reflects calls in the content, but a truncated response stays truncated', () => {
  assert.equal(last([call(0), finish('stop')]), { type: 'end', finishes: [{ reason: 'tool-calls' }] })
  assert.equal(last([call(0), { type: 'done' }]), { type: 'end', finishes: [{ reason: 'tool-calls' }] })
  assert.equal(last([call(0), finish('length')]), { type: 'end', finishes: [{ reason: 'length' }] })
  assert.equal(last([text(0), finish('tool-calls')]), { type: 'end', finishes: [{ reason: 'stop' }] })
})

test('no event follows an error or the end', () => {
  const error = { kind: 'overloaded', status: 529, message: 'busy' } as const
  assert.equal(run([text(0), { type: 'error', error }, finish('stop'), { type: 'done' }]).slice(-2), [
    text(0),
    { type: 'error', error },
  ])
  assert.is(last([text(0), { type: 'done' }, { type: 'error', error }])?.type, 'end')
})
