import { formatOf } from '../../src/formats/formats.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { Catalog, WireFormat } from '../../src/types.ts'
import { DEFAULT_OUTPUT, worstCaseOf } from '../../src/usage/worst-case.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the worst case of a request')

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
  const endpoint = formatOf(format).endpoints.find((one) => path.test(one.path))
  if (!endpoint) throw new Error(`no endpoint ${path}`)
  return worstCaseOf({ call: { endpoint, body }, context: { catalog } }, { provider: 'one', model })
}

const messages = [{ role: 'user', content: 'Hi' }]
const chat = (body: JsonObject, model?: string) =>
  worst('openai-chat', /chat\/completions/, { messages, ...body }, model)

/** What a request says of its output, and the most that it allows; without a number, what the model can. */
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
  test(`of ${JSON.stringify(body)} in ${format} (${path.source}) has ${tokens ?? 'the most tokens of the model'}`, () => {
    const { outputTokens, isOutputGiven } = worst(format, path, body)
    assert.is(outputTokens, tokens ?? 8_000)
    assert.is(isOutputGiven, tokens !== undefined)
  })
}

test('holds for all answers together, and says how many there are', () => {
  const { outputTokens, answers } = chat({ n: 4 })
  assert.equal([outputTokens, answers], [32_000, 4])
})

test('is that of the context window where the output of the model is not known, and else a default', () => {
  assert.is(chat({}, 'small').outputTokens, 4_096)
  assert.is(chat({}, 'free').outputTokens, DEFAULT_OUTPUT)
  assert.is(chat({}, 'unknown').outputTokens, DEFAULT_OUTPUT)
})

test('has input at its dearest price, and output by the token', () => {
  const { inputTokens, usd } = chat({})
  assert.is(usd?.perOutputToken, 10 / 1_000_000)
  assert.ok((usd?.fixed ?? 0) >= (inputTokens * 1.25) / 1_000_000)
  assert.equal(chat({}, 'free').usd, { fixed: 0, perOutputToken: 0 })
})

test('costs an unknown amount where a price is not known', () => {
  assert.is(chat({}, 'half').usd, undefined)
  assert.is(chat({}, 'unknown').usd, undefined)
})

test('is nothing for a count of tokens, even of a model without a price', () => {
  for (const [format, path] of [
    ['anthropic-messages', /count_tokens/],
    ['openai-responses', /input_tokens/],
    ['gemini', /countTokens/],
  ] as const) {
    const { inputTokens, outputTokens, usd } = worst(format, path, { messages, input: 'Hi' }, 'unknown')
    assert.equal([inputTokens, outputTokens, usd], [0, 0, { fixed: 0, perOutputToken: 0 }])
  }
})

test('input costs what sound does where it may have some, and output what the dearest does', () => {
  const perInput = (content: unknown) => {
    const { usd, inputTokens } = chat({ messages: [{ role: 'user', content }] }, 'hears')
    return [Math.round(((usd?.fixed ?? 0) / inputTokens) * 1e6), Math.round((usd?.perOutputToken ?? 0) * 1e6)]
  }
  assert.equal(perInput('Hi'), [2, 64]) // as if it were kept in a cache for an hour
  assert.equal(perInput([{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }]), [32, 64])
})
