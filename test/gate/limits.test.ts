import { never } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { metered } from './support/metered-providers.ts'
import { messages, openGate, readError } from './support/world.ts'

const test = suite("enforcing a key's limits")

const getLimitHeaders = (reply: Response) =>
  Object.fromEntries([...reply.headers].filter(([name]) => name.includes('ratelimit')))

test('a request limit allows the configured number of requests, then gives retry advice until it resets', async () => {
  const { chat, clock, upstream, used } = await openGate({ limits: { requests: { minute: 2 } } })
  for (const remaining of ['1', '0']) {
    const reply = await chat()
    assert.is(reply.status, 200)
    assert.equal(getLimitHeaders(reply), {
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': remaining,
      'x-ratelimit-reset-requests': '1m0s',
    })
  }
  await clock.advance(20_000)
  const rejected = await chat()
  assert.equal([rejected.headers.get('retry-after'), rejected.headers.get('x-should-retry')], ['40', null])
  assert.equal(getLimitHeaders(rejected), {
    'x-ratelimit-limit-requests': '2',
    'x-ratelimit-remaining-requests': '0',
    'x-ratelimit-reset-requests': '40s',
  })
  assert.equal(await readError(rejected), {
    status: 429,
    code: 'rate_limit_exceeded',
    message:
      'The API key "alice" can make 2 requests per minute and has made 2. The limit resets at 2026-01-01T00:01:00.000Z. Retry then.',
  })
  assert.equal([upstream.calls.length, await used('requests')], [2, 2])
  await clock.advance(40_000)
  assert.is((await chat()).status, 200)
})

test('a daily or total request limit tells clients not to retry automatically', async () => {
  const total = await openGate({ limits: { requests: { total: 1 } } })
  await total.chat()
  const rejected = await total.chat()
  assert.equal([rejected.headers.get('retry-after'), rejected.headers.get('x-should-retry')], [null, 'false'])
  assert.equal(await readError(rejected), {
    status: 429,
    code: 'rate_limit_exceeded',
    message:
      'The API key "alice" can make 1 request in total and has made 1. This limit does not reset automatically. Ask the operator of this gateway for a higher limit.',
  })
  const day = await openGate({ limits: { requests: { day: 1 } } })
  await day.chat()
  const later = await day.chat()
  assert.equal(
    [later.status, later.headers.get('retry-after'), later.headers.get('x-should-retry')],
    [429, '86400', 'false'],
  )
})

test("tokens are settled with the provider's reported usage, and headers show the remaining budget", async () => {
  const { chat, used, reserved, reported } = await openGate({ limits: { tokens: { day: 10_000 } } })
  const reply = await chat()
  assert.equal([reply.status, reply.headers.get('x-ratelimit-remaining-tokens')], [200, '9988'])
  assert.is(reply.headers.get('x-signalbox-cost'), '0.000057')
  assert.equal([await used('tokens'), await used('requests'), await reserved(), reported.tokens], [12, 1, 0, 12])
})

test("headers show the tightest limit per unit in each client's format, and replace the provider's limits", async () => {
  const limits = { requests: { minute: 10, total: 8 }, tokens: { hour: 100_000, month: 1_000_000 } }
  const reported = { tokens: 0 }
  const respond = metered({}, reported)
  const { post } = await openGate({
    limits,
    respond: async (call, index) => {
      const reply = await respond(call, index)
      for (const name of [
        'x-ratelimit-limit-requests',
        'x-ratelimit-remaining-tokens',
        'anthropic-ratelimit-input-tokens-limit',
      ])
        reply.headers.set(name, '99')
      return reply
    },
  })
  const body = { messages, max_tokens: 10 }
  assert.equal(getLimitHeaders(await post('/v1/chat/completions', { ...body, model: 'one/m' })), {
    'x-ratelimit-limit-requests': '8',
    'x-ratelimit-remaining-requests': '7',
    'x-ratelimit-limit-tokens': '100000',
    'x-ratelimit-remaining-tokens': '99988',
    'x-ratelimit-reset-tokens': '1h0m0s',
  })
  assert.equal(getLimitHeaders(await post('/v1/messages', { ...body, model: 'claude/c' })), {
    'anthropic-ratelimit-requests-limit': '8',
    'anthropic-ratelimit-requests-remaining': '6',
    'anthropic-ratelimit-tokens-limit': '100000',
    'anthropic-ratelimit-tokens-remaining': '99976',
    'anthropic-ratelimit-tokens-reset': '2026-01-01T01:00:00Z',
  })
  assert.is(
    getLimitHeaders(await post('/v1/responses', { model: 'open/r', input: 'Hi' }))['x-ratelimit-limit-requests'],
    '8',
  )
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
  assert.equal(getLimitHeaders(await post('/v1beta/models/google/g:generateContent', { contents })), {})
})

