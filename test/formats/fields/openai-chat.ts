import type { JsonObject } from '../../../src/lib/json.ts'
import { type Field, PDF, PNG, schema } from './field.ts'

const user = (content: unknown, extra: JsonObject = {}) => ({ role: 'user', content, ...extra })
const createRequest = (...content: JsonObject[]) => ({ messages: [user([{ type: 'text', text: 'Hi' }, ...content])] })
const createHistory = (extra: JsonObject) => ({
  messages: [user('Hi'), { role: 'assistant', content: 'Once', ...extra }, user('So?')],
})
const call = (extra: JsonObject) => ({ id: 'c', type: 'function', ...extra })
const createToolLoop = (calls: JsonObject[], result: JsonObject = {}) => ({
  messages: [
    user('Hi'),
    { role: 'assistant', content: null, tool_calls: calls },
    { role: 'tool', tool_call_id: 'c', content: 'ok', ...result },
  ],
})
const fn = (extra: JsonObject = {}) => ({ name: 'f', parameters: schema, ...extra })
const tool = (extra: JsonObject = {}, beside: JsonObject = {}) => ({
  tools: [{ type: 'function', function: fn(extra), ...beside }],
})
const search = (extra: JsonObject = {}) => ({ web_search_options: extra })
const custom = (extra: JsonObject = {}) => ({ tools: [{ type: 'custom', custom: { name: 'f', ...extra } }] })
const shaped = (extra: JsonObject = {}) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'city', schema, ...extra } },
})
const text = (extra: JsonObject) => ({ messages: [user([{ type: 'text', text: 'Hi', ...extra }])] })
const createImage = (extra: JsonObject = {}, beside: JsonObject = {}) => ({
  ...{ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}`, ...extra } },
  ...beside,
})
const image = (extra: JsonObject = {}) => createRequest(createImage(extra))
const createImageHistory = (...content: JsonObject[]) =>
  createHistory({ content: [{ type: 'text', text: 'Once' }, ...content] })
const file = (extra: JsonObject = {}) =>
  createRequest({ type: 'file', file: { file_data: `data:application/pdf;base64,${PDF}`, ...extra } })

const options: JsonObject = {
  audio: { voice: 'alloy', format: 'pcm16' },
  cache_control: { type: 'ephemeral' },
  enable_thinking: true,
  frequency_penalty: 0.321,
  logit_bias: { '7': 5 },
  logprobs: true,
  max_completion_tokens: 4321,
  max_tokens: 4321,
  metadata: { team: 'blue' },
  min_p: 0.321,
  modalities: ['text', 'image'],
  moderation: { model: 'omni' },
  n: 2,
  prediction: { type: 'content', content: 'Well' },
  presence_penalty: 0.321,
  prompt_cache_key: 'key-1',
  prompt_cache_retention: '24h',
  reasoning: { effort: 'high' },
  reasoning_effort: 'high',
  response_format: { type: 'json_object' },
  safety_identifier: 'user-1',
  seed: 4321,
  service_tier: 'flex',
  stop: ['END'],
  store: true,
  temperature: 0.321,
  thinking: { type: 'enabled', budget_tokens: 2_000 },
  top_k: 43,
  top_p: 0.321,
  user: 'user-1',
  verbosity: 'low',
  web_search_options: {},
}

/** All fields of a Chat Completions request. */
export const fields: readonly Field[] = [
  ...Object.entries(options).map(([name, value]): Field => [name, { [name]: value }]),
  ['logprobs', { logprobs: true, top_logprobs: 3 }],
  ['prompt_cache_options.mode', { prompt_cache_options: { mode: 'explicit' } }],
  ['prompt_cache_options.ttl', { prompt_cache_options: { ttl: '30m' } }],
  ['reasoning.exclude', { reasoning: { effort: 'high', exclude: true } }, { reasoning: { effort: 'high' } }],
  ['include_reasoning', { include_reasoning: false }],
  ['response_format', shaped()],
  ['response_format.json_schema.name', shaped({ name: 'town' }), shaped()],
  ['response_format.json_schema.description', shaped({ description: 'A town' }), shaped()],
  ['response_format.json_schema.strict', shaped({ strict: true }), shaped()],
  ['functions', { functions: [fn()] }],
  ['function_call', { functions: [fn()], function_call: { name: 'f' } }, { functions: [fn()] }],
  ['tools', tool()],
  ['tools[0].function.description', tool({ description: 'Does' }), tool()],
  ['tools[0].function.strict', tool({ strict: true }), tool()],
  ['tools[0].function.novelty', tool({ novelty: 1 }), tool()],
  ['tools[0].cache_control', tool({}, { cache_control: { type: 'ephemeral' } }), tool()],
  ['tools', custom()],
  ['tools[0].custom.description', custom({ description: 'Does' }), custom()],
  [
    'tools[0].custom.format',
    custom({ format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } } }),
    custom(),
  ],
  ['tools[0].custom.novelty', custom({ novelty: 1 }), custom()],
  ['tool_choice', { ...tool(), tool_choice: 'none' }, tool()],
  ['tool_choice', { ...tool(), tool_choice: 'required' }, tool()],
  ['tool_choice', { ...tool(), tool_choice: { type: 'function', function: { name: 'f' } } }, tool()],
  [
    'tool_choice',
    {
      ...tool(),
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] },
      },
    },
    tool(),
  ],
  ['parallel_tool_calls', { ...tool(), parallel_tool_calls: false }, tool()],
  ['web_search_options.search_context_size', search({ search_context_size: 'high' }), search()],
  [
    'web_search_options.user_location',
    search({ user_location: { type: 'approximate', approximate: { city: 'Rome' } } }),
    search(),
  ],
  ['web_search_options.novelty', search({ novelty: 1 }), search()],
  ['messages[0].name', { messages: [user('Hi', { name: 'Bob' })] }],
  [
    'messages[0].name',
    { messages: [{ role: 'system', content: 'Be', name: 'Bob' }, user('Hi')] },
    { messages: [{ role: 'system', content: 'Be' }, user('Hi')] },
  ],
  ['messages[1].name', createHistory({ name: 'Bob' }), createHistory({})],
  ['messages[1].refusal', createHistory({ refusal: 'Never' }), createHistory({})],
  ['messages[1].audio', createHistory({ audio: { id: 'audio_1' } }), createHistory({})],
  ['messages[1].novelty', createHistory({ novelty: 1 }), createHistory({})],
  [
    'messages[1].tool_calls',
    createToolLoop([call({ function: { name: 'f', arguments: '{"a":1}' } })]),
    createToolLoop([]),
  ],
  [
    'messages[1].tool_calls[0].novelty',
    createToolLoop([call({ function: { name: 'f', arguments: '{}' }, novelty: 1 })]),
    createToolLoop([call({ function: { name: 'f', arguments: '{}' } })]),
  ],
  [
    'messages[1].tool_calls',
    createToolLoop([call({ type: 'custom', custom: { name: 'f', input: 'go' } })]),
    createToolLoop([]),
  ],
  ['messages[0].content[0].cache_control', text({ cache_control: { type: 'ephemeral' } }), text({})],
  [
    'messages[0].content[0].cache_control.ttl',
    text({ cache_control: { type: 'ephemeral', ttl: '1h' } }),
    text({ cache_control: { type: 'ephemeral' } }),
  ],
  ['messages[0].content[0].prompt_cache_breakpoint', text({ prompt_cache_breakpoint: { mode: 'explicit' } }), text({})],
  [
    'messages[0].content[0].prompt_cache_breakpoint.ttl',
    text({ prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } }),
    text({ prompt_cache_breakpoint: { mode: 'explicit' } }),
  ],
  ['messages[1].images[0]', createHistory({ images: [createImage()] }), createHistory({})],
  [
    'messages[1].images[0].novelty',
    createHistory({ images: [createImage({}, { novelty: 1 })] }),
    createHistory({ images: [createImage()] }),
  ],
  [
    'messages[1].images[0].image_url.detail',
    createHistory({ images: [createImage({ detail: 'high' })] }),
    createHistory({ images: [createImage()] }),
  ],
  ['messages[1].content[1]', createImageHistory(createImage()), createImageHistory()],
  ['messages[0].content[0].novelty', text({ novelty: 1 }), text({})],
  ['messages[0].content[1]', image(), createRequest()],
  ['messages[0].content[1].image_url.detail', image({ detail: 'high' }), image()],
  ['messages[0].content[1].image_url.novelty', image({ novelty: 1 }), image()],
  [
    'messages[0].content[1]',
    createRequest({ type: 'image_url', image_url: { url: 'https://a.test/b.png' } }),
    createRequest(),
  ],
  ['messages[0].content[1]', file(), createRequest()],
  ['messages[0].content[1].file.filename', file({ filename: 'a.pdf' }), file()],
  ['messages[0].content[1].file.novelty', file({ novelty: 1 }), file()],
  ['messages[0].content[1]', createRequest({ type: 'file', file: { file_id: 'file_1' } }), createRequest()],
  [
    'messages[0].content[1]',
    createRequest({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }),
    createRequest(),
  ],
  [
    'messages[0].content[1]',
    createRequest({ type: 'audio_url', audio_url: { url: 'https://a.test/b.mp3' } }),
    createRequest(),
  ],
  [
    'messages[0].content[1]',
    createRequest({ type: 'video_url', video_url: { url: 'https://a.test/b.mp4' } }),
    createRequest(),
  ],
  ['messages[0].content[1]', createRequest({ type: 'novelty' }), createRequest()],
  ['novelty', { novelty: 1 }],
]
