import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { chatAnswer, chatEvents, type ErrorAnswer } from './support/answers.ts'
import { fakeUpstream, json, sse } from './support/upstream.ts'
import { catalog, openWorld, token, type WorldOptions } from './support/world.ts'

const test = suite('targets that fail')

/** `down` names the providers that answer with a failure, and which. */
async function failing(options: WorldOptions = {}) {
  let nowMs = Date.UTC(2026, 0, 1)
  const down: Record<string, () => Response> = {}
  const up = fakeUpstream(({ provider }) => down[provider]?.() ?? json(chatAnswer(provider)))
  const world = await openWorld({
    fetch: up,
    clock: { ...fakeClock(), now: () => nowMs },
    combos: { chain: ['one/m', 'two/m'] },
    ...options,
  })
  const ask = async (model = 'chain') => {
    const response = await world.chat({ model })
    await response.text()
    const attempts = response.headers.get('x-signalbox-attempts') ?? ''
    return `${response.status} ${attempts.replace(/;(?:via|connection)=[^,]*/g, '')}`
  }
  function pass(ms: number) {
    nowMs += ms
  }
  return { up, world, down, ask, pass }
}

const refused =
  (status: number, headers = {}) =>
  () =>
    json({ error: { message: `no ${status}` } }, status, headers)

test('one that fails again and again is passed over, and one request finds out that it is back', async () => {
  const { down, ask, pass, up } = await failing()
  down.one = refused(503)
  for (let at = 0; at < 3; at++) assert.is(await ask(), '200 one/m=503:server, two/m=200')
  assert.is(await ask(), '200 one/m=skipped:server, two/m=200')
  pass(6_000)
  assert.is(await ask(), '200 one/m=503:server, two/m=200')
  assert.is(await ask(), '200 one/m=skipped:server, two/m=200')
  pass(12_000)
  delete down.one
  const before = up.calls.length
  assert.is(await ask(), '200 one/m=200')
  assert.is(await ask(), '200 one/m=200')
  assert.is(up.calls.length, before + 2)
})

for (const stop of ['answers', 'fails']) {
  test(`of many requests at once exactly one probes, which ${stop}, and the others go on`, async () => {
    const { down, ask, pass, up } = await failing()
    down.one = refused(503)
    for (let at = 0; at < 3; at++) await ask()
    pass(6_000)
    if (stop === 'answers') delete down.one
    const before = up.calls.length
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask()))
    assert.is(up.providers.slice(before).filter((provider) => provider === 'one').length, 1)
    assert.is(answers.filter((answer) => answer === '200 one/m=skipped:server, two/m=200').length, 9)
  })
}

test('a probe for which there is no retry left is made by the next request', async () => {
  const { down, ask, pass, world } = await failing({
    combos: { spent: ['two/m', 'three/m'], pair: ['two/m', 'one/m'] },
  })
  down.one = refused(429, { 'retry-after-ms': '100' })
  down.two = refused(503)
  for (let at = 0; at < 20; at++) {
    await ask('spent')
    await world.api.health.reset()
  }
  await ask('one/m')
  pass(200)
  delete down.one
  assert.is(await ask('pair'), '503 two/m=503:server, stopped=retry-budget')
  assert.is(await ask('one/m'), '200 one/m=200')
})

test('a probe that cannot even be written is made by the next request', async () => {
  const { down, pass, world, ask } = await failing({ connections: ['google'] })
  down.google = refused(429, { 'retry-after': '1' })
  await ask('google/g')
  pass(2_000)
  const response = await world.chat({ model: 'google/\ud800', messages: [{ role: 'user', content: 'Hello' }] })
  assert.ok(response.status >= 400)
  const [entry] = (await world.api.health.list()).health
  assert.is(entry?.state, 'half-open')
})

test('a refused credential is passed over at once, and the operator reads why', async () => {
  const { down, ask, world } = await failing()
  down.one = refused(401)
  assert.is(await ask(), '200 one/m=401:credentials, two/m=200')
  assert.is(await ask(), '200 one/m=skipped:credentials, two/m=200')
  const { connections } = await world.api.connections.list()
  const [one, two] = connections
  assert.is(one?.health?.[0]?.reason, 'credentials')
  assert.match(one?.health?.[0]?.message ?? '', 'refused the credentials')
  assert.is(two?.health, undefined)
  await world.api.connections.update(one?.id ?? '', { apiKey: 'another-credential' })
  delete down.one
  assert.is(await ask(), '200 one/m=200', 'a new credential is tried at once')
})

