import type { Answer, FinishReason } from '../../../src/formats/canonical/answer.ts'
import type { AssistantPart } from '../../../src/formats/canonical/parts.ts'
import { sealState } from '../../../src/formats/canonical/state.ts'
import { responsesTranslator } from '../../../src/formats/openai-responses/translator.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'
import { ours } from './support/streams.ts'

const test = suite('whole responses')

function parse(body: object) {
  const { read, warnings } = contexts(responsesTranslator, ours)
  const answer = responsesTranslator.parseAnswer({ status: 'completed', output: [], ...body }, read)
  return { answer, content: answer.choices[0]?.content, finish: answer.choices[0]?.finish, warnings: warnings.list() }
}

const said = (text: string, fields = {}) => ({
  type: 'message',
  id: 'msg_1',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [], ...fields }],
})
const call = (fields = {}) => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: 'c1',
  name: 'f',
  arguments: '{}',
  status: 'completed',
  ...fields,
})
const origin = { format: 'openai-responses', account: 'vendor/1' } as const

test('reads who it is, what it cost, and what it says', () => {
  const usage = {
    input_tokens: 12_000,
    input_tokens_details: { cached_tokens: 11_008, cache_write_tokens: 7 },
    output_tokens: 50,
    output_tokens_details: { reasoning_tokens: 40 },
    total_tokens: 12_050,
  }
  assert.equal(parse({ id: 'resp_1', model: 'm-1', service_tier: 'flex', usage, output: [said('hi')] }).answer, {
    id: 'resp_1',
    model: 'm-1',
    choices: [{ content: [{ type: 'text', text: 'hi' }], finish: { reason: 'stop' } }],
    usage: { inputTokens: 12_000, outputTokens: 50, cacheReadTokens: 11_008, cacheWriteTokens: 7, reasoningTokens: 40 },
    serviceTier: 'flex',
  })
})

