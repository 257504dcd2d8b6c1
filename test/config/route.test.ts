import { isGatewayError } from '../../src/errors.ts'
import { createGateway } from '../../src/gateway.ts'
import type { GatewayOptions } from '../../src/options.ts'
import type { RouteCall, RouteCandidate, RouteContext } from '../../src/request/route-call.ts'
import { both } from '../pipeline/support/both-formats.ts'
import { clients } from '../pipeline/support/sdk/clients/clients.ts'
import type { Respond } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { failWith503, getOutcome, openRouted } from './support/routed.ts'

const test = suite('the route option')

const onlyOneFails: Respond = (call, signal) =>
  call.provider === 'one' ? failWith503(call, signal) : both(call, signal)

test('a model that route returns replaces the requested name', async () => {
  const { chat, upstream, records } = openRouted({ route: () => 'two/m' })
  for (const model of ['auto', 'one/m', 'smart']) assert.is((await chat({ model })).status, 200, model)
  assert.equal(upstream.providers, ['two', 'two', 'two'])
  assert.equal(
    records.map(({ model, attempts }) => [model, attempts[0]?.provider]),
    [
      ['auto', 'two'],
      ['one/m', 'two'],
      ['smart', 'two'],
    ],
  )
  assert.is(JSON.parse(upstream.calls[0]?.body ?? '{}').model, 'm')
})

test('a request is routed normally if route returns nothing', async () => {
  const { chat, upstream } = openRouted({ route: async () => undefined })
  assert.is((await chat({ model: 'smart' })).status, 200)
  assert.equal(upstream.providers, ['one'])
  assert.is(await getOutcome(await chat({ model: 'auto' })), '404 model_not_found')
})

test('route can return a list, which falls back across formats', async () => {
  const { chat, upstream } = openRouted({
    respond: onlyOneFails,
    route: () => ['one/m', { model: 'claude/c', params: { maxTokens: 5 } }],
  })
  const response = await chat()
  assert.is(response.status, 200)
  const { choices } = (await response.json()) as { choices: object[] }
  assert.is(choices.length, 1, "the response is in the client's format")
  assert.is(JSON.parse(upstream.calls[1]?.body ?? '{}').max_tokens, 5)
  assert.equal(upstream.providers, ['one', 'claude'])
})

test('route can return a list with options, or a combo', async () => {
  const models = ['one/m', 'two/m']
  const listed = openRouted({ respond: onlyOneFails, route: () => ({ models, maxAttempts: 1 }) })
  assert.is((await listed.chat()).status, 503)
  assert.equal(listed.upstream.providers, ['one'])
  const combo = openRouted({ respond: onlyOneFails, route: () => 'smart' })
  assert.is((await combo.chat()).status, 200)
  assert.equal(combo.upstream.providers, ['one', 'two'])
})

test('a combo that route returns follows its own rules', async () => {
  const { chat, upstream } = openRouted({ respond: onlyOneFails, route: () => 'once' })
  assert.is((await chat()).status, 503)
  assert.equal(upstream.providers, ['one'])
})

test("the options that route returns can't raise the maximum number of attempts", async () => {
  const { chat, upstream } = openRouted({
    respond: failWith503,
    settings: { maxAttempts: 1 },
    route: () => ({ models: ['one/m', 'two/m'], maxAttempts: 3 }),
  })
  assert.is((await chat()).status, 503)
  assert.equal(upstream.providers, ['one'])
})

test("the models that route returns replace the request's list, but the list's limits still apply", async () => {
  const { chat, upstream } = openRouted({ respond: failWith503, route: () => ['two/m', 'one/m'] })
  const list = JSON.stringify({ models: ['one/m'], maxAttempts: 1 })
  assert.is((await chat({}, { headers: { 'x-signalbox-models': list } })).status, 503)
  assert.equal(upstream.providers, ['two'])
})

