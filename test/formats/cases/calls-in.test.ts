import type { JsonObject } from '../../../src/lib/json.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { fullResponses } from './responses.ts'
import { getFormat, send } from './support.ts'

const test = suite('cases: tool calls and results sent to the provider')

/** Returns the conversation that a provider receives for a client's request. */
async function sentTo(model: string, client: WireFormat, body: JsonObject) {
  const sentRequest = await send({ client, model, body, respond: () => json(fullResponses[getFormat(model)]) })
  assert.is(sentRequest.response.status, 200, await sentRequest.response.clone().text())
  return sentRequest
}

type Messages = { role: string; content: JsonObject[]; tool_calls?: { id: string }[]; tool_call_id?: string }[]
type Items = { type: string; id?: string; call_id?: string; role?: string; output?: unknown }[]
const getMessages = ({ sent }: { sent: JsonObject }) => sent.messages as Messages
const getItems = ({ sent }: { sent: JsonObject }) => sent.input as Items

const user = (content: unknown) => ({ role: 'user', content })
const createCallTurn = (ids: readonly string[], content: string | null = null) => ({
  role: 'assistant',
  content,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: `f_${id.slice(-1)}`, arguments: '{}' } })),
})
const result = (id: string, content = `result of ${id}`) => ({ role: 'tool', tool_call_id: id, content })
const getTypes = (content: JsonObject[]) => content.map(({ type }) => type)

const three = ['c1', 'c2', 'c3']
const loop = [user('go'), createCallTurn(three), ...three.map((id) => result(id)), user('and?')]

test('consecutive tool results share a turn with the text that follows them', async () => {
  const messages = getMessages(await sentTo('messages/m', 'openai-chat', { messages: loop }))
  assert.equal(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'user'],
  )
  assert.equal(getTypes(messages[2]?.content ?? []), ['tool_result', 'tool_result', 'tool_result', 'text'])
  const { sent } = await sentTo('gemini/m', 'openai-chat', { messages: loop })
  const last = (sent.contents as { role: string; parts: JsonObject[] }[]).at(-1)
  assert.equal(
    [last?.role, last?.parts.map((part) => Object.keys(part)[0])],
    ['user', ['functionResponse', 'functionResponse', 'functionResponse', 'text']],
  )
})

test('missing tool results are added, and results without a call become text', async () => {
  const cut = [user('a'), result('gone', 'lost'), createCallTurn(['c1', 'c2']), result('c2'), user('b')]
  const chat = getMessages(await sentTo('chat/m', 'anthropic-messages', { messages: toBlocks(cut) }))
  assert.equal(
    chat.map(({ role, tool_call_id }) => tool_call_id ?? role),
    ['user', 'user', 'assistant', 'c1', 'c2', 'user'],
  )
  const messages = await sentTo('messages/m', 'openai-chat', { messages: cut })
  const [, turn, results] = getMessages(messages)
  assert.equal(
    turn?.content.map(({ id }) => id),
    ['c1', 'c2'],
  )
  assert.equal(results?.content.map(({ tool_use_id, is_error }) => [tool_use_id, is_error]).slice(0, 2), [
    ['c1', true],
    ['c2', undefined],
  ])
  assert.equal(messages.warned.map((text) => text.split(':')[0]).sort(), ['added', 'replaced'])
  const strict = { client: 'openai-chat', model: 'messages/m', respond: () => json({}) } as const
  const { response } = await send({ ...strict, body: { messages: cut }, headers: { 'x-signalbox-strict': 'true' } })
  assert.is(response.status, 400)
})

/** Converts the conversation to a Messages client's format. */
const toBlocks = (messages: readonly JsonObject[]) =>
  messages.map((message) => {
    if (message.role === 'tool')
      return user([{ type: 'tool_result', tool_use_id: message.tool_call_id, content: message.content }])
    const calls = message.tool_calls as { id: string; function: { name: string } }[] | undefined
    if (!calls) return message
    return {
      role: 'assistant',
      content: calls.map((call) => ({ type: 'tool_use', id: call.id, name: call.function.name, input: {} })),
    }
  })

const called = [
  { role: 'user', content: 'go' },
  { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'done' },
]

test('a call is identified by its call ID, never by its item ID', async () => {
  const [, turn, reply] = getMessages(await sentTo('chat/m', 'openai-responses', { input: called }))
  assert.equal([turn?.tool_calls?.[0]?.id, reply?.tool_call_id], ['call_1', 'call_1'])
  const items = getItems(await sentTo('responses/m', 'openai-chat', { messages: loop }))
  const calls = items.filter(({ type }) => type === 'function_call')
  assert.equal(
    calls.map((item) => [item.call_id, 'id' in item]),
    three.map((id) => [id, false]),
  )
  const [request, response] = [
    { ...called[1], call_id: undefined },
    { ...called[2], call_id: undefined },
  ]
  const [, repaired, output] = getMessages(
    await sentTo('chat/m', 'openai-responses', { input: [called[0], request, response] }),
  )
  assert.type(output?.tool_call_id, 'string')
  assert.is(output?.tool_call_id, repaired?.tool_calls?.[0]?.id)
})

