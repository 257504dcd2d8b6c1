import type { JsonObject } from '../../../src/lib/json.ts'
import { geminiTranslator } from '../../../src/protocols/formats/gemini/gemini-translator.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { clients } from '../support/clients.ts'
import { contexts } from '../support/contexts.ts'
import { fullResponses } from './responses.ts'
import { delta, getFormat, getStream, openGateway, request, send } from './support.ts'

const test = suite('cases: content and fields')

const createRequest = (client: WireFormat, model: string, body: JsonObject, headers: Record<string, string> = {}) =>
  send({ client, model, body, headers, respond: () => json(fullResponses[getFormat(model)]) })

const user = (content: unknown) => ({ role: 'user', content })
const calls = [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '' } }]
const result = { role: 'tool', tool_call_id: 'c1', content: 'x' }

for (const content of ['', null, [{ type: 'text', text: '' }], ' \n ']) {
  test(`a call turn with the content ${JSON.stringify(content)} produces no empty text part`, async () => {
    const messages = [
      user('a'),
      { role: 'assistant', content, tool_calls: calls },
      result,
      user([
        { type: 'text', text: '' },
        { type: 'text', text: 'b' },
      ]),
    ]
    const { sent } = await createRequest('openai-chat', 'messages/m', { messages })
    const [, turn, last] = sent.messages as { content: JsonObject[] }[]
    assert.equal(turn?.content, [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }])
    assert.equal(
      last?.content.map(({ type }) => type),
      ['tool_result', 'text'],
    )
    const gemini = await createRequest('openai-chat', 'gemini/m', { messages })
    assert.not.match(JSON.stringify(gemini.sent), /"text":""|"parts":\[\]/)
  })
}

test('a turn with only calls has null content for a chat provider', async () => {
  const messages = [
    user('a'),
    {
      role: 'assistant',
      content: [
        { type: 'text', text: '' },
        { type: 'tool_use', id: 'c1', name: 'f', input: {} },
      ],
    },
    user([{ type: 'tool_result', tool_use_id: 'c1', content: '' }]),
  ]
  const { sent } = await createRequest('anthropic-messages', 'chat/m', { messages })
  const [, turn, output] = sent.messages as JsonObject[]
  assert.equal([turn?.content, output?.content], [null, ''])
})

const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  additionalProperties: false,
  properties: {
    kind: { const: 'x' },
    size: { type: 'integer', exclusiveMinimum: 0 },
    level: { type: 'integer', enum: [1, 2] },
    note: { type: ['string', 'null'] },
    list: { type: 'array', uniqueItems: true, items: { $ref: '#/$defs/item' } },
    map: { type: 'object', propertyNames: { pattern: '^a' } },
  },
  $defs: { item: { type: 'string' } },
}

test('a tool schema reaches providers that accept JSON Schema unchanged', async () => {
  const fields = {
    'openai/m': 'parameters',
    'responses/m': 'parameters',
    'messages/m': 'input_schema',
    'gemini/m': 'parametersJsonSchema',
  }
  for (const [model, field] of Object.entries(fields)) {
    const client = getFormat(model) === 'openai-chat' ? 'anthropic-messages' : 'openai-chat'
    const tools =
      client === 'openai-chat'
        ? [{ type: 'function', function: { name: 'f', parameters: schema } }]
        : [{ name: 'f', input_schema: schema }]
    const { sent, warned } = await createRequest(client, model, { tools })
    assert.ok(JSON.stringify(sent.tools).includes(`"${field}":${JSON.stringify(schema)}`), JSON.stringify(sent.tools))
    assert.equal(warned, [])
  }
})

