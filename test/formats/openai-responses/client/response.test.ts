import type { AssistantPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { CanonicalResponse, FinishReason } from '../../../../src/protocols/formats/canonical/canonical-response.ts'
import { sealState } from '../../../../src/protocols/formats/canonical/canonical-state.ts'
import { responsesTranslator } from '../../../../src/protocols/formats/openai-responses/responses-translator.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'
import { ours } from '../support/streams.ts'

const test = suite('writing non-streaming responses for a client')

function write(
  content: AssistantPart[],
  fields: Partial<CanonicalResponse> & { reason?: FinishReason; body?: object } = {},
) {
  const { reason = 'stop', body = {}, ...response } = fields
  const { write: context, warnings } = contexts(responsesTranslator, ours)
  const { client } = responsesTranslator.parseRequest({ model: 'm', input: 'a', ...body }, { warnings })
  const choices = [{ content, finish: { reason } }]
  return responsesTranslator.writeResponse({ choices, ...response }, context(client ? { client } : {}))
}

test('a response has all fields that clients expect, including those copied from the request', () => {
  const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4, reasoningTokens: 2 }
  const tools = [{ type: 'function', name: 'f' }]
  const body = {
    temperature: 0.2,
    tools,
    text: { verbosity: 'low' },
    reasoning: { effort: 'high' },
    metadata: { a: 'b' },
  }
  assert.equal(write([{ type: 'text', text: 'hi' }], { usage, serviceTier: 'flex', body }), {
    id: 'resp_id1',
    object: 'response',
    created_at: 1_700_000_000,
    completed_at: 1_700_000_000,
    model: 'm',
    status: 'completed',
    error: null,
    incomplete_details: null,
    output: [
      {
        type: 'message',
        id: 'msg_id2',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'hi', annotations: [], logprobs: [] }],
      },
    ],
    usage: {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 15,
    },
    background: false,
    previous_response_id: null,
    store: false,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    metadata: { a: 'b' },
    parallel_tool_calls: true,
    prompt_cache_key: null,
    reasoning: { effort: 'high', summary: null },
    safety_identifier: null,
    service_tier: 'flex',
    temperature: 0.2,
    text: { format: { type: 'text' }, verbosity: 'low' },
    tool_choice: 'auto',
    tools: [{ type: 'function', name: 'f', description: null, parameters: null, strict: null }],
    top_logprobs: 0,
    top_p: 1,
    truncation: 'disabled',
    presence_penalty: 0,
    frequency_penalty: 0,
  })
})

const getOutput = (content: AssistantPart[], reason: FinishReason = 'stop') => write(content, { reason }).output

test('items keep their order, and consecutive text parts become one message', () => {
  const state = { origin: { format: 'anthropic-messages', account: 'a' }, kind: 'signature', data: 's' } as const
  const written = getOutput([
    { type: 'reasoning', text: 't', state },
    { type: 'reasoning', text: '' },
    { type: 'text', text: 'a' },
    { type: 'text', text: '' },
    { type: 'text', text: 'b', citations: [{ url: 'https://a' }, { document: 0 }, { fileId: 'f', title: 'n' }] },
    { type: 'refusal', text: 'no' },
    { type: 'tool-call', id: 'c1', name: 'f', arguments: '' },
    { type: 'tool-call', id: 'c2', name: 'patch', arguments: '***', isFreeForm: true },
  ])
  assert.equal(written, [
    {
      type: 'reasoning',
      id: 'rs_id2',
      summary: [{ type: 'summary_text', text: 't' }],
      encrypted_content: sealState(state),
    },
    {
      type: 'message',
      id: 'msg_id3',
      status: 'completed',
      role: 'assistant',
      content: [
        { type: 'output_text', text: 'a', annotations: [], logprobs: [] },
        {
          type: 'output_text',
          text: 'b',
          annotations: [
            { type: 'url_citation', url: 'https://a', title: '', start_index: 0, end_index: 1 },
            { type: 'file_citation', file_id: 'f', filename: 'n', index: 1 },
          ],
          logprobs: [],
        },
        { type: 'refusal', refusal: 'no' },
      ],
    },
    { type: 'function_call', id: 'fc_id4', call_id: 'c1', name: 'f', arguments: '{}', status: 'completed' },
    { type: 'custom_tool_call', id: 'ctc_id5', call_id: 'c2', name: 'patch', input: '***' },
  ])
})

test("a call's signature becomes a reasoning item that refers to the call", () => {
  const state = { origin: { format: 'gemini', account: 'g' }, kind: 'thought-signature', data: 'z' } as const
  assert.equal(getOutput([{ type: 'tool-call', id: 'c1', name: 'f', arguments: '{}', state }]), [
    { type: 'reasoning', id: 'rs_id2', summary: [], encrypted_content: sealState({ ...state, id: 'c1' }) },
    { type: 'function_call', id: 'fc_id3', call_id: 'c1', name: 'f', arguments: '{}', status: 'completed' },
  ])
})

test('a call to a namespaced tool gets its namespace and name as separate fields', () => {
  const tools = [{ type: 'namespace', name: 'mcp', tools: [{ type: 'function', name: 'f' }] }]
  const { output } = write([{ type: 'tool-call', id: 'c1', name: 'mcp__f', arguments: '{}' }], { body: { tools } })
  const item = { type: 'function_call', id: 'fc_id2', call_id: 'c1', name: 'f', namespace: 'mcp', arguments: '{}' }
  assert.equal(output, [{ ...item, status: 'completed' }])
})

test('searches, images, and audio become items', () => {
  const source = { type: 'base64', mediaType: 'image/png', data: 'AAAA' } as const
  const results = [{ url: 'https://a', title: 'A' }]
  const types = getOutput([
    { type: 'server-tool', tool: 'web-search', id: 'x', query: 'q', results },
    { type: 'image', source },
    { type: 'audio', source, transcript: 'spoken' },
  ])
  assert.equal(types, [
    {
      type: 'web_search_call',
      id: 'ws_id2',
      status: 'completed',
      action: { type: 'search', query: 'q', sources: [{ type: 'url', url: 'https://a' }] },
    },
    { type: 'image_generation_call', id: 'ig_id3', status: 'completed', result: 'AAAA' },
    {
      type: 'message',
      id: 'msg_id4',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'spoken', annotations: [], logprobs: [] }],
    },
  ])
})

/** Finish reasons, with the expected status for a client. */
const recorded: Record<FinishReason, [status: string, detail: string | null]> = {
  stop: ['completed', null],
  'stop-sequence': ['completed', null],
  'tool-calls': ['completed', null],
  pause: ['incomplete', 'max_output_tokens'],
  length: ['incomplete', 'max_output_tokens'],
  'context-window': ['incomplete', 'max_output_tokens'],
  'content-filter': ['incomplete', 'content_filter'],
  'malformed-call': ['failed', null],
}

for (const [reason, [status, detail]] of Object.entries(recorded))
  test(`the response has the status for the finish reason ${reason}`, () => {
    const response = write([{ type: 'text', text: 'a' }], { reason: reason as FinishReason })
    assert.is(response.status, status)
    assert.equal(response.incomplete_details, detail === null ? null : { reason: detail })
    assert.is(response.error === null, status !== 'failed')
    const [item] = response.output as { status: string }[]
    assert.is(item?.status, status === 'completed' ? 'completed' : 'incomplete')
  })
