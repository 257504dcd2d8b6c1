import type { CanonicalRequest } from '../../../src/formats/canonical/request.ts'
import { chatTranslator } from '../../../src/formats/openai-chat/translator.ts'
import type { JsonObject } from '../../../src/lib/json.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'

const MESSAGES = [{ role: 'user', content: 'q' }]

function parse(body: JsonObject, isStrict = false) {
  const { warnings } = contexts(chatTranslator, { isStrict })
  const request = chatTranslator.parseRequest({ model: 'm', messages: MESSAGES, ...body }, { warnings })
  return { ...request, warnings: warnings.list() }
}

const said = (content: unknown) => parse({ messages: [{ role: 'user', content }] }).turns[0]
const assistant = (message: object) => parse({ messages: [...MESSAGES, { role: 'assistant', ...message }] }).turns[1]

const options = suite('options of a chat request')

const table: Record<string, [body: JsonObject, expected: CanonicalRequest['options']]> = {
  'the new limit before the old one': [{ max_completion_tokens: 5, max_tokens: 9 }, { maxOutputTokens: 5 }],
  'the old limit': [{ max_tokens: 9 }, { maxOutputTokens: 9 }],
  'one stop and several': [{ stop: 'a' }, { stop: ['a'] }],
  'null as absent': [{ stop: null, seed: null, temperature: 0 }, { temperature: 0 }],
  'both names of the user': [{ user: 'old', safety_identifier: 'new' }, { endUser: 'new' }],
  logprobs: [{ logprobs: true, top_logprobs: 3 }, { logprobs: 3 }],
  'top_logprobs without logprobs': [{ top_logprobs: 3 }, {}],
  effort: [{ reasoning_effort: 'low' }, { reasoning: { effort: 'low' } }],
  'reasoning of OpenRouter': [
    { reasoning: { max_tokens: 2_000, exclude: true } },
    { reasoning: { budget: 2_000, show: 'none' } },
  ],
  'thinking of DeepSeek and Z.ai': [{ thinking: { type: 'disabled' } }, { reasoning: { effort: 'none' } }],
  'thinking that is switched on': [{ thinking: { type: 'enabled' } }, { reasoning: { budget: 'auto' } }],
  'reasoning that is switched on': [{ reasoning: { enabled: true, effort: 'low' } }, { reasoning: { effort: 'low' } }],
  'enable_thinking of Qwen': [{ enable_thinking: false }, { reasoning: { effort: 'none' } }],
  prediction: [{ prediction: { type: 'content', content: [{ type: 'text', text: 'a' }] } }, { prediction: 'a' }],
  speech: [
    { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
    { modalities: ['text', 'audio'], speech: { voice: 'alloy', format: 'wav' } },
  ],
  caching: [
    { prompt_cache_key: 'k', prompt_cache_options: { mode: 'explicit' } },
    { cacheKey: 'k', cacheOptions: { mode: 'explicit' } },
  ],
  'metadata, tier and store': [
    { metadata: { a: 'b' }, service_tier: 'flex', store: false },
    { labels: { a: 'b' }, serviceTier: 'flex', store: false },
  ],
}

for (const [name, [body, expected]] of Object.entries(table)) {
  options(`are understood: ${name}`, () => {
    const { options: understood, warnings } = parse(body)
    assert.equal(understood, expected)
    assert.equal(warnings, [])
  })
}

options('that nobody knows are told of, and refused in strict mode', () => {
  assert.equal(parse({ provider: { only: ['a'] }, service_tier: 'on_demand' }).warnings, [
    'dropped:service_tier',
    'dropped:provider',
  ])
  assert.throws(() => parse({ provider: {} }, true), /"provider": it would be dropped/)
})

options('of a wrong type are refused by their path', () => {
  assert.throws(() => parse({ temperature: 'hot' }), /"temperature": must be a number/)
  assert.throws(() => parse({ metadata: { a: 1 } }), /"metadata.a": must be a string/)
  assert.throws(() => parse({ messages: undefined }), /"messages": is required/)
  assert.throws(() => parse({ messages: [{ role: 'robot' }] }), /"messages\[0\]\.role"/)
})

options('stream_options without a stream mean nothing', () => {
  const asked = { stream_options: { include_usage: true } }
  assert.equal([parse(asked).stream, parse(asked).streamUsage], [false, false])
  assert.is(parse({ ...asked, stream: true }).streamUsage, true)
})

const content = suite('content of a chat request')
const PNG = 'iVBORw0KGgoAAAANSUhEUg=='
const png = { type: 'base64', mediaType: 'image/png', data: PNG } as const

const parts: Record<string, [part: object, expected: object]> = {
  text: [
    { type: 'text', text: 'a' },
    { type: 'text', text: 'a' },
  ],
  'a mark of caching': [
    { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } },
    { type: 'text', text: 'a', cache: { ttl: '1h' } },
  ],
  "OpenAI's mark of caching": [
    { type: 'text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } },
    { type: 'text', text: 'a', cache: {} },
  ],
  'an image by its address': [
    { type: 'image_url', image_url: { url: 'https://a/b.png', detail: 'low' } },
    { type: 'image', source: { type: 'url', url: 'https://a/b.png' }, detail: 'low' },
  ],
  'an image by its bytes': [
    { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
    { type: 'image', source: png },
  ],
  'an image as Mistral has it': [
    { type: 'image_url', image_url: `data:image/png;base64,${PNG}` },
    { type: 'image', source: png },
  ],
  sound: [
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
    { type: 'audio', source: { type: 'base64', mediaType: 'audio/mpeg', data: 'AAAA' } },
  ],
  'a file by its bytes': [
    { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' } },
    { type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data: 'JVBERi0=' }, name: 'a.pdf' },
  ],
  'a file that is bare bytes where an address is asked for': [
    { type: 'file_url', file_url: { url: 'UEsDBBQA' }, file_name: 'a.docx' },
    {
      type: 'file',
      source: { type: 'base64', mediaType: 'application/octet-stream', data: 'UEsDBBQA' },
      name: 'a.docx',
    },
  ],
  'a file by its id': [
    { type: 'file', file: { file_id: 'file-1' } },
    { type: 'file', source: { type: 'file-id', id: 'file-1', format: 'openai-chat' } },
  ],
  video: [
    { type: 'video_url', video_url: { url: 'https://a/b.mp4' } },
    { type: 'video', source: { type: 'url', url: 'https://a/b.mp4' } },
  ],
}

for (const [name, [part, expected]] of Object.entries(parts)) {
  content(`is understood: ${name}`, () => assert.equal(said([part]), { role: 'user', content: [expected] }))
}

content('is a string or parts, and nothing empty', () => {
  assert.equal(said('a'), { role: 'user', content: [{ type: 'text', text: 'a' }] })
  assert.equal(said(''), { role: 'user', content: [] })
  assert.equal(said([{ type: 'text', text: '' }]), { role: 'user', content: [] })
})

content('of a type that nobody knows is refused, never passed on as text', () => {
  assert.throws(() => said([{ type: 'text', text: 'a' }, { type: 'hologram' }]), /"messages\[0\]\.content\[1\]\.type"/)
})

const history = suite('history of a chat request')
const fn = (name: string, args: unknown) => ({ type: 'function', function: { name, arguments: args } })

history('keeps arguments as they were written', () => {
  for (const args of ['', '{"a":12345678901234567890}', '{"path":"/tm']) {
    const turn = assistant({ content: null, tool_calls: [{ id: 'c', ...fn('f', args) }] })
    const [part] = turn?.role === 'assistant' ? turn.content : []
    assert.is(part?.type === 'tool-call' ? part.arguments : undefined, args)
  }
})

history('has results that follow each other in one turn', () => {
  const { turns } = parse({
    messages: [
      ...MESSAGES,
      {
        role: 'assistant',
        content: 'so',
        tool_calls: [
          { id: 'a', ...fn('f', '{}') },
          { id: 'b', type: 'custom', custom: { name: 'g', input: 'x' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: '1' },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: '2' }] },
    ],
  })
  assert.equal(turns.slice(1), [
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'so' },
        { type: 'tool-call', id: 'a', name: 'f', arguments: '{}' },
        { type: 'tool-call', id: 'b', name: 'g', arguments: 'x', isFreeForm: true },
      ],
    },
    {
      role: 'tool',
      results: [
        { callId: 'a', content: [{ type: 'text', text: '1' }] },
        { callId: 'b', content: [{ type: 'text', text: '2' }] },
      ],
    },
  ])
})

