import * as api from '@opentelemetry/api'
import { jsonLog } from '../../src/features/observe/log.ts'
import type { ObservedRequest } from '../../src/features/observe/observer.ts'
import { otel } from '../../src/features/observe/otel.ts'
import { prometheus } from '../../src/features/observe/prometheus.ts'
import type { RequestRecord } from '../../src/request/hook-records.ts'
import type { UsageLimits } from '../../src/types/limits.ts'
import { metered } from '../gate/support/metered-providers.ts'
import { chatChunk } from '../pipeline/support/responses.ts'
import { json, never, type Respond, sse } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { sdk } from './sdk.ts'
import { ADMIN, type ObservedWorld, openObserved, read } from './world.ts'

const test = suite('OpenTelemetry spans and metrics')

const observedRequest: ObservedRequest = {
  ...{ id: 'r', method: 'POST', route: '/v1/chat/completions', path: '/v1/chat/completions', startedAt: 1 },
  format: 'openai-chat',
  operation: 'generate',
  kind: 'llm',
  header: () => undefined,
}
const endedRequest: RequestRecord = {
  ...{ id: 'r', path: '/', startedAt: 1, durationMs: 1, status: 200, streamed: false, attempts: [] },
  end: 'complete',
  servedBy: 'provider',
}
const observedAttempt = {
  ...{ number: 1, isHedge: false, provider: 'one', connectionId: 'c', format: 'openai-chat', model: 'm' },
  ...{ isKnown: true, baseUrl: 'http://one.test', startedAt: 1 },
}
const endedAttempt = { provider: 'one', connectionId: 'c', model: 'm', startedAt: 1, durationMs: 1 }

const down = () => json({ error: { message: 'down' } }, 503)

test('the OpenTelemetry API package can be passed as is', () => {
  assert.is(typeof otel(api).request, 'function')
})

test('each request has a span, with a child span per attempt', async () => {
  const { module, tree } = sdk()
  const good = metered({}, { tokens: 0 })
  const world = await openObserved([otel(module)], (call, index) =>
    call.provider === 'one' ? down() : good(call, index),
  )
  await read(world.chat({ model: 'fast', stream: true }))
  assert.equal(tree(), ['SERVER POST /v1/chat/completions', '  CLIENT chat m error=503 ERROR', '  CLIENT chat m'])
})

test("only attempt spans have tokens and costs, so they aren't counted twice", async () => {
  const { module, spans } = sdk()
  const world = await openObserved([otel(module)], metered({ input: 100, output: 50 }, { tokens: 0 }))
  await read(world.chat())
  const [attempt, request] = spans()
  assert.is(attempt?.attributes['gen_ai.usage.input_tokens'], 100)
  assert.is(attempt?.attributes['gen_ai.usage.output_tokens'], 50)
  assert.is(attempt?.attributes['gen_ai.usage.cost.amount'], 0.0006)
  assert.is(attempt?.attributes['gen_ai.provider.name'], 'one')
  assert.is(attempt?.attributes['server.address'], 'one.test')
  assert.is(request?.attributes['http.response.status_code'], 200)
  assert.is(request?.attributes['gen_ai.request.model'], 'one/m')
  assert.equal(
    Object.keys(request?.attributes ?? {}).filter((name) => /usage|cost/.test(name)),
    [],
  )
})

test('an interrupted stream is an error on both the attempt span and the request span', async () => {
  const { module, tree } = sdk()
  const cut = 'data: {"choices":[{"index":0,"delta":{"content":"He"}}]}\n\n'
  const world = await openObserved([otel(module)], () => sse([cut], 'error'))
  await read(world.chat({ stream: true }))
  assert.equal(tree(), ['SERVER POST /v1/chat/completions error=cut ERROR', '  CLIENT chat m error=cut ERROR'])
})

test("a client disconnect isn't an error on any span", async () => {
  const { module, tree } = sdk()
  const world = await openObserved([otel(module)], () =>
    sse(['data: {"choices":[{"index":0,"delta":{"content":"He"}}]}\n\n'], 'hang'),
  )
  const reply = await world.chat({ stream: true })
  const reader = reply.body?.getReader()
  await reader?.read()
  await reader?.cancel()
  assert.equal(tree(), ['SERVER POST /v1/chat/completions', '  CLIENT chat m'])
})

