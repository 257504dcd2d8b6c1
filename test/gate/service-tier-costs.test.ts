import type { RequestRecord } from '../../src/request/hook-records.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { json, sse } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { messages, openGate, readError } from './support/world.ts'

const test = suite("service tiers that cost more than the model's base price")

const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]
const paths: Record<string, [path: string, body: object]> = {
  chat: ['/v1/chat/completions', { model: 'one/m', messages }],
  'chat to Messages': ['/v1/chat/completions', { model: 'claude/c', messages }],
  'chat to Gemini': ['/v1/chat/completions', { model: 'google/g', messages }],
  completions: ['/v1/completions', { model: 'one/m', prompt: 'Hi' }],
  responses: ['/v1/responses', { model: 'open/r', input: 'Hi' }],
  'responses to chat': ['/v1/responses', { model: 'one/m', input: 'Hi' }],
  messages: ['/v1/messages', { model: 'claude/c', messages, max_tokens: 10 }],
  'messages to chat': ['/v1/messages', { model: 'one/m', messages, max_tokens: 10 }],
  gemini: ['/v1beta/models/google/g:generateContent', { contents }],
  'gemini to chat': ['/v1beta/models/one/m:generateContent', { contents }],
  'ai-sdk': ['/v4/ai/language-model', { prompt }],
  embeddings: ['/v1/embeddings', { model: 'other/embedding', input: 'Hi' }],
  moderations: ['/v1/moderations', { model: 'other/moderation', input: 'Hi' }],
}
const sdk = { 'ai-language-model-id': 'one/m', 'ai-language-model-specification-version': '4' }

const moreExpensive: Array<[where: string, more: object]> = [
  ...['priority', 'PRIORITY', 'SERVICE_TIER_PRIORITY', 'ultrafast', 'fast', 'scale', 'reserved', 'turbo'].map(
    (tier): [string, object] => ['chat', { service_tier: tier }],
  ),
  ['chat', { serviceTier: 'priority' }],
  ['chat', { 'service-tier': 'priority' }],
  ['chat', { service_tier: { type: 'priority' } }],
  ['chat', { speed: 'ultrafast' }],
  ['chat', { inference_geo: 'eu' }],
  ['chat', { extra_body: { service_tier: 'priority' } }],
  ['chat', { providerOptions: { openai: { serviceTier: 'priority' } } }],
  ['chat', { additionalModelRequestFields: { speed: 'fast' } }],
  ['chat', { performanceConfig: { latency: 'optimized' } }],
  ['chat', { extra_headers: { 'x-amzn-bedrock-service-tier': 'priority' } }],
  ['completions', { service_tier: 'priority' }],
  ['responses', { service_tier: 'ultrafast' }],
  ['responses', { service_tier: 'Priority' }],
  ['responses to chat', { service_tier: 'ultrafast' }],
  ['responses to chat', { service_tier: 'priority' }],
  ['messages', { speed: 'fast' }],
  ['messages', { speed: 'ultrafast' }],
  ['messages', { service_tier: 'priority' }],
  ['messages', { inference_geo: 'us' }],
  ['messages to chat', { speed: 'fast' }],
  ['chat to Gemini', { service_tier: 'priority' }],
  ['gemini', { serviceTier: 'priority' }],
  ['gemini', { serviceTier: 'SERVICE_TIER_PRIORITY' }],
  ['gemini', { service_tier: 'priority' }],
  ['gemini', { serviceTier: 3 }],
  ['gemini', { generationConfig: { serviceTier: 'priority' } }],
  ['gemini to chat', { serviceTier: 'priority' }],
  ['ai-sdk', { providerOptions: { openai: { serviceTier: 'priority' } } }],
  ['ai-sdk', { providerOptions: { google: { serviceTier: 'priority' } } }],
  ['embeddings', { service_tier: 'priority' }],
  ['moderations', { service_tier: 'priority' }],
]
const plain: Array<[where: string, more: object]> = [
  ...['default', 'standard', 'auto', 'flex', 'batch', 'STANDARD', 'SERVICE_TIER_FLEX', 'on_demand', null].map(
    (tier): [string, object] => ['chat', { service_tier: tier }],
  ),
  ['chat', { metadata: { speed: 'fast', service_tier: 'priority' } }],
  ['chat', { messages: [{ role: 'user', content: '"service_tier": "priority"' }] }],
  [
    'chat to Messages',
    {
      tools: [
        {
          type: 'function',
          function: {
            name: 'drive',
            parameters: { type: 'object', properties: { speed: { type: 'string', enum: ['fast'] } } },
          },
        },
      ],
    },
  ],
  ['messages', { service_tier: 'standard_only' }],
  ['messages', { inference_geo: 'global' }],
  ['gemini', { serviceTier: 'SERVICE_TIER_UNSPECIFIED' }],
  ['gemini', { serviceTier: 'standard' }],
  ['chat to Messages', { service_tier: 'fast' }], // The region is only sent to Anthropic itself.
]

const send = ({ post }: Awaited<ReturnType<typeof openGate>>, location: string, extra: object) => {
  const [path = '', body] = paths[location] ?? []
  return post(path, { ...body, ...extra }, location === 'ai-sdk' ? { headers: sdk } : {})
}