history('matches the old function messages with the call before them', () => {
  const { turns, client } = parse({
    functions: [{ name: 'f' }],
    messages: [
      ...MESSAGES,
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: '1' },
    ],
  })
  assert.equal(turns[1], {
    role: 'assistant',
    content: [{ type: 'tool-call', id: 'call_0', name: 'f', arguments: '{}' }],
  })
  assert.equal(turns[2], {
    role: 'tool',
    results: [{ callId: 'call_0', name: 'f', content: [{ type: 'text', text: '1' }] }],
  })
  assert.equal(client, { functions: true })
})

const bare = { origin: { format: 'openai-chat', account: '' }, kind: 'text', data: '' } as const

history('has thoughts in front, wherever a vendor put them', () => {
  const expected = {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'hm', state: bare },
      { type: 'text', text: 'a' },
    ],
  }
  assert.equal(assistant({ content: 'a', reasoning_content: 'hm' }), expected)
  assert.equal(assistant({ content: 'a', reasoning: 'hm' }), expected)
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }
  assert.equal(assistant({ content: [thinking, { type: 'text', text: 'a' }] }), expected)
})

history('has a refusal', () => {
  assert.equal(assistant({ content: null, refusal: 'no' }), {
    role: 'assistant',
    content: [{ type: 'refusal', text: 'no' }],
  })
})

