import { assert, suite } from '../../support/suite.ts'
import { call, createCallLab, getText, rejection } from './call-lab.ts'
import type { rawUpstream } from './upstream.ts'

const test = suite('calls over undici')

const { fetch, http, raw } = createCallLab(test.after)

const OK = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n'

test("a call over undici sends the request as given, and doesn't request compression", async () => {
  const seen: unknown[] = []
  const { url, port } = await http(async (req, res) => {
    const parts: string[] = []
    for await (const part of req.setEncoding('utf8')) parts.push(part)
    seen.push([req.method, req.url, req.headers, parts.join('')])
    res.end()
  })
  const bodies = ['text \u00e9', new TextEncoder().encode('-bytes-').subarray(1, 6)]
  for (const body of bodies) {
    const { response } = fetch.raw(call(`${url}/v1/x?y=%20z`, { method: 'POST', headers: { 'X-A': '1' }, body }))
    assert.is((await response).status, 200)
  }
  const headers = (length: string) => ({
    host: `127.0.0.1:${port}`,
    connection: 'keep-alive',
    'x-a': '1',
    'content-length': length,
  })
  assert.equal(seen, [
    ['POST', '/v1/x?y=%20z', headers('7'), 'text \u00e9'],
    ['POST', '/v1/x?y=%20z', headers('5'), 'bytes'],
  ])
})

test('responses have a status and headers, with repeated headers joined or separate', async () => {
  const { url } = await raw((socket) => {
    socket.write(`${OK}X-Many: 1\r\nx-many: 2\r\nSet-Cookie: a\r\nset-cookie: b\r\ncontent-length: 2\r\n\r\nok`)
  })
  const response = await fetch.raw(call(url)).response
  assert.is(response.header('content-type'), 'text/plain')
  assert.is(response.header('x-many'), '1, 2')
  assert.is(response.header('absent'), undefined)
  assert.is(response.header('constructor'), undefined)
  assert.equal(
    [...response.headers()],
    [
      ['content-type', 'text/plain'],
      ['x-many', '1'],
      ['x-many', '2'],
      ['set-cookie', 'a'],
      ['set-cookie', 'b'],
      ['content-length', '2'],
    ],
  )
  assert.is(await getText(response.body), 'ok')
})

test('a call over undici returns chunks as they arrive, and combines queued ones', async () => {
  let write: (text: string) => void = () => {}
  const { url } = await http((_, res) => {
    res.flushHeaders()
    write = (text) => void res.write(text)
    res.on('pipe', () => {})
  })
  const { body } = await fetch.raw(call(url)).response
  const first = body.next()
  write('one')
  assert.is(String(Buffer.from((await first) ?? [])), 'one')
  const second = body.next()
  write('two')
  assert.is(String(Buffer.from((await second) ?? [])), 'two')
  body.cancel()
})

test('a call over undici never follows a redirect', async () => {
  let requests = 0
  const { url } = await http((_, res) => {
    requests += 1
    res.writeHead(307, { location: '/elsewhere' }).end()
  })
  const response = await fetch.raw(call(url)).response
  assert.is(response.status, 307)
  assert.is(response.header('location'), '/elsewhere')
  assert.is(requests, 1)
})

test('a call over undici skips informational (1xx) responses', async () => {
  const { url } = await raw((socket) => {
    socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n')
    socket.write(`${OK}content-length: 2\r\n\r\nok`)
  })
  const response = await fetch.raw(call(url)).response
  assert.is(response.status, 200)
  assert.is(await getText(response.body), 'ok')
})

test('a failed call over undici rejects with the code of its cause', async () => {
  const dead = await raw(() => {})
  dead.close()
  const reset = await raw((socket) => socket.resetAndDestroy())
  const closes = await raw((socket) => socket.end())
  const codes: unknown[] = []
  for (const url of [dead.url, 'http://nothing.invalid', reset.url, closes.url])
    codes.push((await rejection(fetch.raw(call(url)).response)).code)
  assert.equal(codes.slice(0, 1), ['ECONNREFUSED'])
  assert.match(String(codes[1]), /^(?:ENOTFOUND|EAI_AGAIN)$/)
  assert.equal(codes.slice(2, 4), ['ECONNRESET', 'UND_ERR_SOCKET'])
})

test("a call rejects if the response isn't valid HTTP", async () => {
  for (const text of ['SSH-2.0-OpenSSH\r\n', `${OK}no header\r\n\r\n`, 'HTTP/1.1 100 Continue\r\n\r\n', '']) {
    const { url } = await raw((socket) => socket.end(text))
    assert.instance(await rejection(fetch.raw(call(url)).response), Error)
  }
  const { url } = await raw((socket) => socket.end(`${OK}transfer-encoding: chunked\r\n\r\nzz\r\n`))
  assert.instance(await rejection(fetch.raw(call(url)).response.then(({ body }) => body.next())), Error)
})

test("a URL or header that can't be sent causes a rejection, not a synchronous throw", async () => {
  assert.instance(await rejection(fetch.raw(call('ftp://host/')).response), TypeError)
  assert.instance(await rejection(fetch.raw(call('nonsense')).response), TypeError)
  assert.instance(await rejection(fetch.raw(call('http://[')).response), TypeError)
  const { url } = await http((_, res) => res.end())
  const error = await rejection(fetch.raw(call(url, { headers: { 'x-a': 'a\nb' } })).response)
  assert.is(error.code, 'UND_ERR_INVALID_ARG')
})

test('reading a truncated body returns the received data, then rejects', async () => {
  const cuts: Array<Parameters<typeof rawUpstream>[0]> = [
    (socket) => socket.end(`${OK}content-length: 9\r\n\r\nhalf`),
    (socket) => socket.end(`${OK}transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n`),
    (socket) => socket.end(`${OK}connection: close\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n`),
    (socket) => socket.write(`${OK}content-length: 9\r\n\r\nhalf`, () => socket.resetAndDestroy()),
  ]
  for (const cut of cuts) {
    const { url } = await raw(cut)
    const { body } = await fetch.raw(call(url)).response
    assert.is(String(Buffer.from((await body.next()) ?? [])), 'half')
    assert.instance(await rejection(body.next()), Error)
  }
})

test('a body that ends when the connection closes is complete', async () => {
  const { url } = await raw((socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nwhole'))
  assert.is(await getText((await fetch.raw(call(url)).response).body), 'whole')
})

test("the function from createNodeFetch also works like Node's fetch", async () => {
  const { url } = await http((req, res) => res.end(req.method))
  const response = await fetch(url, { method: 'PUT' })
  assert.instance(response, Response)
  assert.is(await response.text(), 'PUT')
})
