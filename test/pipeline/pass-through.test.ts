import fc from 'fast-check'
import { assert, suite } from '../support/suite.ts'
import { chatResponse, type ErrorAnswer } from './support/responses.ts'
import { fakeUpstream, getBody, json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('pass-through')

test('the bytes of a request are passed through, except for the model name', async () => {
  const upstream = fakeUpstream(() => json(chatResponse()))
  const world = await openWorld({ fetch: upstream })
  const bodies: Array<[sent: string, received: string]> = [
    ['{"model":"one/m"}', '{"model":"m"}'],
    [
      '\n{ "model" :\t"one\\/m" ,\r\n "n": 12345678901234567890, "x": 1.0, "e": 1E400 }\n',
      '\n{ "model" :\t"m" ,\r\n "n": 12345678901234567890, "x": 1.0, "e": 1E400 }\n',
    ],
    [
      '{"a":1,"a":2,"mod\\u0065l":"one/m","é":"\\u00e9 \\ud83d\\ude00 😀 \\ud800"}',
      '{"a":1,"a":2,"mod\\u0065l":"m","é":"\\u00e9 \\ud83d\\ude00 😀 \\ud800"}',
    ],
    [
      '{"metadata":{"model":"one/m"},"messages":[{"model":"x","content":"\\"model\\": \\"y\\""}],"model":"one/m"}',
      '{"metadata":{"model":"one/m"},"messages":[{"model":"x","content":"\\"model\\": \\"y\\""}],"model":"m"}',
    ],
    [
      '{"model":"other","model":{"a":[1]},"model":"one/m","__proto__":{"b":1}}',
      '{"model":"m","model":"m","model":"m","__proto__":{"b":1}}',
    ],
    [
      '{"model":"one/m","stream":true,"stream":false,"unknown_field":null}',
      '{"model":"m","stream":true,"stream":false,"unknown_field":null}',
    ],
    ['{"model":"one/größe \\u0022 \\\\ 模型"}', '{"model":"größe \\" \\\\ 模型"}'],
  ]
  for (const [sent, received] of bodies) {
    const response = await world.post('/v1/chat/completions', sent)
    assert.is(response.status, 200, sent)
    assert.is(upstream.calls.at(-1)?.body, received)
  }
})

const PLACE = 'the place of the name'

test('any JSON object is passed through unchanged', async () => {
  const upstream = fakeUpstream(() => json(chatResponse()))
  const world = await openWorld({ fetch: upstream })
  const spaces = fc.constantFrom(undefined, 2, '\t')
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), spaces, async (object, space) => {
      const text = JSON.stringify({ ...object, stream: false, model: PLACE }, null, space)
      await world.post('/v1/chat/completions', text.replace(PLACE, 'one/m'))
      assert.is(upstream.calls.at(-1)?.body, text.replace(PLACE, 'm'))
    }),
    { numRuns: 200 },
  )
})

test('the bytes, headers, and status of a response are passed through', async () => {
  const reply = '{ "id":"c1",\n"choices":[{ }] , "n": 12345678901234567890,"a":1,"a":2, "e":"\\u00e9"}\n'
  const passed = {
    'content-type': 'application/json; charset=utf-8',
    'openai-processing-ms': '12',
    'x-ratelimit-remaining-requests': '9',
    'anthropic-ratelimit-tokens-reset': '2026-01-01T00:00:00Z',
    'x-request-id': 'r1',
    'retry-after': '3',
  }
  const withheld = {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': '*',
    'alt-svc': 'h3=":443"',
    connection: 'close, X-Foo , x-bar',
    'content-encoding': 'identity',
    'content-length': '7',
    'keep-alive': 'timeout=5',
    location: 'http://elsewhere.test',
    'proxy-authenticate': 'Basic',
    refresh: '0; url=http://elsewhere.test',
    server: 'nginx',
    'set-cookie': 'session=1',
    'strict-transport-security': 'max-age=1',
    te: 'trailers',
    trailer: 'x-checksum',
    'transfer-encoding': 'chunked',
    upgrade: 'h2c',
    via: '1.1 proxy',
    'www-authenticate': 'Bearer',
    'x-bar': '2',
    'x-foo': '1',
    'x-signalbox-target': 'forged',
  }
  const error = '{ "error":{"message":"no", "n": 12345678901234567890,"a":1,"a":2, "e":"\\u00e9"}}\n'
  for (const [status, text] of [
    [200, reply],
    [201, reply],
    [400, error],
    [429, error],
  ] as const) {
    const world = await openWorld({ fetch: fakeUpstream(() => json(text, status, { ...passed, ...withheld })) })
    const response = await world.chat({})
    assert.is(response.status, status)
    assert.is(await response.text(), text)
    const received = Object.fromEntries(response.headers)
    for (const [name, value] of Object.entries(passed)) assert.is(received[name], value)
    for (const [name, value] of Object.entries(withheld)) assert.is.not(received[name], value, name)
  }
})

test('a JSON response with another content type is sent as JSON', async () => {
  for (const type of ['text/html', 'application/octet-stream', '']) {
    const fetch = fakeUpstream(
      () => new Response(getBody(['{"choices":[{}]}']), { headers: type ? { 'content-type': type } : {} }),
    )
    const world = await openWorld({ fetch })
    const response = await world.chat({})
    assert.is(await response.text(), '{"choices":[{}]}')
    assert.is(response.headers.get('content-type'), 'application/json')
  }
})

