import type { JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { ProviderFormat, WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { converseResponse } from '../support/event-stream.ts'
import { fullResponses } from './responses.ts'
import { providerOf, send } from './support.ts'

const test = suite('cases: assistant text after its last call')

const parameters = { type: 'object', properties: {} }

/** A conversation with assistant text after a tool call, as a client of each format sends it back. */
const conversation: Readonly<Record<WireFormat, (text: string) => JsonObject>> = {
  'openai-chat': (text) => ({
    messages: [
      { role: 'user', content: 'go' },
      {
        ...{ role: 'assistant', content: text },
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
    ],
    tools: [{ type: 'function', function: { name: 'look', parameters } }],
  }),
  'openai-responses': (text) => ({
    input: [
      { role: 'user', content: 'go' },
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"a":1}' },
      { role: 'assistant', content: text },
      { type: 'function_call_output', call_id: 'call_1', output: 'seen' },
    ],
    tools: [{ type: 'function', name: 'look', parameters }],
  }),
  'anthropic-messages': (text) => ({
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'call_1', name: 'look', input: { a: 1 } },
          { type: 'text', text },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'seen' }] },
    ],
    tools: [{ name: 'look', input_schema: parameters }],
  }),
  gemini: (text) => ({
    contents: [
      { role: 'user', parts: [{ text: 'go' }] },
      { role: 'model', parts: [{ functionCall: { id: 'call_1', name: 'look', args: { a: 1 } } }, { text }] },
      {
        role: 'user',
        parts: [{ functionResponse: { id: 'call_1', name: 'look', response: { result: 'seen' } } }],
      },
    ],
    tools: [{ functionDeclarations: [{ name: 'look', parameters }] }],
  }),
}

const bedrock = {
  catalog: { bedrock: { cloud: 'bedrock', format: 'bedrock-converse' } },
  connections: [{ provider: 'bedrock', providerSpecificData: { region: 'eu-west-1' } }],
} as const

const targets: readonly ProviderFormat[] = [...wireFormats, 'bedrock-converse']

/** Returns the request to a provider of the given format. */
async function sentTo(target: ProviderFormat, client: WireFormat, body: JsonObject): Promise<JsonObject> {
  const sentRequest =
    target === 'bedrock-converse'
      ? await send({
          ...{ client, body, respond: () => json(converseResponse()), ...bedrock },
          model: 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
        })
      : await send({ client, body, model: `${providerOf[target]}/m`, respond: () => json(fullResponses[target]) })
  assert.is(sentRequest.response.status, 200, await sentRequest.response.clone().text())
  return sentRequest.sent
}

/** Returns a request's conversation as `role:part+part`, with the words of each text. */
const outline: Readonly<Record<ProviderFormat, (sent: JsonObject) => string[]>> = {
  'openai-chat': ({ messages }) =>
    getList(messages).map(({ role, content, tool_calls, tool_call_id }) =>
      line(role, [
        ...(typeof content === 'string' && role !== 'tool' ? [quote(content)] : []),
        ...getList(tool_calls).map(({ id }) => `call ${id}`),
        ...(tool_call_id ? [`result ${tool_call_id}`] : []),
      ]),
    ),
  'openai-responses': ({ input }) =>
    getList(input).map(({ type, role, content, call_id }) =>
      type === 'message' ? line(role, getTexts(content)) : `${type} ${call_id}`,
    ),
  'anthropic-messages': ({ messages }) =>
    getList(messages).map(({ role, content }) =>
      line(
        role,
        getList(content).map(({ type, text, id, tool_use_id }) =>
          type === 'text' ? quote(text) : type === 'tool_use' ? `call ${id}` : `result ${tool_use_id}`,
        ),
      ),
    ),
  gemini: ({ contents }) =>
    getList(contents).map(({ role, parts }) =>
      line(
        role,
        getList(parts).map(({ text, functionCall, functionResponse }) =>
          functionCall
            ? `call ${getId(functionCall)}`
            : functionResponse
              ? `result ${getId(functionResponse)}`
              : quote(text),
        ),
      ),
    ),
  'bedrock-converse': ({ messages }) =>
    getList(messages).map(({ role, content }) =>
      line(
        role,
        getList(content).map(({ text, toolUse, toolResult }) =>
          toolUse
            ? `call ${(toolUse as JsonObject).toolUseId}`
            : toolResult
              ? `result ${(toolResult as JsonObject).toolUseId}`
              : quote(text),
        ),
      ),
    ),
}

const getList = (value: unknown) => (Array.isArray(value) ? value : []) as JsonObject[]
const quote = (text: unknown) => JSON.stringify(text)
const getId = (call: unknown) => (call as JsonObject).id
const line = (role: unknown, parts: readonly string[]) => `${role}: ${parts.join(' + ')}`
const getTexts = (content: unknown) =>
  typeof content === 'string' ? [quote(content)] : getList(content).map(({ text }) => quote(text))

