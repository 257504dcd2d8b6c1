import { isObject, type JsonObject } from '../../../src/lib/json.ts'
import { parseOpaque } from '../../../src/protocols/formats/canonical/exact-json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { block, fullResponses, geminiChunk, messageEnd, messageStart, responseEnd } from './responses.ts'
import { delta, getStream, providerOf, send } from './support.ts'

const test = suite('cases: 64-bit integers in tool arguments and results')

const ARGS = '{"id":9007199254740993}'
const RESULT = '{"key":-9223372036854775807}'

const exact = (text: string): JsonObject => {
  const value = parseOpaque(text)
  return isObject(value) ? value : {}
}
const args = exact(ARGS)

const createMessage = (content: unknown, role = 'user') => ({ role, content })
const fn = { id: 'c', type: 'function', function: { name: 'f', arguments: ARGS } }
const item = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: ARGS, status: 'completed' }
const use = { type: 'tool_use', id: 'c', name: 'f', input: args }

/** A conversation with a call and its result, as each client sends it back. */
const history: Readonly<Record<WireFormat, JsonObject>> = {
  'openai-chat': {
    messages: [
      createMessage('Hi'),
      { ...createMessage(null, 'assistant'), tool_calls: [fn] },
      { ...createMessage(RESULT, 'tool'), tool_call_id: 'c' },
    ],
  },
  'openai-responses': {
    input: [createMessage('Hi'), item, { type: 'function_call_output', call_id: 'c', output: RESULT }],
  },
  'anthropic-messages': {
    messages: [
      createMessage('Hi'),
      createMessage([use], 'assistant'),
      createMessage([{ type: 'tool_result', tool_use_id: 'c', content: RESULT }]),
    ],
  },
  gemini: {
    contents: [
      { role: 'user', parts: [{ text: 'Hi' }] },
      { role: 'model', parts: [{ functionCall: { name: 'f', args } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: exact(RESULT) } }] },
    ],
  },
}

/** A tool call in a provider's complete response. */
const responses: Readonly<Record<WireFormat, JsonObject>> = {
  'openai-chat': {
    ...fullResponses['openai-chat'],
    choices: [
      { index: 0, message: { role: 'assistant', content: null, tool_calls: [fn] }, finish_reason: 'tool_calls' },
    ],
  },
  'openai-responses': { ...fullResponses['openai-responses'], output: [item] },
  'anthropic-messages': { ...fullResponses['anthropic-messages'], content: [use], stop_reason: 'tool_use' },
  gemini: { ...fullResponses.gemini, ...geminiChunk([{ functionCall: { name: 'f', args } }], 'STOP') },
}

/** The same calls as streams. */
const streams: Readonly<Record<WireFormat, (JsonObject | '[DONE]')[]>> = {
  'openai-chat': [delta({ role: 'assistant', tool_calls: [{ index: 0, ...fn }] }), delta({}, 'tool_calls'), '[DONE]'],
  'openai-responses': [
    { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '', status: 'in_progress' } },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 0, delta: ARGS },
    { type: 'response.function_call_arguments.done', item_id: 'fc_1', output_index: 0, arguments: ARGS },
    { type: 'response.output_item.done', output_index: 0, item },
    responseEnd([item]),
  ],
  'anthropic-messages': [
    messageStart(),
    ...block(0, { ...use, input: {} }, { type: 'input_json_delta', partial_json: ARGS }),
    ...messageEnd('tool_use'),
  ],
  gemini: [geminiChunk([{ functionCall: { name: 'f', args } }], 'STOP')],
}

test('integers keep all digits if a Messages vendor sends all arguments in one event', async () => {
  const events = [messageStart(), ...block(0, use), ...messageEnd('tool_use')]
  const { response } = await send({
    ...{ client: 'openai-chat', model: 'messages/m', stream: true },
    respond: () => getStream('anthropic-messages', events),
  })
  assert.match(await response.text(), /9007199254740993\b/)
})

test('integers keep all digits if a Chat Completions vendor sends the arguments as an object', async () => {
  const object = { index: 0, ...fn, function: { name: 'f', arguments: args } }
  const events = [delta({ tool_calls: [object] }), delta({}, 'tool_calls')]
  const respond = () => getStream('openai-chat', events)
  const { response } = await send({ client: 'gemini', model: 'chat/m', stream: true, respond })
  assert.match(await response.text(), /9007199254740993\b/)
})

for (const client of wireFormats) {
  for (const from of wireFormats) {
    if (client === from) continue
    test(`integers keep all digits (${client} client, ${from} provider)`, async () => {
      const request = { client, model: `${providerOf[from]}/m`, body: history[client] }
      const once = await send({ ...request, respond: () => json(responses[from]) })
      assert.match(once.call?.body ?? '', /9007199254740993\b/)
      assert.match(once.call?.body ?? '', /-9223372036854775807\b/)
      assert.match(await once.response.text(), /9007199254740993\b/)
      const streamed = await send({ ...request, stream: true, respond: () => getStream(from, streams[from]) })
      assert.match(await streamed.response.text(), /9007199254740993\b/)
    })
  }
}
