import type { JsonObject } from '../../src/lib/json.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { assert, suite } from '../support/suite.ts'
import { chatResponse, messageResponse } from './support/responses.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('requests in the form that vendors accept')

const hello = [{ role: 'user', content: 'Hi' }]
const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }]
const tool = { name: 'look', input_schema: { type: 'object', properties: {} } }

/** Resolves to the request that a model's provider receives, and the dropped fields reported to the client. */
async function send(client: 'chat' | 'messages', model: string, body: JsonObject) {
  const upstream = fakeUpstream(({ url }) =>
    json(url.pathname.endsWith('/messages') ? messageResponse() : chatResponse()),
  )
  const [provider = ''] = model.split('/')
  const world = await openWorld({ fetch: upstream, catalog: defaultCatalog, connections: [provider] })
  const response = await world[client]({ model, messages: hello, ...body })
  assert.is(response.status, 200, await response.clone().text())
  const sent: JsonObject = JSON.parse(upstream.calls[0]?.body ?? '{}')
  const warned = response.headers.get('x-signalbox-warning')?.split(', ') ?? []
  return { sent, warned, call: upstream.calls[0] }
}

test("a chat client's sampling options are dropped for a Claude model that rejects them", async () => {
  const { sent, warned } = await send('chat', 'anthropic/claude-opus-5-5', { temperature: 0.7, top_p: 0.9 })
  assert.equal([sent.temperature, sent.top_p, sent.max_tokens], [undefined, undefined, 128_000])
  assert.equal(warned, ['dropped:temperature', 'dropped:top_p'])
})

test('an older Claude model gets the temperature, a reasoning budget, and the older API version', async () => {
  const { sent, warned, call } = await send('chat', 'anthropic/claude-sonnet-4-5', { temperature: 1.5 })
  assert.equal([sent.temperature, call?.headers.get('anthropic-version')], [1, '2023-06-01'])
  assert.equal(warned, ['clamped:temperature'])
  const thinking = await send('chat', 'anthropic/claude-sonnet-4-5', { reasoning_effort: 'medium' })
  assert.equal(thinking.sent.thinking, { type: 'enabled', budget_tokens: 8_192 })
})

test('a Claude model that always reasons gets an effort, and its forced tool call is replaced', async () => {
  const body = { reasoning_effort: 'none', tools, tool_choice: 'required' }
  const { sent, warned } = await send('chat', 'anthropic/claude-opus-5-5', body)
  assert.equal(sent.thinking, { type: 'adaptive' })
  assert.equal(sent.output_config, { effort: 'low' })
  assert.equal(sent.tool_choice, { type: 'auto' })
  assert.equal(warned, ['replaced:tool_choice', 'clamped:reasoning_effort'])
  const between = await send('chat', 'anthropic/claude-sonnet-5-5', { reasoning_effort: 'none' })
  assert.equal(between.sent.thinking, { type: 'between_tools' })
})

test('late instructions stay system messages if the model supports them there', async () => {
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
    { role: 'system', content: 'c' },
    { role: 'user', content: 'd' },
  ]
  const getRoles = ({ sent }: { sent: JsonObject }) => (sent.messages as { role: string }[]).map(({ role }) => role)
  assert.equal(getRoles(await send('chat', 'anthropic/claude-opus-5', { messages })), [
    'user',
    'assistant',
    'user',
    'system',
  ])
  assert.equal(getRoles(await send('chat', 'anthropic/claude-sonnet-4-6', { messages })), ['user', 'assistant', 'user'])
})

test("tools from a Messages client turn off reasoning for an OpenAI model that doesn't support both", async () => {
  const body = { max_tokens: 9, tools: [tool], temperature: 0.5, metadata: { user_id: 'u' } }
  const { sent, warned } = await send('messages', 'openai/gpt-6-sol', body)
  assert.equal([sent.reasoning_effort, sent.max_completion_tokens, sent.temperature], ['none', 9, 0.5])
  assert.equal(sent.safety_identifier, 'u')
  assert.equal(warned, ['added:thinking'])
  const plain = await send('messages', 'openai/gpt-6-sol', { max_tokens: 9, temperature: 0.5 })
  assert.equal([plain.sent.reasoning_effort, plain.sent.temperature], [undefined, undefined])
  assert.equal(plain.warned, ['dropped:temperature'])
})

test('DeepSeek gets a supported effort, and the reasoning field in each of its turns', async () => {
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'look', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'x' }] },
  ]
  const body = { messages, tools: [tool], thinking: { type: 'enabled', budget_tokens: 9_000 }, max_tokens: 20_000 }
  const { sent } = await send('messages', 'deepseek/deepseek-v4-pro', body)
  assert.equal([sent.thinking, sent.reasoning_effort, sent.max_tokens], [{ type: 'enabled' }, 'low', 20_000])
  assert.is((sent.messages as JsonObject[])[1]?.reasoning_content, '')
})

test('a forced tool call turns off reasoning that would prevent it', async () => {
  const body = { max_tokens: 9, tools: [tool], tool_choice: { type: 'any' } }
  const { sent, warned } = await send('messages', 'deepseek/deepseek-v4-pro', body)
  assert.equal([sent.tool_choice, sent.thinking], ['required', { type: 'disabled' }])
  assert.equal(warned, ['added:thinking'])
})

test('Mistral gets IDs of nine characters and no unknown fields', async () => {
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_01', name: 'look', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_01', content: 'x' }] },
  ]
  const body = { messages, tools: [tool], stream: true, max_tokens: 9, metadata: { user_id: 'u' } }
  const { sent } = await send('messages', 'mistral/mistral-large-4', body)
  assert.equal(Object.keys(sent).sort(), ['max_tokens', 'messages', 'model', 'stream', 'tools'])
  assert.match(JSON.stringify(sent.messages), /"tool_call_id":"[A-Za-z0-9]{9}"/)
})

test("a router gets reasoning options in the router's own field", async () => {
  const body = { max_tokens: 9_000, thinking: { type: 'enabled', budget_tokens: 8_000 } }
  const { sent } = await send('messages', 'openrouter/z-ai/glm-5.3', body)
  assert.equal([sent.reasoning, sent.max_tokens], [{ effort: 'medium' }, 9_000])
})

test('Gemini is called in its own format: byte for byte for a Google client, translated for others', async () => {
  const response = { candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }] }
  const upstream = fakeUpstream(() => json(response))
  const world = await openWorld({ fetch: upstream, catalog: defaultCatalog, connections: ['google'] })
  const body = '{"contents":[{"parts":[{"text":"Hi"}]}],"unknown":12345678901234567890}'
  await world.post('/v1beta/models/gemini/gemini-2.5-flash:generateContent', body)
  await world.chat({ model: 'gemini/gemini-2.5-flash', messages: hello })
  const address = 'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent'
  assert.equal(
    upstream.calls.map(({ url, headers }) => [url.href, headers.get('x-goog-api-key'), headers.get('authorization')]),
    [address, address].map((url) => [url, 'secret-of-google', null]),
  )
  assert.is(upstream.calls[0]?.body, body)
  assert.equal(JSON.parse(upstream.calls[1]?.body ?? '').contents, [{ role: 'user', parts: [{ text: 'Hi' }] }])
})
