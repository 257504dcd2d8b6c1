import type { JsonObject } from '../../../src/lib/json.ts'
import { type Field, PDF, PNG, schema } from './field.ts'

const user = (content: unknown, extra: JsonObject = {}) => ({ role: 'user', content, ...extra })
const createRequest = (...content: JsonObject[]) => ({
  input: [user([{ type: 'input_text', text: 'Hi' }, ...content])],
})
const text = (extra: JsonObject) => ({ input: [user([{ type: 'input_text', text: 'Hi', ...extra }])] })
const createMessage = (extra: JsonObject = {}, part: JsonObject = {}) => ({
  input: [
    user('Hi'),
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Once', ...part }], ...extra },
    user('So?'),
  ],
})
const between = (...items: JsonObject[]) => ({ input: [user('Hi'), ...items, user('So?')] })
const createToolLoop = (call: JsonObject = {}, output: unknown = 'ok', extra: JsonObject = {}) => ({
  input: [
    user('Hi'),
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', ...call },
    { type: 'function_call_output', call_id: 'c', output, ...extra },
  ],
})
const tool = (extra: JsonObject = {}) => ({ tools: [{ type: 'function', name: 'f', parameters: schema, ...extra }] })
const custom = (extra: JsonObject = {}) => ({ tools: [{ type: 'custom', name: 'f', ...extra }] })
const search = (extra: JsonObject = {}) => ({ tools: [{ type: 'web_search', ...extra }] })
const shaped = (extra: JsonObject = {}) => ({
  text: { format: { type: 'json_schema', name: 'city', schema, ...extra } },
})
const image = (extra: JsonObject = {}) =>
  createRequest({ type: 'input_image', image_url: `data:image/png;base64,${PNG}`, ...extra })
const file = (extra: JsonObject = {}) =>
  createRequest({ type: 'input_file', file_data: `data:application/pdf;base64,${PDF}`, ...extra })

const options: JsonObject = {
  background: true,
  context_management: [{ type: 'compaction' }],
  conversation: 'conv_1',
  frequency_penalty: 0.321,
  instructions: 'Be brief',
  max_output_tokens: 4321,
  max_tool_calls: 3,
  metadata: { team: 'blue' },
  moderation: { model: 'omni' },
  presence_penalty: 0.321,
  previous_response_id: 'resp_0',
  prompt: { id: 'pmpt_1' },
  prompt_cache_key: 'key-1',
  prompt_cache_retention: '24h',
  safety_identifier: 'user-1',
  service_tier: 'flex',
  store: true,
  temperature: 0.321,
  top_logprobs: 3,
  top_p: 0.321,
  truncation: 'auto',
  user: 'user-1',
}

