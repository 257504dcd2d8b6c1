import { anthropicTranslator } from '../../../../src/protocols/formats/anthropic-messages/anthropic-translator.ts'
import { createEventSequencer } from '../../../../src/protocols/formats/canonical/canonical-sequence.ts'
import type { StreamEvent } from '../../../../src/protocols/formats/canonical/canonical-stream.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

const test = suite('reading a Messages stream')

/** Reads a stream of events, and joins the fragments of texts and arguments. */
function read(content: readonly object[]) {
  const { read: context, responseWarnings } = contexts(anthropicTranslator)
  const events: StreamEvent[] = []
  const sequence = createEventSequencer((event) => events.push(event))
  const reader = anthropicTranslator.createReader(context, sequence.push)
  for (const event of content) reader.observe({ event: undefined, data: JSON.stringify(event) })
  reader.end()
  sequence.end()
  return { events, responseWarnings: responseWarnings.list(), ...summary(events) }
}

function summary(events: readonly StreamEvent[]) {
  const parts = new Map<number, string>()
  for (const event of events) {
    if (event.type === 'part-start') parts.set(event.key, `${formatHead(event)}: `)
    if (event.type === 'part-delta') parts.set(event.key, `${parts.get(event.key)}${event.text}`)
    if (event.type === 'part-state') parts.set(event.key, `${parts.get(event.key)}[${event.state.data}]`)
    if (event.type === 'part-citation') parts.set(event.key, `${parts.get(event.key)}<${event.citation.quote}>`)
  }
  const last = events.at(-1)
  return {
    parts: [...parts.values()],
    finish: last?.type === 'end' ? last.finishes.map(({ reason }) => reason).join() : `${last?.type}`,
    usage: last?.type === 'end' ? last.usage : undefined,
  }
}

function formatHead({ part }: StreamEvent & { type: 'part-start' }) {
  if (part.type === 'tool-call') return `${part.name}#${part.id}`
  if (part.type === 'server-tool') return `search "${part.query}" found ${part.results.map(({ url }) => url).join()}`
  return part.type === 'reasoning' && part.state ? `${part.type}[${part.state.data}]` : part.type
}

const begin = {
  type: 'message_start',
  message: { id: 'msg_1', model: 'claude', content: [], usage: { input_tokens: 10, output_tokens: 1 } },
}
const createBegin = (fields: object) => ({ ...begin, message: { ...begin.message, ...fields } })
const start = (index: number, block: object) => ({ type: 'content_block_start', index, content_block: block })
const delta = (index: number, fields: object) => ({ type: 'content_block_delta', index, delta: fields })
const text = (index: number, content: string) => delta(index, { type: 'text_delta', text: content })
const json = (index: number, content: string) => delta(index, { type: 'input_json_delta', partial_json: content })
const stop = (index: number) => ({ type: 'content_block_stop', index })
const finish = (reason: string | null, usage: object = { output_tokens: 5 }) => ({
  type: 'message_delta',
  delta: { stop_reason: reason, stop_sequence: null },
  usage,
})
const end = { type: 'message_stop' }
const TEXT = { type: 'text', text: '' }
const tool = (fields: object = {}) => ({ type: 'tool_use', id: 'a', name: 'f', input: {}, ...fields })
const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }
const results = {
  type: 'web_search_tool_result',
  tool_use_id: 's',
  content: [{ type: 'web_search_result', url: 'https://a', title: 'A', encrypted_content: 'x' }],
}

const wholeStart = createBegin({
  content: [{ ...TEXT, text: 'a' }, tool({ input: { x: 1 } })],
  stop_reason: 'tool_use',
})

