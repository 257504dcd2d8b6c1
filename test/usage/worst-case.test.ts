import type { JsonObject } from '../../src/lib/json.ts'
import { DEFAULT_OUTPUT, getWorstCase } from '../../src/pricing/worst-case.ts'
import { getFormat } from '../../src/protocols/formats/formats.ts'
import type { Catalog, WireFormat } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite("a request's worst case")

const catalog: Catalog = {
  one: {
    models: [
      { id: 'm', maxOutputTokens: 8_000, price: { input: 1, output: 10, cacheWrite: 1.25 } },
      { id: 'small', contextWindow: 4_096, price: { input: 2, output: 2 } },
      { id: 'free', price: { input: 0, output: 0 } },
      { id: 'half', price: { input: 1 } },
      { id: 'hears', maxOutputTokens: 10, price: { input: 1, output: 2, audioInput: 32, audioOutput: 64 } },
    ],
  },
}

function worst(format: WireFormat, path: RegExp, body: JsonObject, model = 'm') {
  const endpoint = getFormat(format).endpoints.find((endpoint) => path.test(endpoint.path))
  if (!endpoint) throw new Error(`no endpoint ${path}`)
  return getWorstCase({ call: { endpoint, body }, context: { catalog } }, { provider: 'one', model })
}

const messages = [{ role: 'user', content: 'Hi' }]
const chat = (body: JsonObject, model?: string) =>
  worst('openai-chat', /chat\/completions/, { messages, ...body }, model)

/** A request's output settings and their maximum output, or the model's maximum if undefined. */
const given: Array<[WireFormat, RegExp, JsonObject, number | undefined]> = [
  ['openai-chat', /chat/, {}, undefined],
  ['openai-chat', /chat/, { max_tokens: 100 }, 100],
  ['openai-chat', /chat/, { max_completion_tokens: 100 }, 100],
  ['openai-chat', /chat/, { max_completion_tokens: 10, max_tokens: 100 }, 100],
  ['openai-chat', /chat/, { max_completion_tokens: 100, max_tokens: 10 }, 100],
  ['openai-chat', /chat/, { max_tokens: 100, n: 3 }, 300],
  ['openai-chat', /chat/, { max_tokens: 100, n: '3' }, 300],
  ['openai-chat', /chat/, { max_tokens: null }, undefined],
  ['openai-chat', /chat/, { max_tokens: -1 }, undefined],
  ['openai-chat', /chat/, { max_tokens: 0 }, undefined],
  ['openai-chat', /chat/, { max_tokens: '100' }, undefined],
  ['openai-chat', /chat/, { max_tokens: 10, max_completion_tokens: -1 }, undefined],
  ['openai-chat', /chat/, { max_completion_tokens: Number.POSITIVE_INFINITY }, undefined],
  ['openai-chat', /v1\/completions/, { prompt: 'Hi', max_tokens: 5 }, 5],
  ['openai-chat', /v1\/completions/, { prompt: 'Hi', max_tokens: 5, n: 2, best_of: 4 }, 20],
  ['openai-chat', /v1\/completions/, { prompt: ['a', 'b', 'c'], max_tokens: 5, n: 2 }, 30],
  ['openai-chat', /v1\/completions/, { prompt: [1, 2, 3], max_tokens: 5 }, 5],
  ['openai-chat', /v1\/completions/, { prompt: [[1, 2], [3]], max_tokens: 5 }, 10],
  ['openai-responses', /responses$/, { input: 'Hi', max_output_tokens: 7 }, 7],
  ['anthropic-messages', /messages$/, { messages, max_tokens: 7 }, 7],
  ['gemini', /generateContent/, { generationConfig: { maxOutputTokens: 7 } }, 7],
  ['gemini', /generateContent/, { generation_config: { max_output_tokens: 7 } }, 7],
  ['gemini', /generateContent/, { generationConfig: { maxOutputTokens: 7, candidateCount: 2 } }, 14],
  ['gemini', /streamGenerate/, { generationConfig: { maxOutputTokens: 7, max_output_tokens: 9 } }, 9],
  [
    'gemini',
    /streamGenerate/,
    { generationConfig: { maxOutputTokens: 7 }, generation_config: { maxOutputTokens: 8 } },
    8,
  ],
]
for (const [format, path, body, tokens] of given) {
  test(`the worst-case output of ${JSON.stringify(body)} in tokens is ${tokens ?? "the model's maximum"} (${format}, ${path.source})`, () => {
    const { outputTokens, isOutputRequested } = worst(format, path, body)
    assert.is(outputTokens, tokens ?? 8_000)
    assert.is(isOutputRequested, tokens !== undefined)
  })
}

test('the worst case covers all choices, and includes their number', () => {
  const { outputTokens, choices } = chat({ n: 4 })
  assert.equal([outputTokens, choices], [32_000, 4])
})

test("the worst case is the model's output limit, its context window, or a default, whichever is known first", () => {
  assert.is(chat({}, 'small').outputTokens, 4_096)
  assert.is(chat({}, 'free').outputTokens, DEFAULT_OUTPUT)
  assert.is(chat({}, 'unknown').outputTokens, DEFAULT_OUTPUT)
})

test('the worst case uses the highest input price and counts output by token', () => {
  const { inputTokens, usd } = chat({})
  assert.is(usd?.perOutputToken, 10 / 1_000_000)
  assert.ok((usd?.fixed ?? 0) >= (inputTokens * 1.25) / 1_000_000)
  assert.equal(chat({}, 'free').usd, { fixed: 0, perOutputToken: 0 })
})

test('the worst case has an unknown cost if a price is unknown', () => {
  assert.is(chat({}, 'half').usd, undefined)
  assert.is(chat({}, 'unknown').usd, undefined)
})

test('token counting is free, even for a model without a price', () => {
  for (const [format, path] of [
    ['anthropic-messages', /count_tokens/],
    ['openai-responses', /input_tokens/],
    ['gemini', /countTokens/],
  ] as const) {
    const { inputTokens, outputTokens, usd } = worst(format, path, { messages, input: 'Hi' }, 'unknown')
    assert.equal([inputTokens, outputTokens, usd], [0, 0, { fixed: 0, perOutputToken: 0 }])
  }
})

test('input that may contain audio is reserved at the audio price, and output at the highest price', () => {
  const perInput = (content: unknown) => {
    const { usd, inputTokens } = chat({ messages: [{ role: 'user', content }] }, 'hears')
    return [Math.round(((usd?.fixed ?? 0) / inputTokens) * 1e6), Math.round((usd?.perOutputToken ?? 0) * 1e6)]
  }
  assert.equal(perInput('Hi'), [2, 64]) // the price of caching it for an hour
  assert.equal(perInput([{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }]), [32, 64])
})