test("route receives the request's details, and runs once even if there are several attempts", async () => {
  const seen: RouteCall[] = []
  const contexts: RouteContext[] = []
  const { chat, upstream } = openRouted({
    respond: onlyOneFails,
    identify: () => ({ account: 'alice', metadata: { team: 'blue' } }),
    route(request, context) {
      seen.push(request)
      contexts.push(context)
      return ['one/m', 'two/m']
    },
  })
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
  const body = {
    messages: [{ role: 'user', content: [image] }],
    tools: [{ type: 'function', function: { name: 'f', parameters: {} } }],
    metadata: { level: 'high' },
    stream: true,
  }
  const response = await chat(body, { headers: { 'x-team': 'red' } })
  await response.text()
  assert.equal(upstream.providers, ['one', 'two'])
  assert.is(seen.length, 1)
  const [request] = seen
  assert.ok(request)
  const { id, model, endpoint, format, kind, stream, tools, images, metadata } = request
  assert.equal(
    { model, endpoint, format, kind, stream, tools, images, metadata },
    {
      model: 'auto',
      endpoint: '/v1/chat/completions',
      format: 'openai-chat',
      kind: 'llm',
      stream: true,
      tools: true,
      images: true,
      metadata: { level: 'high' },
    },
  )
  assert.is(id, response.headers.get('x-signalbox-request-id'))
  const { header } = request // `match` functions destructure their arguments
  assert.is(header('x-team'), 'red')
  assert.ok(request.bytes > 50 && request.body.model === 'auto')
  assert.equal([request.account?.id, request.account?.metadata, request.key], ['alice', { team: 'blue' }, undefined])
  assert.equal([contexts[0]?.account?.id, contexts[0]?.plan, contexts[0]?.key], ['alice', undefined, undefined])
})

test('candidates() lists targets with their prices, cooldowns, and latencies', async () => {
  let found: RouteCandidate[] = []
  const { chat, clock } = openRouted({
    connections: {
      one: { apiKey: 'secret-of-one', prices: { m: { input: 1, output: 2 } } },
      two: { apiKey: 'secret-of-two' },
    },
    respond: async (call, signal) => {
      await clock.sleep(40)
      return onlyOneFails(call, signal)
    },
    settings: { health: { minCalls: 1 } },
    route(request, { candidates }) {
      found = request.model === 'auto' ? candidates(['smart', 'two/m', 'nowhere/m']) : candidates()
      return 'smart'
    },
  })
  const pending = chat()
  await clock.untilPending(2)
  await clock.advance(40)
  await clock.advance(40)
  assert.is((await pending).status, 200)
  assert.equal(
    found.map(({ name, provider, model, connectionId, isCooling, price, latencyMs }) => ({
      ...{ name, provider, model, connectionId, isCooling, latencyMs },
      input: price?.input,
    })),
    [
      {
        name: 'one/m',
        provider: 'one',
        model: 'm',
        connectionId: 'one',
        isCooling: false,
        latencyMs: undefined,
        input: 1,
      },
      {
        name: 'two/m',
        provider: 'two',
        model: 'm',
        connectionId: 'two',
        isCooling: false,
        latencyMs: undefined,
        input: undefined,
      },
    ],
  )
})

test('route can choose the cheapest candidate', async () => {
  const { chat, upstream } = openRouted({
    connections: {
      one: { apiKey: 'secret-of-one', prices: { m: { input: 3, output: 9 } } },
      two: { apiKey: 'secret-of-two', prices: { m: { input: 1, output: 2 } } },
    },
    route: (_, { candidates }) =>
      candidates('smart').sort((a, b) => (a.price?.input ?? 0) - (b.price?.input ?? 0))[0]?.name,
  })
  assert.is((await chat()).status, 200)
  assert.equal(upstream.providers, ['two'])
})

const failing: Record<string, [GatewayOptions['route'], RegExp]> = {
  throws: [
    () => {
      throw new Error('no quota service')
    },
    /no quota service/,
  ],
  rejects: [() => Promise.reject(new Error('no quota service')), /no quota service/],
  'returns a number': [() => 7 as never, /not a number/],
  'returns null': [() => null as never, /not null/],
  'returns an empty string': [() => '', /models/],
  'returns an empty list': [() => [], /models/],
  'returns an unknown field': [() => ({ models: ['one/m'], model: 'two/m' }) as never, /model/],
  'returns an unknown model': [() => 'nowhere', /"nowhere", which does not exist/],
  'returns an unknown model after a known one': [() => ['one/m', 'nowhere/m'], /"nowhere\/m", which does not exist/],
  'returns a model whose connection is inactive': [() => 'three/m', /No active connection serves "three\/m"/],
}

