import type { JsonObject } from '../../../../src/lib/json.ts'
import type { AssistantPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { OpaqueState } from '../../../../src/protocols/formats/canonical/canonical-state.ts'
import { chatTranslator } from '../../../../src/protocols/formats/openai-chat/chat-translator.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

const parse = (body: JsonObject) => chatTranslator.parseResponse(body, contexts(chatTranslator).read)
const parseMessage = (message: object, finish_reason: unknown = 'stop') =>
  parse({ choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }] }).choices[0]

const text = (text: string) => ({ type: 'text', text }) as const
const fn = (name: string, args: unknown) => ({ type: 'function', function: { name, arguments: args } })
const call = (id: string, args = '{}') => ({ type: 'tool-call', id, name: 'f', arguments: args }) as const
const createState = (kind: OpaqueState['kind'], data = ''): OpaqueState => ({
  origin: { format: 'openai-chat', account: 'vendor/1' },
  kind,
  data,
})

const read = suite('parsing a chat completion from a provider')

const messages: Record<string, [message: object, content: AssistantPart[]]> = {
  text: [{ content: 'a', refusal: null, tool_calls: [] }, [text('a')]],
  nothing: [{ content: null }, []],
  'text in parts': [{ content: [text('a'), text('b')] }, [text('ab')]],
  'a refusal': [{ content: null, refusal: 'no' }, [{ type: 'refusal', text: 'no' }]],
  'calls after the text': [{ content: 'a', tool_calls: [{ id: 'c', ...fn('f', '{}') }] }, [text('a'), call('c')]],
  'arguments as an object': [{ tool_calls: [{ id: 'c', ...fn('f', { x: 1 }) }] }, [call('c', '{"x":1}')]],
  'null arguments': [
    {
      tool_calls: [
        { id: 'c', ...fn('f', 'null') },
        { id: 'd', ...fn('f', null) },
      ],
    },
    [call('c'), call('d')],
  ],
  'calls without a unique ID': [
    {
      tool_calls: [
        { id: '', ...fn('f', '{}') },
        { id: 'c', ...fn('f', '{}') },
        { id: 'c', ...fn('f', '{}') },
      ],
    },
    [call('call_id1'), call('c'), call('call_id2')],
  ],
  'text next to a call without a name, which is dropped': [
    { content: 'a', tool_calls: [{ id: 'c', ...fn('', '{}') }] },
    [text('a')],
  ],
  'the legacy function call': [{ content: null, function_call: { name: 'f', arguments: '{}' } }, [call('call_id1')]],
  'reasoning in reasoning_content': [
    { content: 'a', reasoning_content: 'hm' },
    [{ type: 'reasoning', text: 'hm', state: createState('text') }, text('a')],
  ],
  'reasoning details, which take precedence over plain text': [
    { content: 'a', reasoning: 'hm', reasoning_details: [{ type: 'reasoning.text', text: 'hm', signature: 's' }] },
    [
      { type: 'reasoning', text: 'hm', state: createState('detail', '{"type":"reasoning.text","signature":"s"}') },
      text('a'),
    ],
  ],
  'reasoning in the second of two fields': [
    { content: 'a', reasoning_content: '', reasoning: 'hm' },
    [{ type: 'reasoning', text: 'hm', state: createState('text') }, text('a')],
  ],
  "reasoning in GitHub Copilot's reasoning_text": [
    { content: 'a', reasoning_text: 'hm' },
    [{ type: 'reasoning', text: 'hm', state: createState('text') }, text('a')],
  ],
  'reasoning in thinking': [
    { content: 'a', thinking: 'hm' },
    [{ type: 'reasoning', text: 'hm', state: createState('text') }, text('a')],
  ],
  'Databricks’ reasoning in the content': [
    { content: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm', signature: 's' }] }, text('a')] },
    [{ type: 'reasoning', text: 'hm', state: createState('text') }, text('a')],
  ],
  'reasoning text next to unreadable details': [
    { content: 'a', reasoning: 'hm', reasoning_details: [{ type: 'reasoning.encrypted', data: 'd' }] },
    [
      { type: 'reasoning', text: 'hm', state: createState('text') },
      { type: 'reasoning', text: '', state: createState('detail', '{"type":"reasoning.encrypted","data":"d"}') },
      text('a'),
    ],
  ],
  'Google’s signature': [
    { tool_calls: [{ id: 'c', ...fn('f', '{}'), extra_content: { google: { thought_signature: 's' } } }] },
    [{ ...call('c'), state: createState('thought-signature', 's') }],
  ],
  citations: [
    {
      content: 'ab',
      annotations: [{ type: 'url_citation', url_citation: { url: 'u', title: 't', start_index: 0, end_index: 1 } }],
    },
    [{ ...text('ab'), citations: [{ url: 'u', title: 't', start: 0, end: 1 }] }],
  ],
  images: [
    { content: 'a', images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }] },
    [text('a'), { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' } }],
  ],
  'Snowflake’s empty fields': [
    { content: 'a', refusal: '', annotations: null, function_call: { name: '', arguments: '' }, audio: { data: '' } },
    [text('a')],
  ],
}

for (const [name, [message, content]] of Object.entries(messages)) {
  read(`parses ${name}`, () => assert.equal(parseMessage(message)?.content, content))
}

read('the finish reason of a response matches its content', () => {
  const reason = (finish: unknown, tool_calls: object[] = []) =>
    parseMessage({ content: 'a', tool_calls }, finish)?.finish.reason
  const calls = [{ id: 'c', ...fn('f', '{}') }]
  assert.equal(
    ['stop', 'eos', '', null].map((finish) => reason(finish, calls)),
    Array(4).fill('tool-calls'),
  )
  assert.is(reason('tool_calls'), 'stop')
  assert.is(reason('length', calls), 'length')
  assert.equal(
    ['content_filter', 'model_length', 'max_tokens'].map((finish) => reason(finish)),
    ['content-filter', 'context-window', 'length'],
  )
  assert.equal(
    [
      'MAX_TOKENS',
      'SAFETY',
      'content_filter: RECITATION',
      'sensitive',
      'refusal',
      'STOP',
      'model_context_window_exceeded',
    ].map((finish) => reason(finish)),
    ['length', ...Array(4).fill('content-filter'), 'stop', 'context-window'],
  )
})

read('choices without an index, as from GitHub Copilot, are joined into one response', () => {
  const finish_reason = 'tool_calls'
  const { choices } = parse({
    choices: [
      { message: { content: 'a' }, finish_reason },
      { message: { content: null, tool_calls: [{ id: 'c', ...fn('f', '{}') }] }, finish_reason },
      { message: { content: null, tool_calls: [{ id: 'd', ...fn('f', '{}') }] }, finish_reason },
    ],
  })
  assert.equal(choices, [
    { content: [text('a'), call('c'), call('d')], finish: { reason: 'tool-calls', raw: finish_reason } },
  ])
  const several = [1, 0].map((index) => ({ index, message: { content: `${index}` }, finish_reason: 'stop' }))
  assert.equal(
    parse({ choices: several }).choices.map(({ content }) => content),
    [[text('0')], [text('1')]],
  )
})

read('joining choices without an index takes linear time', () => {
  const { choices } = parse({ choices: Array(100_000).fill({ message: { content: 'a' }, finish_reason: 'stop' }) })
  assert.is(choices[0]?.content.length, 100_000)
})

read('usage includes cached tokens from every field, and reasoning tokens that only the total includes', () => {
  const usage = (value: object) =>
    parse({ choices: [{ message: { content: 'a' } }], usage: { prompt_tokens: 10, completion_tokens: 3, ...value } })
      .usage
  const cached = [
    { prompt_tokens_details: { cached_tokens: 4 } },
    { prompt_cache_hit_tokens: 4 },
    { cached_tokens: 4 },
    { num_cached_tokens: 4 },
  ]
  assert.equal(
    cached.map((value) => usage(value)?.cacheReadTokens),
    [4, 4, 4, 4],
  )
  assert.is(usage({ completion_tokens: 0, total_tokens: 25 })?.outputTokens, 15)
  assert.is(usage({ completion_tokens: 3, total_tokens: 25 })?.outputTokens, 3)
  const thoughts = { completion_tokens_details: { reasoning_tokens: 12 } }
  assert.is(usage({ completion_tokens: 3, total_tokens: 25, ...thoughts })?.outputTokens, 15)
  assert.is(usage({ completion_tokens: 15, total_tokens: 25, ...thoughts })?.outputTokens, 15)
  assert.is(usage({ completion_tokens: 15, total_tokens: 25, reasoning_tokens: 900 })?.reasoningTokens, 0) // Perplexity also counts its searches' reasoning
})

read('throws for a response without choices and for a failed response', () => {
  assert.throws(() => parse({ choices: [] }), /without choices/)
  assert.throws(() => parse({ choices: [{ message: { content: '' }, error: { message: 'busy', code: 502 } }] }), /busy/)
  assert.throws(() => parseMessage({ content: 'a' }, 'network_error'), /ended in an error/)
})