test("a rejection has a span with its error code, and isn't a server error", async () => {
  const { module, tree } = sdk()
  const world = await openObserved([otel(module)])
  await world.gateway.api.settings.update({ requireApiKey: true })
  await read(world.chat())
  assert.equal(tree(), ['SERVER POST /v1/chat/completions error=key_missing'])
})

const completions = 'SERVER POST /v1/chat/completions'
const good = metered({}, { tokens: 0 })
const failFirst =
  (provider: string, respond: Respond): Respond =>
  (call, index) =>
    call.provider === provider ? respond(call, index) : good(call, index)

/** Scenarios and their spans. */
const stories: Record<string, { respond?: Respond; send(world: ObservedWorld): Promise<unknown>; tree: string[] }> = {
  'a non-streaming response': {
    send: ({ chat }) => read(chat()),
    tree: [completions, '  CLIENT chat m'],
  },
  'a stream': {
    send: ({ chat }) => read(chat({ stream: true })),
    tree: [completions, '  CLIENT chat m'],
  },
  'a failed attempt and its fallback': {
    respond: failFirst('one', down),
    send: ({ chat }) => read(chat({ model: 'fast' })),
    tree: [completions, '  CLIENT chat m error=503 ERROR', '  CLIENT chat m'],
  },
  'attempts that all fail': {
    respond: down,
    send: ({ chat }) => read(chat({ model: 'fast' })),
    tree: [
      `${completions} error=upstream_failed ERROR`,
      '  CLIENT chat m error=503 ERROR',
      '  CLIENT chat m error=503 ERROR',
    ],
  },
  'a nested combo': {
    respond: failFirst('one', down),
    async send({ gateway, chat }) {
      await gateway.api.combos.create({ name: 'outer', models: ['fast', 'cheap/m'] })
      await read(chat({ model: 'outer' }))
    },
    tree: [completions, '  CLIENT chat m error=503 ERROR', '  CLIENT chat m'],
  },
  'an unreachable provider': {
    respond: failFirst('one', () => Promise.reject(new TypeError('fetch failed'))),
    send: ({ chat }) => read(chat({ model: 'fast' })),
    tree: [completions, '  CLIENT chat m error=network ERROR', '  CLIENT chat m'],
  },
  'a provider that times out': {
    respond: failFirst('one', never),
    async send({ clock, chat, upstream }) {
      const reply = read(chat({ model: 'fast' }))
      while (upstream.calls.length === 0) await clock.advance(0)
      await clock.advance(120_000)
      await reply
    },
    tree: [completions, '  CLIENT chat m error=timeout ERROR', '  CLIENT chat m'],
  },
  'an embedding': {
    async send({ gateway }) {
      const body = JSON.stringify({ model: 'other/embedding', input: 'a secret' })
      const headers = { 'content-type': 'application/json' }
      await read(gateway.fetch('http://gateway/v1/embeddings', { method: 'POST', headers, body }))
    },
    tree: ['SERVER POST /v1/embeddings', '  CLIENT embeddings embedding'],
  },
  'an unreadable request': {
    send: ({ chat }) => read(chat({ model: 5 })),
    tree: [`${completions} error=invalid_request`],
  },
}

for (const [story, { respond: recorded = good, send, tree: expected }] of Object.entries(stories))
  test(`the spans are correct for ${story}`, async () => {
    const { module, tree } = sdk()
    const world = await openObserved([otel(module)], recorded)
    await send(world)
    assert.equal(tree(), expected)
  })

/** Creates a key with these limits. */
const createKeyHeaders = async ({ gateway }: ObservedWorld, limits: UsageLimits) => ({
  authorization: `Bearer ${(await gateway.api.keys.create({ name: 'k', limits })).key}`,
})