for (const [label, [route, problem]] of Object.entries(failing))
  test(`when route ${label}, the client gets a 503 and onError gets the cause`, async () => {
    const { chat, upstream, errors, records } = openRouted({ ...(route && { route }) })
    const response = await chat()
    assert.is(response.headers.get('retry-after'), '1')
    assert.is(await getOutcome(response), '503 route_failed')
    assert.is(upstream.calls.length, 0)
    assert.is(errors.length, 1)
    assert.ok(isGatewayError(errors[0], 'ROUTE_FAILED'))
    assert.match(errors[0]?.message ?? '', problem)
    assert.match(errors[0]?.message ?? '', /"route".*"auto"/)
    assert.equal([records[0]?.error, records[0]?.status], ['ROUTE_FAILED', 503])
  })

test('a route function that hangs fails after a second, and its signal aborts', async () => {
  const signals: AbortSignal[] = []
  const { chat, clock, upstream, errors } = openRouted({
    route: (_, { signal }) => {
      signals.push(signal)
      return new Promise(() => {})
    },
  })
  const pending = chat()
  await clock.advance(999)
  assert.is(signals[0]?.aborted, false)
  await clock.advance(1)
  assert.is(await getOutcome(await pending), '503 route_failed')
  assert.is(signals[0]?.aborted, true)
  assert.match(errors[0]?.message ?? '', /longer than 1000 ms/)
  assert.is(upstream.calls.length, 0)
})

test('onRouteError: "ignore" routes the request normally, and still calls onError', async () => {
  const { chat, upstream, errors } = openRouted({
    onRouteError: 'ignore',
    route: () => {
      throw new Error('no quota service')
    },
  })
  assert.is((await chat({ model: 'two/m' })).status, 200)
  assert.equal(upstream.providers, ['two'])
  assert.ok(errors.length === 1 && isGatewayError(errors[0], 'ROUTE_FAILED'))
})

test('when the client disconnects, the signal of route aborts, and no error is reported', async () => {
  const signals: AbortSignal[] = []
  const client = new AbortController()
  const { chat, clock, errors, records, upstream } = openRouted({
    route: (_, { signal }) => {
      signals.push(signal)
      return new Promise(() => {})
    },
  })
  const pending = chat({}, { signal: client.signal }).catch(() => undefined)
  await clock.advance(10)
  client.abort()
  await pending
  await clock.advance(10)
  assert.is(signals[0]?.aborted, true)
  assert.equal(errors, [])
  assert.is(records[0]?.end, 'aborted')
  assert.is(upstream.calls.length, 0)
})

for (const stream of [false, true])
  test(`route chooses the model of a ${stream ? 'stream' : 'response'} in each client format`, async () => {
    const { gateway, upstream } = openRouted({
      route: () => ['one/m', 'claude/c'],
      respond: onlyOneFails,
      identify: () => ({ account: 'a' }),
    })
    for (const [name, { create }] of Object.entries(clients)) {
      await create(gateway.fetch as typeof globalThis.fetch).send('auto', { stream })
      assert.is(upstream.providers.at(-1), 'claude', name)
    }
  })

for (const stream of [false, true])
  test(`each client format has its own 503 for a ${stream ? 'stream' : 'response'}`, async () => {
    const { gateway } = openRouted({ route: () => 7 as never, identify: () => ({ account: 'a' }) })
    for (const [name, { create }] of Object.entries(clients)) {
      const reason: unknown = await create(gateway.fetch as typeof globalThis.fetch)
        .send('auto', { stream })
        .then(
          () => undefined,
          (error: unknown) => error,
        )
      const { status, statusCode } = Object(reason)
      assert.is(status ?? statusCode, 503, `${name}: ${reason}`)
      assert.match(String(reason), /could not choose a model/, name)
    }
  })

test('a feature step that changes the model runs before route', async () => {
  const models: string[] = []
  const { chat, upstream } = openRouted({
    extend: [{ name: 'rename', aroundCall: (_, next) => next({ model: 'renamed' }) }],
    route: ({ model }) => {
      models.push(model)
      return 'two/m'
    },
  })
  assert.is((await chat()).status, 200)
  assert.equal([models, upstream.providers], [['renamed'], ['two']])
})

test("createGateway rejects a route that isn't a function, and an unknown onRouteError", () => {
  const make = (options: object) => () => createGateway({ logger: false, ...options })
  assert.throws(make({ route: 'one/m' }), /route must be a function/)
  assert.throws(make({ onRouteError: 'log' }), /onRouteError must be/)
})
