import { createSseParser } from '../../../../src/lib/sse.ts'
import { anthropicTranslator } from '../../../../src/protocols/formats/anthropic-messages/anthropic-translator.ts'
import type { AssistantPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { CanonicalRequest } from '../../../../src/protocols/formats/canonical/canonical-request.ts'
import { unsealState } from '../../../../src/protocols/formats/canonical/canonical-state.ts'
import type { StreamEvent } from '../../../../src/protocols/formats/canonical/canonical-stream.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

const test = suite('writing a Messages stream')

/** Returns the events that a client receives, and checks that each write is a single complete event. */
function write(events: readonly StreamEvent[], request: Partial<CanonicalRequest> = {}) {
  const recorded: { type: string; [field: string]: unknown }[] = []
  const parser = createSseParser(({ event, data }) => {
    const output = JSON.parse(data)
    assert.is(output.type, event)
    recorded.push(output)
  })
  const writer = anthropicTranslator.createWriter(contexts(anthropicTranslator).write(request), (event) => {
    assert.ok(event.endsWith('\n\n'))
    assert.is(event.indexOf('\n\n'), event.length - 2)
    parser.push(event)
  })
  for (const event of events) writer.push(event)
  return recorded
}

const start = (key: number, part: AssistantPart): StreamEvent => ({ type: 'part-start', key, candidate: 0, part })
const text = (key: number) => start(key, { type: 'text', text: '' })
const thought = (key: number) => start(key, { type: 'reasoning', text: '' })
const call = (key: number) => start(key, { type: 'tool-call', id: `call_${key}`, name: 'f', arguments: '' })
const delta = (key: number, content: string): StreamEvent => ({ type: 'part-delta', key, text: content })
const stop = (key: number): StreamEvent => ({ type: 'part-end', key })
const end: StreamEvent = {
  type: 'end',
  finishes: [{ reason: 'stop' }],
  usage: { inputTokens: 1110, outputTokens: 7, cacheReadTokens: 1000, cacheWriteTokens: 100, reasoningTokens: 2 },
}
const origin = { format: 'openai-responses', account: 'openai/1' } as const
const state = { origin, kind: 'encrypted', data: 'g', id: 'rs_1' } as const

/** Summarizes the block events. */
const blocks = (events: readonly StreamEvent[], request?: Partial<CanonicalRequest>) =>
  write([{ type: 'start' }, ...events, end], request)
    .filter(({ type }) => type.startsWith('content_block'))
    .map(({ type, index, content_block, delta }) => [
      type.slice('content_block_'.length),
      index,
      content_block ?? delta,
    ])

test('a stream with text has all events from `message_start` to `message_stop`', () => {
  const usage = { inputTokens: 4, outputTokens: 1 }
  const recorded = write([{ type: 'start', usage }, text(0), delta(0, 'Hé'), delta(0, '!\n\n"'), stop(0), end])
  const nothing = { stop_reason: null, stop_sequence: null, stop_details: null }
  assert.equal(recorded, [
    {
      type: 'message_start',
      message: {
        ...{ id: 'msg_id1', type: 'message', role: 'assistant', model: 'm', content: [], container: null },
        ...{ diagnostics: null, ...nothing },
        usage: {
          ...{ input_tokens: 4, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 },
          ...{ output_tokens_details: null, server_tool_use: null, cache_creation: null, inference_geo: null },
          ...{ service_tier: null, speed: null },
        },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: null } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hé' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '!\n\n"' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null, stop_details: null, container: null },
      usage: {
        ...{ input_tokens: 10, cache_creation_input_tokens: 100, cache_read_input_tokens: 1000, output_tokens: 7 },
        ...{ output_tokens_details: { thinking_tokens: 2 }, server_tool_use: null },
      },
    },
    { type: 'message_stop' },
  ])
})

test("the start event estimates the input tokens if the provider hasn't reported them", () => {
  const turns = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'some '.repeat(800) }] }]
  const [first, last] = write([{ type: 'start' }, { type: 'end', finishes: [{ reason: 'stop' }] }], { turns })
  const { input_tokens } = Object(Object(first?.message).usage)
  assert.ok(input_tokens > 900 && input_tokens < 1_100, String(input_tokens))
  assert.is(Object(last?.usage).input_tokens, null)
})

test('interleaved calls are written sequentially', () => {
  const events = [
    call(0),
    call(1),
    delta(0, '{"x"'),
    delta(1, '{"y"'),
    delta(0, ':1}'),
    stop(0),
    delta(1, ':2}'),
    stop(1),
  ]
  const tool = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {}, caller: { type: 'direct' } })
  const json = (content: string) => ({ type: 'input_json_delta', partial_json: content })
  assert.equal(blocks(events), [
    ['start', 0, tool('call_0')],
    ['delta', 0, json('{"x"')],
    ['delta', 0, json(':1}')],
    ['stop', 0, undefined],
    ['start', 1, tool('call_1')],
    ['delta', 1, json('{"y"')],
    ['delta', 1, json(':2}')],
    ['stop', 1, undefined],
  ])
})