test('a refused credential takes no other account of the provider with it', async () => {
  const up = fakeUpstream(({ headers }) =>
    headers.get('authorization') === 'Bearer bad-credential' ? refused(401)() : json(chatAnswer()),
  )
  const { ask } = await failing({
    fetch: up,
    connections: [
      { provider: 'one', apiKey: 'bad-credential', priority: 1 },
      { provider: 'one', apiKey: 'good-credential', priority: 2 },
    ],
  })
  assert.is(await ask('one/m'), '200 one/m=401:credentials, one/m=200')
  assert.is(await ask('one/m'), '200 one/m=skipped:credentials, one/m=200')
})

test('when all are cooling the one that recovers first is tried rather than none', async () => {
  const { down, ask } = await failing()
  down.one = refused(429, { 'retry-after': '60' })
  down.two = refused(429, { 'retry-after': '5' })
  assert.match(await ask(), /^429 one\/m=429:rate-limit, two\/m=429:rate-limit$/)
  assert.is(await ask(), '429 one/m=skipped:rate-limit, two/m=skipped:rate-limit, two/m=429:rate-limit')
  delete down.two
  assert.is(await ask(), '200 one/m=skipped:rate-limit, two/m=skipped:rate-limit, two/m=200')
})

/** One target that is not well, and ten requests for it at once; what it answers waits for `release`. */
async function burst(waitMs: number, answer: () => Response) {
  const clock = fakeClock()
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let isIll = true
  const up = fakeUpstream(async () => {
    if (isIll) return refused(429, { 'retry-after': '5' })()
    await released
    return answer()
  })
  const world = await openWorld({ fetch: up, clock })
  const ask = async (init?: RequestInit) => {
    const response = await world.chat({ model: 'one/m' }, init)
    return { status: response.status, wait: response.headers.get('retry-after'), text: await response.text() }
  }
  await ask()
  isIll = false
  await clock.advance(waitMs)
  const first = ask()
  while (up.calls.length < 2) await clock.advance(0)
  const underWay = clock.pending()
  const others = Array.from({ length: 9 }, () => ask())
  await clock.untilPending(underWay + 9)
  return { clock, up, ask, release, answers: [first, ...others] }
}

for (const [when, waitMs] of [
  ['is cooling', 1_000],
  ['may be probed', 6_000],
] as const) {
  test(`of many requests for the one target, which ${when}, one calls it, and its answer lets the others through`, async () => {
    const { up, release, answers } = await burst(waitMs, () => json(chatAnswer()))
    assert.is(up.calls.length, 2)
    release()
    for (const { status } of await Promise.all(answers)) assert.is(status, 200)
    assert.is(up.calls.length, 11)
  })

  test(`of many requests for the one target, which ${when}, one calls it, and its failure is that of the others`, async () => {
    const { up, release, answers } = await burst(waitMs, refused(429, { 'retry-after': '30' }))
    release()
    const [first, ...others] = await Promise.all(answers)
    assert.match(first?.text ?? '', 'no 429')
    for (const { status, wait, text } of others) {
      assert.is(status, 429)
      assert.ok(Number(wait) >= 30 && Number(wait) <= 33, `${wait}`)
      assert.match(text, 'Another request has just tried one/m')
      assert.not.match(text, 'no 429', 'what was said to another client')
    }
    assert.is(up.calls.length, 2)
  })

  test(`a call to the one target, which ${when}, that is silent for five seconds lets one more follow`, async () => {
    const { clock, up, ask, release, answers } = await burst(waitMs, () => json(chatAnswer()))
    await clock.advance(100)
    const waiting = clock.pending()
    const late = ask()
    await clock.untilPending(waiting + 1)
    await clock.advance(4_900)
    while (up.calls.length < 3) await clock.advance(0)
    release()
    assert.is((await late).status, 200)
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    assert.equal(statuses.sort(), [200, 200, ...Array(8).fill(429)])
    assert.is(up.calls.length, 4)
    assert.is(clock.pending(), 0)
  })
}

