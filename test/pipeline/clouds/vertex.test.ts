import type { ProviderSpecificData } from '../../../src/types.ts'
import { assert, suite } from '../../support/suite.ts'
import { messageEvents } from '../support/responses.ts'
import { type Call, json, sse } from '../support/upstream.ts'
import { CLAUDE, GEMINI, hello, open, settings, TOKEN } from './vertex-world.ts'

const test = suite('Vertex AI')

const getBody = (call: Call | undefined) => JSON.parse(call?.body ?? '')

const requestOptions = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }

/** A model's URL, by connection settings. */
const addresses: [data: ProviderSpecificData, apiKey: string, model: string, url: string][] = [
  [
    { project: 'mine', region: 'us-central1' },
    TOKEN,
    GEMINI,
    'https://us-central1-aiplatform.googleapis.com/v1beta1/projects/mine/locations/us-central1/publishers/google/models/gemini-3-flash-preview:generateContent',
  ],
  [
    { project: 'mine', region: 'eu' },
    TOKEN,
    CLAUDE,
    'https://aiplatform.eu.rep.googleapis.com/v1/projects/mine/locations/eu/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict',
  ],
  [
    { project: 'mine', baseUrl: 'https://psc.test/v1/' },
    TOKEN,
    GEMINI,
    'https://psc.test/v1beta1/projects/mine/locations/global/publishers/google/models/gemini-3-flash-preview:generateContent',
  ],
  [
    {},
    'AIzaSyExample0123456789',
    GEMINI,
    'https://aiplatform.googleapis.com/v1beta1/publishers/google/models/gemini-3-flash-preview:generateContent',
  ],
  [
    settings,
    TOKEN,
    'vertex/meta/llama-4-maverick-17b-128e-instruct-maas',
    'https://aiplatform.googleapis.com/v1/projects/mine/locations/global/endpoints/openapi/chat/completions',
  ],
]

for (const [data, apiKey, model, url] of addresses) {
  test(`Vertex AI is called at ${url}`, async () => {
    const { upstream, world } = await open({ data, apiKey })
    const response = await world.chat({ ...hello, model })
    assert.is(response.status, 200)
    assert.is((await response.json()).choices[0].message.content, 'Hello')
    const [call] = upstream.calls
    assert.is(call?.url.href, url)
    assert.is(call?.headers.get('authorization'), apiKey === TOKEN ? `Bearer ${TOKEN}` : null)
    assert.is(call?.headers.get('x-goog-api-key'), apiKey === TOKEN ? null : apiKey)
  })
}

const headers = {
  'anthropic-version': '2026-10-21',
  'anthropic-beta':
    'claude-code-20250219, context-1m-2025-08-07,advanced-tool-use-2025-11-20,tool-search-tool-2025-10-19,context-management-2025-06-27,prompt-caching-scope-2026-01-05',
}

test("a Claude client's request is passed through, except for fields that Vertex rejects", async () => {
  const { upstream, world } = await open()
  const body = `{"model": "${CLAUDE}", "cache_control":{"type":"ephemeral"}, "max_tokens":9, "system":[{"type":"text","text":"\\"cache_control\\":{\\"scope\\":\\"x\\"}","cache_control":{"type":"ephemeral","scope":"global","ttl":"1h"}}], "context_management":{"edits":[]}, "messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"b","cache_control":{"scope":"global","type":"ephemeral"}}]}], "n":1.0}`
  const response = await world.post('/v1/messages', body, { headers })
  assert.is(response.status, 200)
  const [call] = upstream.calls
  assert.is(
    call?.body,
    `{"anthropic_version":"vertex-2023-10-16","anthropic_beta":["context-1m-2025-08-07"],"max_tokens":9, "system":[{"type":"text","text":"\\"cache_control\\":{\\"scope\\":\\"x\\"}","cache_control":{"type":"ephemeral","ttl":"1h"}}], "context_management":{"edits":[]}, "messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"b","cache_control":{"type":"ephemeral"}}]}], "n":1.0}`,
  )
  assert.is(call?.headers.get('anthropic-beta'), 'tool-search-tool-2025-10-19,context-management-2025-06-27')
  assert.is(call?.headers.get('anthropic-version'), null)
})

test('a stream from Claude is passed through byte for byte', async () => {
  const { upstream, world } = await open({ respond: () => sse(messageEvents()) })
  const response = await world.messages({ ...hello, model: CLAUDE, stream: true })
  assert.is(await response.text(), messageEvents().join(''))
  assert.match(upstream.calls[0]?.url.href ?? '', /:streamRawPredict$/)
  assert.equal(getBody(upstream.calls[0]).stream, true)
})

