import type { RequestListener } from 'node:http'
import { connect, type LookupFunction } from 'node:net'
import { Agent } from 'undici'
import { createNodeFetch } from '../../../adapters/mount/node.ts'
import type { ByteStream, UpstreamCall } from '../../../src/index.ts'
import { assert, suite } from '../../support/suite.ts'
import { turn } from './lab.ts'
import { httpUpstream, noneLeft, rawUpstream } from './upstream.ts'

const test = suite('calls over undici')
const fetch = createNodeFetch()
const closers: Array<() => void> = [() => fetch.close()]
test.after(() => {
  for (const close of closers) close()
})

const OK = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n'

async function http(listener: RequestListener) {
  const upstream = await httpUpstream(listener)
  closers.push(upstream.close)
  return upstream
}

async function raw(...[onRequest]: Parameters<typeof rawUpstream>) {
  const upstream = await rawUpstream(onRequest)
  closers.push(upstream.close)
  return upstream
}

const call = (url: string, rest: Partial<UpstreamCall> = {}): UpstreamCall => ({
  url,
  method: 'GET',
  headers: {},
  ...rest,
})

async function textOf(body: ByteStream): Promise<string> {
  let text = ''
  for (let chunk = await body.next(); chunk; chunk = await body.next()) text += Buffer.from(chunk).toString()
  return text
}

async function rejection(promise: Promise<unknown>): Promise<NodeJS.ErrnoException> {
  const value = await promise.catch((error: NodeJS.ErrnoException) => error)
  if (value instanceof Error) return value
  throw new Error(`resolved with ${JSON.stringify(value)}`)
}

