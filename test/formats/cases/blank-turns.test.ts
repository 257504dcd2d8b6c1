import type { JsonObject } from '../../../src/lib/json.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { fullResponses } from './responses.ts'
import { getFormat, send } from './support.ts'

const test = suite('cases: blank user turns')

/** A conversation that ends with a blank user turn, and the path of that turn for the client. */
const ending: Record<WireFormat, (blanks: string) => [body: JsonObject, field: string]> = {
  'openai-chat': (blanks) => [
    { messages: [createMessage('user', 'Hi'), createMessage('assistant', 'Once'), createMessage('user', blanks)] },
    'messages[2]',
  ],
  'openai-responses': (blanks) => [
    { input: [createMessage('user', 'Hi'), createMessage('assistant', 'Once'), createMessage('user', blanks)] },
    'input[2]',
  ],
  'anthropic-messages': (blanks) => [
    { messages: [createMessage('user', 'Hi'), createMessage('assistant', 'Once'), createMessage('user', blanks)] },
    'messages[2]',
  ],
  gemini: (blanks) => [
    { contents: [content('user', 'Hi'), content('model', 'Once'), content('user', blanks)] },
    'contents[2]',
  ],
}

const createMessage = (role: string, text: string) => ({ role, content: text })
const content = (role: string, text: string) => ({ role, parts: [{ text }] })

/** The last text that each provider receives for empty text and for whitespace. */
const last: Record<string, [empty: JsonObject, blanks: JsonObject]> = {
  chat: [createMessage('user', ''), createMessage('user', ' \n')],
  responses: [
    { type: 'message', ...createMessage('user', '') },
    { type: 'message', ...createMessage('user', ' \n') },
  ],
  messages: [
    { role: 'user', content: [{ type: 'text', text: '(continue)' }] },
    { role: 'user', content: [{ type: 'text', text: '(continue)' }] },
  ],
  gemini: [content('user', '(continue)'), content('user', ' \n')],
}

const clients = Object.keys(ending) as WireFormat[]

for (const client of clients) {
  for (const [provider, expected] of Object.entries(last)) {
    const model = `${provider}/m`
    if (getFormat(model) === client) continue
    test(`a blank last turn gets a placeholder only if the provider rejects blanks (${client} client, ${provider} provider)`, async () => {
      for (const [index, blanks] of ['', ' \n'].entries()) {
        const [body, field] = ending[client](blanks)
        const request = { client, model, body, respond: () => json(fullResponses[getFormat(model)]) }
        const { sent, warned } = await send(request)
        const turns = [sent.messages, sent.input, sent.contents].find(Array.isArray)
        assert.equal(turns?.at(-1), expected[index])
        const isReplaced = JSON.stringify(expected[index]).includes('continue')
        assert.equal(warned, isReplaced ? [`replaced:${field}`] : [])
        const strict = await send({ ...request, headers: { 'x-signalbox-strict': 'true' } })
        assert.is(strict.response.status, isReplaced ? 400 : 200)
      }
    })
  }
}

test('a blank turn next to tool results is dropped', async () => {
  const messages = [
    createMessage('user', 'Hi'),
    { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'f' } }] },
    { role: 'tool', tool_call_id: 'c', content: '1' },
    createMessage('user', ' '),
  ]
  const { sent, warned } = await send({
    client: 'openai-chat',
    model: 'messages/m',
    body: { messages },
    respond: () => json(fullResponses['anthropic-messages']),
  })
  const turns = Array.isArray(sent.messages) ? sent.messages : []
  assert.equal(turns.at(-1), {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: '1' }] }],
  })
  assert.equal(warned, [])
})
