import { responsesTranslator } from '../../../../src/protocols/formats/openai-responses/responses-translator.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'
import { call, parse, result } from '../support/parse-request.ts'
import { ours } from '../support/streams.ts'

const test = suite('parsing a Responses request')

const text = (value: string) => ({ type: 'text', text: value })

const createCall = (id: string, fields = {}) => ({ type: 'tool-call', id, name: 'f', arguments: '{}', ...fields })
const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown) => ({ role: 'assistant', content })

/** Fields outside the conversation, with the expected options. */
const options: Record<string, [fields: object, options: object]> = {
  'plain options': [
    {
      max_output_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      parallel_tool_calls: false,
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      safety_identifier: 'u',
      service_tier: 'flex',
      store: true,
      text: { verbosity: 'low' },
    },
    {
      maxOutputTokens: 100,
      temperature: 0.5,
      topP: 0.9,
      parallelToolCalls: false,
      labels: { a: 'b' },
      cacheKey: 'k',
      endUser: 'u',
      serviceTier: 'flex',
      store: true,
      verbosity: 'low',
    },
  ],
  'the old user field, and default values': [{ user: 'u', store: false, truncation: 'disabled' }, { endUser: 'u' }],
  'null values': [{ temperature: null, reasoning: null, text: null, metadata: null, tools: null }, {}],
  'an effort': [{ reasoning: { effort: 'high', summary: null } }, { reasoning: { effort: 'high' } }],
  'reasoning summaries': [{ reasoning: { summary: 'auto' } }, { reasoning: { show: 'summary' } }],
  'detailed reasoning summaries, under the old field name': [
    { reasoning: { generate_summary: 'detailed' } },
    { reasoning: { show: 'full' } },
  ],
  'log probabilities with alternatives': [
    { include: ['message.output_text.logprobs'], top_logprobs: 3 },
    { logprobs: 3 },
  ],
  'log probabilities without alternatives': [{ include: ['message.output_text.logprobs'] }, { logprobs: 0 }],
  'cache options': [
    { prompt_cache_options: { mode: 'explicit', ttl: '30m' } },
    { cacheOptions: { mode: 'explicit', ttl: '30m' } },
  ],
}

for (const [name, [fields, expected]] of Object.entries(options))
  test(`parses ${name}`, () => {
    const { options, warnings } = parse(fields)
    assert.equal(options, expected)
    assert.equal(warnings, [])
  })

test("parses a Responses request's output format", () => {
  const schema = { type: 'object', properties: {} }
  assert.is(parse({ text: { format: { type: 'text' } } }).output, undefined)
  assert.equal(parse({ text: { format: { type: 'json_object' } } }).output, { type: 'json' })
  assert.equal(parse({ text: { format: { type: 'json_schema', name: 'n', schema, strict: true } } }).output, {
    type: 'json-schema',
    schema,
    name: 'n',
    strict: true,
  })
})

test("parses tools, and joins a tool's namespace and name", () => {
  const parameters = { type: 'object', properties: {} }
  const { tools, warnings } = parse({
    tools: [
      { type: 'function', name: 'f', parameters, strict: true, description: 'd', defer_loading: false },
      { type: 'function', name: 'g', parameters: null, strict: null },
      { type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'regex', definition: '.*' } },
      { type: 'namespace', name: 'mcp', description: 'n', tools: [{ type: 'function', name: 'f' }] },
      { type: 'web_search', search_context_size: 'low', user_location: { type: 'approximate', city: 'Bern' } },
      { type: 'tool_search' },
    ],
  })
  assert.equal(tools, [
    { type: 'function', name: 'f', description: 'd', schema: parameters, strict: true },
    { type: 'function', name: 'g' },
    { type: 'free-form', name: 'c', grammar: { syntax: 'regex', definition: '.*' } },
    { type: 'function', name: 'mcp__f' },
    { type: 'web-search', contextSize: 'low', location: { city: 'Bern' } },
  ])
  assert.equal(warnings, ['dropped:tools[3].description', 'dropped:tools[5]'])
})

test("a call to a namespaced tool gets the tool's full name", () => {
  const tools = [{ type: 'namespace', name: 'mcp', tools: [{ type: 'function', name: 'f' }] }]
  const input = [call('c1', { namespace: 'mcp' }), call('c2', { namespace: 'f' })]
  assert.equal(parse({ tools, input }).turns, [assistant([createCall('c1', { name: 'mcp__f' }), createCall('c2')])])
})

