import { assert, suite } from '../support/suite.ts'
import { chatEvents, chatResponse } from './support/responses.ts'
import { fakeUpstream, json, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('pages on allowed origins')

const APP = 'https://app.example'
const OTHER = 'https://other.example'
const open = () =>
  openWorld({
    allowedOrigins: [APP, 'chrome-extension://abcdefgh'],
    fetch: fakeUpstream(({ body }) => (body.includes('"stream":true') ? sse(chatEvents('Hi')) : json(chatResponse()))),
  })

const getCors = (response: Response) =>
  Object.fromEntries([...response.headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'))

const READABLE = { 'access-control-allow-origin': APP, 'access-control-expose-headers': '*', vary: 'Origin' }

const preflight = (origin: string, path = '/v1/chat/completions') =>
  new Request(`http://gateway${path}`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
    },
  })

test('a preflight from an allowed origin returns the CORS headers for model paths', async () => {
  const { gateway } = await open()
  for (const path of ['/v1/chat/completions', '/v1beta/models/one/m:generateContent', '/v1/models', '/v1/nothing']) {
    const response = await gateway.fetch(preflight(APP, path))
    assert.is(response.status, 204, path)
    assert.equal(getCors(response), {
      'access-control-allow-headers': 'authorization,content-type,x-stainless-lang',
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-allow-origin': APP,
      'access-control-max-age': '7200',
      vary: 'Origin',
    })
  }
})

test('pages on allowed origins can read responses, streams, errors, and all headers', async () => {
  const { chat, gateway, api } = await open()
  const init = { headers: { origin: APP } }
  for (const body of [{}, { stream: true }]) {
    const response = await chat(body, init)
    assert.is(response.status, 200)
    assert.match(await response.text(), /Hi|Hello/)
    assert.equal(getCors(response), READABLE)
  }
  assert.equal(getCors(await chat({ model: 'nobody/knows' }, init)), READABLE)
  await api.settings.update({ requireApiKey: true })
  const rejected = await chat({}, init)
  assert.is(rejected.status, 401, "an allowed origin doesn't replace a key")
  assert.equal(getCors(rejected), READABLE)
  const list = await gateway.fetch(new Request('http://gateway/v1/models', init))
  assert.equal(getCors(list), READABLE)
})

test('a browser extension can be an allowed origin', async () => {
  const response = await (await open()).chat({}, { headers: { origin: 'chrome-extension://abcdefgh' } })
  assert.is(response.headers.get('access-control-allow-origin'), 'chrome-extension://abcdefgh')
})

test('an origin that only resembles an allowed one gets no CORS headers', async () => {
  const { chat, gateway } = await open()
  for (const origin of [OTHER, 'https://app.example:444', 'http://app.example', `${APP}.evil.example`, 'null', '']) {
    assert.equal(getCors(await gateway.fetch(preflight(origin))), {}, origin)
    assert.equal(getCors(await chat({}, { headers: { origin } })), {}, origin)
  }
  assert.equal(getCors(await chat({})), {}, 'a request without an origin')
})

test("pages on allowed origins can't manage the gateway", async () => {
  const { gateway } = await open()
  const response = await gateway.fetch(preflight(APP, '/api/keys'))
  assert.is(response.status, 401)
  assert.equal(getCors(response), {})
})

test("allowed origins don't change the headers of the model list, which any page may read", async () => {
  const { gateway } = await open()
  const response = await gateway.fetch(preflight(OTHER, '/v1/models'))
  assert.equal(getCors(response), {
    'access-control-allow-headers': '*',
    'access-control-allow-methods': 'GET, OPTIONS',
    'access-control-allow-origin': '*',
  })
})
