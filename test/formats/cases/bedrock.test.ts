import type { JsonObject } from '../../../src/lib/json.ts'
import type { WireFormat } from '../../../src/types.ts'
import { getBody, json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { converseResponse, eventFrame } from '../support/event-stream.ts'
import { send } from './support.ts'

const test = suite('cases: Bedrock')

const bedrock = {
  catalog: { bedrock: { cloud: 'bedrock', format: 'bedrock-converse' } },
  connections: [{ provider: 'bedrock', providerSpecificData: { region: 'eu-west-1' } }],
} as const

async function sendToBedrock(client: WireFormat, body: JsonObject, headers: Record<string, string> = {}) {
  const model = 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0'
  const request = await send({ client, model, body, headers, respond: () => json(converseResponse()), ...bedrock })
  assert.is(request.response.status, 200, await request.response.clone().text())
  return request
}

const ids = ['c1', 'c2', 'c3']
const calling = {
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '' } })),
}

test('consecutive tool results share a turn with the text that follows them', async () => {
  const results = ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'x' }))
  const messages = [{ role: 'user', content: 'go' }, calling, ...results, { role: 'user', content: 'and?' }]
  const { sent } = await sendToBedrock('openai-chat', { messages })
  const turns = sent.messages as { role: string; content: JsonObject[] }[]
  assert.equal(
    turns.map(({ role }) => role),
    ['user', 'assistant', 'user'],
  )
  assert.equal(
    turns[1]?.content.map(({ toolUse }) => (toolUse as JsonObject).input),
    [{}, {}, {}],
  )
  assert.equal(
    turns[2]?.content.map((block) => Object.keys(block)[0]),
    ['toolResult', 'toolResult', 'toolResult', 'text'],
  )
  assert.ok(sent.toolConfig, 'Converse rejects a history with calls unless tools are declared')
})

test("Anthropic-only fields and betas aren't sent to Bedrock", async () => {
  const body = {
    system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral', scope: 'global' } }],
    messages: [{ role: 'user', content: 'a' }],
    context_management: { edits: [] },
    metadata: { user_id: 'u' },
  }
  const { sent, call, warned } = await sendToBedrock('anthropic-messages', body, {
    'anthropic-beta': 'a-2025-01-01,b-2025-01-01',
  })
  assert.not.match(JSON.stringify(sent), /scope|context_management|cache_control|user_id|a-2025|b-2025/)
  assert.is(call?.headers.get('anthropic-beta'), null)
  assert.ok(warned.includes('dropped:context_management'), warned.join())
})

for (const stopReason of ['malformed_tool_use', 'malformed_model_output'])
  for (const stream of [false, true])
    test(`an empty response that stopped with ${stopReason} fails with a 502${stream ? ', streamed' : ''}`, async () => {
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
      const frames = [
        eventFrame('messageStart', { role: 'assistant' }),
        eventFrame('messageStop', { stopReason }),
        eventFrame('metadata', { usage }),
      ]
      const headers = { 'content-type': 'application/vnd.amazon.eventstream' }
      const respondBroken = () =>
        stream
          ? new Response(getBody(frames), { headers })
          : json({ output: { message: { role: 'assistant', content: [] } }, stopReason, usage })
      for (const client of ['openai-chat', 'anthropic-messages'] as const) {
        const { response, world } = await send({
          client,
          model: 'bedrock/m',
          stream,
          respond: respondBroken,
          ...bedrock,
        })
        assert.is(response.status, 502)
        assert.match(await response.text(), `malformed: ${stopReason}.`)
        assert.is(world.recorded.attempts[0]?.outcome, 'content')
      }
    })