/** Items, and what is made of them. */
const items: Record<string, [output: object[], content: object[], warnings?: string[]]> = {
  'a phase, citations and tokens': [
    [
      {
        ...said('abc', {
          annotations: [
            { type: 'url_citation', url: 'https://a.example/', title: 'A', start_index: 1, end_index: 2 },
            { type: 'file_citation', file_id: 'file_1', filename: 'f.txt', index: 3 },
          ],
          logprobs: [
            { token: 'abc', logprob: -1, bytes: [97], top_logprobs: [{ token: 'x', logprob: -2, bytes: [98] }] },
          ],
        }),
        phase: 'final_answer',
      },
    ],
    [
      {
        type: 'text',
        text: 'abc',
        phase: 'final_answer',
        citations: [
          { url: 'https://a.example/', title: 'A', start: 1, end: 2 },
          { title: 'f.txt', fileId: 'file_1' },
        ],
        logprobs: [{ token: 'abc', logprob: -1, bytes: [97], top: [{ token: 'x', logprob: -2, bytes: [98] }] }],
      },
    ],
  ],
  'a refusal': [[{ ...said(''), content: [{ type: 'refusal', refusal: 'no' }] }], [{ type: 'refusal', text: 'no' }]],
  'thoughts: encrypted, as summaries, as they are, and none': [
    [
      { type: 'reasoning', id: 'rs_1', summary: [], content: [], encrypted_content: 'g' },
      { type: 'reasoning', id: 'rs_2', summary: [{ type: 'summary_text', text: 's' }] },
      {
        type: 'reasoning',
        id: 'x',
        summary: [],
        content: [{ type: 'reasoning_text', text: 't' }],
        encrypted_content: null,
      },
      { type: 'reasoning', id: 'rs_3', summary: [] },
    ],
    [
      { type: 'reasoning', text: '', state: { origin, kind: 'encrypted', data: 'g', id: 'rs_1' } },
      { type: 'reasoning', text: 's', isSummary: true },
      { type: 'reasoning', text: 't', state: { origin, kind: 'text', data: '' } },
    ],
  ],
  'calls: without an id of their own, with one twice, free ones, and one without a name': [
    [
      { ...call({ call_id: undefined, id: undefined }), item_id: 'fc_9' },
      call(),
      call({ arguments: { x: 1 } }),
      { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c2', name: 'patch', input: '***' },
      call({ call_id: 'c3', name: '' }),
    ],
    [
      { type: 'tool-call', id: 'fc_9', name: 'f', arguments: '{}' },
      { type: 'tool-call', id: 'c1', name: 'f', arguments: '{}' },
      { type: 'tool-call', id: 'call_id1', name: 'f', arguments: '{"x":1}' },
      { type: 'tool-call', id: 'c2', name: 'patch', arguments: '***', isFreeForm: true },
    ],
    ['dropped:tool_call'],
  ],
  'what the provider searched and drew, and what nobody asked for': [
    [
      {
        type: 'web_search_call',
        id: 'ws_1',
        action: { type: 'search', queries: ['q'], sources: [{ type: 'api', name: 'x' }, { url: 'https://a' }] },
      },
      { type: 'web_search_call', id: 'ws_2', action: { type: 'open_page', url: 'https://b' } },
      { type: 'image_generation_call', id: 'ig_1', result: 'AAAA', output_format: 'webp' },
      { type: 'code_interpreter_call', id: 'ci_1' },
    ],
    [
      { type: 'server-tool', tool: 'web-search', id: 'ws_1', query: 'q', results: [{ url: 'https://a', title: '' }] },
      { type: 'server-tool', tool: 'web-search', id: 'ws_2', query: '', results: [{ url: 'https://b', title: '' }] },
      { type: 'image', source: { type: 'base64', mediaType: 'image/webp', data: 'AAAA' } },
    ],
    ['dropped:output.code_interpreter_call'],
  ],
}

for (const [name, [output, content, warnings = []]] of Object.entries(items))
  test(`reads ${name}`, () => {
    const read = parse({ output })
    assert.equal(read.content, content)
    assert.equal(read.warnings, warnings)
  })

/** How a response ends, there and back. */
const endings: Record<string, [body: object, reason: FinishReason]> = {
  completed: [{ status: 'completed' }, 'stop'],
  'completed, in the words of some': [{ status: 'complete' }, 'stop'],
  'with a call': [{ output: [call()] }, 'tool-calls'],
  'a call that was cut': [
    {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [call({ arguments: '{"pa' })],
    },
    'length',
  ],
  filtered: [{ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'content-filter'],
  'cut for no reason': [{ status: 'incomplete', incomplete_details: null }, 'length'],
}

for (const [name, [body, reason]] of Object.entries(endings))
  test(`reads the end: ${name}`, () => assert.is(parse(body).finish?.reason, reason))

test('a response that failed, or is none, is an error', () => {
  const error = { code: 'rate_limit_exceeded', message: 'slow down' }
  assert.throws(
    () => parse({ status: 'failed', error }),
    (thrown: { code: string; status: number; message: string }) =>
      thrown.code === 'UPSTREAM_FAILED' && thrown.status === 429 && thrown.message === 'slow down',
  )
  for (const body of [{ output: undefined }, { status: 'queued' }, { status: 'in_progress' }])
    assert.throws(
      () => parse(body),
      (thrown: { code: string }) => thrown.code === 'UPSTREAM_INVALID',
    )
})

function write(content: AssistantPart[], fields: Partial<Answer> & { reason?: FinishReason; body?: object } = {}) {
  const { reason = 'stop', body = {}, ...answer } = fields
  const { write: context, warnings } = contexts(responsesTranslator, ours)
  const { client } = responsesTranslator.parseRequest({ model: 'm', input: 'a', ...body }, { warnings })
  const choices = [{ content, finish: { reason } }]
  return responsesTranslator.writeAnswer({ choices, ...answer }, context(client ? { client } : {}))
}

test('writes all that a client is promised, with what it has asked', () => {
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

const outputOf = (content: AssistantPart[], reason: FinishReason = 'stop') => write(content, { reason }).output

test('writes items in their order, and texts that follow each other as one message', () => {
  const state = { origin: { format: 'anthropic-messages', account: 'a' }, kind: 'signature', data: 's' } as const
  const written = outputOf([
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

test('a signature on a part goes into a thought of its own, which names the call', () => {
  const state = { origin: { format: 'gemini', account: 'g' }, kind: 'thought-signature', data: 'z' } as const
  assert.equal(outputOf([{ type: 'tool-call', id: 'c1', name: 'f', arguments: '{}', state }]), [
    { type: 'reasoning', id: 'rs_id2', summary: [], encrypted_content: sealState({ ...state, id: 'c1' }) },
    { type: 'function_call', id: 'fc_id3', call_id: 'c1', name: 'f', arguments: '{}', status: 'completed' },
  ])
})

test('a call of a tool in a namespace has its two names back', () => {
  const tools = [{ type: 'namespace', name: 'mcp', tools: [{ type: 'function', name: 'f' }] }]
  const { output } = write([{ type: 'tool-call', id: 'c1', name: 'mcp__f', arguments: '{}' }], { body: { tools } })
  const item = { type: 'function_call', id: 'fc_id2', call_id: 'c1', name: 'f', namespace: 'mcp', arguments: '{}' }
  assert.equal(output, [{ ...item, status: 'completed' }])
})

test('writes what was searched, drawn and said aloud', () => {
  const source = { type: 'base64', mediaType: 'image/png', data: 'AAAA' } as const
  const results = [{ url: 'https://a', title: 'A' }]
  const types = outputOf([
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

/** What a client is told of the end. */
const told: Record<FinishReason, [status: string, detail: string | null]> = {
  stop: ['completed', null],
  'stop-sequence': ['completed', null],
  'tool-calls': ['completed', null],
  pause: ['completed', null],
  length: ['incomplete', 'max_output_tokens'],
  'context-window': ['incomplete', 'max_output_tokens'],
  'content-filter': ['incomplete', 'content_filter'],
  'malformed-call': ['failed', null],
}

for (const [reason, [status, detail]] of Object.entries(told))
  test(`writes the end: ${reason}`, () => {
    const answer = write([{ type: 'text', text: 'a' }], { reason: reason as FinishReason })
    assert.is(answer.status, status)
    assert.equal(answer.incomplete_details, detail === null ? null : { reason: detail })
    assert.is(answer.error === null, status !== 'failed')
    const [item] = answer.output as { status: string }[]
    assert.is(item?.status, status === 'completed' ? 'completed' : 'incomplete')
  })