/** Streams from various providers, with the expected parts and finish reason. */
const table: Record<string, [events: object[], parts: string[], finish?: string]> = {
  text: [[begin, start(0, TEXT), text(0, 'a'), text(0, 'b'), stop(0), finish('end_turn'), end], ['text: ab']],
  'a ping': [[begin, { type: 'ping' }, start(0, TEXT), text(0, 'a'), stop(0), finish('end_turn'), end], ['text: a']],
  'no message_stop': [[begin, start(0, TEXT), text(0, 'a'), stop(0), finish('end_turn')], ['text: a']],
  'no stop reason and no message_stop because the stream was cut off': [
    [begin, start(0, TEXT), text(0, 'a')],
    ['text: a'],
    'error',
  ],
  'a block without a stop': [[begin, start(0, TEXT), text(0, 'a'), finish('max_tokens'), end], ['text: a'], 'length'],
  'deltas without a start': [
    [begin, delta(0, { type: 'thinking_delta', thinking: 'hm' }), text(1, 'a'), finish('end_turn'), end],
    ['reasoning: hm', 'text: a'],
  ],
  "text in its block's start event": [
    [begin, start(0, { type: 'text', text: 'a' }), text(0, 'b'), stop(0), finish('end_turn'), end],
    ['text: ab'],
  ],
  'an empty text block, which is dropped': [[begin, start(0, TEXT), text(0, ''), stop(0), finish('end_turn'), end], []],
  'consecutive calls': [
    [
      ...[begin, start(0, tool()), json(0, ''), json(0, '{"x"'), json(0, ':1}'), stop(0)],
      ...[start(1, tool({ id: 'b', name: 'g' })), json(1, '{}'), stop(1), finish('tool_use'), end],
    ],
    ['f#a: {"x":1}', 'g#b: {}'],
    'tool-calls',
  ],
  'a call without arguments': [
    [begin, start(0, tool()), json(0, ''), stop(0), finish('tool_use'), end],
    ['f#a: '],
    'tool-calls',
  ],
  "a call that is complete in its block's start event": [
    [begin, start(0, tool({ input: { x: 1 } })), stop(0), finish('tool_use'), end],
    ['f#a: {"x":1}'],
    'tool-calls',
  ],
  'a placeholder before the arguments': [
    [begin, start(0, tool()), json(0, '{}'), json(0, '{"x":1}'), stop(0), finish('tool_use'), end],
    ['f#a: {"x":1}'],
    'tool-calls',
  ],
  'a call without an ID': [
    [begin, start(0, tool({ id: undefined })), json(0, '{}'), stop(0), finish('tool_use'), end],
    ['f#toolu_id1: {}'],
    'tool-calls',
  ],
  'a call cut off by the token limit': [
    [begin, start(0, tool()), json(0, '{"path":"/tm'), stop(0), finish('max_tokens'), end],
    ['f#a: {"path":"/tm'],
    'length',
  ],
  'a call with another stop reason': [
    [begin, start(0, tool()), json(0, '{}'), stop(0), finish('end_turn'), end],
    ['f#a: {}'],
    'tool-calls',
  ],
  'signed reasoning': [
    [
      ...[begin, start(0, { type: 'thinking', thinking: '', signature: '' })],
      delta(0, { type: 'thinking_delta', thinking: 'hm' }),
      ...[delta(0, { type: 'signature_delta', signature: 'sig' }), stop(0), start(1, TEXT), text(1, 'a'), stop(1)],
      ...[finish('end_turn'), end],
    ],
    ['reasoning: hm[sig]', 'text: a'],
  ],
  'a signature without reasoning text': [
    [
      ...[begin, start(0, { type: 'thinking', thinking: '', signature: '' })],
      ...[delta(0, { type: 'signature_delta', signature: 'sig' }), stop(0), finish('end_turn'), end],
    ],
    ['reasoning: [sig]'],
  ],
  'empty unsigned reasoning, which is dropped': [
    [begin, start(0, { type: 'thinking', thinking: '', signature: '' }), stop(0), finish('end_turn'), end],
    [],
  ],
  'redacted reasoning': [
    [begin, start(0, { type: 'redacted_thinking', data: 'r' }), stop(0), finish('end_turn'), end],
    ['reasoning[r]: '],
  ],
  'citations before the text': [
    [
      ...[begin, start(0, { ...TEXT, citations: [] })],
      delta(0, {
        type: 'citations_delta',
        citation: { type: 'char_location', cited_text: 'q', document_index: 0, start_char_index: 0, end_char_index: 1 },
      }),
      ...[text(0, 'a'), stop(0), finish('end_turn'), end],
    ],
    ['text: <q>a'],
  ],
  'a search with its results': [
    [
      ...[begin, start(0, search), json(0, '{"query"'), json(0, ':"cats"}'), stop(0), start(1, results), stop(1)],
      ...[start(2, TEXT), text(2, 'a'), stop(2), finish('end_turn'), end],
    ],
    ['search "cats" found https://a: ', 'text: a'],
  ],
  'a repeated start before the blocks': [
    [begin, begin, start(0, TEXT), text(0, 'a'), stop(0), finish('end_turn'), end],
    ['text: a'],
  ],
  'a repeated start between the blocks': [
    [
      ...[begin, start(0, TEXT), text(0, 'a'), stop(0), begin],
      ...[start(1, TEXT), text(1, 'b'), stop(1), finish('end_turn'), end],
    ],
    ['text: a'],
    'error',
  ],
  'an entire message in its start event': [[wholeStart, end], ['text: a', 'f#a: {"x":1}'], 'tool-calls'],
  'an entire message that starts twice': [[wholeStart, wholeStart, end], ['text: a', 'f#a: {"x":1}'], 'tool-calls'],
  'a start event with an empty text that its block repeats': [
    [createBegin({ content: [TEXT] }), start(0, TEXT), text(0, 'a'), stop(0), finish('end_turn'), end],
    ['text: a'],
  ],
  'a full context window': [
    [begin, start(0, TEXT), text(0, 'a'), stop(0), finish('model_context_window_exceeded'), end],
    ['text: a'],
    'context-window',
  ],
}