/** All fields of a Responses request. */
export const fields: readonly Field[] = [
  ...Object.entries(options).map(([name, value]): Field => [name, { [name]: value }]),
  ['service_tier', { service_tier: 'ultrafast' }],
  ['include', { include: ['message.output_text.logprobs'] }],
  ['include', { include: ['message.input_image.image_url'] }],
  ['prompt_cache_options.mode', { prompt_cache_options: { mode: 'explicit' } }],
  ['prompt_cache_options.ttl', { prompt_cache_options: { ttl: '30m' } }],
  ['reasoning.effort', { reasoning: { effort: 'high' } }],
  ['reasoning.summary', { reasoning: { effort: 'high', summary: 'detailed' } }, { reasoning: { effort: 'high' } }],
  ['reasoning.summary', { reasoning: { summary: 'auto' } }],
  ['reasoning.mode', { reasoning: { mode: 'pro' } }],
  ['reasoning.context', { reasoning: { context: 'all_turns' } }],
  ['text.verbosity', { text: { verbosity: 'low' } }],
  ['text.format', { text: { format: { type: 'json_object' } } }],
  ['text.format', shaped()],
  ['text.format.name', shaped({ name: 'town' }), shaped()],
  ['text.format.description', shaped({ description: 'A town' }), shaped()],
  ['text.format.strict', shaped({ strict: true }), shaped()],
  ['tools', tool()],
  ['tools[0].description', tool({ description: 'Does' }), tool()],
  ['tools[0].strict', tool({ strict: true }), tool({ strict: false })],
  ['tools[0].output_schema', tool({ output_schema: schema }), tool()],
  ['tools[0].defer_loading', tool({ defer_loading: true }), tool()],
  ['tools[0].allowed_callers', tool({ allowed_callers: ['direct'] }), tool()],
  ['tools', custom()],
  ['tools[0].description', custom({ description: 'Does' }), custom()],
  ['tools[0].format', custom({ format: { type: 'grammar', syntax: 'regex', definition: 'a+' } }), custom()],
  ['tools', search()],
  ['tools[0].search_context_size', search({ search_context_size: 'high' }), search()],
  ['tools[0].user_location', search({ user_location: { type: 'approximate', city: 'Rome' } }), search()],
  ['tools[0].filters.allowed_domains', search({ filters: { allowed_domains: ['a.test'] } }), search()],
  ['tools[0].filters.blocked_domains', search({ filters: { blocked_domains: ['a.test'] } }), search()],
  ['tools[0]', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }],
  ['tools[0]', { tools: [{ type: 'mcp', server_label: 's' }] }],
  ['tools', { tools: [{ type: 'namespace', name: 'n', description: 'Of n', tools: tool().tools }] }],
  [
    'tools[0].description',
    { tools: [{ type: 'namespace', name: 'n', description: 'Of n', tools: tool().tools }] },
    { tools: [{ type: 'namespace', name: 'n', tools: tool().tools }] },
  ],
  ['tool_choice', { ...tool(), tool_choice: 'none' }, tool()],
  ['tool_choice', { ...tool(), tool_choice: 'required' }, tool()],
  ['tool_choice', { ...tool(), tool_choice: { type: 'function', name: 'f' } }, tool()],
  [
    'tool_choice',
    { ...tool(), tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] } },
    tool(),
  ],
  ['parallel_tool_calls', { ...tool(), parallel_tool_calls: false }, tool()],
  ['input[0].content[0].prompt_cache_breakpoint', text({ prompt_cache_breakpoint: { mode: 'explicit' } }), text({})],
  [
    'input[0].content[0].prompt_cache_breakpoint.ttl',
    text({ prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } }),
    text({ prompt_cache_breakpoint: { mode: 'explicit' } }),
  ],
  ['input[0].content[0].novelty', text({ novelty: 1 }), text({})],
  ['input[0].content[1]', image(), createRequest()],
  ['input[0].content[1].detail', image({ detail: 'high' }), image()],
  ['input[0].content[1]', createRequest({ type: 'input_image', image_url: 'https://a.test/b.png' }), createRequest()],
  ['input[0].content[1]', createRequest({ type: 'input_image', file_id: 'file_1' }), createRequest()],
  ['input[0].content[1]', file(), createRequest()],
  ['input[0].content[1].filename', file({ filename: 'a.pdf' }), file()],
  ['input[0].content[1]', createRequest({ type: 'input_file', file_url: 'https://a.test/b.pdf' }), createRequest()],
  [
    'input[0].content[1]',
    createRequest({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }),
    createRequest(),
  ],
  ['input[0].content[1]', createRequest({ type: 'novelty' }), createRequest()],
  ['input[0].novelty', { input: [user('Hi', { novelty: 1 })] }],
  ['input[1].phase', createMessage({ phase: 'commentary' }), createMessage()],
  ['input[1].novelty', createMessage({ novelty: 1 }), createMessage()],
  ['input[1].content[0].novelty', createMessage({}, { novelty: 1 }), createMessage()],
  [
    'input[1].content[0].annotations',
    createMessage(
      {},
      { annotations: [{ type: 'url_citation', url: 'https://a.test', title: 'A', start_index: 0, end_index: 4 }] },
    ),
    createMessage(),
  ],
  [
    'input[1]',
    between({ type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'Never' }] }),
    between(),
  ],
  [
    'input[1]',
    between({ type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'rain' } }),
    between(),
  ],
  ['input[1]', between({ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: PNG }), between()],
  ['input[1]', between({ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: null }), between()],
  ['input[1]', between({ type: 'code_interpreter_call', id: 'ci_1', code: '1' }), between()],
  ['input[1]', between({ type: 'item_reference', id: 'msg_1' }), between()],
  ['input[1]', between({ type: 'compaction', id: 'cmp_1', encrypted_content: 'x' }), between()],
  ['input[1].arguments', createToolLoop({ arguments: '{"a":1}' }), createToolLoop()],
  ['input[1].novelty', createToolLoop({ novelty: 1 }), createToolLoop()],
  ['input[2].novelty', createToolLoop({}, 'ok', { novelty: 1 }), createToolLoop()],
  [
    'input[2].output[1]',
    createToolLoop({}, [
      { type: 'input_text', text: 'ok' },
      { type: 'input_image', image_url: `data:image/png;base64,${PNG}` },
    ]),
    createToolLoop({}, [{ type: 'input_text', text: 'ok' }]),
  ],
  [
    'input[2].output[1]',
    createToolLoop({}, [
      { type: 'input_text', text: 'ok' },
      { type: 'input_file', file_data: `data:application/pdf;base64,${PDF}` },
    ]),
    createToolLoop({}, [{ type: 'input_text', text: 'ok' }]),
  ],
  ['novelty', { novelty: 1 }],
  ['reasoning.novelty', { reasoning: { novelty: 1 } }],
  ['text.novelty', { text: { novelty: 1 } }],
  ['text.format.novelty', shaped({ novelty: 1 }), shaped()],
]
