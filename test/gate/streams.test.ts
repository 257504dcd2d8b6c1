import { memoryStorage } from '../../adapters/storage/memory.ts'
import { never } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { metered } from './support/metered-providers.ts'
import { type GateWorld, messages, openGate, readError } from './support/world.ts'

const test = suite('streams that outgrow their reservation')

const words = Array.from({ length: 3_000 }, (_, index) => `word${index} `)

const requests = {
  'openai-chat': ['/v1/chat/completions', { model: 'one/m', messages, max_tokens: 50, stream: true }],
  'openai-responses': ['/v1/responses', { model: 'open/r', input: 'Hi', max_output_tokens: 50, stream: true }],
  'anthropic-messages': ['/v1/messages', { model: 'claude/c', messages, max_tokens: 50, stream: true }],
  gemini: [
    '/v1beta/models/google/g:streamGenerateContent?alt=sse',
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], generationConfig: { maxOutputTokens: 50 } },
  ],
} as const

/** Returns the number of input tokens that are reserved for a chat. */
async function getBound(body: object): Promise<number> {
  const { chat, reserved, stateOf } = await openGate({ limits: { tokens: { total: 100_000 } }, respond: never })
  const controller = new AbortController()
  const pending = chat({ ...body, stream: true }, { signal: controller.signal })
  while ((await reserved()) === 0) await new Promise(setImmediate)
  const [state] = await stateOf('key', { tokens: { total: 100_000 } })
  controller.abort()
  await pending
  return (state?.reserved ?? 0) - 110
}

