import { wav } from '../kinds/audio-files.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('costs reported by providers')

const price = { input: 1, output: 10, search: 1, page: 1, minute: 1 }
const model = (id: string, type?: 'image' | 'stt' | 'embedding' | 'rerank' | 'moderation') => ({
  id,
  ...(type && { type }),
  price,
})
const catalog = {
  one: {
    baseUrl: 'http://one.test/v1',
    models: [
      model('m'),
      model('i', 'image'),
      model('e', 'embedding'),
      model('r', 'rerank'),
      model('s', 'stt'),
      model('o', 'moderation'),
    ],
  },
  open: { baseUrl: 'http://open.test/v1', format: 'openai-responses' as const, models: [model('r')] },
  claude: { baseUrl: 'http://claude.test/v1', format: 'anthropic-messages' as const, models: [model('c')] },
  google: { baseUrl: 'http://google.test/v1', format: 'gemini' as const, models: [model('g')] },
}

interface Recorded {
  usage?: object
  beside?: object
  headers?: Record<string, string>
}

/** The cost calculated from tokens: 7 input and 5 output. */
const COUNTED = 0.000057

const forms: Record<string, [recorded: Recorded, costUsd: number | undefined]> = {
  'a number': [{ usage: { cost: 0.5 } }, 0.5],
  'a string': [{ usage: { cost: '0.00125' } }, 0.00125],
  'a string with an exponent': [{ usage: { cost: '1.25e-3' } }, 0.00125],
  'an object with the total': [{ usage: { cost: { total_cost: 0.25, currency: 'USD' } } }, 0.25],
  'an object with the total as a string': [{ usage: { cost: { total_cost: '0.25' } } }, 0.25],
  'total_cost in usage': [{ usage: { total_cost: 0.25 } }, 0.25],
  ticks: [{ usage: { cost_in_usd_ticks: 37_756_000 } }, 0.0037756],
  'billionths of a dollar': [{ usage: { cost_in_nano_usd: 3_775_600 } }, 0.0037756],
  'an estimate': [{ usage: { estimated_cost: 0.3 } }, 0.3],
  cost_usd_total: [{ usage: { cost_usd_total: 0.3 } }, 0.3],
  'a BYOK fee plus the upstream cost': [
    { usage: { cost: 0.01, is_byok: true, cost_details: { upstream_inference_cost: 0.2 } } },
    0.21,
  ],
  'a BYOK fee plus the upstream input and output costs': [
    {
      usage: {
        ...{ cost: 0.01, is_byok: true },
        cost_details: { upstream_inference_prompt_cost: 0.05, upstream_inference_completions_cost: '0.15' },
      },
    },
    0.21,
  ],
  'a BYOK fee plus the upstream costs in Responses fields': [
    {
      usage: {
        ...{ cost: 0.01, is_byok: true },
        cost_details: {
          ...{ upstream_inference_cost: null, upstream_inference_input_cost: 0.05 },
          upstream_inference_output_cost: 0.15,
        },
      },
    },
    0.21,
  ],
  'a fee plus an upstream cost without the BYOK flag': [
    { usage: { cost: 0.01, cost_details: { upstream_inference_cost: '0.2' } } },
    0.21,
  ],
  'the upstream part of a cost without BYOK': [
    { usage: { cost: 0.2, is_byok: false, cost_details: { upstream_inference_cost: 0.2 } } },
    0.2,
  ],
  'a BYOK fee without the upstream cost': [{ usage: { cost: 0, is_byok: true } }, undefined],
  'another currency': [{ usage: { cost: { total_cost: 3, currency: 'EUR' } } }, undefined],
  'a negative number': [{ usage: { cost: -1 } }, undefined],
  "a string that isn't a number": [{ usage: { cost: 'free' } }, undefined],
  'LiteLLM’s header': [{ headers: { 'x-litellm-response-cost': '0.0042' } }, 0.0042],
  'LiteLLM’s header with a zero': [{ headers: { 'x-litellm-response-cost': '0.0' } }, undefined],
  'AI/ML API’s field': [{ beside: { meta: { usage: { credits_used: 120, usd_spent: 0.06 } } } }, 0.06],
  'a top-level field': [{ beside: { cost_usd: 0.07 } }, 0.07],
  'Vercel’s field': [{ beside: { provider_metadata: { gateway: { cost: '0.08' } } } }, 0.08],
}

