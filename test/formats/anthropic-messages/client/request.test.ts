import { isObject, type JsonObject } from '../../../../src/lib/json.ts'
import { anthropicTranslator } from '../../../../src/protocols/formats/anthropic-messages/anthropic-translator.ts'
import type { RequestOptions } from '../../../../src/protocols/formats/canonical/canonical-request.ts'
import type { Tool } from '../../../../src/protocols/formats/canonical/canonical-tools.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

function parse(body: JsonObject, version?: string) {
  const { warnings } = contexts(anthropicTranslator)
  const context = version === undefined ? { warnings } : { warnings, version }
  const request = anthropicTranslator.parseRequest({ model: 'claude', max_tokens: 9, messages: [], ...body }, context)
  return { ...request, warnings: warnings.list() }
}

/** Rejected requests, with the field that the error names. */
function getError(body: JsonObject, version?: string): unknown {
  try {
    parse(body, version)
  } catch (error) {
    const { data, status } = Object(error)
    assert.is(status, 400)
    return isObject(data) ? data.param : undefined
  }
  return 'not refused'
}

const text = (content: string) => ({ type: 'text', text: content }) as const
const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const cache = { ttl: '1h' } as const

const tools = suite('Messages request tools')

const schema = { type: 'object', properties: {} }
const declared: Record<string, [tool: JsonObject, tool: Tool | undefined]> = {
  'a function': [
    { name: 'f', description: 'd', input_schema: schema, strict: true, ...mark },
    { type: 'function', name: 'f', description: 'd', schema, strict: true, cache },
  ],
  'a function with a type': [
    { type: 'custom', name: 'f', input_schema: schema },
    { type: 'function', name: 'f', schema },
  ],
  'a search': [
    {
      ...{
        type: 'web_search_20260318',
        name: 'web_search',
        max_uses: 2,
        allowed_domains: ['a'],
        blocked_domains: null,
      },
      user_location: { type: 'approximate', city: 'Paris' },
    },
    { type: 'web-search', maxUses: 2, allowedDomains: ['a'], location: { city: 'Paris' } },
  ],
  'a tool search': [{ type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' }, undefined],
}

for (const [name, [tool, expected]] of Object.entries(declared)) {
  tools(`parses ${name}`, () => assert.equal(parse({ tools: [tool] }).tools, expected ? [expected] : []))
}

tools('deferred tools are declared immediately, with a warning', () => {
  const { tools, warnings } = parse({ tools: [{ name: 'f', input_schema: schema, defer_loading: true }] })
  assert.equal(tools, [{ type: 'function', name: 'f', schema }])
  assert.equal(warnings, ['dropped:tools[0].defer_loading'])
})

tools('parses the tool choice, which can also disable parallel calls', () => {
  const choice = (tool_choice: JsonObject) => parse({ tool_choice }).toolChoice
  assert.equal(choice({ type: 'auto' }), { type: 'auto' })
  assert.equal(choice({ type: 'any' }), { type: 'required' })
  assert.equal(choice({ type: 'none' }), { type: 'none' })
  assert.equal(choice({ type: 'tool', name: 'f' }), { type: 'tool', name: 'f' })
  assert.is(parse({ tool_choice: { type: 'auto', disable_parallel_tool_use: true } }).options.parallelToolCalls, false)
})

const options = suite('Messages request options')

const requestCases: Record<string, [body: JsonObject, options: RequestOptions]> = {
  sampling: [
    { temperature: 0.5, top_p: 0.9, top_k: 5, stop_sequences: ['END'] },
    { temperature: 0.5, topP: 0.9, topK: 5, stop: ['END'] },
  ],
  'a budget': [{ thinking: { type: 'enabled', budget_tokens: 2000 } }, { reasoning: { budget: 2000 } }],
  'no reasoning': [{ thinking: { type: 'disabled' } }, { reasoning: { effort: 'none' } }],
  'adaptive reasoning with an effort': [
    { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'xhigh' } },
    { reasoning: { effort: 'xhigh', budget: 'auto', show: 'summary' } },
  ],
  'hidden reasoning': [
    { thinking: { type: 'adaptive', display: 'omitted' } },
    { reasoning: { budget: 'auto', show: 'none' } },
  ],
  'only an effort': [{ output_config: { effort: 'low' } }, { reasoning: { effort: 'low' } }],
  'a user': [{ metadata: { user_id: 'u' } }, { endUser: 'u' }],
  'the standard tier': [{ service_tier: 'standard_only' }, { serviceTier: 'default' }],
  speed: [{ service_tier: 'auto', speed: 'fast' }, { serviceTier: 'fast' }],
  'a top-level cache breakpoint': [mark, { cacheOptions: { auto: cache } }],
}

for (const [name, [body, expected]] of Object.entries(requestCases)) {
  options(`parses ${name}`, () => assert.equal(parse(body).options, { maxOutputTokens: 9, ...expected }))
}

options("parses the output schema, including in the beta's field", () => {
  const format = { type: 'json_schema', schema }
  assert.equal(parse({ output_config: { format } }).output, { type: 'json-schema', schema })
  assert.equal(parse({ output_format: format }).output, { type: 'json-schema', schema })
})

options('Anthropic-only fields are dropped with warnings that name them', () => {
  const { warnings } = parse({ context_management: { edits: [] }, output_config: { task_budget: {} }, made_up: 1 })
  assert.equal(warnings, ['dropped:output_config.task_budget', 'dropped:context_management', 'dropped:made_up'])
})

options("a token count request doesn't need max_tokens", () => {
  assert.equal(
    anthropicTranslator.parseRequest({ model: 'm', messages: [] }, contexts(anthropicTranslator)).options,
    {},
  )
})

const refused = suite('errors about a Messages request')

const run = (type: string) => ({ tools: [{ type, name: 'x' }] })
const message = (role: string, block: JsonObject) => ({ messages: [{ role, content: [block] }] })
const refusals: Record<string, [body: JsonObject, param: string, version?: string]> = {
  'for a tool that Anthropic runs': [run('code_execution_20260521'), 'tools[0].type'],
  "for a tool that only Anthropic's models can call": [run('computer_20251124'), 'tools[0].type'],
  'for MCP servers': [{ mcp_servers: [{ name: 'x' }] }, 'mcp_servers'],
  'for a container': [{ container: 'container_1' }, 'container'],
  'for a location': [{ inference_geo: 'eu' }, 'inference_geo'],
  'for a limit of 0': [{ max_tokens: 0 }, 'max_tokens'],
  'for an unknown block': [message('user', { type: 'container_upload', file_id: 'f' }), 'messages[0].content[0].type'],
  'for a document in an assistant message': [
    message('assistant', { type: 'document', source: { type: 'url', url: 'https://a' } }),
    'messages[0].content[0].type',
  ],
  'for an unknown role': [message('tool', text('a')), 'messages[0].role'],
  'for a message without content': [{ messages: [{ role: 'user' }] }, 'messages[0].content'],
  'for messages that are not a list': [{ messages: 'hi' }, 'messages'],
  'for a budget without a number': [{ thinking: { type: 'enabled' } }, 'thinking.budget_tokens'],
  'for a tool choice without a name': [{ tool_choice: { type: 'tool' } }, 'tool_choice.name'],
  'for sampling options in an API version without them': [{ temperature: 0.5 }, 'temperature', '2026-10-21'],
}

for (const [name, [body, param, version]] of Object.entries(refusals)) {
  refused(`the error ${name} names the field`, () => assert.is(getError(body, version), param))
}

refused('the older API version accepts sampling options', () => {
  assert.is(getError({ temperature: 0.5 }, '2023-06-01'), 'not refused')
  assert.is(getError({ temperature: null }, '2026-10-21'), 'not refused')
})
