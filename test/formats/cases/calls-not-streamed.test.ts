import type { JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { fullResponses } from './responses.ts'
import { providerOf, send } from './support.ts'

const test = suite('cases: tool calls in non-streaming responses')

const chat = (calls: readonly JsonObject[], finish_reason: string) => ({
  ...fullResponses['openai-chat'],
  choices: [{ index: 0, finish_reason, message: { role: 'assistant', content: '', tool_calls: calls } }],
})
const fn = (name: string, args: unknown, id = 'call_1') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})
const output = (...items: JsonObject[]) => ({ ...fullResponses['openai-responses'], output: items })
const gemini = (...parts: JsonObject[]) => ({
  ...fullResponses.gemini,
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
})

type Received = [finish: string, ...calls: [name: string, args: unknown][]]

/** Provider responses, and the results for every client. */
const table: Record<string, [from: WireFormat, answer: JsonObject, received: Received]> = {
  'the finish reason "stop"': ['openai-chat', chat([fn('f', '{"x":1}')], 'stop'), ['calls', ['f', { x: 1 }]]],
  'the finish reason "eos"': ['openai-chat', chat([fn('f', '{"x":1}')], 'eos'), ['calls', ['f', { x: 1 }]]],
  'no arguments': ['openai-chat', chat([fn('f', '')], 'tool_calls'), ['calls', ['f', {}]]],
  'arguments as an object': ['openai-chat', chat([fn('f', { x: 1 })], 'tool_calls'), ['calls', ['f', { x: 1 }]]],
  'one ID shared by two calls': [
    'openai-chat',
    chat([fn('f', '{}'), fn('g', '{}')], 'tool_calls'),
    ['calls', ['f', {}], ['g', {}]],
  ],
  'a call without a name': ['openai-chat', chat([fn('', '{}')], 'tool_calls'), ['stop']],
  'a call cut off by the token limit': [
    'openai-chat',
    chat([fn('f', '{"path":"/tm')], 'length'),
    ['length', ['f', { _raw: '{"path":"/tm' }]],
  ],
  'a completed response': [
    'openai-responses',
    output({ type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{"x":1}' }),
    ['calls', ['f', { x: 1 }]],
  ],
  'Gemini calls without IDs': [
    'gemini',
    gemini({ functionCall: { name: 'f', args: { x: 1 } } }, { functionCall: { name: 'f' } }),
    ['calls', ['f', { x: 1 }], ['f', {}]],
  ],
}

const getArguments = (text: string) => {
  try {
    return JSON.parse(text)
  } catch {
    return { _raw: text }
  }
}

/** Returns the finish reason and the calls with their IDs, as a client of each format reads them. */
const read: Readonly<
  Record<WireFormat, (body: never) => { finish: string; calls: { id: string; name: string; args: unknown }[] }>
> = {
  'openai-chat': ({
    choices: [{ message, finish_reason }],
  }: {
    choices: [
      {
        message: { tool_calls?: { id: string; function: { name: string; arguments: string } }[] }
        finish_reason: string
      },
    ]
  }) => ({
    finish: finish_reason === 'tool_calls' ? 'calls' : finish_reason,
    calls: (message.tool_calls ?? []).map(({ id, function: f }) => ({
      id,
      name: f.name,
      args: getArguments(f.arguments),
    })),
  }),
  'openai-responses': ({
    output: items,
    status,
  }: {
    output: { type: string; call_id: string; name: string; arguments: string }[]
    status: string
  }) => {
    const calls = items.filter(({ type }) => type === 'function_call')
    return {
      finish: status === 'incomplete' ? 'length' : calls.length > 0 ? 'calls' : 'stop',
      calls: calls.map((call) => ({ id: call.call_id, name: call.name, args: getArguments(call.arguments) })),
    }
  },
  'anthropic-messages': ({
    content,
    stop_reason,
  }: {
    content: { type: string; id: string; name: string; input: unknown }[]
    stop_reason: string
  }) => ({
    finish: { tool_use: 'calls', max_tokens: 'length' }[stop_reason] ?? 'stop',
    calls: content.filter(({ type }) => type === 'tool_use').map(({ id, name, input }) => ({ id, name, args: input })),
  }),
  gemini: ({
    candidates: [{ content, finishReason }],
  }: {
    candidates: [
      { content: { parts: { functionCall?: { id: string; name: string; args: unknown } }[] }; finishReason: string },
    ]
  }) => {
    const calls = content.parts.flatMap(({ functionCall }) => functionCall ?? [])
    return { finish: finishReason === 'MAX_TOKENS' ? 'length' : calls.length > 0 ? 'calls' : 'stop', calls }
  },
}

for (const [name, [from, reply, [finish, ...calls]]] of Object.entries(table)) {
  test(`every client reads the same calls with ${name}`, async () => {
    for (const client of wireFormats) {
      if (client === from) continue // clients of this format get the provider's bytes
      const { response } = await send({ client, model: `${providerOf[from]}/m`, respond: () => json(reply) })
      const result = read[client]((await response.json()) as never)
      assert.equal(
        result.calls.map((call) => [call.name, call.args]),
        calls,
        client,
      )
      assert.is(result.finish, finish, client)
      const ids = result.calls.map(({ id }) => id)
      assert.ok(ids.every(Boolean) && new Set(ids).size === ids.length, `${client}: ${ids}`)
    }
  })
}

test('a call that is dropped from a response causes a warning', async () => {
  const respond = () => json(chat([fn('', '{}'), fn('f', '{}')], 'tool_calls'))
  for (const client of ['anthropic-messages', 'gemini', 'openai-responses'] as const) {
    const { warned } = await send({ client, model: 'chat/m', respond })
    assert.ok(warned.includes('dropped:answer.tool_calls'), `${client}: ${warned}`)
  }
})
