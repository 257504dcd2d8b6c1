import { assert, suite } from '../support/suite.ts'
import { chatResponse, type ErrorAnswer, messageResponse } from './support/responses.ts'
import { fakeUpstream, getBody, json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('reading a model request')

async function open(limits = {}) {
  const upstream = fakeUpstream(({ provider }) => json(provider === 'claude' ? messageResponse() : chatResponse()))
  return { upstream, world: await openWorld({ fetch: upstream, limits }) }
}

const nestJson = (levels: number) => `{"model":"one/m","a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`

const rejected: Array<[what: string, body: string | Uint8Array<ArrayBuffer>, message: RegExp]> = [
  ['an empty body', '', /empty/],
  ['blanks', ' \n', /empty/],
  ['invalid JSON', '{"model":"one/m"', /not valid JSON/],
  ['JSON with a trailing comma', '{"model":"one/m",}', /not valid JSON/],
  ['a JSON array', '["one/m"]', /must be a JSON object/],
  ['text', '"one/m"', /must be a JSON object/],
  ['null', 'null', /must be a JSON object/],
  ['invalid UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), /not valid UTF-8/],
  ['JSON with 65 levels', nestJson(65), /deeper than 64 levels/],
  ['JSON with a million levels', '['.repeat(1_000_000), /deeper than 64 levels/],
  ['a body without a model', '{"messages":[]}', /"model" is required/],
  ['a blank model', '{"model":" "}', /"model" is required/],
  ['a model that is not a string', '{"model":{"a":1}}', /"model" is required/],
  ['a repeated model that is not a string', '{"model":"one/m","model":7}', /"model" is required/],
  ['a model with an unpaired surrogate', '{"model":"one/\\ud800"}', /"model" contains an unpaired surrogate/],
  ['a model name of one megabyte', JSON.stringify({ model: `one/${'m'.repeat(1_000_000)}` }), /"model" is longer than/],
]

for (const [label, body, message] of rejected) {
  test(`a request with ${label} gets a 400 that explains the problem in the client's format`, async () => {
    const { upstream, world } = await open()
    for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/messages/count_tokens']) {
      const response = await world.gateway.fetch(new Request(`http://gateway${path}`, { method: 'POST', body }))
      assert.is(response.status, 400)
      const reply: ErrorAnswer = await response.json()
      assert.match(reply.error.message, message)
      assert.is(reply.error.type, 'invalid_request_error')
      assert.is(reply.type, path.startsWith('/v1/messages') ? 'error' : undefined)
    }
    assert.is(upstream.calls.length, 0)
    assert.equal(world.recorded.errors, [])
    assert.ok(world.recorded.requests.every(({ status }) => status === 400))
  })
}

test('a request without a body gets an error that reports the missing body', async () => {
  const { world } = await open()
  const response = await world.gateway.fetch(new Request('http://gateway/v1/chat/completions', { method: 'POST' }))
  assert.is(response.status, 400)
  assert.match(await response.text(), /empty/)
})

test("JSON with 64 levels is accepted, and brackets in strings don't count", async () => {
  const { upstream, world } = await open()
  assert.is((await world.post('/v1/chat/completions', nestJson(64))).status, 200)
  const text = '['.repeat(1_000)
  assert.is((await world.chat({ messages: [{ content: `${text}\\"${text}` }] })).status, 200)
  assert.is(upstream.calls.length, 2)
})

test('a byte order mark is accepted', async () => {
  const { world } = await open()
  assert.is((await world.post('/v1/chat/completions', '\ufeff{"model":"one/m"}')).status, 200)
})

test("a body over the limit gets a 413, and isn't read if its content-length is over the limit", async () => {
  const { upstream, world } = await open({ maxBodyBytes: 1_000 })
  const body = JSON.stringify({ model: 'one/m', text: 'x'.repeat(900) })
  assert.is((await world.post('/v1/chat/completions', body)).status, 200)
  const large = await world.post('/v1/chat/completions', body + ' '.repeat(100))
  assert.is(large.status, 413)
  assert.match(await large.text(), /larger than 1000 bytes/)
  let pulled = 0
  const unread = new ReadableStream({ pull: () => void pulled++ }, { highWaterMark: 0 })
  const init = { method: 'POST', body: unread, duplex: 'half', headers: { 'content-length': '1001' } } as RequestInit
  assert.is((await world.gateway.fetch(new Request('http://gateway/v1/messages', init))).status, 413)
  assert.is(pulled, 0)
  assert.is(upstream.calls.length, 1)
})

test('a body that is longer than declared returns a 413', async () => {
  const { upstream, world } = await open({ maxBodyBytes: 1_000 })
  const body = JSON.stringify({ model: 'one/m', text: 'x'.repeat(1_000) })
  const response = await world.post('/v1/chat/completions', body, { headers: { 'content-length': '10' } })
  assert.is(response.status, 413)
  assert.is(upstream.calls.length, 0)
})

test('a body without a declared length is counted while it is read, and reading stops at the limit', async () => {
  const { world } = await open({ maxBodyBytes: 1_000 })
  let canceled = false
  let pulled = 0
  const endless = new ReadableStream({
    pull(controller) {
      pulled++
      controller.enqueue(new Uint8Array(100))
    },
    cancel() {
      canceled = true
    },
  })
  const init = { method: 'POST', body: endless, duplex: 'half' } as RequestInit
  const response = await world.gateway.fetch(new Request('http://gateway/v1/chat/completions', init))
  assert.is(response.status, 413)
  assert.is(canceled, true)
  assert.ok(pulled < 15, `${pulled}`)
})

test('a request body that breaks off returns a 400', async () => {
  const { upstream, world } = await open()
  const init = { method: 'POST', body: getBody(['{"model":'], 'error'), duplex: 'half' } as RequestInit
  const response = await world.gateway.fetch(new Request('http://gateway/v1/chat/completions', init))
  assert.is(response.status, 400)
  assert.is(upstream.calls.length, 0)
  assert.equal(world.recorded.errors, [])
})

test("a token count request isn't streamed, even if its body requests a stream", async () => {
  const upstream = fakeUpstream(() => new Response(getBody(['{"input_tokens":7}'])))
  const world = await openWorld({ fetch: upstream })
  const response = await world.post('/v1/messages/count_tokens', { model: 'claude/c', stream: true })
  assert.equal(await response.json(), { input_tokens: 7 })
  assert.is(world.recorded.requests[0]?.streamed, false)
})

test('compressed requests return a 415', async () => {
  const { upstream, world } = await open()
  for (const encoding of ['gzip', 'br', 'zstd', 'x-custom', 'gzip, identity']) {
    const response = await world.chat({}, { headers: { 'content-encoding': encoding } })
    assert.is(response.status, 415, encoding)
    assert.match(await response.text(), /Compressed/)
  }
  for (const encoding of ['identity', 'Identity', ''])
    assert.is((await world.chat({}, { headers: { 'content-encoding': encoding } })).status, 200, encoding)
  assert.is(upstream.calls.length, 3)
})

test('bodies with a declared charset other than UTF-8 return a 415', async () => {
  const { upstream, world } = await open()
  const types = [
    'application/json; charset=utf-16',
    'application/json;CHARSET="UTF-16LE"',
    'text/plain; x=y; charset=latin1',
  ]
  for (const type of types) {
    const response = await world.chat({}, { headers: { 'content-type': type } })
    assert.is(response.status, 415, type)
    assert.match(await response.text(), /Send the JSON in UTF-8; the content-type says /)
  }
  assert.is(upstream.calls.length, 0)
  for (const charset of ['utf-8', '"UTF-8"', 'utf8', 'us-ascii', 'ascii', ''])
    assert.is(
      (await world.chat({}, { headers: { 'content-type': `application/json; charset=${charset}` } })).status,
      200,
    )
})

test("a page on another site can't send a request without a preflight request", async () => {
  const { upstream, world } = await open()
  const origin = 'http://page.test'
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'text/plain; application/json',
  ])
    assert.is((await world.chat({}, { headers: { origin, 'content-type': type } })).status, 415, type)
  assert.is(upstream.calls.length, 0)
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/vnd.x+json',
  ])
    assert.is((await world.chat({}, { headers: { origin, 'content-type': type } })).status, 200, type)
  assert.is(
    (await world.chat({}, { headers: { 'content-type': 'text/plain' } })).status,
    200,
    'a non-browser client may send any content type',
  )
})

test('model endpoints return a 405 for methods other than POST, and a 204 for HEAD and OPTIONS probes', async () => {
  const { world } = await open()
  for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/messages/count_tokens']) {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
      const response = await world.gateway.fetch(new Request(`http://gateway${path}`, { method }))
      assert.is(response.status, 405, `${method} ${path}`)
      assert.is(response.headers.get('allow'), 'POST')
      assert.match(await response.text(), new RegExp(`${method} is not allowed`))
    }
    for (const method of ['HEAD', 'OPTIONS']) {
      const response = await world.gateway.fetch(new Request(`http://gateway${path}`, { method }))
      assert.is(response.status, 204)
      assert.is(response.headers.get('allow'), 'POST, OPTIONS')
    }
  }
})
