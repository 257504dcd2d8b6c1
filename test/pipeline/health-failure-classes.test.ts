import { assert, suite } from '../support/suite.ts'
import { openFailing, rejectWith } from './support/failing.ts'
import { chatEvents } from './support/responses.ts'
import { fakeUpstream, json, sse } from './support/upstream.ts'
import { catalog } from './support/world.ts'

const test = suite('how failures affect health')

for (const [label, wait, headers, body] of [
  ['retry-after in seconds', 7, { 'retry-after': '7' }, {}],
  ['retry-after-ms', 7, { 'retry-after-ms': '7000' }, {}],
  ['retry-after as a date', 7, { 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT' }, {}],
  [
    'Google’s RetryInfo',
    34,
    {},
    { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' }] },
  ],
  ['a reset header as a duration', 90, { 'x-ratelimit-reset-requests': '1m30s' }, {}],
  [
    'the reset of the exhausted limit',
    9,
    {
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '9s',
      'x-ratelimit-remaining-requests': '5',
      'x-ratelimit-reset-requests': '1h',
    },
    {},
  ],
  [
    'the latest reset of several exhausted limits',
    20,
    {
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '9s',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '20s',
    },
    {},
  ],
  ['a reset header as a date', 20, { 'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:20Z' }, {}],
  ['a reset header in epoch seconds', 15, { 'x-ratelimit-reset': '1767225615' }, {}],
] as const) {
  test(`a rate-limit cooldown lasts as long as the provider requests: ${label}`, async () => {
    const { down, send, pass } = await openFailing()
    down.one = () => json({ error: { message: 'slow down', ...body } }, 429, headers)
    await send()
    pass(wait * 1_000 - 1)
    assert.match(await send(), /one\/m=skipped:rate-limit/)
    pass(1)
    assert.match(await send(), /one\/m=429:rate-limit/)
  })
}

for (const [label, respond, reason] of [
  ['a rate limit', () => json({ error: { message: 'Rate limit reached for m in organization o' } }, 429), 'rate-limit'],
  [
    'a rejection',
    () => json({ error: { message: 'Project `p` does not have access to model `m`' } }, 403),
    'model-not-found',
  ],
] as const) {
  test(`${label} for one model doesn't affect the account's other models`, async () => {
    const { down, send } = await openFailing()
    down.one = respond
    assert.match(await send('one/m'), `:${reason}`)
    delete down.one
    assert.is(await send(), `200 one/m=skipped:${reason}, two/m=200`)
    assert.is(await send('one/other'), '200 one/other=200')
  })
}

test("a rejected client request doesn't affect the connection's health", async () => {
  const { down, send, world } = await openFailing()
  down.one = () => json({ code: 'permission-denied', error: 'Content violates usage guidelines. ' }, 403)
  assert.is(await send(), '403 one/m=403:client')
  down.one = () => json({ error: { message: "[{'input': 'API key not valid: the model `m` does not exist'}]" } }, 400)
  assert.is(await send(), '400 one/m=400:client')
  assert.equal((await world.api.health.list()).health, [])
})

test("a 403 for one model becomes a 404 that doesn't expose the provider's project", async () => {
  const { down, world } = await openFailing()
  down.one = () => json({ error: { message: 'Project `proj_1` does not have access to model `m`' } }, 403)
  const response = await world.chat({ model: 'one/m' })
  assert.is(response.status, 404)
  assert.not.match(await response.text(), 'proj_1')
})

for (const [status, advice] of [
  [401, 'Give the connection a new one'],
  [402, 'Top it up'],
  [403, 'lacks a permission'],
] as const) {
  test(`operators get advice about a ${status}`, async () => {
    const { down, send, world } = await openFailing()
    down.one = () => json({ error: { message: 'no', code: 'account_was_closed' } }, status)
    await send()
    const [first] = (await world.api.connections.list()).connections
    const [entry] = first?.health ?? []
    assert.match(entry?.message ?? '', `(status ${status}, account_was_closed)`)
    assert.match(entry?.message ?? '', advice)
  })
}

test("a proxy that requires credentials doesn't count as an error of the client or the key", async () => {
  const { down, send, world } = await openFailing()
  down.one = rejectWith(407)
  assert.is(await send(), '200 one/m=407:network, two/m=200')
  const response = await world.chat({ model: 'one/m' })
  assert.is(response.status, 502)
  assert.match(await response.text(), 'proxy')
})

const errorIn200: Array<[what: string, error: object, attempt: string]> = [
  ['a rate limit', { code: 429, message: 'slow', details: [{ retryDelay: '34s' }] }, '429:rate-limit'],
  ['a rejected key', { type: 'authentication_error', message: 'no' }, '401:credentials'],
  ['a client error', { type: 'invalid_request_error', message: 'no' }, '400:client'],
  ['a missing model', { code: 'model_not_found', message: 'no' }, '404:model-not-found'],
  [
    'an overflow',
    { code: 'context_length_exceeded', type: 'invalid_request_error', message: 'no' },
    '400:context-overflow',
  ],
]
for (const [label, error, attempt] of errorIn200) {
  for (const stream of [false, true]) {
    test(`an error in a 200 has the same effect as an error status${stream ? ' in a stream' : ''}: ${label}`, async () => {
      const { down, world } = await openFailing()
      const body = { error }
      down.one = () => (stream ? sse(`data: ${JSON.stringify(body)}\n\n`) : json(body))
      const response = await world.chat({ model: 'one/m', stream })
      assert.is(response.headers.get('x-signalbox-attempts'), `one/m=${attempt}`)
      assert.is(response.headers.get('retry-after'), label === 'a rate limit' ? '34' : null)
    })
  }
}

test('a context overflow only falls back to larger context windows, and its error is unchanged', async () => {
  const sized = { ...catalog }
  for (const [provider, contextWindow] of [
    ['one', 8_000],
    ['two', 8_000],
    ['three', 200_000],
  ] as const)
    sized[provider] = { ...catalog[provider], models: [{ id: 'm', contextWindow }] }
  const { down, send, world } = await openFailing({
    catalog: sized,
    combos: { chain: ['one/m', 'two/m', 'three/m'], small: ['one/m', 'two/m'], unknown: ['claude/x', 'one/m'] },
  })
  const body = {
    error: { message: 'This model’s maximum context length is 8000 tokens.', code: 'context_length_exceeded' },
  }
  down.one = () => json(body, 400)
  assert.is(await send(), '200 one/m=400:context-overflow, two/m=skipped:context-overflow, three/m=200')
  const response = await world.chat({ model: 'small' })
  assert.is(response.status, 400)
  assert.equal(await response.json(), body)
  down.one = () => json({ error: { message: 'the request exceeds the available context size' } }, 400) // llama.cpp's wording
  assert.is(await send(), '200 one/m=400:context-overflow, two/m=skipped:context-overflow, three/m=200')
})

for (const [label, end, reason] of [
  ['is reset', 'error', 'network'],
  ['ends early', undefined, 'network'],
  ['reports an error', 'data: {"error":{"message":"over","code":503}}\n\n', 'server'],
] as const) {
  test(`a stream that ${label} after its first content counts as a failure, but isn't retried`, async () => {
    const upstream = fakeUpstream(({ provider }) => {
      const events = chatEvents()
      if (provider === 'two') return sse(events)
      return end === 'error' ? sse(events.slice(0, 2), 'error') : sse([...events.slice(0, 2), ...(end ? [end] : [])])
    })
    const { world } = await openFailing({ fetch: upstream })
    const send = async () => {
      const response = await world.chat({ model: 'chain', stream: true })
      const attempts = response.headers.get('x-signalbox-attempts') ?? ''
      return { text: await response.text(), attempts: attempts.replace(/;via=[^,]*/g, '') }
    }
    for (let index = 0; index < 5; index++) {
      const { text, attempts } = await send()
      assert.match(text, '"error"')
      assert.is(attempts, 'one/m=200')
    }
    assert.is((await send()).attempts, `one/m=skipped:${reason}, two/m=200`)
  })
}

test("a stream that the client aborts, or that rejects the request, doesn't affect its target's health", async () => {
  const rejection = 'data: {"error":{"message":"no","code":400}}\n\n'
  const upstream = fakeUpstream(() => sse([...chatEvents().slice(0, 2), rejection]))
  const { world } = await openFailing({ fetch: upstream })
  for (let index = 0; index < 4; index++) {
    const response = await world.chat({ model: 'one/m', stream: true })
    if (index < 2) await response.text()
    else await response.body?.cancel()
  }
  assert.equal((await world.api.health.list()).health, [])
})

test('an account without credit goes into cooldown like a rejected key, with advice', async () => {
  const { down, send, pass, world } = await openFailing()
  const quota = { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } }
  down.one = () => json(quota, 429)
  assert.is(await send(), '200 one/m=429:credentials, two/m=200')
  pass(59_000)
  assert.is(await send(), '200 one/m=skipped:credentials, two/m=200')
  const [first] = (await world.api.connections.list()).connections
  assert.match(first?.health?.[0]?.message ?? '', /\(status 429, insufficient_quota\)\. The account is out of credit/)
})

test("a request rejected for its content isn't retried and doesn't affect the connection's health", async () => {
  const { down, send, upstream } = await openFailing()
  down.one = () => json({ error: { message: 'Rejected', code: 'content_policy_violation' } }, 403)
  for (let times = 0; times < 3; times++) assert.is(await send(), '403 one/m=403:client')
  assert.equal(upstream.providers, ['one', 'one', 'one'])
})

/** Creates the error that Node throws for a failed `fetch`. */
const fetchFailed = (code?: string) =>
  Object.assign(new TypeError('fetch failed'), code && { cause: Object.assign(new Error(code), { code }) })

for (const [code, takes] of [
  ['ECONNREFUSED', true],
  ['ENOTFOUND', true],
  ['CERT_HAS_EXPIRED', true],
  ['ECONNRESET', false],
  ['UND_ERR_SOCKET', false],
  ['UND_ERR_CONNECT_TIMEOUT', true],
  ['UND_ERR_HEADERS_OVERFLOW', false],
  ['ERR_HTTP2_STREAM_ERROR', false],
  [undefined, false],
] as const)
  test(`a network failure with ${code ?? 'no code'} ${takes ? 'affects the entire connection' : 'may affect only one model'}`, async () => {
    const { down, send, pass } = await openFailing({
      connections: ['one', 'two'],
      combos: { chain: ['one/m', 'two/m'], others: ['one/other', 'two/m'] },
    })
    down.one = () => {
      throw fetchFailed(code)
    }
    for (let times = 0; times < 5; times++) await send()
    assert.is(await send(), '200 one/m=skipped:network, two/m=200')
    delete down.one
    assert.is(await send('others'), takes ? '200 one/other=skipped:network, two/m=200' : '200 one/other=200')
    pass(6_000)
    assert.is(await send(), '200 one/m=200')
  })

const flagged = () => json({ error: { message: 'Your input was flagged as violating our usage policy' } }, 403)

test("a 403 about the prompt is a client error and doesn't affect the key, even if repeated", async () => {
  const { down, send, world } = await openFailing()
  down.one = flagged
  for (let times = 0; times < 6; times++) assert.is(await send(), '403 one/m=403:client')
  assert.equal((await world.api.health.list()).health, [])
})

/** Opens a gateway and a function that sends requests with the client key of a given name. */
async function withKeys() {
  const opened = await openFailing()
  const keys = new Map<string, string>()
  return {
    ...opened,
    async askAs(name: string) {
      const key = keys.get(name) ?? (await opened.world.api.keys.create({ name })).key
      keys.set(name, key)
      const response = await opened.world.chat({ model: 'chain' }, { headers: { 'x-api-key': key } })
      await response.text()
      return `${response.status} ${(response.headers.get('x-signalbox-attempts') ?? '').replace(/;via=[^,]*/g, '')}`
    },
  }
}

test('unexplained 403s for three clients in a row put the key into cooldown', async () => {
  const { down, askAs, world } = await withKeys()
  down.one = rejectWith(403)
  for (const client of ['a', 'b', 'a', 'c']) assert.is(await askAs(client), '200 one/m=403:forbidden, two/m=200')
  assert.is(await askAs('a'), '200 one/m=skipped:credentials, two/m=200')
  const entry = (await world.api.health.list()).health.find(({ level }) => level === 'connection')
  assert.is(entry?.state, 'cooling')
  assert.match(entry?.message ?? '', 'no 403')
})

test("an unexplained 403 doesn't count against the key if only one client gets it, or if others succeed", async () => {
  const { down, askAs, world } = await withKeys()
  down.one = rejectWith(403)
  for (let times = 0; times < 4; times++) await askAs('a')
  delete down.one
  for (let times = 0; times < 8; times++) assert.is(await askAs('b'), '200 one/m=200')
  down.one = rejectWith(403)
  for (const client of ['b', 'c']) assert.is(await askAs(client), '200 one/m=403:forbidden, two/m=200')
  const getReasons = async () => (await world.api.health.list()).health.map(({ reason, state }) => `${reason} ${state}`)
  assert.equal(await getReasons(), ['forbidden counting', 'forbidden counting'])
  delete down.one
  assert.is(await askAs('a'), '200 one/m=200')
  assert.equal(await getReasons(), [])
})

for (const [label, headers, metadata, waitMs] of [
  ['with Retry-After', { 'retry-after': '7' }, {}, 7_000],
  ['from OpenRouter about in-flight requests', {}, { limit_source: 'openrouter_in_flight_budget' }, 1_100],
] as const)
  test(`a 402 ${label} starts a cooldown like a 429, and doesn't count against the key`, async () => {
    const { down, send, pass } = await openFailing()
    down.one = () => json({ error: { message: 'Try later', code: 402, metadata } }, 402, headers)
    assert.is(await send(), '200 one/m=402:rate-limit, two/m=200')
    assert.is(await send(), '200 one/m=skipped:rate-limit, two/m=200')
    pass(waitMs)
    delete down.one
    assert.is(await send(), '200 one/m=200')
  })

test("a single request that exceeds the account's budget falls back, but doesn't count as a target failure", async () => {
  const { down, send, world } = await openFailing()
  const metadata = { reason: 'weight_exceeds_budget', limit_source: 'openrouter_credits' }
  const body = { error: { message: 'This request is too dear', code: 402, metadata } }
  down.one = () => json(body, 402, { 'retry-after': '3' })
  for (let times = 0; times < 6; times++) assert.is(await send(), '200 one/m=402:over-budget, two/m=200')
  assert.equal((await world.api.health.list()).health, [])
  const alone = await world.chat({ model: 'one/m' })
  assert.is(alone.status, 402)
  assert.equal(await alone.json(), body)
})

const afford =
  'This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 27342.'

for (const [mode, respond] of [
  ['a 402', () => json({ error: { message: afford, code: 402, metadata: { provider_name: null } } }, 402)],
  ['code 402 in a 200', () => json({ error: { message: afford, code: 402 } })],
  ['code payment_required in a 200', () => json({ error: { message: afford, code: 'payment_required' } })],
] as const)
  test(`insufficient credit, reported by ${mode}, causes a fallback without counting as a target failure`, async () => {
    const { down, send, world } = await openFailing()
    down.one = respond
    for (let times = 0; times < 6; times++) assert.is(await send(), '200 one/m=402:over-budget, two/m=200')
    assert.equal((await world.api.health.list()).health, [])
    for (const path of [world.chat, world.messages]) {
      const alone = await path({ model: 'one/m' })
      assert.is(alone.status, 402)
      assert.match(await alone.text(), afford)
    }
  })

test('a stream that starts with an insufficient-credit error falls back to the next target', async () => {
  const { down, world } = await openFailing()
  down.one = () => sse([`data: ${JSON.stringify({ error: { message: afford, code: 402 } })}\n\n`])
  down.two = () => sse(chatEvents())
  const stream = await world.chat({ model: 'chain', stream: true })
  assert.is(stream.headers.get('x-signalbox-attempts'), 'one/m=402:over-budget;via=chain:fallback, two/m=200')
  await stream.text()
  assert.equal((await world.api.health.list()).health, [])
})

for (const [label, status, respond] of [
  ['a 405', 405, () => new Response('', { status: 405 })],
  ['a 405 that mentions the method', 405, () => json({ detail: 'Method Not Allowed' }, 405)],
  [
    'an HTML 400 from a proxy',
    400,
    () => new Response('<html>Bad Request</html>', { status: 400, headers: { 'content-type': 'text/html' } }),
  ],
] as const)
  test(`${label} causes a fallback to the next target`, async () => {
    const { down, send, world } = await openFailing()
    down.one = respond
    assert.is(await send(), `200 one/m=${status}:content, two/m=200`)
    assert.is((await world.chat({ model: 'one/m' })).status, 502)
  })

test('a stream with a finish_reason but no end marker is complete', async () => {
  const upstream = fakeUpstream(() => sse(chatEvents().filter((event) => !event.includes('[DONE]'))))
  const { world } = await openFailing({ fetch: upstream })
  for (let times = 0; times < 6; times++) {
    const response = await world.chat({ model: 'one/m', stream: true })
    assert.not.match(await response.text(), '"error"')
  }
  assert.equal((await world.api.health.list()).health, [])
  const cut = fakeUpstream(() => sse(chatEvents().slice(0, 2)))
  const other = await openFailing({ fetch: cut })
  const response = await other.world.chat({ model: 'one/m', stream: true })
  assert.match(await response.text(), '"error"')
})