test('the request includes tools that are declared by input items', () => {
  const declared = [{ type: 'function', name: 'g', strict: false }]
  const { tools, turns } = parse({
    tools: [{ type: 'function', name: 'f' }],
    input: [
      { role: 'user', content: 'u' },
      { type: 'additional_tools', role: 'developer', tools: declared },
      { type: 'tool_search_call', execution: 'server', arguments: {}, call_id: null },
      { type: 'tool_search_output', execution: 'server', tools: declared, call_id: null },
    ],
  })
  assert.equal(tools, [
    { type: 'function', name: 'f' },
    { type: 'function', name: 'g', strict: false },
  ])
  assert.equal(turns, [user([text('u')])])
})

test('parses every form of tool_choice', () => {
  for (const type of ['auto', 'none', 'required']) assert.equal(parse({ tool_choice: type }).toolChoice, { type })
  assert.equal(parse({ tool_choice: { type: 'function', name: 'f' } }).toolChoice, { type: 'tool', name: 'f' })
  assert.equal(parse({ tool_choice: { type: 'custom', name: 'c' } }).toolChoice, { type: 'tool', name: 'c' })
  const allowed = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] }
  assert.equal(parse({ tool_choice: allowed }).toolChoice, { type: 'allowed', mode: 'required', names: ['f'] })
})

test('reasoning stored at a provider is dropped with a warning that names it', () => {
  const input = [
    { role: 'user', content: 'q' },
    { type: 'item_reference', id: 'rs_1' },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
  ]
  const { warnings } = contexts(responsesTranslator, ours)
  const { turns } = responsesTranslator.parseRequest({ model: 'x', input }, { warnings })
  assert.equal(turns[1], { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'f', arguments: '{}' }] })
  assert.equal(warnings.list(), ['dropped:input[1]'])
})

/** Rejected requests, with the field that the error names. */
const rejected: Record<string, [fields: object, param: string]> = {
  'an earlier response': [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
  'a conversation by its ID': [{ conversation: 'conv_1' }, 'conversation'],
  'a conversation': [{ conversation: { id: 'conv_1' } }, 'conversation'],
  'background mode': [{ background: true }, 'background'],
  'a stored prompt': [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
  'no input': [{ input: null }, 'input'],
  'input of the wrong type': [{ input: 1 }, 'input'],
  'a reference to an item': [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input[0].type'],
  'a computer call': [{ input: [{ type: 'computer_call', id: 'cu_1' }] }, 'input[0].type'],
  'a compaction without content': [{ input: [{ type: 'compaction' }] }, 'input[0].encrypted_content'],
  'a vendor tool': [{ tools: [{ type: 'code_interpreter' }] }, 'tools[0].type'],
  'a tool search at the client': [{ tools: [{ type: 'tool_search', execution: 'client' }] }, 'tools[0].type'],
  'a choice of a vendor tool': [{ tool_choice: { type: 'file_search' } }, 'tool_choice.type'],
  'an unknown role': [{ input: [{ role: 'tool', content: 'a' }] }, 'input[0].role'],
  'an unknown part': [{ input: [user([{ type: 'input_video' }])] }, 'input[0].content[0].type'],
  'an image in instructions': [
    { input: [{ role: 'system', content: [{ type: 'input_image', image_url: 'https://a.example/i' }] }] },
    'input[0].content',
  ],
  'a call without a name': [{ input: [call('c1', { name: '' })] }, 'input[0].name'],
  'a result without a call': [{ input: [result(undefined)] }, 'input[0].call_id'],
  'a field of the wrong type': [{ temperature: 'hot' }, 'temperature'],
}

for (const [name, [fields, param]] of Object.entries(rejected))
  test(`rejects ${name} with an error that contains the path`, () => {
    try {
      parse(fields)
    } catch (error) {
      assert.match(String(error), `"${param}"`)
      assert.is((error as { data: { param: string } }).data.param, param)
      return
    }
    assert.unreachable()
  })

test('unknown fields are dropped with a warning', () => {
  const fields = { background: false, previous_response_id: null, max_tool_calls: 3, truncation: 'auto', foo: 1 }
  const reasoning = { effort: 'low', context: 'all_turns', mode: 'standard' }
  const stream_options = { include_obfuscation: true }
  assert.equal(parse({ ...fields, reasoning, stream_options, service_tier: 'ultrafast' }).warnings, [
    'dropped:reasoning.context',
    'replaced:service_tier',
    'dropped:max_tool_calls',
    'dropped:truncation',
    'dropped:foo',
  ])
  assert.throws(() => parse({ foo: 1 }, { isStrict: true }), /"foo"/)
})
