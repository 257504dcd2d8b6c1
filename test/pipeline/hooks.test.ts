import { memoryStorage } from '../../adapters/storage/memory.ts'
import { assert, suite } from '../support/suite.ts'
import { chatEvents, chatResponse, messageEvents } from './support/responses.ts'
import { fakeUpstream, json, sse } from './support/upstream.ts'
import { getApiKey, keeping, openWorld, type Recorded, token } from './support/world.ts'

const test = suite('hook arguments')

const failingFirst = () =>
  fakeUpstream(({ provider, body }) => {
    if (provider === 'one') return json({ error: { message: 'broken' } }, 500)
    if (provider === 'claude') return sse(messageEvents())
    return JSON.parse(body).stream ? sse(chatEvents()) : json(chatResponse())
  })

const chain = { chain: ['one/m', 'two/m'] }

test('hooks receive the names of fields that were dropped in translation', async () => {
  const world = await openWorld({ fetch: fakeUpstream(() => sse(messageEvents())) })
  const callOptions = { model: 'claude/c', stream: true, messages: [{ role: 'user', content: 'Hi' }] }
  for (const body of [{ seed: 7 }, {}]) await (await world.chat({ ...callOptions, ...body })).text()
  assert.equal(
    world.recorded.requests.map(({ warnings }) => warnings),
    [['dropped:seed'], undefined],
  )
})

test('hooks receive each attempt, usage record, and request once, with its details', async () => {
  const catalog = {
    one: { baseUrl: 'http://one.test/v1' },
    two: { baseUrl: 'http://two.test/v1', models: [{ id: 'm', price: { input: 2, output: 10 } }] },
  }
  const world = await openWorld({ fetch: failingFirst(), combos: chain, catalog, connections: ['one', 'two'] })
  const { key, id: keyId } = await world.api.keys.create({ name: 'team' })
  const ids = (await world.api.connections.list()).connections.map((connection) => connection.id)
  const startedAt = world.clock.now()
  for (const stream of [false, true]) {
    await (await world.chat({ model: 'chain', stream }, { headers: { authorization: `Bearer ${key}` } })).text()
    const times = { startedAt, durationMs: 0 }
    const attempts = [
      {
        provider: 'one',
        connectionId: ids[0],
        model: 'm',
        ...times,
        outcome: 'server',
        status: 500,
        message: 'broken',
        via: 'chain:fallback',
      },
      {
        provider: 'two',
        connectionId: ids[1],
        model: 'm',
        ...times,
        outcome: 'answered',
        status: 200,
        via: 'chain:fallback',
      },
    ]
    assert.equal(world.recorded.attempts, attempts)
    const outputTokens = stream ? 3 : 1
    const usage = { inputTokens: 7, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
    const cost = { costSource: 'counted', costUsd: (7 * 2 + outputTokens * 10) / 1_000_000 }
    const request = {
      id: world.recorded.requests[0]?.id,
      end: 'complete',
      path: '/v1/chat/completions',
      ...times,
      status: 200,
      servedBy: 'provider',
      streamed: stream,
      attempts: [attempts[0], { ...attempts[1], usage, ...cost, price: { by: 'built-in', of: 'two/m' } }],
      keyId,
      model: 'chain',
      usage,
      ...cost,
    }
    assert.equal(world.recorded.requests, [request])
    assert.equal(world.recorded.usages, [
      {
        requestedModel: 'chain',
        provider: 'two',
        connectionId: ids[1],
        model: 'm',
        format: 'openai-chat',
        streamed: stream,
        ...times,
        keyId,
        ...usage,
        ...cost,
      },
    ])
    for (const list of Object.values(world.recorded)) list.length = 0
  }
})

test("hooks receive a request's skipped targets, and why no more targets were tried", async () => {
  const world = await openWorld({
    fetch: fakeUpstream(({ provider }) => json({ error: { message: 'no' } }, provider === 'one' ? 401 : 500)),
    combos: { chain: { models: [{ model: 'two/m', when: { tools: true } }, 'none/m', 'one/m', 'two/m', 'three/m'] } },
    limits: { maxAttempts: 1 },
  })
  await world.chat({ model: 'chain' })
  await world.chat({ model: 'chain' })
  const recorded = world.recorded.requests.map(({ attempts, skipped, stopped }) => ({
    attempts: attempts.map(({ provider, outcome }) => `${provider} ${outcome}`),
    skipped: skipped?.map((step) => `${'entry' in step ? step.entry : step.provider} ${step.skipped} ${step.via}`),
    stopped,
  }))
  const leftOut = ['two/m when.tools chain:fallback', 'none/m unreachable chain:fallback']
  assert.equal(recorded, [
    { attempts: ['one credentials'], skipped: leftOut, stopped: 'max-attempts' },
    { attempts: ['two server'], skipped: [...leftOut, 'one credentials chain:fallback'], stopped: 'max-attempts' },
  ])
})

test("hooks receive a Messages stream's usage from its first and last events, including cached tokens", async () => {
  const world = await openWorld({ fetch: failingFirst() })
  await (await world.messages({ stream: true })).text()
  const [usage] = world.recorded.usages
  assert.equal(
    [usage?.inputTokens, usage?.outputTokens, usage?.cacheReadTokens, usage?.cacheWriteTokens],
    [10, 5, 3, 0],
  )
})

test("onRequest is called only after a stream's last byte", async () => {
  const world = await openWorld({ fetch: fakeUpstream(() => sse(chatEvents())) })
  const response = await world.chat({ stream: true })
  assert.is(world.recorded.attempts.length, 1)
  assert.is(world.recorded.requests.length, 0)
  await world.clock.advance(250)
  await response.text()
  assert.is(world.recorded.requests.length, 1)
  assert.is(world.recorded.requests[0]?.durationMs, 250)
})

test('onRequest is called for an unreadable request and for one without a target', async () => {
  const world = await openWorld()
  await world.post('/v1/chat/completions', 'no json')
  await world.chat({ model: 'nobody/nothing' })
  assert.equal(
    world.recorded.requests.map(({ status, model }) => [status, model]),
    [
      [400, undefined],
      [404, 'nobody/nothing'],
    ],
  )
  assert.equal([world.recorded.usages, world.recorded.attempts, world.recorded.errors], [[], [], []])
})

test("onRequest gets a failed stream's error status, and onUsage its usage so far", async () => {
  const world = await openWorld({ fetch: fakeUpstream(() => sse(chatEvents().slice(0, 3), 'error')) })
  await (await world.chat({ stream: true })).text()
  assert.is(world.recorded.requests[0]?.status, 502)
  assert.is(world.recorded.usages.length, 1)
})

test('requests succeed even if hooks throw, reject, or hang', async () => {
  const ways: Array<() => unknown> = [
    () => {
      throw new Error('hook')
    },
    () => Promise.reject(new Error('hook')),
    // biome-ignore lint/suspicious/noThenProperty: another library's promise
    () => ({ then: (_: unknown, reject: (error: Error) => void) => reject(new Error('hook')) }),
    () => new Promise(() => {}),
  ]
  for (const way of ways) {
    const hooks = { onRequest: way, onAttempt: way, onUsage: way, onError: way }
    let lines = 0
    const logger = {
      warn: () => {},
      error() {
        if (++lines > 100) throw new Error('endless')
      },
    }
    const world = await openWorld({ fetch: failingFirst(), combos: chain, hooks, logger })
    assert.is((await world.chat({ model: 'chain' })).status, 200)
    const response = await world.chat({ model: 'chain', stream: true })
    assert.is(await response.text(), chatEvents().join(''))
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 0))
    assert.ok(lines < 20, `${lines} lines`)
  }
})