const tools = suite('tools of a chat request')

tools('are functions, free text, and a search', () => {
  const schema = { type: 'object', properties: {} }
  const body = {
    tools: [
      { type: 'function', function: { name: 'f', description: 'd', parameters: schema, strict: true } },
      {
        type: 'custom',
        custom: { name: 'g', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } },
      },
    ],
    web_search_options: { search_context_size: 'low' },
  }
  assert.equal(parse(body).tools, [
    { type: 'function', name: 'f', description: 'd', schema, strict: true },
    { type: 'free-form', name: 'g', grammar: { syntax: 'lark', definition: 'x' } },
    { type: 'web-search', contextSize: 'low' },
  ])
})

tools('that run at one vendor are refused by their path', () => {
  assert.throws(
    () => parse({ tools: [{ type: 'openrouter:web_search' }] }),
    /"tools\[0\]\.type".*openrouter:web_search/,
  )
})

tools('are chosen in all of the ways', () => {
  const choice = (said: unknown) => parse({ tool_choice: said }).toolChoice
  assert.equal(choice('required'), { type: 'required' })
  assert.equal(choice({ type: 'function', function: { name: 'f' } }), { type: 'tool', name: 'f' })
  assert.equal(choice({ type: 'custom', custom: { name: 'f' } }), { type: 'tool', name: 'f' })
  const allowed = { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] }
  assert.equal(choice({ type: 'allowed_tools', allowed_tools: allowed }), {
    type: 'allowed',
    mode: 'auto',
    names: ['f'],
  })
  assert.equal(parse({ function_call: { name: 'f' } }).toolChoice, { type: 'tool', name: 'f' })
  assert.throws(() => choice('sometimes'), /"tool_choice"/)
})

tools('and a form of the answer', () => {
  const schema = { type: 'object' }
  assert.is(parse({ response_format: { type: 'text' } }).output, undefined)
  assert.equal(parse({ response_format: { type: 'json_object' } }).output, { type: 'json' })
  assert.equal(
    parse({ response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } } }).output,
    {
      type: 'json-schema',
      schema,
      name: 'n',
      strict: true,
    },
  )
})
