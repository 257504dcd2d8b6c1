import type { JsonObject } from '../../../../src/lib/json.ts'
import type { AssistantPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { CanonicalResponse, FinishReason } from '../../../../src/protocols/formats/canonical/canonical-response.ts'
import type { OpaqueState } from '../../../../src/protocols/formats/canonical/canonical-state.ts'
import { chatTranslator } from '../../../../src/protocols/formats/openai-chat/chat-translator.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

const text = (text: string) => ({ type: 'text', text }) as const
const fn = (name: string, args: unknown) => ({ type: 'function', function: { name, arguments: args } })
const call = (id: string, args = '{}') => ({ type: 'tool-call', id, name: 'f', arguments: args }) as const

const write = suite('writing a chat completion for a client')

function written(response: CanonicalResponse, client?: object) {
  const { write: context } = contexts(chatTranslator)
  return chatTranslator.writeResponse(response, context(client ? { client: { ...client } } : {}))
}

const message = (content: AssistantPart[], reason: FinishReason = 'stop', client?: object) =>
  Object(written({ choices: [{ content, finish: { reason } }] }, client).choices).at(0)

write('a chat completion has all fields that clients read', () => {
  const usage = { inputTokens: 1_110, outputTokens: 5, cacheReadTokens: 1_000, cacheWriteTokens: 100 }
  assert.equal(written({ choices: [{ content: [text('a'), text('b')], finish: { reason: 'stop' } }], usage }), {
    id: 'chatcmpl-id1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'm',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'ab', refusal: null, annotations: [] },
        finish_reason: 'stop',
        logprobs: null,
      },
    ],
    usage: {
      prompt_tokens: 1_110,
      completion_tokens: 5,
      total_tokens: 1_115,
      prompt_tokens_details: { cached_tokens: 1_000, cache_write_tokens: 100 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  })
})

write('empty text becomes null, and a legacy client gets a function_call', () => {
  const tool_calls = [{ id: 'c', ...fn('f', '{}') }]
  assert.equal(message([call('c')], 'tool-calls').message, {
    role: 'assistant',
    content: null,
    refusal: null,
    annotations: [],
    tool_calls,
  })
  const old = message([call('c')], 'tool-calls', { functions: true })
  assert.equal([old.finish_reason, old.message.function_call], ['function_call', { name: 'f', arguments: '{}' }])
})

write('citations have offsets into the complete text', () => {
  const cited = { ...text('bc'), citations: [{ url: 'u', start: 1, end: 2 }, { url: 'v' }] }
  const spans = message([text('a'), cited]).message.annotations.map(
    (annotation: { url_citation: JsonObject }) => annotation.url_citation,
  )
  assert.equal(spans, [
    { url: 'u', title: '', start_index: 2, end_index: 3 },
    { url: 'v', title: '', start_index: 1, end_index: 3 },
  ])
})

const foreign = (
  format: 'anthropic-messages' | 'gemini' | 'openai-responses',
  kind: OpaqueState['kind'],
  id?: string,
): OpaqueState => ({
  origin: { format, account: 'a/1' },
  kind,
  data: 'opaque==',
  ...(id !== undefined && { id }),
})

const thoughts: Record<string, AssistantPart[]> = {
  'signed reasoning': [
    { type: 'reasoning', text: 'hm', state: foreign('anthropic-messages', 'signature') },
    text('a'),
    call('c'),
  ],
  'reasoning with only a signature': [
    { type: 'reasoning', text: '', state: foreign('anthropic-messages', 'signature') },
    text('a'),
  ],
  'redacted reasoning': [{ type: 'reasoning', text: '', state: foreign('anthropic-messages', 'redacted') }, call('c')],
  'summaries with an ID': [
    { type: 'reasoning', text: 'hm', isSummary: true, state: foreign('openai-responses', 'encrypted', 'rs_1') },
    text('a'),
  ],
  'a signature on a call': [text('a'), { ...call('c'), state: foreign('gemini', 'thought-signature') }, call('d')],
  'a signature on the text': [{ ...text('a'), state: foreign('gemini', 'thought-signature') }],
  'reasoning between calls': [
    text('a'),
    { type: 'reasoning', text: 'x', state: foreign('anthropic-messages', 'signature') },
    call('c'),
    { type: 'reasoning', text: 'y', state: foreign('anthropic-messages', 'signature') },
    call('d'),
  ],
}

for (const [name, content] of Object.entries(thoughts)) {
  write(`the client sends back ${name} unchanged`, () => {
    const { write: context, warnings } = contexts(chatTranslator)
    const { choices } = chatTranslator.writeResponse({ choices: [{ content, finish: { reason: 'stop' } }] }, context())
    const echoed = Object(choices).at(0).message
    const { turns } = chatTranslator.parseRequest({ messages: [{ role: 'user', content: 'q' }, echoed] }, { warnings })
    assert.equal(turns[1], { role: 'assistant', content })
  })
}