/** The text that each target should receive, by format. Formats that reject whitespace receive none. */
const expected: Readonly<Record<ProviderFormat, (text: string) => string[]>> = {
  'openai-chat': (text) => ['user: "go"', `assistant: ${quote(text)} + call call_1`, 'tool: result call_1'],
  'openai-responses': (text) => [
    ...['user: "go"', `assistant: ${quote(text)}`],
    ...['function_call call_1', 'function_call_output call_1'],
  ],
  'anthropic-messages': (text) => [
    'user: "go"',
    `assistant: call call_1${text.trim() && ` + ${quote(text)}`}`,
    'user: result call_1',
  ],
  gemini: (text) => ['user: "go"', `model: call call_1 + ${quote(text)}`, 'user: result call_1'],
  'bedrock-converse': (text) => [
    'user: "go"',
    `assistant: call call_1${text.trim() && ` + ${quote(text)}`}`,
    'user: result call_1',
  ],
}

/** Chat Completions clients have only one place for text, which is before the calls. */
const textFirst = (lines: readonly string[]) => lines.map((text) => text.replace(/(call call_1) \+ (".*")$/, '$2 + $1'))

for (const client of wireFormats) {
  for (const target of targets) {
    if (target === client) continue
    for (const text of ['after', '\n']) {
      test(`the text ${quote(text)} after a call stays in the call's turn, from ${client} to ${target}`, async () => {
        const lines = outline[target](await sentTo(target, client, conversation[client](text)))
        assert.equal(lines, client === 'openai-chat' ? textFirst(expected[target](text)) : expected[target](text))
      })
    }
  }
}

/** The text as a separate message after the message with the call. */
const apart: Partial<Record<WireFormat, JsonObject>> = {
  'openai-chat': {
    messages: [
      { role: 'user', content: 'go' },
      {
        ...{ role: 'assistant', content: null },
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }],
      },
      { role: 'assistant', content: 'after' },
      { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
    ],
  },
  'anthropic-messages': {
    messages: [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: { a: 1 } }] },
      { role: 'assistant', content: 'after' },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'seen' }] },
    ],
  },
}

for (const [client, body] of Object.entries(apart) as [WireFormat, JsonObject][]) {
  for (const target of targets) {
    if (target === client) continue
    test(`text in a message after the call joins the call's turn, from ${client} to ${target}`, async () =>
      assert.equal(outline[target](await sentTo(target, client, body)), expected[target]('after')))
  }
}

/** Returns a conversation in which a user or developer message arrives during the call, and the assistant responds before the result is available. */
const interrupted = (role: 'user' | 'developer') => ({
  input: [
    { role: 'user', content: 'go' },
    { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"a":1}' },
    { role, content: 'hurry' },
    { role: 'assistant', content: 'after' },
    { type: 'function_call_output', call_id: 'call_1', output: 'seen' },
  ],
})

test('text after a call stays in its turn when a user message interrupts the results', async () => {
  const sent = await sentTo('openai-chat', 'openai-responses', interrupted('user'))
  assert.equal(outline['openai-chat'](sent), [...expected['openai-chat']('after'), 'user: "hurry"'])
  const blocks = await sentTo('anthropic-messages', 'openai-responses', interrupted('user'))
  assert.equal(outline['anthropic-messages'](blocks), [
    ...expected['anthropic-messages']('after').slice(0, 2),
    'user: result call_1 + "hurry"',
  ])
})

test('text after a call stays in its turn when a developer message interrupts the results', async () => {
  const sent = await sentTo('openai-chat', 'openai-responses', interrupted('developer'))
  assert.equal(outline['openai-chat'](sent), [...expected['openai-chat']('after'), 'system: "hurry"'])
})

test('text after a call is a separate paragraph in Chat Completions', async () => {
  const body = {
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'before' },
          { type: 'tool_use', id: 'call_1', name: 'look', input: { a: 1 } },
          { type: 'text', text: 'after' },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'seen' }] },
    ],
  }
  const sent = await sentTo('openai-chat', 'anthropic-messages', body)
  assert.equal(outline['openai-chat'](sent), expected['openai-chat']('before\n\nafter'))
})

test('text that follows all results stays after them', async () => {
  const messages = [
    { role: 'user', content: 'go' },
    ...(conversation['openai-chat']('x').messages as JsonObject[]).slice(1),
    { role: 'assistant', content: 'done' },
    { role: 'user', content: 'and?' },
  ]
  const sent = await sentTo('anthropic-messages', 'openai-chat', { messages })
  assert.equal(outline['anthropic-messages'](sent).slice(2), [
    'user: result call_1',
    'assistant: "done"',
    'user: "and?"',
  ])
})
