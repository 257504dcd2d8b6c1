import { json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { messages, openGate } from './support/world.ts'

const test = suite('unreadable usage')

const WORDS = 'Hello there my friend, how are you today'

/** A request in a format, and a response to it with this usage. */
interface Exchange {
  path: string
  body: object
  respond(usage: unknown): object
}

const responses: Record<'openai-chat' | 'openai-responses' | 'anthropic-messages', Exchange> = {
  'openai-chat': {
    path: '/v1/chat/completions',
    body: { model: 'one/m', messages, max_tokens: 50 },
    respond: (usage) => ({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: WORDS }, finish_reason: 'stop' }],
      usage,
    }),
  },
  'openai-responses': {
    path: '/v1/responses',
    body: { model: 'open/r', input: 'Hi', max_output_tokens: 50 },
    respond: (usage) => ({
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      model: 'r',
      status: 'completed',
      output: [
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: WORDS, annotations: [] }],
        },
      ],
      usage,
    }),
  },
  'anthropic-messages': {
    path: '/v1/messages',
    body: { model: 'claude/c', messages, max_tokens: 50 },
    respond: (usage) => ({
      id: 'm1',
      type: 'message',
      role: 'assistant',
      model: 'c',
      content: [{ type: 'text', text: WORDS }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage,
    }),
  },
}

const nothing = [
  {},
  { prompt_tokens: '7', completion_tokens: '5', input_tokens: '7', output_tokens: '5' },
  { prompt_tokens: -7, completion_tokens: -5, input_tokens: -7, output_tokens: -5 },
  { prompt_tokens: null, completion_tokens: null, input_tokens: null, output_tokens: null },
]

for (const [format, { path, body, respond }] of Object.entries(responses)) {
  test(`usage is estimated, never zero, if a response has no readable counts (${format})`, async () => {
    for (const usage of nothing) {
      const { post, used } = await openGate({
        limits: { tokens: { total: 10_000 } },
        respond: () => json(respond(usage)),
      })
      assert.is((await post(path, body)).status, 200)
      assert.ok((await used('tokens')) > 20, JSON.stringify(usage))
    }
  })
}

test('absurdly large counts and costs remain valid numbers in records, totals, and headers', async () => {
  const { path, body, respond } = responses['openai-chat']
  const counts = '{"prompt_tokens":1e999,"completion_tokens":5,"cost":1e30}'
  const { post, gateway, used } = await openGate({
    limits: { tokens: { total: 10_000 } },
    respond: () =>
      new Response(JSON.stringify(respond('…')).replace('"…"', counts), {
        headers: { 'content-type': 'application/json' },
      }),
  })
  const reply = await post(path, body)
  assert.match(reply.headers.get('x-signalbox-cost') ?? '', /^\d+(\.\d+)?$/)
  assert.is(await used('tokens'), Number.MAX_SAFE_INTEGER)
  assert.is((await post(path, body)).status, 402)
  const { totals } = await gateway.api.usage.summary()
  assert.is(totals.tokens.input, Number.MAX_SAFE_INTEGER)
  assert.ok(totals.costUsd > 0 && totals.costUsd < 1e12, `${totals.costUsd}`)
})
