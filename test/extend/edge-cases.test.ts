import type { Feature } from '../../src/feature.ts'
import { words } from '../../src/features/guards/guards.ts'
import type { ByteStream } from '../../src/lib/exchange.ts'
import { assert, suite } from '../support/suite.ts'
import { openExtended } from './world.ts'

const test = suite('edge cases for features')

const passing: Feature = { name: 'passing', aroundCall: (_, next) => next() }
const turn = () => new Promise((resolve) => setTimeout(resolve, 5))

test("a request's tokens count once even if a step wraps its call", async () => {
  const used: number[] = []
  for (const extend of [[], [passing]]) {
    const { gateway, chat, addKey } = await openExtended(extend)
    const key = await addKey('limited', { tokens: { day: 1_000_000 }, requests: { day: 10 } })
    await (await chat({}, key)).text()
    await (await chat({ stream: true }, key)).text()
    await turn()
    const { keys } = await gateway.api.keys.list()
    const id = keys.find(({ name }) => name === 'limited')?.id ?? ''
    const { limits } = await gateway.api.keys.limits.get(id)
    for (const limit of limits) if (limit.scope === 'key') used.push(limit.used)
  }
  assert.equal(used.slice(0, 2), used.slice(2))
  assert.ok(used.some((tokens) => tokens > 2))
})

test('a step can discard the stream of one call and reply with the stream of another', async () => {
  const { chat, upstream, records } = await openExtended([
    {
      name: 'second-try',
      async aroundCall(_, next) {
        const first = await next()
        ;(first.body as ByteStream).cancel()
        return next({ model: 'one/second' })
      },
    },
  ])
  assert.match(await (await chat({ stream: true })).text(), '[DONE]')
  await turn()
  assert.equal([upstream.calls.length, records.length, records[0]?.end, records[0]?.status], [2, 1, 'complete', 200])
})

test("errors thrown by request and attempt listeners are reported, and don't affect the request", async () => {
  const { chat, records, errors, gateway, addKey } = await openExtended([
    {
      name: 'throwing',
      aroundRequest(request, next) {
        request.onEnd(() => {
          throw new Error('onEnd')
        })
        request.waitUntil(Promise.reject(new Error('waitUntil')))
        return next()
      },
      async aroundAttempt(attempt, next) {
        attempt.onSettled(() => {
          throw new Error('onSettled')
        })
        await next()
      },
    },
  ])
  const key = await addKey('limited', { parallel: 1 })
  for (let request = 0; request < 2; request++) assert.is((await chat({}, key)).status, 200)
  await turn()
  assert.equal([records.length, (await gateway.api.info()).inFlight], [2, 0])
  const messages = errors.map((error) => (error instanceof Error ? error.message : ''))
  for (const message of ['onEnd', 'onSettled', 'waitUntil'])
    assert.is(messages.filter((value) => value === message).length, 2)
})

test('a reply that a step caches contains none of the headers that the gateway adds for a key', async () => {
  const kept: Array<Record<string, string>> = []
  const { chat, addKey } = await openExtended([
    {
      name: 'keeping',
      async aroundCall(_, next) {
        const reply = await next()
        kept.push(reply.headers)
        return reply
      },
    },
  ])
  const reply = await chat({}, await addKey('limited', { requests: { day: 5 } }))
  assert.is(reply.headers.get('x-ratelimit-remaining-requests'), '4')
  assert.is(kept[0]?.['x-ratelimit-remaining-requests'], undefined)
  assert.is(kept[0]?.['x-signalbox-request-id'], undefined)
})

test("changing the model keeps the body's other fields in place", async () => {
  const { chat, upstream } = await openExtended([
    { name: 'renaming', aroundCall: (_, next) => next({ model: 'one/new' }) },
  ])
  await chat({ seed: 1 })
  assert.match(upstream.calls[0]?.body ?? '', /^\{"model":"new","messages":.*,"seed":1\}$/)
})

test('a feature that is a class instance keeps all of its steps', async () => {
  class Counting {
    name = 'counting'
    attempts = 0
    closed = false
    async aroundAttempt(_: unknown, next: () => Promise<unknown>) {
      this.attempts++
      await next()
    }
    close() {
      this.closed = true
    }
  }
  const counting = new Counting()
  const { chat, gateway } = await openExtended([counting])
  await chat({})
  await gateway.close()
  assert.equal([counting.attempts, counting.closed], [1, true])
})