test('Claude tokens are counted with the count-tokens model, without beta headers', async () => {
  const { upstream, world } = await open()
  const response = await world.post('/v1/messages/count_tokens', { ...hello, model: CLAUDE }, { headers })
  assert.equal(await response.json(), { input_tokens: 12 })
  const [call] = upstream.calls
  assert.match(call?.url.pathname ?? '', /\/publishers\/anthropic\/models\/count-tokens:rawPredict$/)
  assert.is(getBody(call).model, 'claude-sonnet-4-5@20250929')
  assert.is(getBody(call).anthropic_version, 'vertex-2023-10-16')
  assert.is(call?.headers.get('anthropic-beta'), null)
})

test('counting Gemini tokens sends only the contents and the system instruction', async () => {
  const { upstream, world } = await open()
  const systemInstruction = { parts: [{ text: 'Be brief.' }] }
  const generateContentRequest = { model: 'models/x', ...requestOptions, systemInstruction, safetySettings: [] }
  const response = await world.post(`/v1beta/models/${GEMINI}:countTokens`, { generateContentRequest })
  assert.equal(await response.json(), { totalTokens: 12 })
  assert.equal(getBody(upstream.calls[0]), { ...requestOptions, systemInstruction })
  await world.post('/v1/messages/count_tokens', { ...hello, system: 'Be brief.' })
  assert.equal(Object.keys(getBody(upstream.calls[1])).sort(), ['contents', 'systemInstruction'])
})

test("a Gemini client's request is passed through, except for fields that only the Gemini API supports", async () => {
  const { upstream, world } = await open()
  const plain = '{"contents":[{"role":"user","parts":[{"text":"\\"id\\":1"}]}], "labels":{"a":"b"}, "n":1.0}'
  await world.post(`/v1beta/models/${GEMINI}:generateContent`, plain)
  assert.is(upstream.calls[0]?.body, plain)
  const call = { name: 'look', args: { id: 1 } }
  const result = { name: 'look', response: { id: 2 } }
  const parts = (id: object) => [
    { role: 'model', parts: [{ functionCall: { ...id, ...call }, thoughtSignature: 'c2ln' }] },
    { role: 'user', parts: [{ functionResponse: { ...id, ...result } }] },
  ]
  await world.post(`/v1beta/models/${GEMINI}:generateContent`, {
    contents: [...requestOptions.contents, ...parts({ id: 'call_1' })],
    store: true,
  })
  assert.equal(getBody(upstream.calls[1]), { contents: [...requestOptions.contents, ...parts({})] })
})

test('Vertex AI gets tool results matched by function name, and metadata as labels', async () => {
  const { upstream, world } = await open()
  const messages = [
    ...hello.messages,
    {
      role: 'assistant',
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'sky' },
  ]
  const response = await world.chat({ ...hello, messages, metadata: { team: 'a' }, store: true })
  const { contents, labels, store } = getBody(upstream.calls[0])
  assert.equal(contents[1].parts[0].functionCall, { name: 'look', args: {} })
  assert.equal(contents[2].parts[0].functionResponse.name, 'look')
  assert.is(contents[2].parts[0].functionResponse.id, undefined)
  assert.equal([labels, store], [{ team: 'a' }, undefined])
  assert.is(response.headers.get('x-signalbox-warning'), 'dropped:store')
})

/** Vertex errors in Google's or Anthropic's envelope, as a chat client sees them. */
const errors: [model: string, status: number, body: object, expected: [status: number, code: RegExp]][] = [
  [
    CLAUDE,
    429,
    { error: { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED' } },
    [429, /Quota exceeded/],
  ],
  [
    CLAUDE,
    400,
    [{ error: { code: 400, message: 'no such field', status: 'INVALID_ARGUMENT' } }],
    [400, /no such field/],
  ],
  [
    CLAUDE,
    400,
    { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 2 tokens > 1 maximum' } },
    [400, /context_length_exceeded/],
  ],
  [GEMINI, 400, { error: { code: 400, message: 'bad part', status: 'INVALID_ARGUMENT' } }, [400, /bad part/]],
]

for (const [model, status, body, [expected, words]] of errors) {
  test(`a Vertex error is reported to the client: ${status} ${JSON.stringify(body)}`, async () => {
    const { world } = await open({ respond: () => json(body, status) })
    const response = await world.chat({ ...hello, model })
    assert.is(response.status, expected)
    assert.match(await response.text(), words)
  })
}

test('a Claude stream from Vertex AI that is cut off ends with an error', async () => {
  const { world } = await open({ respond: () => sse(messageEvents().slice(0, -3)) })
  const response = await world.chat({ ...hello, model: CLAUDE, stream: true })
  assert.match(await response.text(), /"error":\{[^\n]*before the response was complete/)
})