for (const [name, [events, parts, reason = 'stop']] of Object.entries(table)) {
  test(`parses a Messages stream with ${name}`, () => {
    const recorded = read(events)
    assert.equal(recorded.parts, parts)
    assert.is(recorded.finish, reason)
  })
}

test('a repeated message_start produces one start event, with the ID, model, and input tokens', () => {
  const { events } = read([begin, begin, finish('end_turn'), end])
  const starts = events.filter(({ type }) => type === 'start')
  const usage = { inputTokens: 10, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
  assert.equal(starts, [{ type: 'start', id: 'msg_1', model: 'claude', usage }])
})

test('later non-null usage counts replace earlier ones, and cached tokens count as input', () => {
  const first = createBegin({ usage: { input_tokens: 10, cache_read_input_tokens: 100 } })
  const getUsage = (usage: object) => read([first, finish('end_turn', usage), end]).usage
  const expected = { inputTokens: 110, outputTokens: 5, cacheReadTokens: 100, cacheWriteTokens: 0, reasoningTokens: 0 }
  assert.equal(getUsage({ output_tokens: 5, input_tokens: null }), expected)
  const details = { output_tokens_details: { thinking_tokens: 3 }, cache_creation_input_tokens: 1000 }
  assert.equal(getUsage({ output_tokens: 5, input_tokens: 20, ...details }), {
    ...expected,
    ...{ inputTokens: 1120, cacheWriteTokens: 1000, reasoningTokens: 3 },
  })
})

test('the end event contains the stop sequence and the explanation of a refusal', () => {
  const last = (fields: object) => read([begin, { ...finish(null), delta: fields }, end]).events.at(-1)
  const stopped = last({ stop_reason: 'stop_sequence', stop_sequence: 'END' })
  assert.ok(stopped?.type === 'end')
  assert.equal(stopped.finishes, [{ reason: 'stop-sequence', raw: 'stop_sequence', stopSequence: 'END' }])
  const rejected = last({ stop_reason: 'refusal', stop_details: { type: 'refusal', explanation: 'no' } })
  assert.ok(rejected?.type === 'end')
  assert.equal(rejected.finishes, [{ reason: 'content-filter', raw: 'refusal', explanation: 'no' }])
})

test('an error event ends the response, with its kind and message', () => {
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  const expected = {
    kind: 'overloaded',
    status: 529,
    message: 'Overloaded',
    code: 'overloaded_error',
    source: { status: 529, message: 'Overloaded', error: error.error },
  }
  assert.equal(read([error]).events, [{ type: 'error', error: expected }])
  const { usage, ...last } = Object(read([begin, start(0, TEXT), text(0, 'a'), error, end]).events.at(-1))
  assert.equal(last, { type: 'error', error: expected })
  assert.equal([usage.inputTokens, usage.outputTokens], [10, 1])
})

test('a block without a canonical equivalent causes a warning', () => {
  const run = { type: 'server_tool_use', id: 'x', name: 'bash_code_execution', input: {} }
  const ran = { type: 'bash_code_execution_tool_result', tool_use_id: 'x', content: {} }
  const { parts, responseWarnings } = read([
    ...[begin, start(0, run), json(0, '{}'), stop(0), start(1, ran), stop(1)],
    ...[start(2, TEXT), text(2, 'a'), stop(2), finish('end_turn'), end],
  ])
  assert.equal(parts, ['text: a'])
  assert.equal(responseWarnings, ['dropped:answer.server_tool_use', 'dropped:answer.bash_code_execution_tool_result'])
  assert.equal(read([begin, start(0, tool({ name: '' })), stop(0), finish('tool_use'), end]).responseWarnings, [
    'dropped:answer.tool_use',
  ])
})