test('onError receives a storage failure once, and the client gets no details', async () => {
  for (const isRude of [false, true]) {
    const seen: unknown[] = []
    const throwRudely = () => {
      if (isRude) throw new Error('rude')
    }
    const onError = (error: unknown) => {
      seen.push(error)
      throwRudely()
    }
    const storage = memoryStorage()
    const world = await openWorld({ storage, logger: { warn: throwRudely, error: throwRudely }, hooks: { onError } })
    storage.get = () => Promise.reject(new Error('no route to db.internal'))
    const response = await world.chat({})
    assert.is(response.status, 500)
    assert.equal(await response.json(), {
      error: { message: 'The gateway cannot read its storage.', type: 'server_error' },
    })
    assert.is(seen.length, 1)
    assert.match(String((seen[0] as Error).cause), /no route to db.internal/)
  }
})

test('no secret reaches a hook or a logger when requests fail', async () => {
  const recorded: Recorded = { requests: [], attempts: [], usages: [], errors: [] }
  const lines: unknown[] = []
  const log = (...parts: unknown[]) => void lines.push(parts)
  const quoteHeaders = (headers: Headers) => json({ error: { message: `You sent ${[...headers].join(' ')}` } }, 400)
  const upstream = fakeUpstream(({ headers, provider }, index) => {
    if (index % 4 === 0) throw new TypeError(`fetch failed for ${[...headers].join(' ')}`)
    if (index % 4 === 1) return quoteHeaders(headers)
    if (provider === 'one') return json({ error: { message: `Bad key ${headers.get('authorization')}` } }, 401)
    return json({ error: { message: `Oh no ${headers.get('authorization')}` } }, 500)
  })
  const world = await openWorld({
    fetch: upstream,
    combos: { chain: ['one/m', 'two/m', 'three/m'] },
    hooks: keeping(recorded),
    logger: { debug: log, info: log, warn: log, error: log },
  })
  const { key } = await world.api.keys.create({ name: 'canary' })
  const texts: string[] = []
  for (let turn = 0; turn < 12; turn++) {
    const headers = { authorization: `Bearer ${key}`, cookie: 'session=canary-cookie', 'x-api-key': 'canary-of-client' }
    const response = await world.chat({ model: 'chain', messages: ['canary-body'] }, { headers })
    texts.push(await response.text(), JSON.stringify([...response.headers]))
  }
  const everything = JSON.stringify([recorded, lines, texts], (_, value) =>
    value instanceof Error ? [value.message, value.stack, value.cause, { ...value }] : value,
  )
  for (const secret of [
    key,
    token,
    'canary-cookie',
    'canary-of-client',
    'canary-body',
    ...['one', 'two', 'three'].map(getApiKey),
  ])
    assert.not.ok(
      everything.includes(secret),
      `${secret} in ${everything.slice(everything.indexOf(secret) - 200).slice(0, 400)}`,
    )
})