test('the lowest of several output limits applies, and a step can reject a target or the request', async () => {
  const limiting = (tokens: number): Feature => ({
    name: `limit-${tokens}`,
    aroundAttempt(attempt, next) {
      attempt.limitOutput(tokens)
      return next()
    },
  })
  const { chat, upstream } = await openExtended([limiting(7), limiting(90)])
  await chat({})
  assert.match(upstream.calls[0]?.body ?? '', '"max_tokens":7')
  for (const [name, status] of [
    ['reject', 418],
    ['rejectRequest', 429],
  ] as const) {
    const { chat: send } = await openExtended([
      { name, aroundAttempt: async (attempt) => attempt[name]('Not this one.', { status }) },
    ])
    const reply = await send({})
    assert.equal([reply.status, (await reply.json()).error.message], [status, 'Not this one.'])
  }
})

test('a route that never replies ends when its client disconnects', async () => {
  let signal: AbortSignal | undefined
  const { send, records, gateway } = await openExtended([
    {
      name: 'hanging',
      areas: [
        {
          path: '/hang',
          routes: [
            {
              method: 'GET',
              path: '/hang',
              run(request) {
                signal = request.signal
                return new Promise(() => {})
              },
            },
          ],
        },
      ],
    },
  ])
  const controller = new AbortController()
  const pending = send('GET', '/hang', undefined, undefined, { signal: controller.signal })
  while (!signal) await turn()
  controller.abort()
  assert.is((await pending).status, 499)
  assert.equal([records[0]?.end, signal.aborted, (await gateway.api.info()).inFlight], ['aborted', true, 0])
})

test("a step's rejection gets the error code for its status", async () => {
  const codes = {
    400: 'INVALID_REQUEST',
    401: 'IDENTITY_REQUIRED',
    402: 'BUDGET_EXCEEDED',
    403: 'FORBIDDEN',
    404: 'NOT_FOUND',
    409: 'INVALID_REQUEST',
    429: 'RATE_LIMIT_EXCEEDED',
    501: 'INTERNAL',
    502: 'UPSTREAM_FAILED',
    503: 'TOO_BUSY',
    504: 'UPSTREAM_TIMEOUT',
  }
  const rejecting: Feature = {
    name: 'rejecting',
    aroundCall: (call) => call.reject('No.', { status: Number(call.header('x-status')) }),
  }
  const { chat, records, addKey } = await openExtended([rejecting])
  const key = await addKey('app')
  for (const [status, code] of Object.entries(codes)) {
    const reply = await chat({}, undefined, {
      headers: { authorization: `Bearer ${key}`, 'x-status': status, 'content-type': 'application/json' },
    })
    const { error } = (await reply.json()) as { error: { message: string; code: string } }
    assert.equal([reply.status, error.message, error.code], [Number(status), 'No.', code.toLowerCase()])
    assert.is(records.at(-1)?.error, code)
  }
})

test('a target that a step rejects with a 5xx is skipped', async () => {
  const skipping: Feature = {
    name: 'skipping',
    aroundAttempt: (attempt, next) =>
      attempt.target.model === 'away' ? attempt.reject('Away.', { status: 501 }) : next(),
  }
  const { gateway, chat, errors } = await openExtended([skipping])
  await gateway.api.combos.create({ name: 'pair', models: ['one/away', 'one/m'] })
  assert.is((await chat({ model: 'pair' })).status, 200)
  assert.is((await chat({ model: 'one/away' })).status, 501)
  assert.equal(errors, [])
})

test('usage records of feature routes have no format', async () => {
  const { gateway, send, chat } = await openExtended([
    {
      name: 'notes',
      areas: [{ path: '/notes', routes: [{ method: 'GET', path: '/notes', run: () => Response.json({}) }] }],
    },
  ])
  await (await send('GET', '/notes')).text()
  await (await chat({})).text()
  await turn()
  const { requests } = await gateway.api.usage.requests({})
  assert.equal(
    requests.map(({ endpoint, ...record }) => [endpoint, 'format' in record && record.format]),
    [
      ['/v1/chat/completions', 'openai-chat'],
      ['/notes', false],
    ],
  )
})