test('only client headers that are meaningful to providers are passed through', async () => {
  const passed = {
    accept: 'text/event-stream',
    'anthropic-beta': 'tools-2024',
    'anthropic-version': '2024-10-22',
    'idempotency-key': 'k1',
    'openai-beta': 'assistants=v2',
    'user-agent': 'my-client/1',
  }
  const kept = {
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    tracestate: 'a=b',
    authorization: 'Bearer sk-of-the-client',
    'api-key': 'k',
    connection: 'keep-alive, x-hop',
    cookie: 'session=1',
    forwarded: 'for=1.2.3.4',
    host: 'evil.test',
    'openai-organization': 'org',
    origin: 'http://page.test',
    'proxy-authorization': 'Basic x',
    referer: 'http://page.test/secret',
    'transfer-encoding': 'chunked',
    'x-api-key': 'k',
    'x-forwarded-for': '1.2.3.4',
    'x-forwarded-host': 'evil.test',
    'x-goog-api-key': 'k',
    'x-hop': '1',
    'x-http-method-override': 'DELETE',
    'x-real-ip': '1.2.3.4',
  }
  const upstream = fakeUpstream(({ provider }) => json(provider === 'claude' ? {} : chatResponse()))
  const world = await openWorld({ fetch: upstream })
  await world.chat({}, { headers: { ...passed, ...kept } })
  const { 'content-type': type, authorization, ...rest } = Object.fromEntries(upstream.calls[0]?.headers ?? [])
  assert.equal([type, authorization], ['application/json', 'Bearer secret-of-one'])
  assert.equal(rest, passed)
  assert.is(upstream.calls[0]?.url.href, 'http://one.test/v1/chat/completions')
  await world.messages({}, { headers: { ...passed, ...kept } })
  const { 'content-type': _, 'x-api-key': key, ...others } = Object.fromEntries(upstream.calls[1]?.headers ?? [])
  assert.is(key, 'secret-of-claude')
  assert.equal(others, passed)
})

test("a header listed in the client's Connection header isn't passed through", async () => {
  const upstream = fakeUpstream(() => json(chatResponse()))
  const world = await openWorld({ fetch: upstream })
  await world.chat({}, { headers: { connection: 'close, Anthropic-Beta', 'anthropic-beta': 'x', 'openai-beta': 'y' } })
  assert.is(upstream.calls[0]?.headers.get('anthropic-beta'), null)
  assert.is(upstream.calls[0]?.headers.get('openai-beta'), 'y')
})

test('Messages requests get an anthropic-version header, and keep only ?beta=true from the query', async () => {
  const upstream = fakeUpstream(() => json({ content: [] }))
  const world = await openWorld({ fetch: upstream })
  const paths = ['/v1/messages', '/v1/messages/count_tokens']
  for (const path of paths) {
    for (const [query, passed] of [
      ['', ''],
      ['?beta=true', '?beta=true'],
      ['?a=1&beta=true', '?beta=true'],
      ['?beta=true&api-version=1', '?beta=true'],
      ['?beta=trueish', ''],
      ['?notbeta=true', ''],
    ]) {
      await world.post(path + query, { model: 'claude/c' })
      const call = upstream.calls.at(-1)
      assert.is(call?.url.href, `http://claude.test${path}${passed}`)
      assert.is(call?.headers.get('anthropic-version'), '2023-06-01')
    }
  }
})

test('invalid upstream headers are dropped, and repeated headers are joined', async () => {
  const head: Array<[string, string]> = [
    ['content-type', 'application/json'],
    ['x-note', '“quoted”'],
    ['x-line', 'a\r\nset-cookie: b'],
    ['warning', 'one'],
    ['warning', 'two'],
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
  ]
  const raw = () => ({
    response: Promise.resolve({
      status: 200,
      header: (name: string) => head.find(([known]) => known === name)?.[1],
      headers: () => head,
      body: { next: once('{"choices":[{}]}'), cancel() {} },
    }),
    cancel() {},
  })
  const world = await openWorld({ fetch: Object.assign(() => Promise.reject(new Error('raw is offered')), { raw }) })
  const response = await world.chat({})
  const { warning, 'x-note': note, 'x-line': line, 'set-cookie': cookie } = Object.fromEntries(response.headers)
  assert.equal([warning, note, line, cookie], ['one, two', undefined, undefined, undefined])
})

function once(text: string) {
  let left: Uint8Array | undefined = new TextEncoder().encode(text)
  return async () => {
    const chunk = left
    left = undefined
    return chunk
  }
}

test("the gateway's own responses are JSON and must not be cached", async () => {
  const world = await openWorld()
  const response = await world.post('/v1/chat/completions', 'no')
  assert.is(response.headers.get('content-type'), 'application/json')
  assert.is(response.headers.get('cache-control'), 'no-store')
  assert.is(response.headers.get('x-content-type-options'), 'nosniff')
  const { error }: ErrorAnswer = await response.json()
  assert.is(error.type, 'invalid_request_error')
})
