import { execFile } from 'node:child_process'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import { type NodeHandlerOptions, toNodeHandler } from '../../../adapters/mount/node.ts'
import { isGatewayError } from '../../../src/errors.ts'
import type { Exchange } from '../../../src/index.ts'
import { assert, suite } from '../../support/suite.ts'
import { createLab, json, stubGateway, turn } from './lab.ts'

const lab = createLab()
const test = suite('converting a Node request to an exchange')
test.after(lab.close)

/** Serves one request with `look`. Resolves to the result, or the error that `look` threw. */
async function serve(look: (exchange: Exchange) => unknown) {
  const gateway = stubGateway(async (exchange) => {
    try {
      return json(await look(exchange))
    } catch (error) {
      if (!isGatewayError(error)) throw error
      return json({ code: error.code, message: error.message }, error.status)
    }
  })
  return lab.listen(toNodeHandler(gateway))
}

/** Waits until the socket is paused. */
async function waitUntilSettled(socket: Socket): Promise<Socket> {
  for (let before = -1; before !== socket.bytesRead; ) {
    before = socket.bytesRead
    for (let i = 0; i < 50; i += 1) await turn()
  }
  return socket
}

const text = async (exchange: Exchange, maxBytes = 1_000) => Buffer.from(await exchange.body(maxBytes)).toString()

test("an exchange exposes the request's method, path, query, and headers", async () => {
  const { url } = await serve(({ method, path, query, header }: Exchange) => [method, path, query, typeof header])
  const response = await fetch(`${url}/v1/models?limit=1`, { method: 'PATCH' })
  assert.equal(await response.json(), ['PATCH', '/v1/models', '?limit=1', 'function'])
})

test("repeated headers are joined with commas, cookies with semicolons, and inherited property names aren't headers", async () => {
  const names = ['x-many', 'cookie', 'set-cookie', 'authorization', 'absent', 'constructor', '__proto__', 'tostring']
  const { port } = await serve((exchange) => names.map((name) => exchange.header(name) ?? null))
  const connection = lab.dial(
    port,
    'GET /v1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Many: 1\r\nx-many: 2\r\nCookie: a=1\r\nCookie: b=2\r\n' +
      'Set-Cookie: c=3\r\nSet-Cookie: d=4\r\nAuthorization: Bearer one\r\nAuthorization: Bearer two\r\n\r\n',
  )
  await connection.closed
  const values = ['1, 2', 'a=1; b=2', 'c=3, d=4', 'Bearer one', null, null, null, null]
  assert.ok(connection.text.includes(JSON.stringify(values)), connection.text)
})

test('copyHeaders copies the named request headers, and keeps existing values for absent ones', async () => {
  const { port } = await serve((exchange) => {
    const into = { 'x-many': 'before', via: 'kept' }
    exchange.copyHeaders(new Set(['x-many', 'cookie', 'absent', 'via', 'constructor']), into)
    return into
  })
  const connection = lab.dial(
    port,
    'GET /v1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Many: 1\r\nx-many: 2\r\nCookie: a=1\r\n\r\n',
  )
  await connection.closed
  assert.ok(connection.text.includes(JSON.stringify({ 'x-many': '1, 2', via: 'kept', cookie: 'a=1' })), connection.text)
})