for (const [location, extra] of moreExpensive)
  test(`a ${location} request with ${JSON.stringify(extra)} has no known price`, async () => {
    const gate = await openGate({ limits: { usd: { day: 10 } } })
    const { status, code, message } = await readError(await send(gate, location, extra))
    assert.equal([status, code, gate.upstream.calls.length], [402, 'request_too_expensive', 0], message)

    const records: RequestRecord[] = []
    const open = await openGate({
      limits: { usd: { day: 10 } },
      settings: { whenPriceUnknown: 'allow' },
      onRequest: (record) => void records.push(record),
    })
    const reply = await send(open, location, extra)
    await reply.text()
    assert.is(reply.status, 200)
    for (const { costSource } of records) assert.is(costSource, 'estimated')
  })

test('a duplicate tier is rejected, because providers differ in which one they read', async () => {
  const gate = await openGate({ limits: { usd: { day: 10 } } })
  const body = JSON.stringify({ model: 'one/m', messages }).slice(0, -1)
  const { status } = await readError(
    await gate.post('/v1/chat/completions', `${body},"service_tier":"priority","service_tier":"default"}`),
  )
  assert.equal([status, gate.upstream.calls.length], [400, 0])
})

for (const [location, extra] of plain)
  test(`a ${location} request with ${JSON.stringify(extra)} costs the regular price`, async () => {
    const gate = await openGate({ limits: { usd: { day: 10 } } })
    const reply = await send(gate, location, extra)
    assert.is(reply.status, 200, await reply.text())
  })

const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 }
const chunk = (extra: object) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', ...extra })}\n\n`
const delta = [{ index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: null }]
const stop = [{ index: 0, delta: {}, finish_reason: 'stop' }]
const event = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

function getResponse(tier: string) {
  const output = [{ type: 'message', id: 'i', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] }]
  const used = { input_tokens: 7, output_tokens: 5, total_tokens: 12 }
  return { id: 'r', object: 'response', status: 'completed', service_tier: tier, output, usage: used }
}
const getMessage = (extra: object) => ({
  ...{ id: 'm', type: 'message', role: 'assistant', model: 'c', stop_reason: 'end_turn', stop_sequence: null },
  content: [{ type: 'text', text: 'Hello' }],
  usage: { input_tokens: 7, output_tokens: 5, ...extra },
})
const getGemini = (extra: object) => ({
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 12, ...extra },
})
const stream = { stream: true }
const served: Array<[what: string, where: string, more: object, answer: () => Response, source: string]> = [
  ['chat', 'chat', {}, () => json({ ...chatResponse(), usage, service_tier: 'priority' }), 'estimated'],
  ['chat', 'messages to chat', {}, () => json({ ...chatResponse(), usage, service_tier: 'priority' }), 'estimated'],
  [
    'chat with the default tier',
    'chat',
    {},
    () => json({ ...chatResponse(), usage, service_tier: 'default' }),
    'counted',
  ],
  ['Groq', 'chat', {}, () => json({ ...chatResponse(), usage, service_tier: 'on_demand' }), 'counted'],
  ...['chat', 'messages to chat'].map((location): (typeof served)[number] => [
    'a stream that reports the tier early',
    location,
    { stream: true, ...(location === 'chat' && { stream_options: { include_usage: true } }) },
    () =>
      sse([
        chunk({ service_tier: 'priority', choices: delta }),
        chunk({ choices: stop }),
        chunk({ choices: [], usage }),
        'data: [DONE]\n\n',
      ]),
    'estimated',
  ]),
  ['Responses', 'responses', {}, () => json(getResponse('priority')), 'estimated'],
  [
    'a Responses stream',
    'responses',
    stream,
    () =>
      sse([
        event({ type: 'response.created', response: { ...getResponse('auto'), usage: null } } as { type: string }),
        event({ type: 'response.output_text.delta', delta: 'Hello' } as { type: string }),
        event({ type: 'response.completed', response: getResponse('priority') } as { type: string }),
      ]),
    'estimated',
  ],
  ['Messages', 'messages', {}, () => json(getMessage({ service_tier: 'priority' })), 'estimated'],
  ['Messages with a speed', 'messages', {}, () => json(getMessage({ speed: 'fast' })), 'estimated'],
  ['Messages with a region', 'messages', {}, () => json(getMessage({ inference_geo: 'us' })), 'estimated'],
  [
    'Messages at the regular price',
    'messages',
    {},
    () => json(getMessage({ service_tier: 'standard', speed: null, inference_geo: 'not_available' })),
    'counted',
  ],
  ['Gemini', 'gemini', {}, () => json(getGemini({ serviceTier: 'priority' })), 'estimated'],
  ['Gemini with the other spelling', 'gemini', {}, () => json(getGemini({ service_tier: 'priority' })), 'estimated'],
  ['Vertex', 'chat to Gemini', {}, () => json(getGemini({ trafficType: 'ON_DEMAND_PRIORITY' })), 'estimated'],
  ['Vertex at the regular price', 'gemini', {}, () => json(getGemini({ trafficType: 'ON_DEMAND' })), 'counted'],
  [
    'embeddings',
    'embeddings',
    {},
    () =>
      json({
        ...{ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }], model: 'e' },
        ...{ usage: { prompt_tokens: 7, total_tokens: 7 }, service_tier: 'priority' },
      }),
    'estimated',
  ],
]

for (const [label, location, extra, respond, source] of served)
  test(`the cost of a ${location} response is ${source} based on the reported tier: ${label}`, async () => {
    const records: RequestRecord[] = []
    const gate = await openGate({ respond, onRequest: (record) => void records.push(record) })
    const reply = await send(gate, location, extra)
    assert.is(reply.status, 200, await reply.clone().text())
    await reply.text()
    await new Promise((resolve) => setTimeout(resolve, 5))
    assert.equal(
      records.map(({ costSource }) => costSource),
      [source],
    )
  })
