import type { JsonObject } from '../../../src/lib/json.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { whole } from './answers.ts'
import { ask, formatOf } from './support.ts'

const test = suite('cases: what clients and models of Gemini have of their own')

const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const parameters = { type: 'object', properties: { a: { type: 'string' } } }
const declaration = { name: 'look', parameters }

async function sentTo(model: string, body: JsonObject, client: WireFormat = 'gemini') {
  const asked = await ask({ client, model, body, answer: () => json(whole[formatOf(model)]) })
  assert.is(asked.response.status, 200, await asked.response.clone().text())
  return asked
}

test('tools given as one object are the tools of the request', async () => {
  const body = { contents, tools: { functionDeclarations: [declaration] } }
  const { sent, warned } = await sentTo('chat/m', body)
  assert.equal([sent.tools, warned], [[{ type: 'function', function: declaration }], []])
})

test('one function declaration that is no list is the tool of the request', async () => {
  const { sent } = await sentTo('chat/m', { contents, tools: [{ function_declarations: declaration }] })
  assert.equal(sent.tools, [{ type: 'function', function: declaration }])
})

test('a tool in one object that cannot be carried is named by its place', async () => {
  const body = { contents, tools: { functionDeclarations: [declaration], codeExecution: {} } }
  assert.equal((await sentTo('chat/m', body)).warned, ['dropped:tools.codeExecution'])
})
