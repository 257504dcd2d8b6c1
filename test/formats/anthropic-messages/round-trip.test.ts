import fc from 'fast-check'
import { encodeUtf8 } from '../../../src/lib/bytes.ts'
import { createSseParser } from '../../../src/lib/sse.ts'
import { anthropicTranslator } from '../../../src/protocols/formats/anthropic-messages/anthropic-translator.ts'
import type { AssistantPart } from '../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { CanonicalResponse, Finish } from '../../../src/protocols/formats/canonical/canonical-response.ts'
import { createEventSequencer } from '../../../src/protocols/formats/canonical/canonical-sequence.ts'
import type { StreamEvent } from '../../../src/protocols/formats/canonical/canonical-stream.ts'
import { translateStream } from '../../../src/protocols/formats/translate-stream.ts'
import { busyMs } from '../../support/cpu-time.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'
import { finish, list, plainReply, reply, request, usage } from './support/arbitraries.ts'

const test = suite('Messages round trips')

const runs = { numRuns: 25 }

test('writing and reparsing a request leaves it unchanged', () => {
  fc.assert(
    fc.property(request, (input) => {
      const { target, warnings } = contexts(anthropicTranslator)
      const { body } = anthropicTranslator.writeRequest(input, target)
      assert.equal(anthropicTranslator.parseRequest(JSON.parse(JSON.stringify(body)), { warnings }), input)
      assert.equal(warnings.list(), [])
    }),
    runs,
  )
})

/** Removes Anthropic's own stop reason from the end of a response. */
const withoutWord = ({ raw: _, ...finish }: Finish): Finish => finish

const replies = fc.array(plainReply, { maxLength: 5 })

test('writing and reparsing a response leaves it unchanged', () => {
  fc.assert(
    fc.property(replies, finish, usage, (content, reason, counts) => {
      const { read, write } = contexts(anthropicTranslator)
      const input: CanonicalResponse = { choices: [{ content, finish: reason }], usage: counts, serviceTier: 'default' }
      const body = JSON.parse(JSON.stringify(anthropicTranslator.writeResponse(input, write())))
      const { choices, ...rest } = anthropicTranslator.parseResponse(body, read)
      const shown = { ...rest, choices: choices.map((choice) => ({ ...choice, finish: withoutWord(choice.finish) })) }
      assert.equal(shown, { id: 'msg_id1', model: 'm', ...input })
    }),
    runs,
  )
})

test('a response that the client sends back is unchanged, including all opaque state', () => {
  fc.assert(
    fc.property(list(reply), (content) => {
      const { warnings, write } = contexts(anthropicTranslator)
      const response = anthropicTranslator.writeResponse(
        { choices: [{ content, finish: { reason: 'stop' } }] },
        write(),
      )
      const body = { model: 'm', messages: [{ role: 'assistant', content: response.content }] }
      assert.equal(anthropicTranslator.parseRequest(body, { warnings }).turns, [{ role: 'assistant', content }])
    }),
    runs,
  )
})

test('writing and reparsing a stream leaves it unchanged', () => {
  fc.assert(
    fc.property(replies, finish, usage, (content, reason, counts) => {
      const { read, write } = contexts(anthropicTranslator)
      const recorded: StreamEvent[] = []
      const sequence = createEventSequencer((event) => recorded.push(event))
      const reader = anthropicTranslator.createReader(read, sequence.push)
      const parser = createSseParser(reader.observe)
      const writer = anthropicTranslator.createWriter(write(), parser.push)
      const end: StreamEvent = { type: 'end', finishes: [reason], usage: counts }
      const events = content.flatMap((part, key) => getEvents(part, key))
      for (const event of [{ type: 'start' } as const, ...events, end]) writer.push(event)
      const shown = recorded
        .slice(1)
        .map((event) => (event.type === 'end' ? { ...event, finishes: event.finishes.map(withoutWord) } : event))
      assert.equal(shown, [...events, end])
    }),
    runs,
  )
})

function getEvents(part: AssistantPart, key: number): StreamEvent[] {
  const start = (empty: AssistantPart): StreamEvent => ({ type: 'part-start', key, candidate: 0, part: empty })
  const delta = (value: string): StreamEvent => ({ type: 'part-delta', key, text: value })
  const end: StreamEvent = { type: 'part-end', key }
  if (part.type === 'tool-call') {
    const empty = part.arguments === '{}'
    return [start({ ...part, arguments: '' }), ...(empty ? [] : [delta(part.arguments)]), end]
  }
  if (part.type !== 'text') return [start(part), end]
  const citations = (part.citations ?? []).map((citation): StreamEvent => ({ type: 'part-citation', key, citation }))
  return [start({ type: 'text', text: '' }), delta(part.text), ...citations, end]
}

test('parsing megabytes of arguments takes linear time', () => {
  const piece = `event: content_block_delta\ndata: ${JSON.stringify({
    ...{ type: 'content_block_delta', index: 0 },
    delta: { type: 'input_json_delta', partial_json: '{"a":[{"b":1}]},'.repeat(4) },
  })}\n\n`
  const block = { type: 'tool_use', id: 'a', name: 'f', input: {} }
  const start = `data: ${JSON.stringify({ type: 'content_block_start', index: 0, content_block: block })}\n\n`
  const { read: readerContext, write } = contexts(anthropicTranslator)
  let length = 0
  const stream = translateStream(
    { from: anthropicTranslator, to: anthropicTranslator, readerContext, writerContext: write() },
    (event) => {
      length += event.length
    },
  )
  const before = busyMs()
  stream.push(encodeUtf8(start))
  for (let count = 0; count < 20_000; count++) stream.push(encodeUtf8(piece))
  assert.ok(length > 20_000 * piece.length)
  assert.ok(busyMs() - before < 10_000)
})
