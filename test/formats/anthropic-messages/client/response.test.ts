import { anthropicTranslator } from '../../../../src/protocols/formats/anthropic-messages/anthropic-translator.ts'
import type { AssistantPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { CanonicalRequest } from '../../../../src/protocols/formats/canonical/canonical-request.ts'
import type { CanonicalResponse, Finish } from '../../../../src/protocols/formats/canonical/canonical-response.ts'
import { unsealState } from '../../../../src/protocols/formats/canonical/canonical-state.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

const { origin } = contexts(anthropicTranslator).read

const write = suite('writing a message')

function written(
  content: AssistantPart[],
  fields: Partial<CanonicalResponse> = {},
  request: Partial<CanonicalRequest> = {},
) {
  const response: CanonicalResponse = { choices: [{ content, finish: { reason: 'stop' } }], ...fields }
  return anthropicTranslator.writeResponse(response, contexts(anthropicTranslator).write(request))
}

write("writes every field of Anthropic's own messages", () => {
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

write('input tokens are counted once, even if the provider counts them twice', () => {
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
  write(`maps the finish reason ${finish.reason}`, () => {
    const { stop_reason, stop_sequence, stop_details } = written([], { choices: [{ content: [], finish }] })
    assert.equal({ stop_reason, stop_sequence, stop_details }, wire)
  })
}

write('a refusal becomes text and the stop reason', () => {
  const { content, stop_reason } = written([{ type: 'refusal', text: 'no' }])
  assert.equal([content, stop_reason], [[{ type: 'text', text: 'no' }], 'refusal'])
})

write('call arguments become an object without losing any', () => {
  const input = (value: string) =>
    Object(written([{ type: 'tool-call', id: 'a', name: 'f', arguments: value }]).content)[0].input
  assert.equal(input('{"a":1}'), { a: 1 })
  assert.equal(input(''), {})
  assert.equal(input('{"path":"/tm'), { _raw: '{"path":"/tm' })
})

write("thinking blocks contain other vendors' encrypted state, which returns to its part when sent back", () => {
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
  const { turns } = anthropicTranslator.parseRequest(
    { model: 'm', messages: [{ role: 'assistant', content }] },
    contexts(anthropicTranslator),
  )
  assert.equal(turns, [{ role: 'assistant', content: parts }])
})

write('a client that hides reasoning receives only signatures', () => {
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