test('a thinking block ends with its encrypted signature', () => {
  const recorded = blocks([thought(0), delta(0, 'hm'), { type: 'part-state', key: 0, state }, stop(0)])
  assert.equal(recorded.slice(0, 2), [
    ['start', 0, { type: 'thinking', thinking: '', signature: '' }],
    ['delta', 0, { type: 'thinking_delta', thinking: 'hm' }],
  ])
  const { type, signature } = Object(recorded[2]?.[2])
  assert.is(type, 'signature_delta')
  assert.equal(unsealState(signature, { format: 'anthropic-messages', kind: 'signature' }), state)
})

test('reasoning without text gets a block only if it has state', () => {
  const recorded = blocks([thought(0), stop(0), thought(1), { type: 'part-state', key: 1, state }, stop(1)])
  assert.equal(
    recorded.map(([type, index]) => [type, index]),
    [
      ['start', 0],
      ['delta', 0],
      ['stop', 0],
    ],
  )
})

test('a redacted block is complete in its start event', () => {
  const redacted = { origin: { format: 'anthropic-messages', account: 'a' }, kind: 'redacted', data: 'r' } as const
  const [first, second] = blocks([start(0, { type: 'reasoning', text: '', state: redacted }), stop(0)])
  assert.is(Object(first?.[2]).type, 'redacted_thinking')
  assert.equal(unsealState(Object(first?.[2]).data, { format: 'gemini', kind: 'text' }), redacted)
  assert.equal(second, ['stop', 0, undefined])
})

test('a client that hides reasoning receives only signatures, and can still send the reasoning back', () => {
  const kept = { origin: { format: 'openai-chat', account: 'd' }, kind: 'text', data: '' } as const
  const request = { options: { reasoning: { effort: 'high', show: 'none' } } } as const
  const recorded = blocks([start(0, { type: 'reasoning', text: '', state: kept }), delta(0, 'hm'), stop(0)], request)
  assert.equal(
    recorded.map(([, , output]) => Object(output).type),
    ['thinking', 'signature_delta', undefined],
  )
  const { signature } = Object(recorded[1]?.[2])
  const block = { type: 'thinking', thinking: '', signature }
  const { turns } = anthropicTranslator.parseRequest(
    { model: 'm', messages: [{ role: 'assistant', content: [block] }] },
    contexts(anthropicTranslator),
  )
  assert.equal(turns, [{ role: 'assistant', content: [{ type: 'reasoning', text: 'hm', state: kept }] }])
})

test('empty text gets no block, because clients would send it back', () => {
  assert.equal(
    blocks([text(0), stop(0), call(1), stop(1)]).map(([, index]) => index),
    [0, 0],
  )
})

test("citations appear in their text's block", () => {
  const citation = { url: 'https://a', title: 'A', quote: 'q' }
  const recorded = blocks([text(0), { type: 'part-citation', key: 0, citation }, delta(0, 'a'), stop(0)])
  assert.equal(recorded[1]?.[2], {
    type: 'citations_delta',
    citation: {
      type: 'web_search_result_location',
      cited_text: 'q',
      encrypted_index: '',
      title: 'A',
      url: 'https://a',
    },
  })
})

test('a web search becomes a call block and a result block', () => {
  const results = [{ url: 'https://a', title: 'A' }]
  const recorded = blocks([
    start(0, { type: 'server-tool', tool: 'web-search', id: 's', query: 'cats', results }),
    stop(0),
  ])
  assert.equal(
    recorded.map(([type, index, output]) => [type, index, Object(output).type]),
    [
      ['start', 0, 'server_tool_use'],
      ['delta', 0, 'input_json_delta'],
      ['stop', 0, undefined],
      ['start', 1, 'web_search_tool_result'],
      ['stop', 1, undefined],
    ],
  )
})

test('a refusal becomes text and the stop reason', () => {
  const recorded = write([{ type: 'start' }, start(0, { type: 'refusal', text: '' }), delta(0, 'no'), stop(0), end])
  const details = { type: 'refusal', category: null, explanation: null }
  assert.equal(recorded.at(-2)?.delta, {
    stop_reason: 'refusal',
    stop_sequence: null,
    stop_details: details,
    container: null,
  })
})

test("an error becomes the stream's last event", () => {
  const error = { kind: 'overloaded', status: 503, message: 'busy' } as const
  const body = { type: 'error', error: { type: 'overloaded_error', message: 'busy' }, request_id: null }
  assert.equal(write([{ type: 'error', error }]), [body])
  assert.equal(write([{ type: 'start' }, text(0), delta(0, 'a'), { type: 'error', error }]).at(-1), body)
})

test('Messages keep-alives are ping events', () => {
  const writer = anthropicTranslator.createWriter(contexts(anthropicTranslator).write(), () => {})
  assert.is(writer.keepAlive(), 'event: ping\ndata: {"type": "ping"}\n\n')
})