test("keys without limits get the provider's headers, and non-streaming responses include the known cost", async () => {
  const respond = metered({}, { tokens: 0 })
  const { chat } = await openGate({
    respond: async (call, index) => {
      const reply = await respond(call, index)
      reply.headers.set('x-ratelimit-limit-requests', '99')
      return reply
    },
  })
  const reply = await chat()
  assert.equal(
    [reply.headers.get('x-ratelimit-limit-requests'), reply.headers.get('x-signalbox-cost')],
    ['99', '0.000057'],
  )
  assert.is((await chat({ model: 'free/m' })).headers.get('x-signalbox-cost'), null)
  const stream = await chat({ stream: true })
  assert.is(stream.headers.get('x-signalbox-cost'), null)
  await stream.text()
})

test('the error for an exhausted token budget states the usage and reset time, and discourages retries', async () => {
  const { chat, upstream } = await openGate({
    limits: { tokens: { month: 3_000 } },
    respond: metered({ output: 5_000 }, { tokens: 0 }),
  })
  assert.is((await chat({ max_tokens: 10 })).status, 200)
  const rejected = await chat({ max_tokens: 10 })
  assert.equal([rejected.headers.get('retry-after'), rejected.headers.get('x-should-retry')], [null, 'false'])
  assert.is(rejected.headers.get('x-ratelimit-remaining-tokens'), '0')
  assert.equal(await readError(rejected), {
    status: 402,
    code: 'budget_exceeded',
    message:
      'The API key "alice" can use 3000 tokens per month and has used 5007 tokens. The limit resets at 2026-02-01T00:00:00.000Z. Ask the operator of this gateway for a higher limit.',
  })
  assert.is(upstream.calls.length, 1)
})

test('a request that might exceed the remaining budget is rejected, with a retry time under a minute limit', async () => {
  const day = await openGate({ limits: { tokens: { day: 3_000 } } })
  const rejected = await day.chat({ max_tokens: 3_500 })
  assert.is(rejected.headers.get('x-should-retry'), 'false')
  const { status, code, message } = await readError(rejected)
  assert.equal([status, code], [402, 'request_too_expensive'])
  assert.match(
    message,
    /^The request could use up to \d{4} tokens, more than the 3000 tokens left: the API key "alice" can use 3000 tokens per day\. Shorten the prompt/,
  )
  const minute = await openGate({
    limits: { tokens: { minute: 6_000 } },
    respond: metered({ output: 3_000 }, { tokens: 0 }),
  })
  assert.is((await minute.chat({ max_tokens: 4_000 })).status, 200)
  const later = await minute.chat({ max_tokens: 4_000 })
  assert.equal([later.status, later.headers.get('retry-after')], [429, '60'])
  assert.is((await readError(await minute.chat({ max_tokens: 9_000 }))).code, 'request_too_expensive')
})

