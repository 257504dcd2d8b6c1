import { messagesTranslator } from '../../../src/formats/anthropic-messages/translator.ts'
import type { Answer, Finish } from '../../../src/formats/canonical/answer.ts'
import type { AssistantPart } from '../../../src/formats/canonical/parts.ts'
import type { CanonicalRequest } from '../../../src/formats/canonical/request.ts'
import { unsealState } from '../../../src/formats/canonical/state.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'

const read = suite('reading a message')

const message = (content: unknown, fields: object = {}) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content, stop_reason: 'end_turn' },
  ...{ stop_sequence: null, usage: { input_tokens: 3, output_tokens: 4, service_tier: 'standard' } },
  ...fields,
})

function parse(content: unknown, fields: object = {}) {
  const { read: context, losses } = contexts(messagesTranslator)
  const answer = messagesTranslator.parseAnswer(message(content, fields), context)
  return {
    ...answer,
    content: answer.choices[0]?.content,
    finish: answer.choices[0]?.finish,
    losses: losses.list(),
  }
}

const { origin } = contexts(messagesTranslator).read
const citation = {
  ...{ type: 'page_location', cited_text: 'q', document_index: 1, document_title: 'D', file_id: null },
  ...{ start_page_number: 2, end_page_number: 3 },
}

const blocks: Record<string, [block: unknown, parts: AssistantPart[]]> = {
  'a text': [{ type: 'text', text: 'a' }, [{ type: 'text', text: 'a' }]],
  'an empty text': [{ type: 'text', text: '' }, []],
  'a text with its citations': [
    { type: 'text', text: 'a', citations: [citation] },
    [
      {
        ...{ type: 'text', text: 'a' },
        citations: [{ title: 'D', quote: 'q', document: 1, place: { unit: 'page', start: 2, end: 3 } }],
      },
    ],
  ],
  'signed thoughts': [
    { type: 'thinking', thinking: 'hm', signature: 's' },
    [{ type: 'reasoning', text: 'hm', state: { origin, kind: 'signature', data: 's' } }],
  ],
  'a signature without thoughts': [
    { type: 'thinking', thinking: '', signature: 's' },
    [{ type: 'reasoning', text: '', state: { origin, kind: 'signature', data: 's' } }],
  ],
  'thoughts without a signature': [{ type: 'thinking', thinking: 'hm' }, [{ type: 'reasoning', text: 'hm' }]],
  'thoughts with neither': [{ type: 'thinking', thinking: '', signature: '' }, []],
  'thoughts that nobody may read': [
    { type: 'redacted_thinking', data: 'r' },
    [{ type: 'reasoning', text: '', state: { origin, kind: 'redacted', data: 'r' } }],
  ],
  'a call': [
    { type: 'tool_use', id: 'a', name: 'f', input: { x: [1, 'é'] }, caller: { type: 'direct' } },
    [{ type: 'tool-call', id: 'a', name: 'f', arguments: '{"x":[1,"é"]}' }],
  ],
  'a call without arguments': [
    { type: 'tool_use', id: 'a', name: 'f' },
    [{ type: 'tool-call', id: 'a', name: 'f', arguments: '{}' }],
  ],
}

for (const [name, [block, parts]] of Object.entries(blocks)) {
  read(`understands ${name}`, () => assert.equal(parse([block]).content, parts))
}

read('understands a search with what it found', () => {
  const found = [{ type: 'web_search_result', url: 'https://a', title: 'A', encrypted_content: 'x', page_age: null }]
  const { content } = parse([
    { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'cats' } },
    { type: 'web_search_tool_result', tool_use_id: 's', content: found },
  ])
  const results = [{ url: 'https://a', title: 'A' }]
  assert.equal(content, [{ type: 'server-tool', tool: 'web-search', id: 's', query: 'cats', results }])
})

const reasons: [wire: string | null, reason: Finish['reason']][] = [
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop-sequence'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'context-window'],
  ['refusal', 'content-filter'],
  ['pause_turn', 'pause'],
  ['something_new', 'stop'],
  ['tool_use', 'stop'], // without a call
  [null, 'stop'],
]

for (const [wire, reason] of reasons) {
  read(`knows why an answer ended: ${wire}`, () => {
    assert.is(parse([{ type: 'text', text: 'a' }], { stop_reason: wire }).finish?.reason, reason)
  })
}

read('a call is the reason, unless it was cut', () => {
  const call = { type: 'tool_use', id: 'a', name: 'f', input: {} }
  assert.is(parse([call], { stop_reason: 'end_turn' }).finish?.reason, 'tool-calls')
  assert.is(parse([call], { stop_reason: 'max_tokens' }).finish?.reason, 'length')
})

read('counts cached tokens as input', () => {
  const usage = { input_tokens: 10, cache_creation_input_tokens: 100, cache_read_input_tokens: 1000, output_tokens: 5 }
  assert.equal(parse([], { usage }).usage, {
    ...{ inputTokens: 1110, outputTokens: 5, cacheReadTokens: 1000, cacheWriteTokens: 100, reasoningTokens: 0 },
  })
})

read('tells id, model and tier', () => {
  const { id, model, serviceTier } = parse([])
  assert.equal([id, model, serviceTier], ['msg_1', 'claude', 'default'])
})

read('what other formats have no part for is told as a loss', () => {
  const block = { type: 'bash_code_execution_tool_result', tool_use_id: 'x', content: {} }
  assert.equal(parse([block, { type: 'text', text: 'a' }]).losses, ['dropped:answer.bash_code_execution_tool_result'])
})

read('an answer that is no message is refused', () => {
  assert.throws(
    () => messagesTranslator.parseAnswer({ choices: [] }, contexts(messagesTranslator).read),
    (error: { code: string }) => error.code === 'UPSTREAM_INVALID',
  )
})