test('sends method, path, query, headers and body as given, and asks for no compression', async () => {
  const seen: unknown[] = []
  const { url, port } = await http(async (req, res) => {
    const parts: string[] = []
    for await (const part of req.setEncoding('utf8')) parts.push(part)
    seen.push([req.method, req.url, req.headers, parts.join('')])
    res.end()
  })
  const bodies = ['text \u00e9', new TextEncoder().encode('-bytes-').subarray(1, 6)]
  for (const body of bodies) {
    const { answer } = fetch.raw(call(`${url}/v1/x?y=%20z`, { method: 'POST', headers: { 'X-A': '1' }, body }))
    assert.is((await answer).status, 200)
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

test('answers with status and headers, repeated ones joined or one by one', async () => {
  const { url } = await raw((socket) => {
    socket.write(`${OK}X-Many: 1\r\nx-many: 2\r\nSet-Cookie: a\r\nset-cookie: b\r\ncontent-length: 2\r\n\r\nok`)
  })
  const answer = await fetch.raw(call(url)).answer
  assert.is(answer.header('content-type'), 'text/plain')
  assert.is(answer.header('x-many'), '1, 2')
  assert.is(answer.header('absent'), undefined)
  assert.is(answer.header('constructor'), undefined)
  assert.equal(
    [...answer.headers()],
    [
      ['content-type', 'text/plain'],
      ['x-many', '1'],
      ['x-many', '2'],
      ['set-cookie', 'a'],
      ['set-cookie', 'b'],
      ['content-length', '2'],
    ],
  )
  assert.is(await textOf(answer.body), 'ok')
})

test('hands out chunks as they come, and what has come meanwhile in one piece', async () => {
  let write: (text: string) => void = () => {}
  const { url } = await http((_, res) => {
    res.flushHeaders()
    write = (text) => void res.write(text)
    res.on('pipe', () => {})
  })
  const { body } = await fetch.raw(call(url)).answer
  const first = body.next()
  write('one')
  assert.is(String(Buffer.from((await first) ?? [])), 'one')
  const second = body.next()
  write('two')
  assert.is(String(Buffer.from((await second) ?? [])), 'two')
  body.cancel()
})

test('never follows a redirect', async () => {
  let requests = 0
  const { url } = await http((_, res) => {
    requests += 1
    res.writeHead(307, { location: '/elsewhere' }).end()
  })
  const answer = await fetch.raw(call(url)).answer
  assert.is(answer.status, 307)
  assert.is(answer.header('location'), '/elsewhere')
  assert.is(requests, 1)
})

test('skips informational answers', async () => {
  const { url } = await raw((socket) => {
    socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n')
    socket.write(`${OK}content-length: 2\r\n\r\nok`)
  })
  const answer = await fetch.raw(call(url)).answer
  assert.is(answer.status, 200)
  assert.is(await textOf(answer.body), 'ok')
})

test('uses a connection again, the last one first, and as many as there are calls', async () => {
  const waiting: Array<() => void> = []
  const ports = new Set<number | undefined>()
  const { url, sockets } = await http((req, res) => {
    ports.add(req.socket.remotePort)
    if (req.url === '/wait') waiting.push(() => res.end())
    else res.end()
  })
  for (let i = 0; i < 3; i += 1) await textOf((await fetch.raw(call(url)).answer).body)
  assert.is(sockets.size, 1)
  const calls = Array.from({ length: 20 }, () => fetch.raw(call(`${url}/wait`)))
  while (waiting.length < 20) await turn()
  assert.is(sockets.size, 20)
  for (const end of waiting) end()
  await Promise.all(calls.map(async ({ answer }) => textOf((await answer).body)))
  ports.clear()
  for (let i = 0; i < 3; i += 1) await textOf((await fetch.raw(call(url)).answer).body)
  assert.is(sockets.size, 20)
  assert.is(ports.size, 1)
})

test('opens a new connection when the upstream has closed the idle one', async () => {
  const { url, sockets } = await raw((socket) => socket.end(`${OK}content-length: 2\r\n\r\nok`))
  for (let i = 0; i < 3; i += 1) {
    assert.is(await textOf((await fetch.raw(call(url)).answer).body), 'ok')
    await noneLeft(sockets)
  }
})

test('errors carry the code of what went wrong', async () => {
  const dead = await raw(() => {})
  dead.close()
  const reset = await raw((socket) => socket.resetAndDestroy())
  const closes = await raw((socket) => socket.end())
  const codes: unknown[] = []
  for (const url of [dead.url, 'http://nothing.invalid', reset.url, closes.url])
    codes.push((await rejection(fetch.raw(call(url)).answer)).code)
  assert.equal(codes.slice(0, 1), ['ECONNREFUSED'])
  assert.match(String(codes[1]), /^(?:ENOTFOUND|EAI_AGAIN)$/)
  assert.equal(codes.slice(2, 4), ['ECONNRESET', 'UND_ERR_SOCKET'])
})

test('what is no HTTP rejects', async () => {
  for (const text of ['SSH-2.0-OpenSSH\r\n', `${OK}no header\r\n\r\n`, 'HTTP/1.1 100 Continue\r\n\r\n', '']) {
    const { url } = await raw((socket) => socket.end(text))
    assert.instance(await rejection(fetch.raw(call(url)).answer), Error)
  }
  const { url } = await raw((socket) => socket.end(`${OK}transfer-encoding: chunked\r\n\r\nzz\r\n`))
  assert.instance(await rejection(fetch.raw(call(url)).answer.then(({ body }) => body.next())), Error)
})

test('an address or a header that cannot be sent rejects and does not throw', async () => {
  assert.instance(await rejection(fetch.raw(call('ftp://host/')).answer), TypeError)
  assert.instance(await rejection(fetch.raw(call('nonsense')).answer), TypeError)
  assert.instance(await rejection(fetch.raw(call('http://[')).answer), TypeError)
  const { url } = await http((_, res) => res.end())
  const error = await rejection(fetch.raw(call(url, { headers: { 'x-a': 'a\nb' } })).answer)
  assert.is(error.code, 'UND_ERR_INVALID_ARG')
})

test('a body that is cut rejects after what has come: by length, by chunks, by a reset', async () => {
  const cuts: Array<Parameters<typeof rawUpstream>[0]> = [
    (socket) => socket.end(`${OK}content-length: 9\r\n\r\nhalf`),
    (socket) => socket.end(`${OK}transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n`),
    (socket) => socket.end(`${OK}connection: close\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n`),
    (socket) => socket.write(`${OK}content-length: 9\r\n\r\nhalf`, () => socket.resetAndDestroy()),
  ]
  for (const cut of cuts) {
    const { url } = await raw(cut)
    const { body } = await fetch.raw(call(url)).answer
    assert.is(String(Buffer.from((await body.next()) ?? [])), 'half')
    assert.instance(await rejection(body.next()), Error)
  }
})

test('a body that ends with its connection is whole', async () => {
  const { url } = await raw((socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nwhole'))
  assert.is(await textOf((await fetch.raw(call(url)).answer).body), 'whole')
})

test('holds an upstream back whose body nobody takes, and goes on when somebody does', async () => {
  const size = 16 * 1024 * 1024
  let sent = 0
  const { url } = await raw((socket) => {
    socket.write(`${OK}content-length: ${size}\r\n\r\n`)
    const feed = () => {
      while (sent < size) {
        sent += 64 * 1024
        if (!socket.write(Buffer.alloc(64 * 1024))) return
      }
    }
    socket.on('drain', feed)
    feed()
  })
  const { body } = await fetch.raw(call(url)).answer
  for (let before = -1; before !== sent; ) {
    before = sent
    for (let i = 0; i < 50; i += 1) await turn()
  }
  assert.ok(sent < size, 'it was sent as a whole')
  const first = await body.next()
  assert.ok(first && first.length <= 96 * 1024, `${first?.length} bytes were queued`)
  let length = first.length
  for (let chunk = await body.next(); chunk; chunk = await body.next()) length += chunk.length
  assert.is(length, size)
})

test('a held upstream that closes or resets harms nobody', async () => {
  for (const end of ['end', 'resetAndDestroy', 'destroy'] as const) {
    let upstreamSocket = connect({ port: 1 }).on('error', () => {})
    const { url } = await raw((socket) => {
      upstreamSocket = socket
      socket.write(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${'x'.repeat(50_000)}`)
    })
    const { body } = await fetch.raw(call(url)).answer
    await turn()
    const closed = new Promise((resolve) => upstreamSocket.once('close', resolve))
    upstreamSocket[end]()
    if (end !== 'end') await closed
    for (let i = 0; i < 20; i += 1) await turn()
    const outcome = await textOf(body).catch((error: NodeJS.ErrnoException) => error)
    if (end === 'resetAndDestroy') assert.instance(outcome, Error)
    else assert.is(outcome.toString().length, 50_000)
  }
})

test('is cancelled before it is connected: it rejects at once and the connection is given up', async () => {
  const { url, sockets } = await raw(() => {})
  const pending = fetch.raw(call(url))
  const reason = new Error('enough')
  pending.cancel(reason)
  assert.is(await rejection(pending.answer), reason)
  for (let i = 0; i < 20; i += 1) await turn()
  await noneLeft(sockets)
})

test('is cancelled while it connects: no connection comes of it', async () => {
  const asked = Promise.withResolvers<void>()
  const { url, server } = await raw(() => asked.resolve())
  let connections = 0
  server.on('connection', () => {
    connections += 1
  })
  const looked = Promise.withResolvers<() => void>()
  const lookup: LookupFunction = (_, __, found) =>
    looked.resolve(() => found(null, [{ address: '127.0.0.1', family: 4 }]))
  const own = createNodeFetch({ connect: { lookup } })
  closers.push(own.close)
  const pending = own.raw(call(url.replace('127.0.0.1', 'slow.example')))
  const goOn = await looked.promise
  pending.cancel()
  assert.is((await rejection(pending.answer)).name, 'AbortError')
  goOn()
  const next = fetch.raw(call(url)) // a connection that comes after it
  await asked.promise
  next.cancel()
  assert.is(connections, 1)
})

test('is cancelled before its headers: it rejects at once and the connection is cut', async () => {
  const asked = Promise.withResolvers<void>()
  const { url, sockets } = await raw(() => asked.resolve())
  const pending = fetch.raw(call(url))
  await asked.promise
  pending.cancel()
  assert.is((await rejection(pending.answer)).name, 'AbortError')
  await noneLeft(sockets)
})

test('is cancelled in mid body: the connection is cut, a waiting read rejects, and later ones do', async () => {
  const { url, sockets } = await raw((socket) => socket.write(`${OK}content-length: 99\r\n\r\nhalf`))
  const pending = fetch.raw(call(url))
  const { body } = await pending.answer
  await body.next()
  const waiting = rejection(body.next())
  body.cancel('no error')
  assert.is((await waiting).name, 'AbortError')
  assert.is((await rejection(body.next())).name, 'AbortError')
  pending.cancel()
  await noneLeft(sockets)
})

test('what has come is dropped with a cancelled body', async () => {
  const { url } = await raw((socket) => socket.write(`${OK}content-length: 99\r\n\r\nhalf`))
  const { body } = await fetch.raw(call(url)).answer
  body.cancel()
  await rejection(body.next())
})

test('cancelling what is over does nothing, and leaves the connection to others', async () => {
  const { url, sockets } = await http((_, res) => res.end('ok'))
  const pending = fetch.raw(call(url))
  const { body } = await pending.answer
  assert.is(await textOf(body), 'ok')
  pending.cancel()
  body.cancel()
  assert.is(await body.next(), undefined)
  assert.is(await textOf((await fetch.raw(call(url)).answer).body), 'ok')
  assert.is(sockets.size, 1)
})

test('a body that nobody takes does not hold its connection back from the next call', async () => {
  const { url, sockets } = await raw((socket) =>
    socket.write(`${OK}content-length: 50000\r\n\r\n${'x'.repeat(50_000)}`),
  )
  for (let i = 0; i < 3; i += 1) {
    await fetch.raw(call(url)).answer
    for (let j = 0; j < 5; j += 1) await turn()
  }
  assert.is(sockets.size, 1)
})

test('nobody has to look at a call that was cancelled', async () => {
  const { url } = await raw(() => {})
  const fresh = createNodeFetch()
  closers.push(fresh.close)
  for (const own of [fetch, fresh]) own.raw(call(url)).cancel()
  for (let i = 0; i < 20; i += 1) await turn() // the runner fails on a rejection that nobody handles
})

test('a fresh one can be cancelled while undici is being loaded', async () => {
  const { url, sockets } = await raw(() => assert.unreachable())
  const fresh = createNodeFetch()
  const pending = fresh.raw(call(url))
  const reason = new Error('enough')
  pending.cancel(reason)
  assert.is(await rejection(pending.answer), reason)
  assert.is(sockets.size, 0)
  fresh.close()
})

test('goes through a dispatcher when one is given, with the same promises', async () => {
  const dispatcher = new Agent()
  closers.push(() => void dispatcher.destroy())
  const through = createNodeFetch({ dispatcher })
  const size = 4 * 1024 * 1024
  const { url, sockets } = await http((req, res) => {
    if (req.url === '/large') res.end(Buffer.alloc(size))
    else res.write('half')
  })
  const { body } = await through.raw(call(`${url}/large`)).answer
  assert.is((await textOf(body)).length, size)
  assert.ok(Object.keys(dispatcher.stats).includes(url))
  const pending = through.raw(call(url))
  await (await pending.answer).body.next()
  pending.cancel()
  const early = through.raw(call(url))
  early.cancel()
  assert.is((await rejection(early.answer)).name, 'AbortError')
  await noneLeft(sockets)
})

test('is the fetch of Node when it is called as one', async () => {
  const { url } = await http((req, res) => res.end(req.method))
  const response = await fetch(url, { method: 'PUT' })
  assert.instance(response, Response)
  assert.is(await response.text(), 'PUT')
})

test('close ends all connections, idle and busy ones', async () => {
  const own = createNodeFetch()
  const { url, sockets } = await http((req, res) => (req.url === '/wait' ? res.flushHeaders() : res.end()))
  await textOf((await own.raw(call(url)).answer).body)
  const { body } = await own.raw(call(`${url}/wait`)).answer
  const waiting = rejection(body.next())
  own.close()
  assert.instance(await waiting, Error)
  await noneLeft(sockets)
})