test('a body can arrive at once or in chunks', async () => {
  const { url, port } = await serve((exchange) => text(exchange))
  assert.is(await (await fetch(`${url}/v1`, { method: 'POST', body: 'whole' })).json(), 'whole')
  const connection = lab.dial(port, 'POST /v1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nin \r\n')
  await new Promise((resolve) => connection.socket.write('2\r\ntw\r\n', resolve))
  connection.socket.write('1\r\no\r\n0\r\n\r\n')
  assert.match(await connection.until(/"$/), /"in two"$/)
})

test('a missing body reads as empty', async () => {
  const { url } = await serve((exchange) => text(exchange))
  assert.is(await (await fetch(`${url}/v1`)).json(), '')
  assert.is(await (await fetch(`${url}/v1`, { method: 'POST' })).json(), '')
})

test('a body of exactly the maximum size is accepted, and one more byte is rejected', async () => {
  const { url } = await serve((exchange) => text(exchange, 5))
  assert.is((await fetch(`${url}/v1`, { method: 'POST', body: '12345' })).status, 200)
  const rejected = await fetch(`${url}/v1`, { method: 'POST', body: '123456' })
  assert.is(rejected.status, 413)
  assert.equal(await rejected.json(), {
    code: 'PAYLOAD_TOO_LARGE',
    message: 'The request body is larger than 5 bytes.',
  })
})

test('a declared length over the limit gets an immediate 413, and the connection closes', async () => {
  const { port } = await serve((exchange) => text(exchange, 5))
  const connection = lab.dial(port, 'POST /v1 HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n')
  const head = await connection.until(/bytes\."\}$/)
  assert.match(head, /^HTTP\/1\.1 413 /)
  assert.match(head, /\r\nconnection: close\r\n/i)
  await connection.closed
})

test('a body that grows past the limit gets a 413 while it arrives, and the connection closes', async () => {
  const { port } = await serve((exchange) => text(exchange, 100_000))
  const connection = lab.dial(port, 'POST /v1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
  const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`
  const feed = () => {
    while (!connection.socket.destroyed && connection.socket.write(chunk));
  }
  connection.socket.on('drain', feed)
  feed()
  assert.match(await connection.until(/bytes\."\}$/), /^HTTP\/1\.1 413 [\s\S]*\r\nconnection: close\r\n/i)
  await connection.closed
})

test('reading a body stops at its limit, even before there is a response', async () => {
  const response = Promise.withResolvers<void>()
  const { port, server } = await serve(async (exchange) => {
    await exchange.body(1_000).catch(() => response.promise)
  })
  const served = new Promise<Socket>((resolve) => server.once('connection', resolve))
  const size = 64 * 1024 * 1024
  const connection = lab.dial(
    port,
    `POST /v1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n`,
  )
  connection.socket.write(new Uint8Array(size))
  const { bytesRead } = await waitUntilSettled(await served)
  assert.ok(bytesRead < size / 2, `${bytesRead} bytes were read`)
  response.resolve()
  await connection.closed
})

test('a client that reads only after sending everything still gets its response', async () => {
  const { setTimeout } = globalThis
  // Extends the time a client has to send the rest, because on a busy machine it may need longer.
  globalThis.setTimeout = Object.assign((action: () => void, ms = 0) => setTimeout(action, ms * 20), setTimeout)
  try {
    const { port } = await serve(() => 'early')
    const connection = lab.dial(port)
    connection.socket.pause()
    const size = 8 * 1024 * 1024
    connection.socket.write(`POST /v1 HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`)
    await new Promise((resolve, reject) => {
      connection.socket.write(new Uint8Array(size), (error) => (error ? reject(error) : resolve(undefined)))
    })
    connection.socket.resume()
    await connection.until(/"early"$/)
    await connection.closed
  } finally {
    globalThis.setTimeout = setTimeout
  }
})

test("a small unread body doesn't close the connection", async () => {
  const { port } = await serve(() => 'early')
  const request = 'POST /v1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc'
  const connection = lab.dial(port, request)
  assert.not.match(await connection.until(/"early"$/), /connection: close/i)
  connection.socket.write(request)
  await connection.until(/"early"[\s\S]*"early"$/)
})

test('a large unread body closes the connection, but only after the client gets its response', async () => {
  const { url } = await serve(() => 'early')
  const response = await fetch(`${url}/v1`, { method: 'POST', body: new Uint8Array(4_000_000) })
  assert.is(response.headers.get('connection'), 'close')
  assert.is(await response.json(), 'early')
})

test('a client that disconnects while sending rejects the body and triggers an abort', async () => {
  const seen: string[] = []
  const done = Promise.withResolvers<void>()
  const { port } = await serve(async (exchange) => {
    exchange.onAbort(() => seen.push('abort'))
    connection.socket.destroy()
    await exchange.body(1_000).catch((error) => seen.push(isGatewayError(error) ? error.code : String(error)))
    done.resolve()
  })
  const connection = lab.dial(port, 'POST /v1 HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\nabc')
  await done.promise
  assert.equal(seen.sort(), ['CLIENT_CLOSED_REQUEST', 'abort'])
})

test('a body that violates HTTP is rejected', async () => {
  const code = Promise.withResolvers<unknown>()
  const { port } = await serve((exchange) => exchange.body(1_000).catch((error) => code.resolve(error.code)))
  const connection = lab.dial(port, 'POST /v1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n')
  await connection.closed
  assert.is(await code.promise, 'CLIENT_CLOSED_REQUEST')
  assert.match(connection.text, /^HTTP\/1\.1 400 /)
})

test("app functions get a Fetch request with the client's abort signal and no body", async () => {
  const aborted = Promise.withResolvers<string>()
  const { port } = await serve(async (exchange) => {
    const request = exchange.toRequest()
    request.signal.addEventListener('abort', () => aborted.resolve(JSON.stringify(seen)))
    const seen = [request.method, request.url, request.headers.get('x-a'), request.headers.get('cookie'), request.body]
    connection.socket.destroy()
    await aborted.promise
  })
  const connection = lab.dial(
    port,
    'POST /v1/../api?b HTTP/1.1\r\nHost: me.example:8080\r\nX-A: 1\r\nCookie: a=1\r\nCookie: b=2\r\nContent-Length: 3\r\n\r\nabc',
  )
  assert.is(await aborted.promise, JSON.stringify(['POST', 'http://me.example:8080/api?b', '1', 'a=1; b=2', null]))
})

test('the Fetch request can be copied and cloned, even if its signal is first used late', async () => {
  const seen = Promise.withResolvers<string>()
  const { port } = await serve(async (exchange) => {
    const request = exchange.toRequest()
    const copy = new Request(request, { headers: { 'x-b': '2' } })
    const other = new Request('http://sessions.example/', request)
    const { signal } = request
    connection.socket.destroy()
    await new Promise<void>((resolve) => void exchange.onAbort(resolve))
    const late = exchange.toRequest().signal
    seen.resolve(
      JSON.stringify([
        request instanceof Request,
        String(request),
        [copy.url, copy.headers.get('x-a'), copy.headers.get('x-b')],
        [other.method, other.headers.get('x-a'), other.signal.aborted],
        request.clone().headers.get('x-a'),
        [signal.aborted, signal === request.signal, late.aborted],
      ]),
    )
  })
  const connection = lab.dial(port, 'POST /a HTTP/1.1\r\nHost: me.example\r\nX-A: 1\r\nContent-Length: 3\r\n\r\nabc')
  const expected = [
    true,
    '[object Request]',
    ['http://me.example/a', null, '2'],
    ['POST', '1', true],
    '1',
    [true, true, true],
  ]
  assert.is(await seen.promise, JSON.stringify(expected))
})

test("a request's content encoding and bytes are passed on unchanged", async () => {
  const { url } = await serve(async (exchange) => [exchange.header('content-encoding'), await text(exchange)])
  const response = await fetch(`${url}/v1`, { method: 'POST', body: 'zip', headers: { 'content-encoding': 'gzip' } })
  assert.equal(await response.json(), ['gzip', 'zip'])
})

test('exchanges share one upstream function per process, or use a custom one or none', async () => {
  const own = Object.assign(async () => new Response(), {
    raw: () => {
      throw new Error('nobody calls')
    },
  })
  const seen: unknown[] = []
  const gateway = stubGateway(({ upstream }) => json(seen.push(upstream)))
  const choices: NodeHandlerOptions[] = [{}, {}, { upstream: own }, { upstream: false }]
  for (const options of choices) {
    const { url } = await lab.listen(toNodeHandler(gateway, options))
    await fetch(url)
  }
  assert.type(seen[0], 'function')
  assert.is(seen[1], seen[0])
  assert.is(seen[2], own)
  assert.is(seen[3], undefined)
})

test("undici isn't loaded before the first call", async () => {
  const entry = new URL('../../../adapters/mount/node.ts', import.meta.url).href
  const script = `import { _cache } from 'node:module'; import { toNodeHandler } from '${entry}'; toNodeHandler({ exchange() {} })
    console.log(Object.keys(_cache).filter((path) => path.includes('undici')).length)`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  assert.is(stdout.trim(), '0')
})
