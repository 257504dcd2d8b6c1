import type { JsonObject } from '../../../src/lib/json.ts'
import { type Field, PDF, PNG, schema } from './field.ts'

const user = (content: unknown, extra: JsonObject = {}) => ({ role: 'user', content, ...extra })
const createRequest = (...content: JsonObject[]) => ({ messages: [user([{ type: 'text', text: 'Hi' }, ...content])] })
const text = (extra: JsonObject) => ({ messages: [user([{ type: 'text', text: 'Hi', ...extra }])] })
const createMessage = (...content: JsonObject[]) => ({
  messages: [user('Hi'), { role: 'assistant', content: [{ type: 'text', text: 'Once' }, ...content] }, user('So?')],
})
const use = (extra: JsonObject = {}) => ({ type: 'tool_use', id: 'c', name: 'f', input: {}, ...extra })
const result = (extra: JsonObject = {}) => ({ type: 'tool_result', tool_use_id: 'c', content: 'ok', ...extra })
const createToolLoop = (call: JsonObject, output: JsonObject, ...beside: JsonObject[]) => ({
  messages: [user('Hi'), { role: 'assistant', content: [call] }, user([output, ...beside])],
})
const tool = (extra: JsonObject = {}) => ({ tools: [{ name: 'f', input_schema: schema, ...extra }] })
const search = (extra: JsonObject = {}) => ({
  tools: [{ type: 'web_search_20250305', name: 'web_search', ...extra }],
})
const thinking = (extra: JsonObject) => ({
  max_tokens: 9_000,
  thinking: { type: 'enabled', budget_tokens: 2_000, ...extra },
})
const format = (extra: JsonObject = {}) => ({ output_config: { format: { type: 'json_schema', schema, ...extra } } })
const ephemeral = { type: 'ephemeral' }
const png = { type: 'base64', media_type: 'image/png', data: PNG }
const pdf = (extra: JsonObject = {}) =>
  createRequest({ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF }, ...extra })
