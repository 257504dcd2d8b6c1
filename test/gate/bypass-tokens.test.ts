import { assert, suite } from '../support/suite.ts'
import { respondGreedily } from './support/maximum-output.ts'
import { messages, openGate } from './support/world.ts'

const test = suite('ways around a token budget')

const LIMIT = 11_000

const chat = { model: 'one/m', messages }
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const gemini = '/v1beta/models/google/g:generateContent'

/** Requests that try to get more than their limit seems to allow: path and body. */
const ways: Record<string, [path: string, body: object]> = {
  'no maximum': ['/v1/chat/completions', chat],
  'a maximum that is null': ['/v1/chat/completions', { ...chat, max_tokens: null }],
  'a maximum of 0': ['/v1/chat/completions', { ...chat, max_tokens: 0 }],
  'a negative maximum': ['/v1/chat/completions', { ...chat, max_tokens: -1 }],
  'a maximum below one': ['/v1/chat/completions', { ...chat, max_tokens: 0.001 }],
  'a maximum as a string': ['/v1/chat/completions', { ...chat, max_tokens: '3900' }],
  'a maximum as a string that is not a number': ['/v1/chat/completions', { ...chat, max_tokens: 'all' }],
  'a maximum that is an object': ['/v1/chat/completions', { ...chat, max_tokens: { value: 1 } }],
  'a maximum of a billion': ['/v1/chat/completions', { ...chat, max_tokens: 1e9 }],
  'two maxima, the first one low': ['/v1/chat/completions', { ...chat, max_completion_tokens: 1, max_tokens: 3_900 }],
  'two maxima, the second one low': ['/v1/chat/completions', { ...chat, max_completion_tokens: 3_900, max_tokens: 1 }],
  'two maxima, one of them null': ['/v1/chat/completions', { ...chat, max_completion_tokens: null, max_tokens: 3_900 }],
  'a maximum from another format': ['/v1/chat/completions', { ...chat, max_output_tokens: 1 }],
  'many choices': ['/v1/chat/completions', { ...chat, max_tokens: 1_000, n: 20 }],
  'many choices as a string': ['/v1/chat/completions', { ...chat, max_tokens: 1_000, n: '20' }],
  'many choices without a maximum': ['/v1/chat/completions', { ...chat, n: 5 }],
  'a fractional number of choices': ['/v1/chat/completions', { ...chat, max_tokens: 3_000, n: 2.5 }],
  'a negative number of choices': ['/v1/chat/completions', { ...chat, max_tokens: 3_000, n: -5 }],
  'best_of for a chat': ['/v1/chat/completions', { ...chat, max_tokens: 2_000, best_of: 9 }],
  'best_of for a completion': ['/v1/completions', { model: 'one/m', prompt: 'Hi', max_tokens: 2_000, best_of: 9 }],
  'several prompts': ['/v1/completions', { model: 'one/m', prompt: Array(20).fill('Hi'), max_tokens: 1_000 }],
  'a prompt of token IDs': ['/v1/completions', { model: 'one/m', prompt: Array(50).fill(7), max_tokens: 3_000 }],
  'a stream': ['/v1/chat/completions', { ...chat, stream: true, max_tokens: 3_000 }],
  'a stream without usage reporting': [
    '/v1/chat/completions',
    { ...chat, stream: true, max_tokens: 3_000, stream_options: { include_usage: false } },
  ],
  'a Messages request with a low maximum as a string': [
    '/v1/messages',
    { model: 'claude/c', messages, max_tokens: '1' },
  ],
  'a Messages request to a chat provider': ['/v1/messages', { model: 'one/m', messages, max_tokens: 3_000 }],
  'a Messages request without a maximum': ['/v1/messages', { model: 'claude/c', messages }],
  'a Responses request without a maximum': ['/v1/responses', { model: 'open/r', input: 'Hi' }],
  'a Responses request with a maximum of 0': ['/v1/responses', { model: 'open/r', input: 'Hi', max_output_tokens: 0 }],
  'a Responses request to a Messages provider': [
    '/v1/responses',
    { model: 'claude/c', input: 'Hi', max_output_tokens: 3_900 },
  ],
  'a compaction': ['/v1/responses/compact', { model: 'open/r', input: 'Hi' }],
  'a chat request to a Responses provider': ['/v1/chat/completions', { ...chat, model: 'open/r', max_tokens: 3_000 }],
  'Gemini without a maximum': [gemini, { contents }],
  'Gemini with both spellings of the maximum': [
    gemini,
    { contents, generationConfig: { maxOutputTokens: 1, max_output_tokens: 3_900 } },
  ],
  'Gemini with both spellings of the configuration': [
    gemini,
    { contents, generationConfig: { maxOutputTokens: 1 }, generation_config: { max_output_tokens: 3_900 } },
  ],
  'Gemini with many candidates': [gemini, { contents, generationConfig: { maxOutputTokens: 900, candidateCount: 8 } }],
  'Gemini with many candidates in the other spelling': [
    gemini,
    { contents, generation_config: { max_output_tokens: 900, candidate_count: 8 } },
  ],
  'a combo with two providers': ['/v1/chat/completions', { ...chat, model: 'both', max_tokens: 3_000 }],
}

for (const [title, [path, body]] of Object.entries(ways))
  test(`a request stays within its budget, even if the provider returns as much as possible: ${title}`, async () => {
    const reported = { tokens: 0 }
    const { post, used, reserved } = await openGate({
      limits: { tokens: { total: LIMIT } },
      combos: { both: ['one/m', 'two/m'] },
      respond: respondGreedily(reported),
    })
    const statuses: number[] = []
    for (let index = 0; index < 8 && statuses.at(-1) !== 402; index++) {
      const reply = await post(path, body)
      await reply.text()
      statuses.push(reply.status)
    }
    assert.ok(reported.tokens <= LIMIT, `${reported.tokens} tokens, ${statuses}`)
    assert.is(statuses.at(-1), 402, `${statuses}`)
    assert.equal([await used('tokens'), await reserved()], [reported.tokens, 0])
  })

test("concurrent requests together can't exceed a budget", async () => {
  const reported = { tokens: 0 }
  const {
    chat: send,
    used,
    reserved,
  } = await openGate({ limits: { tokens: { total: 50_000 } }, respond: respondGreedily(reported) })
  for (let round = 0; round < 3; round++)
    await Promise.all(
      Array.from({ length: 30 }, (_, index) => send({ max_tokens: 1 + index * 130 }).then((reply) => reply.text())),
    )
  assert.ok(reported.tokens <= 50_000 && reported.tokens > 25_000, `${reported.tokens}`)
  assert.equal([await used('tokens'), await reserved()], [reported.tokens, 0])
})