test('a dollar budget charges input and output at their prices', async () => {
  const { chat, used, stateOf } = await openGate({ limits: { usd: { day: 0.05 } } })
  assert.is((await chat({ max_tokens: 100 })).status, 200)
  assert.is(await used('usd'), 0.000057)
  const rejected = await readError(await chat({ max_tokens: 6_000 }))
  assert.equal([rejected.status, rejected.code], [402, 'request_too_expensive'])
  assert.match(rejected.message, 'more than the $0.049943 left: the API key "alice" can use $0.05 per day.')
  const [state] = await stateOf('key', { usd: { day: 0.05 } })
  assert.equal([state?.used, state?.reserved], [0.000057, 0])
})

test("if the worst case doesn't fit, a response without a requested maximum is shortened, with a warning", async () => {
  for (const limits of [{ tokens: { day: 3_000 } }, { usd: { day: 0.02 } }]) {
    const { chat, upstream } = await openGate({ limits })
    const reply = await chat()
    assert.is(reply.status, 200)
    const sent = JSON.parse(upstream.calls[0]?.body ?? '{}')
    const most = sent.max_tokens ?? sent.max_completion_tokens
    assert.ok(most >= 1_024 && most < 3_000, `${most}`)
    assert.is(reply.headers.get('x-signalbox-warning'), `clamped:max_completion_tokens=${most}`)
    assert.is((await chat({ max_tokens: 4_000 })).status, 402)
  }
  const { chat } = await openGate({ limits: { tokens: { day: 1_020 } } })
  assert.is(
    (await readError(await chat())).code,
    'request_too_expensive',
    "less than 1,024 tokens isn't a useful response",
  )
})

test('a target that is too expensive is skipped in favor of one within the budget', async () => {
  const { chat, upstream } = await openGate({
    limits: { usd: { day: 0.01 } },
    combos: { both: ['one/m', 'free/m', 'cheap/m'] },
  })
  const reply = await chat({ model: 'both', max_tokens: 1_500 })
  assert.equal([reply.status, upstream.providers], [200, ['cheap']])
  assert.match(
    reply.headers.get('x-signalbox-attempts') ?? '',
    'one/m=skipped:refused;via=both:fallback, free/m=skipped:refused',
  )
})

test('a dollar limit rejects models without a known price, unless the settings allow them', async () => {
  const strict = await openGate({ limits: { usd: { day: 10 } } })
  const rejected = await strict.chat({ model: 'free/m' })
  assert.is(rejected.headers.get('x-should-retry'), 'false')
  const { status, code, message } = await readError(rejected)
  assert.equal([status, code], [402, 'request_too_expensive'])
  assert.match(message, 'The price of "free/m" is unknown')
  assert.is(strict.upstream.calls.length, 0)
  const open = await openGate({
    limits: { usd: { day: 10 }, tokens: { day: 50_000 } },
    settings: { whenPriceUnknown: 'allow' },
  })
  assert.is((await open.chat({ model: 'free/m' })).status, 200)
  assert.equal([await open.used('usd'), await open.used('tokens')], [0, 12])
})

test("a service tier that costs more than the model's base price counts as unpriced", async () => {
  const moreExpensive = [
    ['service_tier', 'priority'],
    ['speed', 'fast'],
    ['inference_geo', 'us'],
  ]
  for (const [name = '', value] of moreExpensive) {
    const { chat, upstream } = await openGate({ limits: { usd: { day: 10 } } })
    const { status, message } = await readError(await chat({ [name]: value }))
    assert.is(status, 402)
    assert.match(message, `The price of "one/m" with this "${name}" is unknown`)
    assert.is(upstream.calls.length, 0)
    assert.is((await chat({ [name]: 'standard' })).status, 200)
  }
  const open = await openGate({ limits: { usd: { day: 10 } }, settings: { whenPriceUnknown: 'allow' } })
  assert.is((await open.chat({ service_tier: 'priority' })).status, 200)
  assert.ok((await open.used('usd')) > 0)
})