const plain = (extra: JsonObject = {}) =>
  createRequest({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Well' }, ...extra })
const createSearchResult = (extra: JsonObject = {}) =>
  createRequest({
    type: 'search_result',
    source: 'https://a.test',
    title: 'A',
    content: [{ type: 'text', text: 'B' }],
    ...extra,
  })

const options: JsonObject = {
  cache_control: ephemeral,
  container: 'container_1',
  context_management: { edits: [] },
  inference_geo: 'us',
  max_tokens: 4321,
  mcp_servers: [{ type: 'url', name: 's', url: 'https://a.test' }],
  metadata: { user_id: 'user-1' },
  service_tier: 'standard_only',
  speed: 'fast',
  stop_sequences: ['END'],
  system: 'Be brief',
  temperature: 0.321,
  thread: { id: 't' },
  top_k: 43,
  top_p: 0.321,
}

/** All fields of a Messages request. */
export const fields: readonly Field[] = [
  ...Object.entries(options).map(([name, value]): Field => [name, { [name]: value }]),
  ['metadata.novelty', { metadata: { novelty: 1 } }],
  ['thinking', { max_tokens: 9_000, thinking: { type: 'enabled', budget_tokens: 2_000 } }, { max_tokens: 9_000 }],
  ['thinking', { thinking: { type: 'adaptive' } }],
  ['thinking', { thinking: { type: 'disabled' } }],
  ['thinking.display', thinking({ display: 'omitted' }), thinking({})],
  ['thinking.novelty', thinking({ novelty: 1 }), thinking({})],
  ['output_config.effort', { output_config: { effort: 'high' } }],
  ['output_config.format', format()],
  ['output_config.format.novelty', format({ novelty: 1 }), format()],
  ['output_config.novelty', { output_config: { novelty: 1 } }],
  ['output_format', { output_format: { type: 'json_schema', schema } }],
  [
    'system[0].cache_control',
    { system: [{ type: 'text', text: 'Be', cache_control: ephemeral }] },
    { system: [{ type: 'text', text: 'Be' }] },
  ],
  ['tools', tool()],
  ['tools[0].description', tool({ description: 'Does' }), tool()],
  ['tools[0].strict', tool({ strict: true }), tool()],
  ['tools[0].cache_control', tool({ cache_control: ephemeral }), tool()],
  ['tools[0].input_examples', tool({ input_examples: [{ city: 'Rome' }] }), tool()],
  ['tools[0].defer_loading', tool({ defer_loading: true }), tool()],
  ['tools[0].allowed_callers', tool({ allowed_callers: ['code_execution_20250825'] }), tool()],
  ['tools[0].novelty', tool({ novelty: 1 }), tool()],
  ['tools', search()],
  ['tools[0].max_uses', search({ max_uses: 3 }), search()],
  ['tools[0].allowed_domains', search({ allowed_domains: ['a.test'] }), search()],
  ['tools[0].blocked_domains', search({ blocked_domains: ['a.test'] }), search()],
  ['tools[0].user_location', search({ user_location: { type: 'approximate', city: 'Rome' } }), search()],
  ['tools[0].cache_control', search({ cache_control: ephemeral }), search()],
  ['tools[0]', { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] }],
  ['tool_choice', { ...tool(), tool_choice: { type: 'any' } }, tool()],
  ['tool_choice', { ...tool(), tool_choice: { type: 'none' } }, tool()],
  ['tool_choice', { ...tool(), tool_choice: { type: 'tool', name: 'f' } }, tool()],
  [
    'tool_choice.disable_parallel_tool_use',
    { ...tool(), tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    { ...tool(), tool_choice: { type: 'auto' } },
  ],
  ['messages[0].novelty', { messages: [user('Hi', { novelty: 1 })] }],
  ['messages[0].content[0].cache_control', text({ cache_control: ephemeral }), text({})],
  [
    'messages[0].content[0].cache_control.ttl',
    text({ cache_control: { ...ephemeral, ttl: '1h' } }),
    text({ cache_control: ephemeral }),
  ],
  ['messages[0].content[0].novelty', text({ novelty: 1 }), text({})],
  ['messages[0].content[1]', createRequest({ type: 'image', source: png }), createRequest()],
  [
    'messages[0].content[1]',
    createRequest({ type: 'image', source: { type: 'url', url: 'https://a.test/b.png' } }),
    createRequest(),
  ],
  [
    'messages[0].content[1]',
    createRequest({ type: 'image', source: { type: 'file', file_id: 'file_1' } }),
    createRequest(),
  ],
  [
    'messages[0].content[1].transformations',
    createRequest({ type: 'image', source: png, transformations: ['x'] }),
    createRequest({ type: 'image', source: png }),
  ],
  ['messages[0].content[1]', pdf(), createRequest()],
  ['messages[0].content[1].title', pdf({ title: 'Report' }), pdf()],
  ['messages[0].content[1].context', pdf({ context: 'Of 2024' }), pdf()],
  ['messages[0].content[1].citations', pdf({ citations: { enabled: true } }), pdf()],
  ['messages[0].content[1].cache_control', pdf({ cache_control: ephemeral }), pdf()],
  ['messages[0].content[1]', plain(), createRequest()],
  ['messages[0].content[1].title', plain({ title: 'Report' }), plain()],
  ['messages[0].content[1].context', plain({ context: 'Of 2024' }), plain()],
  ['messages[0].content[1].citations', plain({ citations: { enabled: true } }), plain()],
  [
    'messages[0].content[1]',
    createRequest({ type: 'document', source: { type: 'url', url: 'https://a.test/b.pdf' } }),
    createRequest(),
  ],
  [
    'messages[0].content[1]',
    createRequest({ type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'C' }] } }),
    createRequest(),
  ],
  [
    'messages[0].content[1]',
    createRequest({ type: 'document', source: { type: 'file', file_id: 'file_1' } }),
    createRequest(),
  ],
  ['messages[0].content[1]', createSearchResult(), createRequest()],
  ['messages[0].content[1].citations', createSearchResult({ citations: { enabled: true } }), createSearchResult()],
  ['messages[0].content[1]', createRequest({ type: 'container_upload', file_id: 'file_1' }), createRequest()],
  ['messages[0].content[1]', createRequest({ type: 'novelty' }), createRequest()],
  [
    'messages[1].content[1]',
    createMessage({ type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'rain' } }),
    createMessage(),
  ],
  [
    'messages[1].content[1]',
    createMessage({ type: 'server_tool_use', id: 's', name: 'bash_code_execution', input: { command: 'ls' } }),
    createMessage(),
  ],
  ['messages[1].content[1]', createMessage({ type: 'compaction', content: 'Before' }), createMessage()],
  ['messages[1].content[1]', createMessage({ type: 'image', source: png }), createMessage()],
  [
    'messages[1].content[1].citations',
    createMessage({
      type: 'text',
      text: 'Two',
      citations: [
        {
          type: 'char_location',
          cited_text: 'x',
          document_index: 0,
          document_title: null,
          start_char_index: 0,
          end_char_index: 1,
        },
      ],
    }),
    createMessage({ type: 'text', text: 'Two' }),
  ],
  ['messages[1].content[0].input', createToolLoop(use({ input: { a: 1 } }), result()), createToolLoop(use(), result())],
  [
    'messages[1].content[0].cache_control',
    createToolLoop(use({ cache_control: ephemeral }), result()),
    createToolLoop(use(), result()),
  ],
  ['messages[1].content[0].novelty', createToolLoop(use({ novelty: 1 }), result()), createToolLoop(use(), result())],
  [
    'messages[2].content[0].is_error',
    createToolLoop(use(), result({ is_error: true })),
    createToolLoop(use(), result()),
  ],
  [
    'messages[2].content[0].cache_control',
    createToolLoop(use(), result({ cache_control: ephemeral })),
    createToolLoop(use(), result()),
  ],
  [
    'messages[2].content[0].content[1]',
    createToolLoop(
      use(),
      result({
        content: [
          { type: 'text', text: 'ok' },
          { type: 'image', source: png },
        ],
      }),
    ),
    createToolLoop(use(), result({ content: [{ type: 'text', text: 'ok' }] })),
  ],
  [
    'messages[2].content[0].content[0]',
    createToolLoop(use(), result({ content: [{ type: 'tool_reference', tool_name: 'f' }] })),
    createToolLoop(use(), result({ content: [] })),
  ],
  [
    'messages[2].content[1]',
    createToolLoop(use(), result(), { type: 'text', text: 'Well' }),
    createToolLoop(use(), result()),
  ],
  [
    'messages[1]',
    { messages: [user('Hi'), { role: 'system', content: 'Late' }, user('So?')] },
    { messages: [user('Hi'), user('So?')] },
  ],
  ['novelty', { novelty: 1 }],
]
