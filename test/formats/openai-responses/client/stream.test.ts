import type { AssistantPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import { sealState } from '../../../../src/protocols/formats/canonical/canonical-state.ts'
import { responsesTranslator } from '../../../../src/protocols/formats/openai-responses/responses-translator.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'
import { getEvents, written } from '../support/events.ts'
import { payloads, receivedBy } from '../support/streams.ts'

const test = suite('writing a Responses stream for a client')

const text = (value: string, fields = {}): AssistantPart => ({ type: 'text', text: value, ...fields })
const call = (id: string, args: string, fields = {}): AssistantPart => ({
  type: 'tool-call',
  id,
  name: 'f',
  arguments: args,
  ...fields,
})

/** Returns the names of the events between the first two and the last, without their common prefix. */
const getNames = (events: readonly string[]) =>
  payloads(events)
    .slice(2, -1)
    .map(({ type }) => String(type).replace('response.', ''))

/** Parts, with the expected events. */
const orders: Record<string, [content: AssistantPart[], names: string[]]> = {
  'a text': [
    [text('abcdef')],
    [
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
    ],
  ],
  'cited text and a refusal in one message': [
    [text('abc', { citations: [{ url: 'https://a' }, { document: 1 }] }), { type: 'refusal', text: 'no' }],
    [
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.annotation.added',
      'output_text.done',
      'content_part.done',
      'content_part.added',
      'refusal.delta',
      'refusal.done',
      'content_part.done',
      'output_item.done',
    ],
  ],
  'a call': [
    [call('c1', '{"a":1}')],
    [
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.delta',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
    ],
  ],
  'a call without arguments': [
    [call('c1', '')],
    ['output_item.added', 'function_call_arguments.delta', 'function_call_arguments.done', 'output_item.done'],
  ],
  'a free-form call': [
    [call('c1', '***', { isFreeForm: true })],
    ['output_item.added', 'custom_tool_call_input.delta', 'custom_tool_call_input.done', 'output_item.done'],
  ],
  reasoning: [
    [{ type: 'reasoning', text: 'hm' }],
    [
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
    ],
  ],
  'a search': [
    [{ type: 'server-tool', tool: 'web-search', id: 'x', query: 'q', results: [] }],
    ['output_item.added', 'web_search_call.in_progress', 'web_search_call.completed', 'output_item.done'],
  ],
  'an image': [
    [{ type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' } }],
    ['output_item.added', 'image_generation_call.in_progress', 'image_generation_call.completed', 'output_item.done'],
  ],
  'empty parts, which have no events': [[text(''), { type: 'reasoning', text: '' }, { type: 'refusal', text: '' }], []],
}

for (const [name, [content, names]] of Object.entries(orders))
  test(`events are in the right order: ${name}`, async () => {
    const events = written(getEvents(content))
    assert.equal(getNames(events), names)
    await receivedBy(events)
  })

test('every event is complete, named, and numbered, and the last event contains the complete response', () => {
  const events = written(getEvents([text('abc'), call('c1', '{}'), text('d')]))
  for (const event of events) assert.match(event, /^event: ([a-z_.]+)\ndata: \{"type":"\1",[^\n]*\}\n\n$/)
  const recorded = payloads(events)
  assert.equal(
    recorded.map(({ sequence_number }) => sequence_number),
    [...events.keys()],
  )
  assert.equal(
    recorded.slice(0, 2).map(({ type }) => type),
    ['response.created', 'response.in_progress'],
  )
  const items = recorded.flatMap(({ type, item }) => (type === 'response.output_item.done' ? [item] : []))
  const { type, response } = recorded.at(-1) as {
    type: string
    response: { output: unknown; status: string; usage: object }
  }
  assert.is(type, 'response.completed')
  assert.is(response.status, 'completed')
  assert.equal(response.output, items)
  assert.is(items.length, 3)
  assert.equal(
    recorded.flatMap(({ type, output_index }) => (type === 'response.output_item.added' ? [output_index] : [])),
    [0, 1, 2],
  )
})

test("OpenAI's client can read the stream", async () => {
  const state = { origin: { format: 'anthropic-messages', account: 'a' }, kind: 'signature', data: 's' } as const
  const received = await receivedBy(
    written(
      getEvents([{ type: 'reasoning', text: 'hm', state }, text('abc'), call('c1', '{"a":1}'), call('c2', '{}')]),
    ),
  )
  assert.is(received.output_text, 'abc')
  const [thought, , first, second] = received.output
  assert.ok(thought?.type === 'reasoning' && first?.type === 'function_call' && second?.type === 'function_call')
  assert.is(thought.encrypted_content, sealState(state))
  assert.equal([first.call_id, first.arguments, first.status], ['c1', '{"a":1}', 'completed'])
  assert.equal([second.call_id, second.arguments], ['c2', '{}'])
  assert.is(received.usage?.total_tokens, 7)
})

test('interleaved calls are written sequentially', async () => {
  const content = [call('c1', '{"a":1}'), call('c2', '{"b":2}')]
  const received = await receivedBy(written(getEvents(content, { isMixed: true })))
  assert.equal(
    received.output.map((item) => item.type === 'function_call' && item.arguments),
    ['{"a":1}', '{"b":2}'],
  )
})

test('a truncated call gets the status incomplete', () => {
  const recorded = payloads(written(getEvents([text('a'), call('c1', '{"pa')], { reason: 'length' })))
  const last = recorded.at(-1) as {
    type: string
    response: { output: { status: string }[]; incomplete_details: unknown }
  }
  assert.is(last.type, 'response.incomplete')
  assert.equal(last.response.incomplete_details, { reason: 'max_output_tokens' })
  assert.equal(
    last.response.output.map(({ status }) => status),
    ['completed', 'incomplete'],
  )
})

test('texts with different phases become separate messages', () => {
  const recorded = payloads(
    written(getEvents([text('a', { phase: 'commentary' }), text('b', { phase: 'final_answer' })])),
  )
  const { response } = recorded.at(-1) as { response: { output: { phase: string }[] } }
  assert.equal(
    response.output.map(({ phase }) => phase),
    ['commentary', 'final_answer'],
  )
})

test('an error becomes an error event and ends the response', async () => {
  const [start, ...parts] = getEvents([text('abc')]).slice(0, -1)
  assert.ok(start)
  const error = { kind: 'overloaded', status: 529, message: 'busy' } as const
  const events = written([start, ...parts.slice(0, 2), { type: 'error', error }])
  const [recorded, failed] = payloads(events).slice(-2)
  assert.equal(recorded, {
    type: 'error',
    sequence_number: 5,
    code: null,
    message: 'busy',
    param: null,
    error: { message: 'busy', type: 'server_error', param: null, code: null },
  })
  const { response, type } = failed as { type: string; response: { status: string; error: object; output: object[] } }
  assert.is(type, 'response.failed')
  assert.is(response.status, 'failed')
  assert.equal(response.error, { code: 'server_error', message: 'busy' })
  assert.is(response.output.length, 1)
  const received = await receivedBy(events).catch((error: Error) => error)
  assert.ok(received instanceof Error && received.message.includes('busy'))
})

test('a Responses stream can start with an error', () => {
  const error = { kind: 'context-overflow', status: 400, message: 'too long' } as const
  const recorded = payloads(written([{ type: 'error', error }]))
  assert.equal(
    recorded.map(({ type }) => type),
    ['error', 'response.failed'],
  )
  assert.is(recorded[0]?.code, 'context_length_exceeded')
})

test('Responses keep-alives are comments', () => {
  const { write } = contexts(responsesTranslator)
  assert.is(responsesTranslator.createWriter(write(), () => {}).keepAlive(), ': keep-alive\n\n')
})