test('IDs are adapted consistently in calls and results, and stay distinct between calls', async () => {
  const long = ['toolu_01ABCdefGHI', `call.${'x'.repeat(60)}.1`, `call.${'x'.repeat(60)}.2`]
  const body = { messages: [user('go'), createCallTurn(long), ...long.map((id) => result(id)), user('and?')] }
  const mistral = getMessages(await sentTo('mistral/m', 'anthropic-messages', { messages: toBlocks(body.messages) }))
  const [, turn, ...rest] = mistral
  const ids = turn?.tool_calls?.map(({ id }) => id) ?? []
  assert.ok(ids.length === 3 && ids.every((id) => /^[A-Za-z0-9]{9}$/.test(id)), ids.join())
  assert.equal(
    rest.flatMap(({ tool_call_id }) => tool_call_id ?? []),
    ids,
  )
  assert.is(new Set(ids).size, 3)
  const again = getMessages(await sentTo('mistral/m', 'anthropic-messages', { messages: toBlocks(body.messages) }))
  assert.equal(again, mistral)
  const [, blocks] = getMessages(await sentTo('messages/m', 'openai-chat', body))
  assert.ok(blocks?.content.every(({ id }) => /^[a-zA-Z0-9_-]+$/.test(String(id))))
})

test('a Gemini tool result takes its function name from its call', async () => {
  const { sent } = await sentTo('gemini/m', 'anthropic-messages', { messages: toBlocks(loop) })
  const parts = (sent.contents as { parts: { functionResponse?: { name: string } }[] }[]).flatMap((turn) => turn.parts)
  assert.equal(
    parts.flatMap(({ functionResponse }) => functionResponse?.name ?? []),
    ['f_1', 'f_2', 'f_3'],
  )
})

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const shown = [
  user('look'),
  { role: 'assistant', content: three.slice(0, 2).map((id) => ({ type: 'tool_use', id, name: 'look', input: {} })) },
  user([
    {
      type: 'tool_result',
      tool_use_id: 'c1',
      content: [
        { type: 'text', text: 'a picture' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
      ],
    },
    { type: 'tool_result', tool_use_id: 'c2', content: 'nothing' },
  ]),
]

test('an image in a tool result moves after the results if results only support text', async () => {
  const chat = getMessages(await sentTo('chat/m', 'anthropic-messages', { messages: shown }))
  assert.equal(
    chat.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'tool', 'user'],
  )
  assert.match(JSON.stringify(chat[4]?.content), /"type":"image_url","image_url":\{"url":"data:image\/png;base64,/)
  assert.not.match(JSON.stringify(chat.slice(0, 4)), /iVBOR/)
  const items = getItems(await sentTo('responses/m', 'anthropic-messages', { messages: shown }))
  const output = items.find(({ call_id, type }) => call_id === 'c1' && type === 'function_call_output')?.output
  assert.equal(getTypes(output as JsonObject[]), ['input_text', 'input_image'])
  const { sent } = await sentTo('gemini/m', 'anthropic-messages', { messages: shown })
  assert.match(JSON.stringify(sent), /"inlineData":\{[^}]*"data":"iVBOR/)
})

test("content between a call and its result moves, and assistant text joins the call's turn", async () => {
  const between = [
    called[0],
    called[1],
    { role: 'assistant', content: 'wait' },
    called[2],
    { role: 'user', content: 'so?' },
  ]
  for (const model of ['chat/m', 'deepseek/m']) {
    const messages = getMessages(await sentTo(model, 'openai-responses', { input: between }))
    assert.equal(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'tool', 'user'],
      model,
    )
  }
  const blocks = getMessages(await sentTo('messages/m', 'openai-responses', { input: between }))
  assert.equal(
    blocks.slice(1, 3).map(({ content }) => content[0]?.type),
    ['tool_use', 'tool_result'],
  )
  const items = getItems(
    await sentTo('responses/m', 'openai-chat', {
      messages: [user('go'), createCallTurn(['c1']), { role: 'assistant', content: 'wait' }, result('c1'), user('so?')],
    }),
  )
  const index = items.findIndex(({ type }) => type === 'function_call')
  assert.is(items[index + 1]?.type, 'function_call_output')
})