const write = suite('writing a message')

function written(content: AssistantPart[], fields: Partial<Answer> = {}, request: Partial<CanonicalRequest> = {}) {
  const answer: Answer = { choices: [{ content, finish: { reason: 'stop' } }], ...fields }
  return messagesTranslator.writeAnswer(answer, contexts(messagesTranslator).write(request))
}

write("has all fields that the vendor's own has", () => {
  const usage = { inputTokens: 1110, outputTokens: 5, cacheReadTokens: 1000, cacheWriteTokens: 100, reasoningTokens: 2 }
  assert.equal(written([{ type: 'text', text: 'a' }], { usage, serviceTier: 'priority' }), {
    ...{ id: 'msg_id1', type: 'message', role: 'assistant', model: 'm', container: null, diagnostics: null },
    content: [{ type: 'text', text: 'a' }],
    ...{ stop_reason: 'end_turn', stop_sequence: null, stop_details: null },
    usage: {
      ...{ input_tokens: 10, cache_creation_input_tokens: 100, cache_read_input_tokens: 1000, output_tokens: 5 },
      ...{ output_tokens_details: { thinking_tokens: 2 }, server_tool_use: null, cache_creation: null },
      ...{ inference_geo: null, service_tier: 'priority', speed: null },
    },
  })
})

write('counts no token of the input twice, though its provider may', () => {
  const usage = { inputTokens: 100, outputTokens: 5, cacheReadTokens: 90, cacheWriteTokens: 90 }
  const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens } = Object(
    written([{ type: 'text', text: 'a' }], { usage }).usage,
  )
  assert.equal([input_tokens, cache_read_input_tokens, cache_creation_input_tokens], [0, 90, 10])
})

const finishes: [finish: Finish, wire: object][] = [
  [{ reason: 'stop' }, { stop_reason: 'end_turn', stop_sequence: null, stop_details: null }],
  [
    { reason: 'stop-sequence', stopSequence: 'END' },
    { stop_reason: 'stop_sequence', stop_sequence: 'END', stop_details: null },
  ],
  [{ reason: 'tool-calls' }, { stop_reason: 'tool_use', stop_sequence: null, stop_details: null }],
  [{ reason: 'length' }, { stop_reason: 'max_tokens', stop_sequence: null, stop_details: null }],
  [
    { reason: 'context-window' },
    { stop_reason: 'model_context_window_exceeded', stop_sequence: null, stop_details: null },
  ],
  [
    { reason: 'content-filter', explanation: 'no' },
    {
      ...{ stop_reason: 'refusal', stop_sequence: null },
      stop_details: { type: 'refusal', category: null, explanation: 'no' },
    },
  ],
  [{ reason: 'pause' }, { stop_reason: 'pause_turn', stop_sequence: null, stop_details: null }],
  [{ reason: 'malformed-call' }, { stop_reason: 'end_turn', stop_sequence: null, stop_details: null }],
]

for (const [finish, wire] of finishes) {
  write(`tells why it ended: ${finish.reason}`, () => {
    const { stop_reason, stop_sequence, stop_details } = written([], { choices: [{ content: [], finish }] })
    assert.equal({ stop_reason, stop_sequence, stop_details }, wire)
  })
}

write('a refusal is text, and the reason', () => {
  const { content, stop_reason } = written([{ type: 'refusal', text: 'no' }])
  assert.equal([content, stop_reason], [[{ type: 'text', text: 'no' }], 'refusal'])
})

write('arguments are an object, and none are lost', () => {
  const input = (said: string) =>
    Object(written([{ type: 'tool-call', id: 'a', name: 'f', arguments: said }]).content)[0].input
  assert.equal(input('{"a":1}'), { a: 1 })
  assert.equal(input(''), {})
  assert.equal(input('{"path":"/tm'), { _raw: '{"path":"/tm' })
})

write('state of other makers stands sealed in thoughts, and returns to its part', () => {
  const gemini = { origin: { format: 'gemini', account: 'g' }, kind: 'thought-signature', data: 't' } as const
  const parts: AssistantPart[] = [
    { type: 'reasoning', text: 'hm', state: { origin, kind: 'encrypted', data: 'e', id: 'rs_1' } },
    { type: 'text', text: 'a', state: gemini },
    { type: 'tool-call', id: 'c', name: 'f', arguments: '{}', state: gemini },
  ]
  const { content } = written(parts)
  assert.equal(
    Object(content).map(({ type }: { type: string }) => type),
    ['thinking', 'text', 'thinking', 'thinking', 'tool_use'],
  )
  const { signature } = Object(content)[0]
  assert.equal(
    unsealState(signature, { format: 'gemini', kind: 'text' }),
    parts[0]?.type === 'reasoning' && parts[0].state,
  )
  const { turns } = messagesTranslator.parseRequest(
    { model: 'm', messages: [{ role: 'assistant', content }] },
    contexts(messagesTranslator),
  )
  assert.equal(turns, [{ role: 'assistant', content: parts }])
})

write('a client that wants no thoughts gets their proof alone', () => {
  const state = { origin, kind: 'signature', data: 's' } as const
  const request = { options: { reasoning: { effort: 'high', show: 'none' } } } as const
  const [block, ...others] = Object(
    written(
      [
        { type: 'reasoning', text: 'hm', state },
        { type: 'reasoning', text: 'bare' },
      ],
      {},
      request,
    ).content,
  )
  assert.is(block.thinking, '')
  assert.equal(unsealState(block.signature, { format: 'gemini', kind: 'text' }), state)
  assert.equal(others, [])
})
