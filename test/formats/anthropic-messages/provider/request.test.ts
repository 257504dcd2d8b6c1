import type { JsonObject } from '../../../../src/lib/json.ts'
import { anthropicTranslator } from '../../../../src/protocols/formats/anthropic-messages/anthropic-translator.ts'
import { writeCountRequest } from '../../../../src/protocols/formats/anthropic-messages/provider/anthropic-provider-request.ts'
import type { AssistantPart, UserPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { CanonicalRequest, RequestOptions } from '../../../../src/protocols/formats/canonical/canonical-request.ts'
import type { Turn } from '../../../../src/protocols/formats/canonical/canonical-turns.ts'
import type { ReasoningTraits, Traits } from '../../../../src/traits.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

const text = (value: string) => ({ type: 'text', text: value }) as const
const user = (...content: UserPart[]): Turn => ({ role: 'user', content })
const assistant = (...content: AssistantPart[]): Turn => ({ role: 'assistant', content })
const createResults = (...ids: string[]): Turn => ({
  role: 'tool',
  results: ids.map((callId) => ({ callId, content: [text('r')] })),
})
const call = (id: string, value = '{"x":1}'): AssistantPart => ({ type: 'tool-call', id, name: 'f', arguments: value })
const EMPTY: CanonicalRequest = {
  ...{ model: 'm', stream: false, streamUsage: true, tools: [], options: {} },
  turns: [user(text('q'))],
}

function write(request: Partial<CanonicalRequest>, traits: Partial<Traits> = {}) {
  const { target, warnings } = contexts(anthropicTranslator, { traits })
  const { path, headers, body } = anthropicTranslator.writeRequest({ ...EMPTY, ...request }, target)
  return { path, headers, body, warnings: warnings.list() }
}

const first = { role: 'user', content: [text('q')] }

const tools = suite('tools for a Messages provider')

const schema = { type: 'object', properties: { a: { type: 'string', pattern: 'x' } } }
const tool = { type: 'function', name: 'f', schema } as const

tools('a tool without a schema gets an empty object schema', () => {
  assert.equal(write({ tools: [tool, { type: 'function', name: 'g', description: 'd', cache: {} }] }).body.tools, [
    { name: 'f', input_schema: schema },
    {
      ...{ name: 'g', description: 'd', input_schema: { type: 'object', properties: {} } },
      cache_control: { type: 'ephemeral' },
    },
  ])
})

tools('a strict tool gets a schema that Anthropic can enforce', () => {
  const { body, warnings } = write({ tools: [{ ...tool, strict: true }] })
  const input_schema = {
    type: 'object',
    properties: { a: { type: 'string', description: '{pattern: "x"}' } },
    additionalProperties: false,
  }
  assert.equal(body.tools, [{ name: 'f', input_schema, strict: true }])
  assert.equal(warnings, ['moved:tools'])
})

tools("a web search becomes Anthropic's web search tool", () => {
  const location = { city: 'Paris' }
  assert.equal(write({ tools: [{ type: 'web-search', maxUses: 2, blockedDomains: ['b'], location }] }).body.tools, [
    {
      ...{ type: 'web_search_20250305', name: 'web_search', max_uses: 2, blocked_domains: ['b'] },
      user_location: { type: 'approximate', city: 'Paris' },
    },
  ])
})

tools('a Messages request supports tool choices, and disables parallel calls if requested', () => {
  const choice = (request: Partial<CanonicalRequest>) => write({ tools: [tool], ...request }).body.tool_choice
  const serial = { options: { parallelToolCalls: false } }
  assert.equal(choice({ toolChoice: { type: 'required' } }), { type: 'any' })
  assert.equal(choice({ toolChoice: { type: 'none' }, ...serial }), { type: 'none' })
  assert.equal(choice({ toolChoice: { type: 'tool', name: 'f' }, ...serial }), {
    ...{ type: 'tool', name: 'f', disable_parallel_tool_use: true },
  })
  assert.equal(choice(serial), { type: 'auto', disable_parallel_tool_use: true })
  assert.is(choice({}), undefined)
  assert.is(write(serial).body.tool_choice, undefined)
})

const options = suite('options for a Messages provider')

const requestCases: Record<string, [options: RequestOptions, fields: JsonObject, warnings?: string[]]> = {
  'an effort': [
    { reasoning: { effort: 'high', budget: 16_384 } },
    { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
  ],
  'adaptive reasoning': [{ reasoning: { budget: 'auto' } }, { thinking: { type: 'adaptive' } }],
  'the display option for reasoning': [
    { reasoning: { effort: 'low', budget: 1024, show: 'none' } },
    { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'low' } },
  ],
  'no reasoning': [{ reasoning: { effort: 'none', budget: 0 } }, { thinking: { type: 'disabled' } }],
  'no reasoning if only its display is set': [{ reasoning: { show: 'full' } }, {}],
  sampling: [
    { temperature: 0.5, topK: 3 },
    { temperature: 0.5, top_k: 3 },
  ],
  'one of two sampling options': [{ temperature: 0.5, topP: 0.9 }, { temperature: 0.5 }, ['dropped:top_p']],
  'the sampling option that differs from its default': [{ temperature: 1, topP: 0.9 }, { top_p: 0.9 }],
  'no sampling options with reasoning': [
    { temperature: 0.5, topP: 0.9, topK: 3, reasoning: { budget: 'auto' } },
    { thinking: { type: 'adaptive' } },
    ['dropped:temperature', 'dropped:top_p', 'dropped:top_k'],
  ],
  'stop sequences except blank ones': [
    { stop: ['\n', 'END'] },
    { stop_sequences: ['END'] },
    ['dropped:stop_sequences'],
  ],
  'a user': [{ endUser: 'u' }, { metadata: { user_id: 'u' } }],
  'the standard tier': [{ serviceTier: 'default' }, { service_tier: 'standard_only' }],
  'the priority tier': [{ serviceTier: 'priority' }, { service_tier: 'auto' }, ['replaced:service_tier']],
  'no flex tier': [{ serviceTier: 'flex' }, {}, ['dropped:service_tier']],
  speed: [{ serviceTier: 'fast' }, { speed: 'fast' }],
  'a top-level cache breakpoint': [
    { cacheOptions: { auto: { ttl: '5m' } } },
    { cache_control: { type: 'ephemeral', ttl: '5m' } },
  ],
}

for (const [name, [overrides, fields, warnings = []]] of Object.entries(requestCases)) {
  options(`a Messages request contains ${name}`, () => {
    const { body, warnings: recorded } = write({ options: { maxOutputTokens: 9, ...overrides } })
    const { model: _, max_tokens: __, messages: ___, ...rest } = body
    assert.equal(rest, fields)
    assert.equal(recorded, warnings)
  })
}

options('reasoning is disabled with the value that the model accepts', () => {
  const { body } = write(
    { options: { reasoning: { effort: 'none', budget: 0 } } },
    {
      reasoning: { ...anthropicTranslator.traits.reasoning, disabledType: 'between_tools' },
    },
  )
  assert.equal(body.thinking, { type: 'between_tools' })
})

options('max_tokens is always set, and leaves room for output in addition to the reasoning', () => {
  const limit = (options: RequestOptions, traits?: Partial<Traits>) => write({ options }, traits).body.max_tokens
  assert.is(limit({ maxOutputTokens: 9 }), 9)
  assert.is(limit({}, { maxOutputTokens: 64_000 }), 64_000)
  assert.is(limit({}), 8_192)
  assert.is(limit({ reasoning: { effort: 'high', budget: 16_384 } }), 24_576)
  assert.is(limit({ reasoning: { effort: 'none', budget: 0 } }), 8_192)
})

options('a Messages output schema contains its name and description', () => {
  const output = {
    type: 'json-schema',
    schema: { type: 'object', properties: {} },
    name: 'n',
    description: 'd',
  } as const
  const closed = { title: 'n', type: 'object', properties: {}, additionalProperties: false, description: 'd' }
  assert.equal(write({ output }).body.output_config, { format: { type: 'json_schema', schema: closed } })
})

options('a streaming request goes to /messages with default max_tokens', () => {
  assert.equal(write({ stream: true }), {
    ...{ path: '/messages', headers: {}, warnings: [] },
    body: { model: 'm', max_tokens: 8_192, messages: [first], stream: true },
  })
})

options('the anthropic-beta header lists the beta features that a request uses', () => {
  const file = { type: 'file', source: { type: 'file-id', id: 'f', format: 'anthropic-messages' } } as const
  assert.equal(write({ turns: [user(file)] }).headers, { 'anthropic-beta': 'files-api-2025-04-14' })
  assert.equal(write({ options: { serviceTier: 'fast' } }).headers, { 'anthropic-beta': 'fast-mode-2026-02-01' })
})

options('a token count request contains only the fields that affect the count', () => {
  const { target } = contexts(anthropicTranslator)
  const request = { ...EMPTY, stream: true, tools: [tool], options: { maxOutputTokens: 9, temperature: 0.5 } }
  assert.equal(writeCountRequest(request, target), {
    ...{ path: '/messages/count_tokens', headers: {} },
    body: { model: 'm', messages: [first], tools: [{ name: 'f', input_schema: schema }] },
  })
})

const budgets = suite('a model with a reasoning budget')

const reasoning: ReasoningTraits = { ...anthropicTranslator.traits.reasoning, control: 'budget' }
const requestOptions: RequestOptions = { maxOutputTokens: 9_000, reasoning: { effort: 'low', budget: 2_048 } }
const origin = { format: 'anthropic-messages', account: 'a' } as const
const signed: AssistantPart = {
  ...{ type: 'reasoning', text: 'hm' },
  state: { origin, kind: 'signature', data: 's' },
}
const redacted = { origin, kind: 'redacted', data: 'r' } as const
const on = { type: 'enabled', budget_tokens: 2_048 }
const off = { type: 'disabled' }

const loops: Record<string, [turns: Turn[], thinking: object]> = {
  'thinks about a question': [[user(text('q'))], on],
  'thinks after a response without reasoning': [[user(text('q')), assistant(text('a')), user(text('r'))], on],
  'continues to think in a tool loop': [[user(text('q')), assistant(signed, call('a')), createResults('a')], on],
  'continues to think if only the first response of the loop had reasoning': [
    [user(text('q')), assistant(signed, call('a')), createResults('a'), assistant(call('b')), createResults('b')],
    on,
  ],
  'continues to think after redacted reasoning': [
    [user(text('q')), assistant({ ...signed, text: '', state: redacted }, call('a')), createResults('a')],
    on,
  ],
  'does not think in a tool loop without its earlier reasoning': [
    [user(text('q')), assistant(call('a')), createResults('a')],
    off,
  ],
  'does not think when it continues a response': [[user(text('q')), assistant(text('a'))], off],
}

for (const [name, [input, thinking]] of Object.entries(loops)) {
  budgets(`a model with a reasoning budget ${name}`, () => {
    const { body, warnings } = write({ turns: input, options: requestOptions }, { reasoning })
    assert.equal(body.thinking, thinking)
    assert.equal(warnings, thinking === off ? ['dropped:thinking'] : [])
  })
}

const bound = suite('context-bound thinking blocks')

bound('a request with earlier reasoning asks the provider to drop unbound thinking blocks', () => {
  const traits = { reasoning: { ...anthropicTranslator.traits.reasoning, bindsReasoning: true } }
  const turns = [user(text('q')), assistant(signed, text('a')), user(text('r'))]
  const loose = { block_binding: { prefix_mismatch_behavior: 'drop_block' } }
  const idle = write({ turns }, traits)
  assert.equal(idle.body.thinking, { type: 'adaptive', ...loose })
  assert.equal(idle.headers, { 'anthropic-beta': 'thinking-binding-controls-2026-08-01' })
  const reasoning = { effort: 'low', budget: 2_048, show: 'none' } as const
  assert.equal(write({ turns, options: { reasoning } }, traits).body.thinking, {
    ...{ type: 'adaptive', display: 'omitted' },
    ...loose,
  })
  const none = { reasoning: { effort: 'none', budget: 0 } } as const
  assert.equal(write({ turns, options: none }, traits).body.thinking, { type: 'disabled' })
  assert.is(write({}, traits).body.thinking, undefined)
  assert.is(write({ turns }).body.thinking, undefined)
})