test('a concurrency limit rejects a second request, and a failed request frees its slot', async () => {
  const answering = Promise.withResolvers<Response>()
  const { chat, used, upstream } = await openGate({
    limits: { parallel: 1 },
    respond: (_, index) => (index === 1 ? answering.promise : Response.json({}, { status: 400 })),
  })
  const first = chat()
  while (upstream.calls.length === 0) await new Promise(setImmediate)
  const rejected = await chat()
  assert.is(rejected.headers.get('retry-after'), '1')
  assert.equal(await readError(rejected), {
    status: 429,
    code: 'rate_limit_exceeded',
    message:
      'The API key "alice" can run 1 request at a time and has 1 in flight. Retry when one of them has finished.',
  })
  answering.resolve(Response.json({ error: { message: 'No.' } }, { status: 400 }))
  assert.is((await first).status, 400)
  assert.is((await chat()).status, 400)
  assert.is(await used('requests'), 2)
})

test('the error for a request that fits once in-flight ones settle tells clients to retry in a second', async () => {
  const { chat, upstream } = await openGate({ limits: { tokens: { month: 6_000 } }, respond: never })
  const controller = new AbortController()
  const first = chat({ max_tokens: 4_000 }, { signal: controller.signal })
  while (upstream.calls.length === 0) await new Promise(setImmediate)
  const rejected = await chat({ max_tokens: 4_000 })
  assert.equal(
    [rejected.status, rejected.headers.get('retry-after'), rejected.headers.get('x-should-retry')],
    [429, '1', null],
  )
  assert.match(
    (await readError(rejected)).message,
    /in-flight requests have reserved \d+ tokens\. In-flight requests have reserved the rest/,
  )
  controller.abort()
  await first
})

test("the gateway's limits apply to requests without a key", async () => {
  const { gateway, post } = await openGate({ settings: { limits: { requests: { minute: 1 } } } })
  const send = () =>
    gateway.fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'one/m', messages }),
    })
  assert.is((await send()).status, 200)
  assert.match((await readError(await send())).message, /^This gateway can make 1 request per minute and has made 1\./)
  assert.is((await post('/v1/chat/completions', { model: 'one/m', messages })).status, 429)
})

test("a rejected request isn't counted, and a failed one counts once", async () => {
  const { chat, used, clock } = await openGate({
    limits: { requests: { minute: 1, day: 10 }, tokens: { day: 20_000 } },
    combos: { both: ['one/m', 'two/m'] },
    respond: () => Response.json({ error: { message: 'Broken' } }, { status: 500 }),
  })
  assert.is((await chat({ model: 'both' })).status, 500)
  for (let again = 0; again < 5; again++) assert.is((await chat()).status, 429)
  assert.is((await chat({ model: 'nothing/here' })).status, 404)
  assert.equal([await used('requests'), await used('tokens')], [1, 0])
  await clock.advance(60_000)
  assert.is((await chat({ model: 'both' })).status, 500)
  assert.is(await used('requests'), 2)
})

test("each fallback attempt makes its own reservation after the failed attempt's is released", async () => {
  const reported = { tokens: 0 }
  const respond = metered({}, reported)
  const { chat, used, reserved } = await openGate({
    limits: { tokens: { day: 5_000 } }, // enough for the worst case of one attempt
    combos: { both: ['one/m', 'two/m'] },
    respond: (call, index) => (call.provider === 'one' ? Response.json({}, { status: 503 }) : respond(call, index)),
  })
  assert.is((await chat({ model: 'both', max_tokens: 4_000 })).status, 200)
  assert.equal([await used('tokens'), await used('requests'), await reserved()], [12, 1, 0])
})

test("a request without an output limit isn't advised to lower it", async () => {
  const { post } = await openGate({ limits: { usd: { day: 0.005 } } })
  const { code, message } = await readError(await post('/v1/search/other/webSearch', { query: 'Hi' }))
  assert.is(code, 'request_too_expensive')
  assert.match(message, ' can use $0.005 per day. Split the request into smaller ones.')
})