/** The error that ends a stream as its clients read it, and what follows the error. */
const ends: Readonly<Record<keyof typeof requests, RegExp>> = {
  'openai-chat':
    /data: \{"error":\{"message":"The response was cut off[^\n]*"code":"budget_exceeded"\}\}\n\n(?:data: \[DONE\]\n\n)?$/,
  'openai-responses':
    /event: error\ndata: \{"type":"error",[^\n]*"code":"budget_exceeded"[^\n]*\n\nevent: response\.failed\ndata: [^\n]*\n\n$/,
  'anthropic-messages':
    /event: error\ndata: \{"type":"error","error":\{"type":"billing_error",[^\n]*"code":"budget_exceeded"\}[^\n]*\n\n$/,
  gemini:
    /data: \{"error":\{"code":402,[^\n]*"status":"FAILED_PRECONDITION"[^\n]*"reason":"budget_exceeded"[^\n]*\n\n$/,
}

for (const [format, [path, body]] of Object.entries(requests) as Array<
  [keyof typeof requests, readonly [string, object]]
>)
  test(`a stream continues while its budget lasts, and then ends with an error in the same format (${format})`, async () => {
    const rich = await openGate({
      limits: { tokens: { total: 100_000 } },
      respond: metered({ words, output: 4_000 }, { tokens: 0 }),
    })
    const full = await (await rich.post(path, body)).text()
    assert.match(full, 'word2999')
    assert.equal([await rich.used('tokens'), await rich.reserved()], [4_007, 0])

    const poor = await openGate({
      limits: { tokens: { total: 2_000 } },
      respond: metered({ words, output: 4_000 }, { tokens: 0 }),
    })
    const cut = await (await poor.post(path, body)).text()
    assert.match(cut, 'word300 ')
    assert.not.match(cut, 'word2999')
    assert.match(cut.slice(-2_500), ends[format])
    assert.is(await poor.reserved(), 0)
    assert.is(poor.upstream.open, 0)
  })

test("a stream within its maximum isn't cut off, even if its text seems to have more tokens", async () => {
  const sentence =
    'The establishment of international organizations remains fundamentally important for understanding. '
  const long = sentence.repeat(10).split(/(?<= )/) // 110 tokens
  const { chat, used } = await openGate({
    limits: { tokens: { total: 110 + (await getBound({ max_tokens: 110 })) } },
    respond: metered({ words: long, input: 9, output: 110 }, { tokens: 0 }),
  })
  assert.match(await (await chat({ stream: true, max_tokens: 110 })).text(), 'finish_reason":"stop"')
  assert.is(await used('tokens'), 119)
})

/** Returns a limit of this many tokens in each unit, with output at $10 per million tokens, and the most of it that streams may use. */
const inUnits = (tokens: number) =>
  [
    ['tokens', { tokens: { total: tokens } }, tokens + 1_024],
    ['usd', { usd: { day: tokens / 100_000 } }, (tokens + 1_024) / 100_000],
  ] as const

/** The total usage in each unit, according to all request records. */
async function usedBy({ gateway }: GateWorld) {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  const used = { tokens: 0, usd: 0 }
  for (const { tokens, costUsd = 0 } of (await gateway.api.usage.requests()).requests) {
    used.tokens += tokens.input + tokens.output
    used.usd += costUsd
  }
  return used
}

for (const [unit, limits, most] of inUnits(2_000))
  for (const holder of ['key', 'group', 'gateway'] as const)
    for (const pending of [{ max_tokens: 50 }, { max_tokens: 1_900 }, {}])
      for (const model of ['one/m', 'claude/c'])
        test(`a stream from ${model} with ${JSON.stringify(pending)} exceeds a ${holder}'s limit in ${unit} by at most one extension`, async () => {
          const world = await openGate({
            ...(holder === 'key' && { limits }),
            ...(holder === 'group' && { groupLimits: limits }),
            ...(holder === 'gateway' && { settings: { limits } }),
            respond: metered({ words, output: 4_000 }, { tokens: 0 }),
          })
          const cut = await (await world.chat({ ...pending, model, stream: true })).text()
          assert.match(cut, 'budget_exceeded')
          const used = (await usedBy(world))[unit]
          assert.ok(used > most * 0.6 && used <= most, `${used}`)
          assert.is(await world.reserved(), 0)
        })

for (const [unit, limits, most] of inUnits(6_000))
  test(`concurrent streams together exceed their group's limit in ${unit} by at most one extension`, async () => {
    const world = await openGate({
      groupLimits: limits,
      respond: metered({ words, output: 4_000 }, { tokens: 0 }),
    })
    const send = async () => (await world.chat({ stream: true, max_tokens: 1_000 })).text()
    const cuts = await Promise.all([send(), send(), send(), send()])
    for (const cut of cuts) assert.match(cut, /The response was cut off|in-flight requests have reserved/)
    const used = (await usedBy(world))[unit]
    assert.ok(used > most * 0.8 && used <= most, `${used}`)
    assert.is(await world.reserved(), 0)
  })

test('a stream can use everything that remains under several limits', async () => {
  const world = await openGate({
    limits: { tokens: { minute: 1_500, total: 3_000 }, usd: { day: 0.02 } },
    respond: metered({ words, output: 4_000 }, { tokens: 0 }),
  })
  const cut = await (await world.chat({ stream: true, max_tokens: 50 })).text()
  assert.match(cut.slice(-500), 'rate_limit_exceeded')
  const { tokens } = await usedBy(world)
  assert.ok(tokens > 1_450 && tokens < 1_600, `${tokens}`)
})

/** The same requests to providers that use another format. */
const others: Readonly<Record<keyof typeof requests, string>> = {
  'openai-chat': 'claude/c',
  'openai-responses': 'one/m',
  'anthropic-messages': 'one/m',
  gemini: 'one/m',
}

for (const [format, [path, body]] of Object.entries(requests) as Array<
  [keyof typeof requests, readonly [string, object]]
>)
  test(`a translated stream ends with the same error, and the record contains the reason (${format})`, async () => {
    const { post, gateway } = await openGate({
      limits: { tokens: { total: 2_000 } },
      respond: metered({ words, output: 4_000 }, { tokens: 0 }),
    })
    const model = others[format]
    const reply = await post(path.replace('google/g', model), 'model' in body ? { ...body, model } : body)
    assert.match(await reply.text(), ends[format])
    const [record] = (await gateway.api.usage.requests()).requests
    assert.equal([record?.status, record?.end, record?.error], [402, 'cut', 'BUDGET_EXCEEDED'])
    assert.match(record?.reason ?? '', /^The response was cut off because it used up the rest of a limit/)
  })

test("a stream without token or dollar limits isn't cut off", async () => {
  const { chat } = await openGate({
    limits: { requests: { total: 5 } },
    respond: metered({ words, output: 4_000 }, { tokens: 0 }),
  })
  assert.match(await (await chat({ stream: true, max_tokens: 50 })).text(), 'word2999')
})

const away = suite('limits while the storage is unavailable')

/** Creates a store whose limit counters are unreachable while `isAway`. */
function unreachable() {
  const storage = memoryStorage()
  const state = { isUnavailable: false }
  const failFirst =
    <A extends [string, ...unknown[]], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (state.isUnavailable && args[0].startsWith('limits/')) throw new Error('connect ECONNREFUSED')
      return call(...args)
    }
  return { state, storage: { ...storage, get: failFirst(storage.get), set: failFirst(storage.set) } }
}

for (const [limits, isRejected] of [
  [{ requests: { minute: 5 }, parallel: 2 }, false],
  [{ tokens: { day: 50_000 } }, true],
  [{ usd: { day: 5 } }, true],
] as const)
  for (const isReversed of [false, true])
    away(
      `without its storage, a gateway ${isRejected !== isReversed ? 'rejects' : 'accepts'} requests with a limit on ${Object.keys(limits).join(' and ')}${isReversed ? ' if onStorageUnavailable says so' : ' by default'}`,
      async () => {
        const { state, storage } = unreachable()
        const verdict = isRejected ? 'allow' : 'refuse'
        const onStorageUnavailable = { usd: verdict, tokens: verdict, requests: verdict, parallel: verdict } as const
        const { chat, upstream } = await openGate({
          limits,
          storage,
          ...(isReversed && { settings: { onStorageUnavailable } }),
        })
        assert.is((await chat()).status, 200)
        state.isUnavailable = true
        for (const stream of [false, true]) {
          const reply = await chat({ stream })
          if (isRejected === isReversed) {
            assert.is(reply.status, 200, await reply.text())
            continue
          }
          const { status, code } = await readError(reply)
          assert.equal([status, code], [503, 'storage_unavailable'])
        }
        assert.is(upstream.calls.length, isRejected === isReversed ? 3 : 1)
        state.isUnavailable = false
        assert.is((await chat()).status, 200)
      },
    )
