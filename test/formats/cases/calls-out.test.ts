import type { JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { assert, suite } from '../../support/suite.ts'
import { clients } from '../support/clients.ts'
import { callCases } from './call-cases.ts'
import { delta, getData, getStream, openGateway, providerOf, request } from './support.ts'

const test = suite('cases: tool calls sent to the client')

type Events = (JsonObject | '[DONE]')[]

let events: Events = []
let from: WireFormat = 'openai-chat'
const { world } = await openGateway(() => getStream(from, events))

const send = (client: WireFormat) => request(world, { client, model: `${providerOf[from]}/m`, stream: true })

for (const [name, [origin, sent, calls, finish = 'calls']] of Object.entries(callCases)) {
  test(`every client gets the same calls with ${name}`, async () => {
    from = origin
    events = sent
    for (const client of wireFormats) {
      if (client === origin) continue // clients of this format get the provider's bytes
      const result = await clients[client](await send(client))
      assert.equal(
        result.calls.map((each) => [each.name, each.args]),
        calls,
        client,
      )
      assert.is(result.finish, finish, client)
    }
  })
}

test('streamed calls are numbered from 0 and have unique IDs', async () => {
  from = 'gemini'
  events = callCases['parallel Gemini calls, one part per chunk, without IDs']?.[1] ?? []
  const heads = (await getData(await send('openai-chat'))).flatMap(({ choices }) => {
    const [choice] = choices as { delta: { tool_calls?: { index: number; id?: string }[] } }[]
    return (choice?.delta.tool_calls ?? []).filter(({ id }) => id)
  })
  assert.equal(
    heads.map(({ index }) => index),
    [0, 1, 2],
  )
  assert.is(new Set(heads.map(({ id }) => id)).size, 3)
  const items = (await getData(await send('openai-responses'))).filter(
    ({ type }) => type === 'response.output_item.added',
  )
  assert.equal(
    items.map(({ output_index }) => output_index),
    [0, 1, 2],
  )
})

test('interleaved calls become sequential content blocks for Messages clients', async () => {
  from = 'openai-chat'
  events = callCases['interleaved pieces']?.[1] ?? []
  const order = (await getData(await send('anthropic-messages')))
    .filter(({ type }) => /^content_block_(?:start|stop)$/.test(String(type)))
    .map(({ type, index }) => `${type} ${index}`.replace('content_block_', ''))
  assert.equal(order, ['start 0', 'stop 0', 'start 1', 'stop 1'])
})

const cut = [
  delta({ role: 'assistant', content: null }),
  delta({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{"path":"/tm' } }] }),
  delta({}, 'length'),
]

test('a call truncated by the output limit is sent unchanged, with the finish reason', async () => {
  from = 'openai-chat'
  events = cut
  const chat = JSON.stringify(await getData(await send('openai-chat')))
  assert.ok(chat.includes(String.raw`{\"path\":\"/tm"`) && chat.includes('"finish_reason":"length"'), chat)
  const messages = JSON.stringify(await getData(await send('anthropic-messages')))
  assert.ok(messages.includes(String.raw`"partial_json":"{\"path\":\"/tm"`), messages)
  assert.ok(messages.includes('"stop_reason":"max_tokens"'), messages)
  const last = (await getData(await send('openai-responses'))).at(-1)
  assert.is(last?.type, 'response.incomplete')
  assert.match(
    JSON.stringify(last),
    /"arguments":"\{\\"path\\":\\"\/tm".*"status":"incomplete"|"status":"incomplete".*\/tm/,
  )
  const { calls, finish } = await clients.gemini(await send('gemini'))
  assert.equal([calls, finish], [[{ name: 'f', args: { _raw: '{"path":"/tm' } }], 'length'])
})
