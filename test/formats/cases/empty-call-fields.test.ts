import type { JsonObject } from '../../../src/lib/json.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { fullResponses } from './responses.ts'
import { delta, getFormat, getStream, send } from './support.ts'

/* Servers written in Go send all fields of a call, with empty objects for those that its type doesn't use. */
const test = suite('cases: empty fields next to a tool call')

const fn = (name: string, args: string) => ({ function: { name, arguments: args } })
const custom = (name: string, input: string) => ({ custom: { name, input } })
const noCustom = custom('', '')
const noFunction = fn('', '')
const noFunctionCall = { function_call: { name: '', arguments: '' } }

const functionCall = { id: 'a', type: 'function', ...fn('f', '{"x":1}'), ...noCustom }
const customCall = { id: 'b', type: 'custom', ...noFunction, ...custom('g', 'free') }
const tools = [
  { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } },
  { type: 'custom', name: 'g' },
]

interface Call {
  type: string
  name: string
  arguments?: string
  input?: string
}

/** Returns the tool calls in a Responses client's response. */
async function readResult(respond: () => Response, stream: boolean): Promise<unknown[]> {
  const { response } = await send({ client: 'openai-responses', model: 'chat/m', stream, respond, body: { tools } })
  const text = await response.text()
  assert.is(response.status, 200, text)
  const last = stream
    ? JSON.parse(text.match(/^data: (\{"type":"response.completed".*)$/m)?.[1] ?? '{}').response
    : JSON.parse(text)
  return (last.output as Call[]).map((call) => [call.type, call.name, call.arguments ?? call.input])
}

const calls = [
  ['function_call', 'f', '{"x":1}'],
  ['custom_tool_call', 'g', 'free'],
]

test("a call's type determines which of its fields is read in a response", async () => {
  const message = { role: 'assistant', content: '', tool_calls: [functionCall, customCall], ...noFunctionCall }
  const response = { ...fullResponses['openai-chat'], choices: [{ index: 0, finish_reason: 'tool_calls', message }] }
  assert.equal(await readResult(() => json(response), false), calls)
})

test('a streamed call keeps its type even if later chunks have an empty one', async () => {
  const piece = (call: JsonObject) => delta({ content: '', tool_calls: [call], ...noFunctionCall })
  const events = [
    delta({ role: 'assistant', content: '', ...noFunctionCall }),
    piece({ index: 0, id: 'a', type: 'function', ...fn('f', ''), ...noCustom }),
    piece({ index: 0, id: '', type: '', ...fn('', '{"x":1}'), ...noCustom }),
    piece({ index: 1, id: 'b', type: 'custom', ...noFunction, ...custom('g', '') }),
    piece({ index: 1, id: '', type: '', ...noFunction, ...custom('', 'free') }),
    delta({ content: '', tool_calls: [], ...noFunctionCall }, 'tool_calls'),
    '[DONE]' as const,
  ]
  assert.equal(await readResult(() => getStream('openai-chat', events), true), calls)
})

/** A history as a Go client sends it back. */
const history = {
  messages: [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: '', tool_calls: [functionCall, customCall], ...noFunctionCall },
    { role: 'tool', tool_call_id: 'a', content: '1' },
    { role: 'tool', tool_call_id: 'b', content: '2' },
  ],
}

test('a tool call in the history is parsed according to its type, without a warning', async () => {
  const getSent = async (model: string) => {
    const request = await send({
      client: 'openai-chat',
      model,
      body: history,
      respond: () => json(fullResponses[getFormat(model)]),
    })
    assert.equal(request.warned, [])
    return JSON.stringify(request.sent)
  }
  const messages = await getSent('messages/m')
  assert.match(messages, /"name":"f","input":\{"x":1\}/)
  assert.match(messages, /"name":"g","input":\{"input":"free"\}/)
  assert.is(messages.match(/"tool_use"/g)?.length, 2)
  const responses = await getSent('responses/m')
  assert.match(responses, /"type":"function_call","call_id":"a","name":"f","arguments":"\{\\"x\\":1\}"/)
  assert.match(responses, /"type":"function_call","call_id":"b","name":"g","arguments":"\{\\"input\\":\\"free\\"\}"/)
  assert.is(responses.match(/"type":"function_call"/g)?.length, 2)
})

test('tools and forced tools are recognized by their types', async () => {
  const functionTool = {
    type: 'function',
    function: { name: 'f', parameters: { type: 'object' } },
    custom: { name: '' },
  }
  const customTool = { type: 'custom', function: { name: '' }, custom: { name: 'g' } }
  const body = {
    tools: [functionTool, customTool],
    tool_choice: { type: 'custom', function: { name: '' }, custom: { name: 'g' } },
  }
  const { sent, warned } = await send({
    client: 'openai-chat',
    model: 'responses/m',
    body,
    respond: () => json(fullResponses['openai-responses']),
  })
  assert.equal(
    (sent.tools as Call[]).map(({ type, name }) => [type, name]),
    [
      ['function', 'f'],
      ['function', 'g'],
    ],
  )
  assert.equal([sent.tool_choice, warned], [{ type: 'function', name: 'g' }, []])
})

test('a message with an empty function_call and no calls keeps its text', async () => {
  const messages = [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: 'a', ...noFunctionCall },
    { role: 'user', content: 'and?' },
  ]
  const { sent, warned } = await send({
    client: 'openai-chat',
    model: 'messages/m',
    body: { messages },
    respond: () => json(fullResponses['anthropic-messages']),
  })
  const [, turn] = sent.messages as JsonObject[]
  assert.equal(turn?.content, [{ type: 'text', text: 'a' }])
  assert.equal(warned, [])
})
