import type { ServerResponse } from 'node:http'
import { toNodeHandler } from '../../../adapters/mount/node.ts'
import { assert, suite } from '../../support/suite.ts'
import { createLab, json, type Source, source, stubGateway, turn } from './lab.ts'

const lab = createLab()
const test = suite('replies sent through a Node response')
test.after(lab.close)

const GET = 'GET /v1 HTTP/1.1\r\nHost: a\r\n\r\n'
const serve = (respond: Parameters<typeof stubGateway>[0]) => lab.listen(toNodeHandler(stubGateway(respond)))

/** Opens a server that streams from `body`. */
const stream = (body: Source) => serve(() => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body }))

test('a Node response sends text and bytes with their length and keeps the connection', async () => {
  const replies = [json('caf\u00e9'), { status: 201, headers: { 'x-a': '1' }, body: Buffer.from('bytes') }]
  const { port } = await serve(() => replies.shift())
  const connection = lab.dial(port, GET)
  assert.match(await connection.until(/"$/), /^HTTP\/1\.1 200 [\s\S]*\r\ncontent-length: 7\r\n/i)
  connection.socket.write(GET)
  assert.match(await connection.until(/bytes$/), /HTTP\/1\.1 201 [\s\S]*x-a: 1\r\n[\s\S]*content-length: 5\r\n/i)
})

test('each cookie of a reply is a separate header, for text and for streams', async () => {
  const cookies = ['a=1', 'b=2']
  for (const body of ['text', source()]) {
    const { url } = await serve(() => ({ status: 200, headers: {}, cookies, body }))
    const controller = new AbortController()
    assert.equal((await fetch(url, { signal: controller.signal })).headers.getSetCookie(), cookies)
    controller.abort()
  }
})

test('an empty reply has length 0, and a 204 has none', async () => {
  const statuses = [200, 204]
  const { url } = await serve(() => ({ status: statuses.shift() ?? 500, headers: {} }))
  assert.is((await fetch(url)).headers.get('content-length'), '0')
  assert.is((await fetch(url)).headers.get('content-length'), null)
})

test('a Node response to HEAD has only headers, and cancels the stream', async () => {
  const body = source()
  const replies = [json('text'), { status: 200, headers: { 'content-type': 'text/event-stream' }, body }]
  const { port } = await serve(() => replies.shift())
  const connection = lab.dial(port, GET.replace('GET', 'HEAD').repeat(2))
  const text = await connection.until(/event-stream[\s\S]*\r\n\r\n$/)
  assert.match(text, /^HTTP\/1\.1 200 [\s\S]*content-length: 6\r\n/i)
  assert.not.match(text, /"text"/)
  await body.canceled
})

test('a Node response sends headers before the first chunk, and chunks as they arrive', async () => {
  const body = source()
  const { port } = await stream(body)
  const connection = lab.dial(port, GET)
  await connection.until(/\r\n\r\n$/)
  body.push('data: 1\n\n')
  await connection.until(/data: 1\n\n\r\n$/)
  body.push('data: 2\n\n')
  await connection.until(/data: 2\n\n\r\n$/)
  body.end()
  await connection.until(/\r\n0\r\n\r\n$/)
  connection.socket.write(GET)
  await connection.until(/\r\n0\r\n\r\nHTTP\/1\.1 200 /)
})

test('a Node response flushes chunks through middleware that buffers them', async () => {
  const body = source()
  const handle = toNodeHandler(stubGateway(() => ({ status: 200, headers: {}, body })))
  let flushes = 0
  const { port } = await lab.listen((req, res) => handle(req, Object.assign(res, { flush: () => (flushes += 1) })))
  const connection = lab.dial(port, GET)
  body.push('a')
  await connection.until(/a\r\n$/)
  assert.is(flushes, 1)
})

test('a Node response reads a stream only as fast as the client does', async () => {
  const body = source()
  const { port } = await stream(body)
  const connection = lab.dial(port, GET)
  await connection.until(/\r\n\r\n$/)
  connection.socket.pause()
  const chunk = '\u00df'.repeat(32 * 1024)
  let pushed = 0
  let before = -1
  while (before !== body.pulls) {
    before = body.pulls
    body.push(chunk)
    pushed += 1
    for (let i = 0; i < 20; i += 1) await turn()
  }
  assert.ok(body.pulls > 5, 'the kernel buffers some chunks') // after this, nothing more is pulled
  for (let i = 0; i < 50; i += 1) body.push(chunk)
  for (let i = 0; i < 20; i += 1) await turn()
  assert.is(body.pulls, before)
  body.end()
  connection.socket.resume()
  await connection.until(/\r\n0\r\n\r\n$/)
  assert.is(connection.text.match(/\xc3\x9f/g)?.length, (pushed + 50) * chunk.length)
})

test('a Node response whose stream fails sends the chunks so far, then breaks off', async () => {
  const body = source()
  const { port } = await stream(body)
  const connection = lab.dial(port, GET)
  body.push('data: error\n\n')
  body.fail(new Error('cut'))
  await connection.closed
  assert.match(connection.text, /data: error\n\n\r\n$/)
})

test('a Node response whose stream fails before the first chunk closes the connection', async () => {
  const body = source()
  body.fail(new Error('cut'))
  const { url } = await stream(body)
  const failed = await fetch(url)
    .then((response) => response.text())
    .catch((error) => error)
  assert.instance(failed, TypeError)
})

test('a failing stream resets an HTTP/1.0 connection, because closing it would look complete', async () => {
  const body = source()
  const { port } = await stream(body)
  const connection = lab.dial(port, 'GET /v1 HTTP/1.0\r\n\r\n')
  body.push('half')
  await connection.until(/\r\n\r\nhalf$/)
  body.fail(new Error('cut'))
  assert.is((await connection.closed).isReset, true)
})

test('a Node response streams to an HTTP/1.0 client until the connection closes', async () => {
  const body = source()
  const { port } = await stream(body)
  const connection = lab.dial(port, 'GET /v1 HTTP/1.0\r\n\r\n')
  body.push('a')
  body.push('b')
  body.end()
  assert.is((await connection.closed).isReset, false)
  assert.match(connection.text, /\r\n\r\nab$/)
})

test('pipelined requests get their responses in order', async () => {
  const first = Promise.withResolvers<void>()
  const { port } = await serve(async ({ path }) => {
    if (path === '/v1/1') await first.promise
    else first.resolve()
    return json(path)
  })
  const connection = lab.dial(port, [1, 2, 3].map((n) => GET.replace('/v1', `/v1/${n}`)).join(''))
  await connection.until(/"\/v1\/1"[\s\S]*"\/v1\/2"[\s\S]*"\/v1\/3"$/)
})

test("a header that can't be sent over HTTP causes a bare 500 and cancels the stream", async () => {
  const body = source()
  const replies = [{ status: 200, headers: { 'x-a': 'a\nb' }, body }, json('next')]
  const { url } = await serve(() => replies.shift())
  assert.is((await fetch(url)).status, 500)
  await body.canceled
  assert.is(await (await fetch(url)).json(), 'next')
})

test('a rejected gateway promise, which should never happen, causes a bare 500', async () => {
  const { url } = await serve(() => Promise.reject(new Error('secret')))
  const response = await fetch(url)
  assert.is(response.status, 500)
  assert.is(await response.text(), '{"error":"Internal server error"}')
})

test("a Node response that the host app ends mid-stream isn't written to again", async () => {
  const body = source()
  let response: ServerResponse | undefined
  const handle = toNodeHandler(stubGateway(() => ({ status: 200, headers: {}, body })))
  const { port } = await lab.listen((req, res) => {
    response = res
    handle(req, res)
  })
  const connection = lab.dial(port, GET)
  await connection.until(/\r\n\r\n$/)
  response?.end()
  await connection.until(/\r\n0\r\n\r\n$/)
  body.push('late')
  await body.canceled
})

test('a stream is canceled if the host app has already responded', async () => {
  const body = source()
  const handle = toNodeHandler(stubGateway(() => ({ status: 200, headers: {}, body })))
  const { url } = await lab.listen((req, res) => {
    handle(req, res)
    res.end('the host')
  })
  assert.is(await (await fetch(url)).text(), 'the host')
  await body.canceled
})

test('a stream is canceled if the host app is already responding', async () => {
  const body = source()
  const handle = toNodeHandler(stubGateway(() => ({ status: 200, headers: {}, body })))
  const { url } = await lab.listen((req, res) => {
    res.write('the ')
    handle(req, res)
    void body.canceled.then(() => res.end('host'))
  })
  assert.is(await (await fetch(url)).text(), 'the host')
})

test('a path outside the gateway goes to the next handler, or gets a 404', async () => {
  const handle = toNodeHandler(stubGateway(() => json('ours')))
  const alone = await lab.listen((req, res) => handle(req, res))
  assert.is((await fetch(`${alone.url}/host`)).status, 404)
  const beside = await lab.listen((req, res) => handle(req, res, () => res.end('theirs')))
  assert.is(await (await fetch(`${beside.url}/host`)).text(), 'theirs')
  assert.is(await (await fetch(`${beside.url}/v1`)).json(), 'ours')
})
