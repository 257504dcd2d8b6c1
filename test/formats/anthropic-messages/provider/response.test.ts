import { anthropicTranslator } from '../../../../src/protocols/formats/anthropic-messages/anthropic-translator.ts'
import type { AssistantPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { Finish } from '../../../../src/protocols/formats/canonical/canonical-response.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

const read = suite('parsing a message')

const message = (content: unknown, fields: object = {}) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content, stop_reason: 'end_turn' },
  ...{ stop_sequence: null, usage: { input_tokens: 3, output_tokens: 4, service_tier: 'standard' } },
  ...fields,
})

function parse(content: unknown, fields: object = {}) {
  const { read: context, responseWarnings } = contexts(anthropicTranslator)
  const response = anthropicTranslator.parseResponse(message(content, fields), context)
  return {
    ...response,
    content: response.choices[0]?.content,
    finish: response.choices[0]?.finish,
    responseWarnings: responseWarnings.list(),
  }
}

const { origin } = contexts(anthropicTranslator).read
const citation = {
  ...{ type: 'page_location', cited_text: 'q', document_index: 1, document_title: 'D', file_id: null },
  ...{ start_page_number: 2, end_page_number: 3 },
}

const blocks: Record<string, [block: unknown, parts: AssistantPart[]]> = {
  'a text': [{ type: 'text', text: 'a' }, [{ type: 'text', text: 'a' }]],
  'an empty text block': [{ type: 'text', text: '' }, []],
  'text with citations': [
    { type: 'text', text: 'a', citations: [citation] },
    [
      {
        ...{ type: 'text', text: 'a' },
        citations: [{ title: 'D', quote: 'q', document: 1, position: { unit: 'page', start: 2, end: 3 } }],
      },
    ],
  ],
  'signed reasoning': [
    { type: 'thinking', thinking: 'hm', signature: 's' },
    [{ type: 'reasoning', text: 'hm', state: { origin, kind: 'signature', data: 's' } }],
  ],
  'a signature without reasoning text': [
    { type: 'thinking', thinking: '', signature: 's' },
    [{ type: 'reasoning', text: '', state: { origin, kind: 'signature', data: 's' } }],
  ],
  'reasoning without a signature': [{ type: 'thinking', thinking: 'hm' }, [{ type: 'reasoning', text: 'hm' }]],
  'empty reasoning': [{ type: 'thinking', thinking: '', signature: '' }, []],
  'redacted reasoning': [
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
  read(`parses ${name}`, () => assert.equal(parse([block]).content, parts))
}

read('parses a web search with its results', () => {
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
  ['tool_use', 'stop'], // the response contains no call
  [null, 'stop'],
]

for (const [wire, reason] of reasons) {
  read(`parses the stop reason: ${wire}`, () => {
    assert.is(parse([{ type: 'text', text: 'a' }], { stop_reason: wire }).finish?.reason, reason)
  })
}

read('the finish reason is tool-calls if there are calls, unless the response was cut off', () => {
  const call = { type: 'tool_use', id: 'a', name: 'f', input: {} }
  assert.is(parse([call], { stop_reason: 'end_turn' }).finish?.reason, 'tool-calls')
  assert.is(parse([call], { stop_reason: 'max_tokens' }).finish?.reason, 'length')
})

read('cached tokens count as input', () => {
  const usage = { input_tokens: 10, cache_creation_input_tokens: 100, cache_read_input_tokens: 1000, output_tokens: 5 }
  assert.equal(parse([], { usage }).usage, {
    ...{ inputTokens: 1110, outputTokens: 5, cacheReadTokens: 1000, cacheWriteTokens: 100, reasoningTokens: 0 },
  })
})

read("parses a response's ID, model, and service tier", () => {
  const { id, model, serviceTier } = parse([])
  assert.equal([id, model, serviceTier], ['msg_1', 'claude', 'default'])
})

read('a block without a canonical equivalent causes a warning', () => {
  const block = { type: 'bash_code_execution_tool_result', tool_use_id: 'x', content: {} }
  assert.equal(parse([block, { type: 'text', text: 'a' }]).responseWarnings, [
    'dropped:answer.bash_code_execution_tool_result',
  ])
})

read('a response without content is rejected', () => {
  assert.throws(
    () => anthropicTranslator.parseResponse({ choices: [] }, contexts(anthropicTranslator).read),
    (error: { code: string }) => error.code === 'UPSTREAM_INVALID',
  )
})
