import { memoryStorage } from '../../adapters/storage/memory.ts'
import { never } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { metered } from './support/metered.ts'
import { messages, openGate, refusal } from './support/world.ts'

const test = suite('streams that have more than was reserved')

const words = Array.from({ length: 3_000 }, (_, nth) => `word${nth} `)

const asks = {
  'openai-chat': ['/v1/chat/completions', { model: 'one/m', messages, max_tokens: 50, stream: true }],
  'openai-responses': ['/v1/responses', { model: 'open/r', input: 'Hi', max_output_tokens: 50, stream: true }],
  'anthropic-messages': ['/v1/messages', { model: 'claude/c', messages, max_tokens: 50, stream: true }],
  gemini: [
    '/v1beta/models/google/g:streamGenerateContent?alt=sse',
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], generationConfig: { maxOutputTokens: 50 } },
  ],
} as const

/** The tokens of input that are reserved for a chat. */
async function boundOf(body: object): Promise<number> {
  const { chat, reserved, stateOf } = await openGate({ limits: { tokens: { total: 100_000 } }, answer: never })
  const leaving = new AbortController()
  const asked = chat({ ...body, stream: true }, { signal: leaving.signal })
  while ((await reserved()) === 0) await new Promise(setImmediate)
  const [state] = await stateOf('key', { tokens: { total: 100_000 } })
  leaving.abort()
  await asked
  return (state?.reserved ?? 0) - 110
}

/** The error that ends a stream, as its clients read it, and what follows it. */
const ends: Readonly<Record<keyof typeof asks, RegExp>> = {
  'openai-chat':
    /data: \{"error":\{"message":"The request ends here[^\n]*"code":"budget_exceeded"\}\}\n\n(?:data: \[DONE\]\n\n)?$/,
  'openai-responses':
    /event: error\ndata: \{"type":"error",[^\n]*"code":"budget_exceeded"[^\n]*\n\nevent: response\.failed\ndata: [^\n]*\n\n$/,
  'anthropic-messages':
    /event: error\ndata: \{"type":"error","error":\{"type":"billing_error",[^\n]*"code":"budget_exceeded"\}[^\n]*\n\n$/,
  gemini:
    /data: \{"error":\{"code":402,[^\n]*"status":"FAILED_PRECONDITION"[^\n]*"reason":"budget_exceeded"[^\n]*\n\n$/,
}

for (const [format, [path, body]] of Object.entries(asks) as Array<[keyof typeof asks, readonly [string, object]]>)
  test(`a stream of ${format} goes on while its budget lasts, and ends with an error of the format where it does not`, async () => {
    const rich = await openGate({
      limits: { tokens: { total: 100_000 } },
      answer: metered({ words, output: 4_000 }, { tokens: 0 }),
    })
    const whole = await (await rich.post(path, body)).text()
    assert.match(whole, 'word2999')
    assert.equal([await rich.used('tokens'), await rich.reserved()], [4_007, 0])

    const poor = await openGate({
      limits: { tokens: { total: 2_000 } },
      answer: metered({ words, output: 4_000 }, { tokens: 0 }),
    })
    const cut = await (await poor.post(path, body)).text()
    assert.match(cut, 'word300 ')
    assert.not.match(cut, 'word2999')
    assert.match(cut.slice(-2_500), ends[format])
    assert.is(await poor.reserved(), 0)
    assert.is(poor.up.open, 0)
  })

test('a stream that keeps to its maximum is not cut, however many tokens its text seems to have', async () => {
  const sentence =
    'The establishment of international organizations remains fundamentally important for understanding. '
  const long = sentence.repeat(10).split(/(?<= )/) // 110 tokens
  const { chat, used } = await openGate({
    limits: { tokens: { total: 110 + (await boundOf({ max_tokens: 110 })) } },
    answer: metered({ words: long, input: 9, output: 110 }, { tokens: 0 }),
  })
  assert.match(await (await chat({ stream: true, max_tokens: 110 })).text(), 'finish_reason":"stop"')
  assert.is(await used('tokens'), 119)
})

/** The same requests to a provider of another format. */
const others: Readonly<Record<keyof typeof asks, string>> = {
  'openai-chat': 'claude/c',
  'openai-responses': 'one/m',
  'anthropic-messages': 'one/m',
  gemini: 'one/m',
}

for (const [format, [path, body]] of Object.entries(asks) as Array<[keyof typeof asks, readonly [string, object]]>)
  test(`a stream of ${format} from a provider of another format ends so, too, and its record says why`, async () => {
    const { post, gateway } = await openGate({
      limits: { tokens: { total: 2_000 } },
      answer: metered({ words, output: 4_000 }, { tokens: 0 }),
    })
    const model = others[format]
    const reply = await post(path.replace('google/g', model), 'model' in body ? { ...body, model } : body)
    assert.match(await reply.text(), ends[format])
    const [record] = (await gateway.api.usage.requests()).requests
    assert.equal([record?.status, record?.end, record?.error], [402, 'cut', 'BUDGET_EXCEEDED'])
    assert.match(record?.reason ?? '', /^The request ends here, as it has used what was left/)
  })

test('a stream is not read event by event where nothing is limited', async () => {
  const { chat } = await openGate({
    limits: { requests: { total: 5 } },
    answer: metered({ words, output: 4_000 }, { tokens: 0 }),
  })
  assert.match(await (await chat({ stream: true, max_tokens: 50 })).text(), 'word2999')
})

const away = suite('a storage that is away')

/** A storage whose counters of limits cannot be reached while `isAway`. */
function unreachable() {
  const storage = memoryStorage()
  const state = { isAway: false }
  const failing =
    <A extends [string, ...unknown[]], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (state.isAway && args[0].startsWith('limits/')) throw new Error('connect ECONNREFUSED')
      return call(...args)
    }
  return { state, storage: { ...storage, get: failing(storage.get), set: failing(storage.set) } }
}

for (const [limits, isRefused] of [
  [{ requests: { minute: 5 }, parallel: 2 }, false],
  [{ tokens: { day: 50_000 } }, true],
  [{ usd: { day: 5 } }, true],
] as const)
  for (const isReversed of [false, true])
    away(
      `requests with a limit of ${Object.keys(limits)} ${isRefused !== isReversed ? 'are refused' : 'pass'}${isReversed ? ' if the settings say so' : ''}`,
      async () => {
        const { state, storage } = unreachable()
        const verdict = isRefused ? 'allow' : 'refuse'
        const whenStoreIsAway = { usd: verdict, tokens: verdict, requests: verdict, parallel: verdict } as const
        const { chat, up } = await openGate({ limits, storage, ...(isReversed && { settings: { whenStoreIsAway } }) })
        assert.is((await chat()).status, 200)
        state.isAway = true
        for (const stream of [false, true]) {
          const reply = await chat({ stream })
          if (isRefused === isReversed) {
            assert.is(reply.status, 200, await reply.text())
            continue
          }
          const { status, code } = await refusal(reply)
          assert.equal([status, code], [503, 'storage_unavailable'])
        }
        assert.is(up.calls.length, isRefused === isReversed ? 3 : 1)
        state.isAway = false
        assert.is((await chat()).status, 200)
      },
    )