test('a target that is just being probed comes before those that are cooling', async () => {
  const { down, ask, pass, up } = await failing()
  down.one = refused(429, { 'retry-after': '60' })
  down.two = refused(429, { 'retry-after': '5' })
  await ask()
  pass(6_000)
  delete down.two
  const skipped = 'one/m=skipped:rate-limit, two/m'
  const answers = await Promise.all([ask(), ask()])
  assert.equal(answers.sort(), [`200 ${skipped}=200`, `200 ${skipped}=skipped:rate-limit, two/m=200`])
  assert.equal(up.providers, ['one', 'two', 'two', 'two'])
})

test('a client that leaves while another request tries the one target is gone at once, and holds nobody up', async () => {
  const { clock, up, ask, release, answers } = await burst(6_000, () => json(chatAnswer()))
  const leaving = new AbortController()
  const waiting = clock.pending()
  const left = ask({ signal: leaving.signal })
  const impatient = ask({ headers: { 'x-signalbox-timeout-ms': '50' } })
  await clock.untilPending(waiting + 3)
  await clock.advance(50)
  leaving.abort()
  await left.catch(() => {})
  assert.is((await impatient).status, 504)
  assert.is(clock.pending(), waiting)
  release()
  assert.is((await ask()).status, 200)
  await Promise.all(answers)
  assert.is(up.calls.length, 12)
  assert.is(up.open, 0)
})