for (const [unit, limits, model, error] of [
  ['requests', { requests: { day: 1 } }, 'one/m', 'rate_limit_exceeded'],
  ['tokens', { tokens: { day: 40 } }, 'one/m', 'request_too_expensive'],
  ['tokens at two targets', { tokens: { day: 40 } }, 'fast', 'request_too_expensive'],
  ['dollars without a known price', { usd: { day: 5 } }, 'free/m', 'request_too_expensive'],
] as const)
  for (const stream of [false, true])
    test(`a rejection by a limit on ${unit} creates no provider span${stream ? ' for a stream' : ''}`, async () => {
      const { module, tree } = sdk()
      const world = await openObserved([otel(module)])
      const headers = await createKeyHeaders(world, limits)
      if (unit === 'requests') await read(world.chat({}, headers))
      await read(world.chat({ model, stream, max_tokens: 100 }, headers))
      assert.is(tree().at(-1), `${completions} error=${error}`)
      assert.is(world.upstream.calls.length, unit === 'requests' ? 1 : 0)
    })

test("a skipped target doesn't count in the attempt numbers", async () => {
  const { module, spans } = sdk()
  const world = await openObserved([otel(module)])
  await world.gateway.api.combos.create({ name: 'pool', models: ['free/m', 'one/m'] })
  await read(world.chat({ model: 'pool' }, await createKeyHeaders(world, { usd: { day: 5 } })))
  const numbers = spans().flatMap(({ attributes }) => attributes['signalbox.attempt.number'] ?? [])
  assert.equal(numbers, [1])
})

test("spans include the client's URL scheme, and whether each attempt was streamed", async () => {
  const { module, spans } = sdk()
  const world = await openObserved([otel(module)])
  await read(world.chat({ stream: true }))
  await read(world.chat({}, { 'x-forwarded-proto': 'https, http' }))
  await read(world.chat({}, { forwarded: 'for=192.0.2.1;proto="HTTPS"' }))
  await read(world.chat({}, { 'x-forwarded-proto': 'gopher' }))
  const body = JSON.stringify({ model: 'one/m', messages: [] })
  await read(world.gateway.fetch('https://gateway/v1/chat/completions', { method: 'POST', body }))
  const all = spans().map(({ attributes }) => attributes)
  assert.equal(
    all.flatMap((item) => item['url.scheme'] ?? []),
    ['http', 'https', 'https', 'http', 'https'],
  )
  assert.equal(
    all.filter((item) => 'signalbox.attempt.number' in item).map((item) => item['gen_ai.request.stream']),
    [true, undefined, undefined, undefined, undefined],
  )
})

/** Streams that end early, by how they end. */
const early: Record<string, (world: ObservedWorld) => Promise<unknown>> = {
  cut: ({ chat }) => read(chat({ stream: true, model: 'one/m' })),
  aborted: async ({ chat }) => {
    const reader = (await chat({ stream: true, model: 'two/m' })).body?.getReader()
    await reader?.read()
    await reader?.cancel()
  },
}

for (const [end, send] of Object.entries(early))
  test(`spans, metrics, and logs have the status that the client received for a stream that was ${end}`, async () => {
    const { module, spans } = sdk()
    const lines: string[] = []
    const metrics = prometheus({ token: ADMIN })
    const world = await openObserved([otel(module), metrics, jsonLog((line) => void lines.push(line))], (call) => {
      const chunks = [chatChunk({ content: 'Hello ' }), chatChunk({ content: 'there' })]
      return sse(chunks, call.provider === 'one' ? 'error' : 'hang')
    })
    await send(world)
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
    const request = spans().find(({ attributes }) => 'http.route' in attributes)
    assert.equal([request?.attributes['signalbox.end'], request?.attributes['http.response.status_code']], [end, 200])
    const line = JSON.parse(lines.at(-1) ?? '')
    assert.equal([line.end, line.status, line.level], [end, 200, end === 'cut' ? 'warn' : 'info'])
    const reply = await world.gateway.fetch('http://gateway/metrics', { headers: { authorization: `Bearer ${ADMIN}` } })
    assert.match(await reply.text(), /http_server_request_duration_seconds_count\{[^}]*http_response_status_code="200"/)
  })

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`

test("a request continues the client's trace, and only the listed targets receive it", async () => {
  const { module, spans } = sdk()
  const world = await openObserved([otel(module, { outgoing: ['two'] })])
  await read(world.chat({ model: 'one/m' }, { traceparent, tracestate: 'vendor=1', baggage: 'user=alice' }))
  await read(world.chat({ model: 'two/m' }, { traceparent }))
  const [first, second] = world.upstream.calls
  for (const name of ['traceparent', 'tracestate', 'baggage']) assert.is(first?.headers.get(name), null)
  const [, , attempt] = spans()
  assert.is(second?.headers.get('traceparent'), `00-${TRACE}-${attempt?.spanContext().spanId}-01`)
  assert.is(second?.headers.get('baggage'), null)
  assert.is(spans()[1]?.parentSpanContext?.spanId, '00f067aa0ba902b7')
})

test("the host app's active span becomes the request's parent", async () => {
  const { module, tree } = sdk()
  const host = module.trace.getTracer('host').startSpan('GET /page')
  const context = api.trace.setSpan(api.ROOT_CONTEXT, host)
  const inHost = {
    ...module,
    trace: { ...module.trace, getActiveSpan: () => host },
    context: { active: () => context },
  }
  const world = await openObserved([otel(inHost as never)])
  await read(world.chat())
  host.end()
  assert.equal(tree(), ['INTERNAL GET /page', '  INTERNAL POST /v1/chat/completions', '    CLIENT chat m'])
})

test('management, metrics, health, and model list requests create no spans', async () => {
  const { module, tree } = sdk()
  const { gateway } = await openObserved([otel(module)])
  for (const path of ['/api/keys', '/health', '/v1/models', '/metrics']) await gateway.fetch(`http://gateway${path}`)
  assert.equal(tree(), [])
})

