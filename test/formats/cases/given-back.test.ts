import type { JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/lib/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { whole } from './answers.ts'
import { catalog, openDoor, request } from './support.ts'

const test = suite('cases: what a client gives back')

/** The answer as a turn of the conversation, and what the client says next. */
const goOn: Readonly<Record<WireFormat, (answer: JsonObject) => JsonObject>> = {
  'openai-chat': ({ choices }) => {
    const [{ message }] = choices as [{ message: JsonObject }]
    return { messages: [{ role: 'user', content: 'Go' }, message, { role: 'user', content: 'on' }] }
  },
  'openai-responses': ({ output }) => ({
    input: [{ role: 'user', content: 'Go' }, ...(output as JsonObject[]), { role: 'user', content: 'on' }],
  }),
  'anthropic-messages': ({ content }) => ({
    messages: [
      { role: 'user', content: 'Go' },
      { role: 'assistant', content },
      { role: 'user', content: 'on' },
    ],
  }),
  gemini: ({ candidates }) => {
    const [{ content }] = candidates as [{ content: JsonObject }]
    const user = (text: string) => ({ role: 'user', parts: [{ text }] })
    return { contents: [user('Go'), content, user('on')] }
  },
}

/** The provider's own turn, as it gets it again from a client of another format. */
async function turnAgain(client: WireFormat, model: string, answer: JsonObject) {
  const { world, up } = await openDoor(() => json(answer), {
    connections: [model.split('/')[0] ?? ''],
    catalog: { ...catalog, openrouter: { baseUrl: 'http://openrouter.test/v1', models: [{ id: 'm' }] } },
  })
  const told = await (await request(world, { client, model })).json()
  const second = await request(world, { client, model, body: goOn[client](told) })
  assert.is(second.status, 200, await second.text())
  const { messages, contents } = JSON.parse(up.calls.at(-1)?.body ?? '')
  return (messages ?? contents)[1]
}

const details = [
  { type: 'reasoning.text', text: 'Hm.', signature: 's1', format: 'anthropic-claude-v1', index: 0 },
  { type: 'reasoning.summary', summary: 'So.', format: 'openai-responses-v1', index: 1 },
  { type: 'reasoning.encrypted', data: 'd1', id: 'rs_1', format: 'openai-responses-v1', index: 2 },
]

for (const client of wireFormats.filter((format) => format !== 'openai-chat'))
  test(`details of thoughts keep their fields: ${client}`, async () => {
    const message = { role: 'assistant', content: 'a', reasoning_details: details }
    const answer = { ...whole['openai-chat'], choices: [{ index: 0, message, finish_reason: 'stop' }] }
    assert.equal((await turnAgain(client, 'openrouter/m', answer)).reasoning_details, details)
  })