test("a key's models and kinds don't restrict feature routes, but its state and limits do", async () => {
  const { gateway, send } = await openExtended([
    {
      name: 'notes',
      areas: [{ path: '/notes', routes: [{ method: 'GET', path: '/notes', run: () => Response.json({}) }] }],
    },
  ])
  const { id, key } = await gateway.api.keys.create({
    name: 'embedding',
    kinds: ['embedding'],
    models: ['nothing'],
    limits: { requests: { day: 2 } },
  })
  const getStatus = async () => (await send('GET', '/notes', undefined, key)).status
  assert.equal([await getStatus(), await getStatus(), await getStatus()], [200, 200, 429])
  await gateway.api.keys.update(id, { isActive: false })
  assert.is(await getStatus(), 403)
})

for (const [title, reply] of [
  ['a complete reply', () => ({ status: 200, headers: {}, body: '{"cached":true}' })],
  ['a stream', () => new Response('data: {}\n\n', { headers: { 'content-type': 'text/event-stream' } })],
] as const)
  test(`a step can't give a key ${title} for a model that it may not use`, async () => {
    const cache: Feature = {
      name: 'cache',
      async aroundCall(call) {
        call.servedBy = 'cache'
        return reply()
      },
    }
    const { gateway, chat, records } = await openExtended([cache])
    await gateway.api.combos.create({ name: 'pool', models: ['one/m'] })
    const addKey = async (name: string, ...models: string[]) => (await gateway.api.keys.create({ name, models })).key
    const allowed = await addKey('allowed', 'one/*')
    const other = await addKey('other', 'two/*')
    for (const model of ['one/m', 'pool']) {
      const response = await chat({ model }, allowed)
      await response.text()
      assert.is(response.status, 200)
    }
    for (const model of ['one/m', 'pool']) {
      const response = await chat({ model }, other)
      assert.equal([response.status, (await response.json()).error.code], [403, 'model_not_allowed'])
    }
    assert.equal(
      records.map(({ servedBy, end }) => `${servedBy} ${end}`),
      ['cache complete', 'cache complete', 'gateway refused', 'gateway refused'],
    )
  })

test('a step can change the model to one that the key may use', async () => {
  const { gateway, chat } = await openExtended([
    { name: 'rename', aroundCall: async (_, next) => next({ model: 'one/small' }) },
  ])
  const { key } = await gateway.api.keys.create({ name: 'small', models: ['one/small'] })
  assert.is((await chat({ model: 'one/large' }, key)).status, 200)
})

/** Keeps the last reply for each model name, and replies with it immediately or, if `isStale`, only after an error. */
function createReplyCache({ isStale = false } = {}): Feature {
  const replies = new Map<string, Awaited<ReturnType<NonNullable<Feature['aroundCall']>>>>()
  return {
    name: 'cache',
    async aroundCall(call, next) {
      const known = replies.get(call.model)
      if (known && !isStale) return known
      try {
        const reply = await next()
        replies.set(call.model, reply)
        return reply
      } catch (error) {
        if (known) return known
        throw error
      }
    },
  }
}

test('a cache can reply for a name that only an inner step maps to a model that the key may use', async () => {
  const { gateway, chat, upstream } = await openExtended([
    createReplyCache(),
    { name: 'map', aroundCall: async (_, next) => next({ model: 'one/small' }) },
  ])
  const { key } = await gateway.api.keys.create({ name: 'small', models: ['one/small'] })
  for (let sent = 0; sent < 2; sent++) assert.is((await chat({ model: 'auto' }, key)).status, 200)
  assert.is(upstream.calls.length, 1)
})

test("a cache can't reply with a stale response after the key's models no longer allow any target", async () => {
  const { gateway, chat } = await openExtended([
    createReplyCache({ isStale: true }),
    { name: 'map', aroundCall: async (_, next) => next({ model: 'one/small' }) },
  ])
  const { key, id } = await gateway.api.keys.create({ name: 'small', models: ['one/small'] })
  assert.is((await chat({ model: 'auto' }, key)).status, 200)
  await gateway.api.keys.update(id, { models: ['two/*'] })
  assert.is((await chat({ model: 'auto' }, key)).status, 403)
})

test("a guard's rejection reaches a key that may not use the requested model", async () => {
  const { gateway, chat } = await openExtended([], undefined, { guards: [words({ name: 'bombs', words: ['bomb'] })] })
  const { key } = await gateway.api.keys.create({ name: 'small', models: ['two/*'] })
  const response = await chat({ messages: [{ role: 'user', content: 'bomb' }] }, key)
  assert.is((await response.json()).error.code, 'content_filter')
})