test('attributes have at most 1,024 characters for any input from clients, providers, and operators', async () => {
  const { module, spans } = sdk()
  const world = await openObserved([otel(module)], metered({}, { tokens: 0 }))
  const long = 'x'.repeat(5_000)
  await world.gateway.api.combos.create({ name: 'c'.repeat(100), models: ['one/m'] })
  await read(world.chat({ model: `one/${long.slice(0, 900)}` }, { 'user-agent': long }))
  await read(world.chat({ model: 'c'.repeat(100) }))
  const path = `http://gateway/v1beta/models/one/${long.slice(0, 2_000)}:generateContent`
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
  await read(world.gateway.fetch(path, { method: 'POST', body: JSON.stringify({ contents }) }))
  const follower = otel(module).request?.(observedRequest)
  const warnings = Array.from({ length: 500 }, () => `dropped:${long}`)
  follower?.ended?.({ ...endedRequest, warnings })
  const attempt = follower?.attempt?.(observedAttempt)
  attempt?.ended?.({ ...endedAttempt, via: long, outcome: 'server', status: 500 }, { totalMs: 1, isCut: false })
  const values = spans().flatMap(({ name, attributes }) => [name, ...Object.values(attributes).flat()])
  assert.ok(values.length > 60)
  for (const value of values) assert.ok(String(value).length <= 1_024, `${value}`)
  const [kept] = spans().flatMap(({ attributes }) =>
    [attributes['signalbox.warnings'] ?? []].filter((item) => item !== undefined && String(item) !== ''),
  )
  assert.is((kept as string[]).length, 30)
})

test('spans contain no prompts or responses', async () => {
  const { module, spans } = sdk()
  const world = await openObserved([otel(module)], metered({ words: ['the secret answer'] }, { tokens: 0 }))
  await read(world.chat({ stream: true }))
  assert.not.match(
    JSON.stringify(spans().map(({ name, attributes, events }) => ({ name, attributes, events }))),
    /secret/,
  )
})

for (const [conventions, names] of [
  ['latest', ['gen_ai.client.inference.duration', 'gen_ai.client.inference.operation.input_tokens']],
  ['1.41', ['gen_ai.client.operation.duration', 'gen_ai.client.token.usage']],
] as const)
  test(`metrics use the names of the semantic conventions, version ${conventions}`, async () => {
    const { module, metrics, spans } = sdk()
    const world = await openObserved([otel(module, { conventions })])
    await read(world.chat())
    const found = (await metrics()).map(({ descriptor }) => descriptor.name)
    for (const name of names) assert.ok(found.includes(name), `${name} among ${found}`)
    assert.is(spans()[0]?.attributes['gen_ai.system'], conventions === '1.41' ? 'one' : undefined)
  })
