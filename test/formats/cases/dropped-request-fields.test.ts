import type { JsonObject } from '../../../src/lib/json.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { fullResponses } from './responses.ts'
import { getFormat, send } from './support.ts'

const test = suite('cases: fields dropped from requests')

const user = (content: unknown) => ({ role: 'user', content })

const tool = (description: string) => ({ type: 'function', name: 'f', description, strict: false })
const other = { ...tool('a'), name: 'g' }

/** A client's field, the target, and the field's name in the warning that reports it as dropped. */
const lost: Record<string, [client: WireFormat, model: string, body: JsonObject, warning: string]> = {
  'a seed': ['openai-chat', 'messages/m', { seed: 7 }, 'dropped:seed'],
  top_k: ['anthropic-messages', 'openai/gpt-4.1', { top_k: 5 }, 'dropped:top_k'],
  'a verbosity': ['openai-responses', 'gemini/m', { text: { verbosity: 'low' } }, 'dropped:text.verbosity'],
  'a penalty': [
    'gemini',
    'messages/m',
    { generationConfig: { frequencyPenalty: 1 } },
    'dropped:generationConfig.frequencyPenalty',
  ],
  'a temperature out of range': [
    'openai-chat',
    'anthropic/claude-sonnet-4-5',
    { temperature: 1.5 },
    'clamped:temperature',
  ],
  'an unknown field': ['anthropic-messages', 'chat/m', { novelty: 1 }, 'dropped:novelty'],
  "a vendor's reasoning retention option": [
    'openai-chat',
    'gemini/m',
    { thinking: { type: 'enabled', keep: 'all' } },
    'dropped:thinking.keep',
  ],
  'unsupported prompt template settings': [
    'openai-chat',
    'gemini/m',
    { chat_template_kwargs: { enable_thinking: true, custom: 1 } },
    'dropped:chat_template_kwargs.custom',
  ],
  'a repeated tool definition': [
    'openai-responses',
    'chat/m',
    {
      tools: [tool('a')],
      input: [user('Hi'), { type: 'additional_tools', role: 'developer', tools: [tool('a'), tool('b'), other] }],
    },
    'dropped:input[1].tools[1]',
  ],
  'the position of late instructions': [
    'openai-chat',
    'anthropic/claude-opus-4-8',
    { messages: [user('Hi'), { role: 'developer', content: 'Be brief.' }, user('Well?')] },
    'moved:messages[1]',
  ],
  'the cache lifetime': [
    'anthropic-messages',
    'openai/gpt-5.6',
    { messages: [user([{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } }])] },
    'dropped:messages[0].content[0].cache_control.ttl',
  ],
  'a cache point': [
    'anthropic-messages',
    'gemini/m',
    { messages: [user([{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }])] },
    'dropped:messages[0].content[0].cache_control',
  ],
  "a participant's name": [
    'openai-chat',
    'gemini/m',
    { messages: [{ ...user('Hi'), name: 'Bob' }] },
    'dropped:messages[0].name',
  ],
  'a result that a later result replaces': [
    'openai-chat',
    'gemini/m',
    {
      messages: [
        user('Hi'),
        { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'c', content: '1' },
        { role: 'tool', tool_call_id: 'c', content: '2' },
      ],
    },
    'dropped:messages[2]',
  ],
}

for (const [label, [client, model, body, warning]] of Object.entries(lost)) {
  test(`a warning names ${label}, and strict mode rejects the request (${client} client)`, async () => {
    const request = { client, model, body, respond: () => json(fullResponses[getFormat(model)]) }
    const { response, warned } = await send(request)
    assert.equal([response.status, warned], [200, [warning]])
    const strict = await send({ ...request, headers: { 'x-signalbox-strict': 'true' } })
    assert.equal([strict.response.status, strict.upstream.calls.length], [400, 0])
    const { error } = await strict.response.json()
    assert.ok(error.message.includes(`"${warning.split(':')[1]}"`), error.message)
  })
}

test('a warning header that is too long ends with the number of omitted entries', async () => {
  const messages = Array.from({ length: 42 }, () => ({ ...user('Hi'), name: 'Bob' }))
  const { warned } = await send({
    client: 'openai-chat',
    model: 'gemini/m',
    body: { messages },
    respond: () => json(fullResponses.gemini),
  })
  assert.equal([warned.length, warned[0], warned.at(-1)], [31, 'dropped:messages[0].name', 'more:12'])
})

/** Requests that would change their meaning without a field, and the field that the error names. */
const rejected: Record<string, [client: WireFormat, model: string, body: JsonObject, field: string]> = {
  'several responses': ['openai-chat', 'messages/m', { n: 2 }, 'n'],
  'a conversation stored elsewhere': [
    'openai-responses',
    'chat/m',
    { previous_response_id: 'resp_0' },
    'previous_response_id',
  ],
  'background mode': ['openai-responses', 'chat/m', { background: true }, 'background'],
  "a provider's own tool": [
    'openai-responses',
    'chat/m',
    { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
    'tools[0]',
  ],
  'content of an unknown type': [
    'anthropic-messages',
    'chat/m',
    { messages: [user([{ type: 'hologram', data: 'x' }])] },
    'messages[0].content[0]',
  ],
  'audio for a model without audio input': [
    'openai-chat',
    'messages/m',
    { messages: [user([{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }])] },
    'messages[0].content[0]',
  ],
  'a file stored at another vendor': [
    'anthropic-messages',
    'openai/m',
    { messages: [user([{ type: 'document', source: { type: 'file', file_id: 'file_1' } }])] },
    'messages[0].content[0]',
  ],
}

for (const [label, [client, model, body, field]] of Object.entries(rejected)) {
  test(`the error for ${label} names the field (${client} client)`, async () => {
    const { response, upstream } = await send({
      client,
      model,
      body,
      respond: () => json(fullResponses[getFormat(model)]),
    })
    assert.equal([response.status, upstream.calls.length], [400, 0])
    const { error } = await response.json()
    assert.ok(error.message.includes(`"${field}`), error.message)
  })
}
