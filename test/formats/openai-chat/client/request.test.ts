import type { JsonObject } from '../../../../src/lib/json.ts'
import type { CanonicalRequest } from '../../../../src/protocols/formats/canonical/canonical-request.ts'
import { assert, suite } from '../../../support/suite.ts'
import { parse } from '../support/parse-request.ts'

const options = suite('Chat Completions request options')

const table: Record<string, [body: JsonObject, expected: CanonicalRequest['options']]> = {
  'the new token limit, which takes precedence over the old one': [
    { max_completion_tokens: 5, max_tokens: 9 },
    { maxOutputTokens: 5 },
  ],
  'the old token limit': [{ max_tokens: 9 }, { maxOutputTokens: 9 }],
  'a single stop string': [{ stop: 'a' }, { stop: ['a'] }],
  'null, which counts as unset': [{ stop: null, seed: null, temperature: 0 }, { temperature: 0 }],
  'both user fields': [{ user: 'old', safety_identifier: 'new' }, { endUser: 'new' }],
  logprobs: [{ logprobs: true, top_logprobs: 3 }, { logprobs: 3 }],
  effort: [{ reasoning_effort: 'low' }, { reasoning: { effort: 'low' } }],
  'OpenRouter’s reasoning': [
    { reasoning: { max_tokens: 2_000, exclude: true } },
    { reasoning: { budget: 2_000, show: 'none' } },
  ],
  'thinking options in the form that DeepSeek and Z.ai use': [
    { thinking: { type: 'disabled' } },
    { reasoning: { effort: 'none' } },
  ],
  'enabled thinking': [{ thinking: { type: 'enabled' } }, { reasoning: { budget: 'auto' } }],
  'enabled reasoning': [{ reasoning: { enabled: true, effort: 'low' } }, { reasoning: { effort: 'low' } }],
  'Qwen’s enable_thinking': [{ enable_thinking: false }, { reasoning: { effort: 'none' } }],
  prediction: [{ prediction: { type: 'content', content: [{ type: 'text', text: 'a' }] } }, { prediction: 'a' }],
  speech: [
    { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
    { modalities: ['text', 'audio'], speech: { voice: 'alloy', format: 'wav' } },
  ],
  caching: [
    { prompt_cache_key: 'k', prompt_cache_options: { mode: 'explicit' } },
    { cacheKey: 'k', cacheOptions: { mode: 'explicit' } },
  ],
  'metadata, tier, and store': [
    { metadata: { a: 'b' }, service_tier: 'flex', store: false },
    { labels: { a: 'b' }, serviceTier: 'flex', store: false },
  ],
}

for (const [name, [body, expected]] of Object.entries(table)) {
  options(`parses ${name}`, () => {
    const { options: understood, warnings } = parse(body)
    assert.equal(understood, expected)
    assert.equal(warnings, [])
  })
}

options('top_logprobs without logprobs is dropped with a warning', () => {
  assert.equal(parse({ top_logprobs: 3 }).warnings, ['dropped:top_logprobs'])
})

options('unknown fields are dropped with a warning, and rejected in strict mode', () => {
  assert.equal(parse({ provider: { only: ['a'] }, service_tier: 'on_demand' }).warnings, [
    'dropped:service_tier',
    'dropped:provider',
  ])
  assert.throws(() => parse({ provider: {} }, true), /"provider": it would be dropped/)
})

options('options of the wrong type are rejected with their path', () => {
  assert.throws(() => parse({ temperature: 'hot' }), /"temperature": must be a number/)
  assert.throws(() => parse({ metadata: { a: 1 } }), /"metadata.a": must be a string/)
  assert.throws(() => parse({ messages: undefined }), /"messages": is required/)
  assert.throws(() => parse({ messages: [{ role: 'robot' }] }), /"messages\[0\]\.role"/)
})

options('stream_options in a non-streaming request have no effect', () => {
  const requestOptions = { stream_options: { include_usage: true } }
  assert.equal([parse(requestOptions).stream, parse(requestOptions).streamUsage], [false, false])
  assert.is(parse({ ...requestOptions, stream: true }).streamUsage, true)
})

const tools = suite('Chat Completions request tools')

tools('parses functions, free-form tools, and web search', () => {
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

tools('vendor-hosted tools are rejected with their path', () => {
  assert.throws(
    () => parse({ tools: [{ type: 'openrouter:web_search' }] }),
    /"tools\[0\]\.type".*openrouter:web_search/,
  )
})

tools('parses every form of tool_choice', () => {
  const choice = (content: unknown) => parse({ tool_choice: content }).toolChoice
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

tools('parses response_format', () => {
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
