import type { FinishReason } from '../../../../src/protocols/formats/canonical/canonical-response.ts'
import { responsesTranslator } from '../../../../src/protocols/formats/openai-responses/responses-translator.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'
import { ours } from '../support/streams.ts'

const test = suite('parsing non-streaming responses')

function parse(body: object) {
  const { read, responseWarnings } = contexts(responsesTranslator, ours)
  const response = responsesTranslator.parseResponse({ status: 'completed', output: [], ...body }, read)
  return {
    response,
    content: response.choices[0]?.content,
    finish: response.choices[0]?.finish,
    responseWarnings: responseWarnings.list(),
  }
}

const modelOutput = (text: string, fields = {}) => ({
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

test("parses a response's ID, model, usage, and content", () => {
  const usage = {
    input_tokens: 12_000,
    input_tokens_details: { cached_tokens: 11_008, cache_write_tokens: 7 },
    output_tokens: 50,
    output_tokens_details: { reasoning_tokens: 40 },
    total_tokens: 12_050,
  }
  assert.equal(
    parse({ id: 'resp_1', model: 'm-1', service_tier: 'flex', usage, output: [modelOutput('hi')] }).response,
    {
      id: 'resp_1',
      model: 'm-1',
      choices: [{ content: [{ type: 'text', text: 'hi' }], finish: { reason: 'stop' } }],
      usage: {
        inputTokens: 12_000,
        outputTokens: 50,
        cacheReadTokens: 11_008,
        cacheWriteTokens: 7,
        reasoningTokens: 40,
      },
      serviceTier: 'flex',
    },
  )
})

/** Output items, with the expected parts. */
const items: Record<string, [output: object[], content: object[], responseWarnings?: string[]]> = {
  'a phase, citations, and log probabilities': [
    [
      {
        ...modelOutput('abc', {
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
        logprobs: [{ token: 'abc', logprob: -1, bytes: [97], topLogprobs: [{ token: 'x', logprob: -2, bytes: [98] }] }],
      },
    ],
  ],
  'a refusal': [
    [{ ...modelOutput(''), content: [{ type: 'refusal', refusal: 'no' }] }],
    [{ type: 'refusal', text: 'no' }],
  ],
  'reasoning: encrypted, summaries, text, and none': [
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
  'calls: without an ID, with a duplicate ID, free-form, and without a name': [
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
    ['dropped:answer.function_call'],
  ],
  'a search, an image, and an unrequested tool': [
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
    ['dropped:answer.code_interpreter_call'],
  ],
}

for (const [name, [output, content, responseWarnings = []]] of Object.entries(items))
  test(`parses ${name}`, () => {
    const read = parse({ output })
    assert.equal(read.content, content)
    assert.equal(read.responseWarnings, responseWarnings)
  })

/** Ways in which responses end, with the expected finish reasons. */
const endings: Record<string, [body: object, reason: FinishReason]> = {
  completed: [{ status: 'completed' }, 'stop'],
  "completed, with some vendors' spelling": [{ status: 'complete' }, 'stop'],
  'with a call': [{ output: [call()] }, 'tool-calls'],
  'with a call that was cut off': [
    {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [call({ arguments: '{"pa' })],
    },
    'length',
  ],
  filtered: [{ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'content-filter'],
  'incomplete without a reason': [{ status: 'incomplete', incomplete_details: null }, 'length'],
}

for (const [name, [body, reason]] of Object.entries(endings))
  test(`parses the finish reason: ${name}`, () => assert.is(parse(body).finish?.reason, reason))

test("throws for a failed response and for a body that isn't a response", () => {
  const error = { code: 'rate_limit_exceeded', message: 'slow down' }
  assert.throws(
    () => parse({ status: 'failed', error }),
    (error: { code: string; status: number; message: string }) =>
      error.code === 'UPSTREAM_FAILED' && error.status === 429 && error.message === 'slow down',
  )
  for (const body of [{ output: undefined }, { status: 'queued' }, { status: 'in_progress' }])
    assert.throws(
      () => parse(body),
      (error: { code: string }) => error.code === 'UPSTREAM_INVALID',
    )
})