test('a tool schema is simplified for providers that support less of JSON Schema', () => {
  const { target } = contexts(geminiTranslator, { format: 'gemini', traits: { schema: 'openapi' } })
  const requests = { model: 'm', stream: false, streamUsage: false, turns: [], options: {} }
  const { body } = geminiTranslator.writeRequest(
    { ...requests, tools: [{ type: 'function', name: 'f', schema }] },
    target,
  )
  const [
    {
      functionDeclarations: [{ parameters }],
    },
  ] = body.tools as [{ functionDeclarations: [{ parameters: JsonObject }] }]
  const { kind, size, level, note, list } = parameters.properties as Record<string, JsonObject>
  assert.equal(kind?.enum, ['x'])
  assert.is(size?.minimum, 1)
  assert.equal([level?.type, level?.enum], ['STRING', ['1', '2']])
  assert.equal([note?.type, note?.nullable], ['STRING', true])
  assert.match(JSON.stringify(list?.items), /"type":"STRING"/)
  assert.not.match(JSON.stringify(parameters), /\$|additionalProperties|const"|exclusive|uniqueItems|propertyNames/)
})

const claudeCode = {
  system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral', scope: 'global' } }],
  messages: [
    user('a'),
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'x' },
        { type: 'text', text: 'b' },
      ],
    },
    user([{ type: 'text', text: 'c', cache_control: { type: 'ephemeral', ttl: '1h' } }]),
  ],
  context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
  output_config: { effort: 'medium' },
  metadata: { user_id: 'u' },
}
const betas = {
  'anthropic-beta': 'a-2025-01-01,b-2025-01-01,context-management-2025-06-27',
  'anthropic-version': '2023-06-01',
}

test('Anthropic-only fields are sent only to Anthropic', async () => {
  for (const model of ['chat/m', 'mistral/m', 'responses/m', 'gemini/m']) {
    const { sent, call, response, warned } = await createRequest('anthropic-messages', model, claudeCode, betas)
    assert.is(response.status, 200)
    assert.not.match(
      JSON.stringify(sent),
      /cache_control|scope|context_management|output_config|ephemeral|signature/,
      model,
    )
    assert.is(call?.headers.get('anthropic-beta'), null)
    assert.ok(warned.includes('dropped:context_management'), warned.join())
  }
  const { sent, call } = await createRequest('anthropic-messages', 'anthropic/claude-opus-5', claudeCode, betas)
  assert.equal(sent, { model: 'claude-opus-5', stream: false, max_tokens: 4_096, ...claudeCode })
  assert.is(call?.headers.get('anthropic-beta'), betas['anthropic-beta'])
})

test('chunks without choices, and choices without content, are ignored', async () => {
  const filter = { id: '', model: '', object: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] }
  const trailing = { ...delta({}), choices: [{ index: 0, finish_reason: null, content_filter_offsets: {} }] }
  const events = [filter, delta({ role: 'assistant', content: 'a' }), delta({}, 'stop'), trailing, '[DONE]' as const]
  const { world } = await openGateway(() => getStream('openai-chat', events))
  for (const client of wireFormats) {
    if (client === 'openai-chat') continue // this client gets the provider's bytes
    const { text, finish } = await clients[client](await request(world, { client, model: 'chat/m', stream: true }))
    assert.equal([text, finish], ['a', 'stop'], client)
  }
})

test('streamed thinking and text parts become reasoning and text', async () => {
  const thought = { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }
  const events = [
    delta({ role: 'assistant', content: '' }),
    delta({ content: [thought] }),
    delta({ content: [{ type: 'text', text: 'a' }] }),
    delta({ content: 'b' }, 'stop'),
  ]
  const { world } = await openGateway(() => getStream('openai-chat', events), { connections: ['mistral'] })
  for (const client of ['openai-responses', 'anthropic-messages', 'gemini'] as const) {
    const body = client === 'gemini' ? { generationConfig: { thinkingConfig: { includeThoughts: true } } } : {}
    const { text, reasoning } = await clients[client](
      await request(world, { client, model: 'mistral/m', stream: true, body }),
    )
    assert.equal([text, reasoning], ['ab', 'hm'], client)
  }
})

test('a search in the history becomes a separate paragraph of text', async () => {
  const createMessage = (text: string) => ({ type: 'text', text })
  const content = [
    createMessage('Let me look.'),
    { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'rain' } },
    {
      ...{ type: 'web_search_tool_result', tool_use_id: 's' },
      content: [{ type: 'web_search_result', url: 'https://a', title: 'A', encrypted_content: 'x' }],
    },
    createMessage('It rains'),
    createMessage(', they say.'),
  ]
  const { sent, warned } = await createRequest('anthropic-messages', 'chat/m', {
    messages: [user('Rain?'), { role: 'assistant', content }, user('So?')],
  })
  const [, turn] = sent.messages as JsonObject[]
  assert.is(turn?.content, 'Let me look.\n\n[Searched the web for: rain]\n- A (https://a)\n\nIt rains, they say.')
  assert.equal(warned, ['replaced:messages[1].content[2]'])
})