for (const [what, wait, headers, body] of [
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
    'the reset of the limit that is spent',
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
    'the latest reset of those that are spent',
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
  test(`a rate limit is waited for as the provider says: ${what}`, async () => {
    const { down, ask, pass } = await failing()
    down.one = () => json({ error: { message: 'slow down', ...body } }, 429, headers)
    await ask()
    pass(wait * 1_000 - 1)
    assert.match(await ask(), /one\/m=skipped:rate-limit/)
    pass(wait * 100 + 2) // jitter adds up to a tenth
    assert.match(await ask(), /one\/m=429:rate-limit/)
  })
}

for (const [what, refusal, reason] of [
  ['a limit', () => json({ error: { message: 'Rate limit reached for m in organization o' } }, 429), 'rate-limit'],
  [
    'a refusal',
    () => json({ error: { message: 'Project `p` does not have access to model `m`' } }, 403),
    'model-not-found',
  ],
] as const) {
  test(`${what} that speaks of one model leaves the account its others`, async () => {
    const { down, ask } = await failing()
    down.one = refusal
    assert.match(await ask('one/m'), `:${reason}`)
    delete down.one
    assert.is(await ask(), `200 one/m=skipped:${reason}, two/m=200`)
    assert.is(await ask('one/other'), '200 one/other=200')
  })
}

test('what a client asks for costs no connection, whatever status it is refused with', async () => {
  const { down, ask, world } = await failing()
  down.one = () => json({ code: 'permission-denied', error: 'Content violates usage guidelines. ' }, 403)
  assert.is(await ask(), '403 one/m=403:client')
  down.one = () => json({ error: { message: "[{'input': 'API key not valid: the model `m` does not exist'}]" } }, 400)
  assert.is(await ask(), '400 one/m=400:client')
  assert.equal(await world.api.health.list(), { health: [] })
})

test('a refused model has no status that a client could take for its own', async () => {
  const { down, world } = await failing()
  down.one = () => json({ error: { message: 'Project `proj_1` does not have access to model `m`' } }, 403)
  const response = await world.chat({ model: 'one/m' })
  assert.is(response.status, 404)
  assert.not.match(await response.text(), 'proj_1')
})

for (const [status, advice] of [
  [401, 'give the connection another one'],
  [402, 'top it up'],
  [403, 'lacks a permission'],
] as const) {
  test(`${status}: the operator reads what to do`, async () => {
    const { down, ask, world } = await failing()
    down.one = () => json({ error: { message: 'no', code: 'account_was_closed' } }, status)
    await ask()
    const [one] = (await world.api.connections.list()).connections
    const [entry] = one?.health ?? []
    assert.match(entry?.message ?? '', `(status ${status}, account_was_closed)`)
    assert.match(entry?.message ?? '', advice)
  })
}

test('a proxy that wants credentials is no fault of the client or of the key', async () => {
  const { down, ask, world } = await failing()
  down.one = refused(407)
  assert.is(await ask(), '200 one/m=407:network, two/m=200')
  const response = await world.chat({ model: 'one/m' })
  assert.is(response.status, 502)
  assert.match(await response.text(), 'proxy')
})

const errorIn200: Array<[what: string, error: object, attempt: string]> = [
  ['a rate limit', { code: 429, message: 'slow', details: [{ retryDelay: '34s' }] }, '429:rate-limit'],
  ['a refused key', { type: 'authentication_error', message: 'no' }, '401:credentials'],
  ['an error of the client', { type: 'invalid_request_error', message: 'no' }, '400:client'],
  ['a missing model', { code: 'model_not_found', message: 'no' }, '404:model-not-found'],
  [
    'an overflow',
    { code: 'context_length_exceeded', type: 'invalid_request_error', message: 'no' },
    '400:context-overflow',
  ],
]
for (const [what, error, attempt] of errorIn200) {
  for (const stream of [false, true]) {
    test(`an error in a 200 is judged as if its status had been sent, ${stream ? 'streamed' : 'whole'}: ${what}`, async () => {
      const { down, world } = await failing()
      const body = { error }
      down.one = () => (stream ? sse(`data: ${JSON.stringify(body)}\n\n`) : json(body))
      const response = await world.chat({ model: 'one/m', stream })
      assert.is(response.headers.get('x-signalbox-attempts'), `one/m=${attempt}`)
      assert.is(response.headers.get('retry-after'), what === 'a rate limit' ? '34' : null)
    })
  }
}

test('a request that is too long goes on only to a larger context window, and comes back as it is', async () => {
  const sized = { ...catalog }
  for (const [provider, contextWindow] of [
    ['one', 8_000],
    ['two', 8_000],
    ['three', 200_000],
  ] as const)
    sized[provider] = { ...catalog[provider], models: [{ id: 'm', contextWindow }] }
  const { down, ask, world } = await failing({
    catalog: sized,
    combos: { chain: ['one/m', 'two/m', 'three/m'], small: ['one/m', 'two/m'], unknown: ['claude/x', 'one/m'] },
  })
  const body = {
    error: { message: 'This model’s maximum context length is 8000 tokens.', code: 'context_length_exceeded' },
  }
  down.one = () => json(body, 400)
  assert.is(await ask(), '200 one/m=400:context-overflow, two/m=skipped:context-overflow, three/m=200')
  const response = await world.chat({ model: 'small' })
  assert.is(response.status, 400)
  assert.equal(await response.json(), body)
  down.one = () => json({ error: { message: 'the request exceeds the available context size' } }, 400) // llama.cpp's words
  assert.is(await ask(), '200 one/m=400:context-overflow, two/m=skipped:context-overflow, three/m=200')
})

for (const [what, end, reason] of [
  ['is reset', 'error', 'network'],
  ['ends too early', undefined, 'network'],
  ['tells of an error', 'data: {"error":{"message":"over","code":503}}\n\n', 'network'],
] as const) {
  test(`a stream that ${what} after its first word is not tried again, but counts`, async () => {
    const up = fakeUpstream(({ provider }) => {
      const events = chatEvents()
      if (provider === 'two') return sse(events)
      return end === 'error' ? sse(events.slice(0, 2), 'error') : sse([...events.slice(0, 2), ...(end ? [end] : [])])
    })
    const { world } = await failing({ fetch: up })
    const ask = async () => {
      const response = await world.chat({ model: 'chain', stream: true })
      const attempts = response.headers.get('x-signalbox-attempts') ?? ''
      return { text: await response.text(), attempts: attempts.replace(/;via=[^,]*/g, '') }
    }
    for (let at = 0; at < 3; at++) {
      const { text, attempts } = await ask()
      assert.match(text, '"error"')
      assert.is(attempts, 'one/m=200')
    }
    assert.is((await ask()).attempts, `one/m=skipped:${reason}, two/m=200`)
  })
}

test('a stream that the client leaves, or that refuses what it asks, says nothing of its target', async () => {
  const refusal = 'data: {"error":{"message":"no","code":400}}\n\n'
  const up = fakeUpstream(() => sse([...chatEvents().slice(0, 2), refusal]))
  const { world } = await failing({ fetch: up })
  for (let at = 0; at < 4; at++) {
    const response = await world.chat({ model: 'one/m', stream: true })
    if (at < 2) await response.text()
    else await response.body?.cancel()
  }
  assert.equal(await world.api.health.list(), { health: [] })
})

test('however many model names clients make up, a connection shows what weighs most of what is not well', async () => {
  const { down, ask, world } = await failing()
  down.one = () => json({ error: { message: 'x'.repeat(1_000), code: 'model_not_found' } }, 404)
  for (let at = 0; at < 40; at++) await ask(`one/made-up-${at}`)
  down.one = refused(403)
  await ask('one/m')
  const { connections } = await world.api.connections.list()
  const health = connections.find(({ provider }) => provider === 'one')?.health ?? []
  assert.is(health.length, 20)
  assert.is(health[0]?.reason, 'credentials')
  assert.ok(health.every(({ message }) => message.length <= 300))
  assert.is((await world.api.health.list()).health.length, 41)
})

test('over HTTP health is read and reset', async () => {
  const { down, ask, world } = await failing()
  const call = async (method: string, path: string) => {
    const response = await world.gateway.fetch(
      new Request(`http://gateway${path}`, { method, headers: { authorization: `Bearer ${token}` } }),
    )
    return {
      status: response.status,
      body: (await response.json()) as {
        health?: Array<{ state: string; connectionId?: string }>
      } & Partial<ErrorAnswer>,
    }
  }
  assert.equal(await call('GET', '/api/health'), { status: 200, body: { health: [] } })
  down.one = refused(403)
  await ask()
  const { body } = await call('GET', '/api/health')
  const [entry] = body.health ?? []
  assert.is(entry?.state, 'cooling')
  assert.not.match(JSON.stringify(body), 'secret-of')
  assert.equal(await call('DELETE', '/api/health/nobody'), { status: 404, body: { error: 'Connection not found' } })
  assert.match(await ask(), /skipped/)
  assert.equal(await call('DELETE', `/api/health/${entry?.connectionId}`), { status: 200, body: { success: true } })
  assert.match(await ask(), /^200 one\/m=403:credentials/)
  assert.equal(await call('DELETE', '/api/health'), { status: 200, body: { success: true } })
  assert.equal((await world.api.health.list()).health, [])
})

test('a client that leaves while it probes gives the probe back', async () => {
  const { down, ask, pass, world } = await failing({ combos: {} })
  down.one = refused(401)
  await ask('one/m')
  pass(70_000)
  const leave = new AbortController()
  down.one = () => {
    leave.abort()
    return json(chatAnswer())
  }
  await world.chat({ model: 'one/m' }, { signal: leave.signal }).catch(() => {})
  delete down.one
  assert.is(await ask('one/m'), '200 one/m=200')
})

test('the last attempt is kept for another provider, where one has refused the keys of all before', async () => {
  const dead = (...names: string[]) => names.map((name) => ({ provider: 'one', name, apiKey: `dead-key-${name}` }))
  const up = fakeUpstream(({ provider }) => (provider === 'one' ? refused(401)() : json(chatAnswer())))
  const setting = { fetch: up, connections: [...dead('a', 'b', 'c', 'd'), 'two'] }
  const { ask, world } = await failing(setting)
  assert.is(
    await ask(),
    '200 one/m=401:credentials, one/m=401:credentials, one/m=skipped:credentials, one/m=skipped:credentials, two/m=200',
  )
  await world.api.health.reset()
  assert.match(await ask('one/m'), /^502 (?:one\/m=401:credentials, ){3}stopped=max-attempts$/, 'there is no other')
  const { ask: askTwice } = await failing({ ...setting, limits: { maxAttempts: 2 } })
  assert.match(await askTwice(), /^200 one\/m=401:credentials, (?:one\/m=skipped:credentials, ){3}two\/m=200$/)
  const { ask: askOnce } = await failing({ ...setting, limits: { maxAttempts: 1 } })
  assert.is(await askOnce(), '502 one/m=401:credentials, stopped=max-attempts')
})

test('it is kept for no other provider when something else than keys has failed', async () => {
  let nth = 0
  const up = fakeUpstream(({ provider }) =>
    provider === 'one' && ++nth < 3 ? refused(nth === 1 ? 401 : 500)() : json(chatAnswer()),
  )
  const connections = [...['a', 'b', 'c'].map((name) => ({ provider: 'one', name })), 'two']
  const { ask } = await failing({ fetch: up, connections })
  assert.is(await ask(), '200 one/m=401:credentials, one/m=500:server, one/m=200')
})