const createTokens = (names: [string, string], usage: object = {}) => ({ [names[0]]: 7, [names[1]]: 5, ...usage })
const openai = ['prompt_tokens', 'completion_tokens'] as [string, string]
const newer = ['input_tokens', 'output_tokens'] as [string, string]
const messages = [{ role: 'user', content: 'Hi' }]
const output = [{ type: 'message', id: 'i', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }]
const response = ({ usage, beside }: Recorded) => ({
  ...{ id: 'r', object: 'response', status: 'completed', output, usage: createTokens(newer, usage) },
  ...beside,
})
const chunk = (extra: object) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', ...extra })}\n\n`
const whole = (recorded: Recorded, body: object) => {
  const response = json(body)
  for (const [name, value] of Object.entries(recorded.headers ?? {})) response.headers.set(name, value)
  return response
}

/** The endpoints with a provider's responses. `hasNoHeaders` means that a stream's headers are sent before its cost is known. */
const places: Record<
  string,
  {
    path: string
    body?: object
    form?: string
    respond(recorded: Recorded): Response
    hasNoHeaders?: true
    counted?: number
  }
> = {
  chat: {
    path: '/v1/chat/completions',
    body: { model: 'one/m', messages },
    respond: (recorded) =>
      whole(recorded, { ...chatResponse(), usage: createTokens(openai, recorded.usage), ...recorded.beside }),
  },
  'Chat for a Messages client': {
    path: '/v1/messages',
    body: { model: 'one/m', messages, max_tokens: 10 },
    respond: (recorded) =>
      whole(recorded, { ...chatResponse(), usage: createTokens(openai, recorded.usage), ...recorded.beside }),
  },
  'streamed chat': {
    path: '/v1/chat/completions',
    body: { model: 'one/m', messages, stream: true, stream_options: { include_usage: true } },
    hasNoHeaders: true,
    respond: (recorded) =>
      sse([
        chunk({ choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }] }),
        chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
        chunk({ choices: [], usage: createTokens(openai, recorded.usage), ...recorded.beside }),
        'data: [DONE]\n\n',
      ]),
  },
  responses: {
    path: '/v1/responses',
    body: { model: 'open/r', input: 'Hi' },
    respond: (recorded) => whole(recorded, response(recorded)),
  },
  'streamed Responses for a Chat client': {
    path: '/v1/chat/completions',
    body: { model: 'open/r', messages, stream: true },
    hasNoHeaders: true,
    respond: (recorded) =>
      sse([
        `event: response.created\ndata: ${JSON.stringify({ type: 'response.created', response: { ...response(recorded), usage: null } })}\n\n`,
        `event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', response: response(recorded) })}\n\n`,
      ]),
  },
  messages: {
    path: '/v1/messages',
    body: { model: 'claude/c', messages, max_tokens: 10 },
    respond: (recorded) =>
      whole(recorded, {
        ...{ id: 'm', type: 'message', role: 'assistant', model: 'c', stop_reason: 'end_turn' },
        ...{ content: [{ type: 'text', text: 'Hi' }], usage: createTokens(newer, recorded.usage), ...recorded.beside },
      }),
  },
  gemini: {
    path: '/v1beta/models/google/g:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    respond: (recorded) =>
      whole(recorded, {
        candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 5, ...recorded.usage },
        ...recorded.beside,
      }),
  },
  images: {
    path: '/v1/images/generations',
    body: { model: 'one/i', prompt: 'rain' },
    respond: (recorded) =>
      whole(recorded, { data: [{ b64_json: 'AAAA' }], usage: createTokens(newer, recorded.usage), ...recorded.beside }),
  },
  embeddings: {
    path: '/v1/embeddings',
    body: { model: 'one/e', input: 'Hi' },
    counted: 0.000007,
    respond: (recorded) =>
      whole(recorded, {
        ...{ object: 'list', model: 'e', data: [{ object: 'embedding', index: 0, embedding: [1] }] },
        ...{ usage: { prompt_tokens: 7, total_tokens: 7, ...recorded.usage }, ...recorded.beside },
      }),
  },
  rerank: {
    path: '/v1/rerank',
    body: { model: 'one/r', query: 'Hi', documents: ['a'] },
    counted: 0.000007,
    respond: (recorded) =>
      whole(recorded, {
        results: [{ index: 0, relevance_score: 1 }],
        usage: { total_tokens: 7, ...recorded.usage },
        ...recorded.beside,
      }),
  },
  moderations: {
    path: '/v1/moderations',
    body: { model: 'one/o', input: 'Hi' },
    counted: 0.000007,
    respond: (recorded) =>
      whole(recorded, {
        ...{ id: 'x', model: 'o', results: [{ flagged: false, categories: {}, category_scores: {} }] },
        ...{ usage: { prompt_tokens: 7, total_tokens: 7, ...recorded.usage }, ...recorded.beside },
      }),
  },
  transcriptions: {
    path: '/v1/audio/transcriptions',
    form: 'one/s',
    respond: (recorded) =>
      whole(recorded, {
        text: 'Hi',
        usage: { type: 'tokens', ...createTokens(newer, recorded.usage) },
        ...recorded.beside,
      }),
  },
}

for (const [location, { path, body, form, respond, hasNoHeaders, counted = COUNTED }] of Object.entries(places))
  test(`a cost reported by the provider is charged: ${location}`, async () => {
    for (const [label, [recorded, costUsd]] of Object.entries(forms)) {
      if (recorded.headers && hasNoHeaders) continue
      const { gateway, recorded: records } = await openWorld({
        catalog,
        connections: Object.keys(catalog),
        fetch: fakeUpstream(() => respond(recorded)),
      })
      const upload = new FormData()
      if (form) {
        upload.set('model', form)
        upload.set('file', new File([new Uint8Array(wav(1))], 'a.wav', { type: 'audio/wav' }))
      }
      const reply = await gateway.fetch(
        new Request(`http://gateway${path}`, {
          method: 'POST',
          ...(form ? {} : { headers: { 'content-type': 'application/json' } }),
          body: form ? upload : JSON.stringify(body),
        }),
      )
      const text = await reply.text()
      assert.is(reply.status, 200, `${label}: ${text}`)
      const [{ costUsd: cost = -1, costSource } = {}] = records.usages
      const expected = costUsd === undefined ? [counted, 'counted'] : [costUsd, 'reported']
      assert.equal([Math.round(cost * 1e12) / 1e12, costSource], expected, label)
    }
  })

test('a client gets a response even if its cost or tier is nested thousands of levels deep', async () => {
  const deep = `${'{"total":'.repeat(9_000)}1${'}'.repeat(9_000)}`
  for (const recorded of [{ usage: { cost: 'deep' } }, { beside: { service_tier: 'deep' } }])
    for (const [location, { path, body, respond }] of Object.entries(places)) {
      if (location !== 'chat' && location !== 'streamed chat') continue // translated responses don't contain it
      const { gateway, recorded: records } = await openWorld({
        catalog,
        connections: ['one'],
        fetch: fakeUpstream(async () => {
          const response = respond(recorded)
          return new Response((await response.text()).replace('"deep"', deep), response)
        }),
      })
      const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
      const reply = await gateway.fetch(new Request(`http://gateway${path}`, request))
      assert.is(reply.status, 200)
      await reply.text()
      assert.is(Math.round((records.usages[0]?.costUsd ?? -1) * 1e12) / 1e12, COUNTED)
    }
})
