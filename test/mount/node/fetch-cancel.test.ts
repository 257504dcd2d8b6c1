import { connect, type LookupFunction } from 'node:net'
import { createNodeFetch } from '../../../adapters/mount/node.ts'
import { assert, suite } from '../../support/suite.ts'
import { call, createCallLab, getText, rejection } from './call-lab.ts'
import { turn } from './lab.ts'
import { noneLeft } from './upstream.ts'

const test = suite('paused and canceled calls over undici')

const { fetch, http, raw, closers } = createCallLab(test.after)

const OK = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n'

test('a call over undici pauses its upstream while nobody reads the body', async () => {
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
  const { body } = await fetch.raw(call(url)).response
  for (let before = -1; before !== sent; ) {
    before = sent
    for (let i = 0; i < 50; i += 1) await turn()
  }
  assert.ok(sent < size, 'the entire body was sent')
  const first = await body.next()
  assert.ok(first && first.length <= 96 * 1024, `${first?.length} bytes were queued`)
  let length = first.length
  for (let chunk = await body.next(); chunk; chunk = await body.next()) length += chunk.length
  assert.is(length, size)
})

test('a paused upstream that closes or resets has no effect on other calls', async () => {
  for (const end of ['end', 'resetAndDestroy', 'destroy'] as const) {
    let upstreamSocket = connect({ port: 1 }).on('error', () => {})
    const { url } = await raw((socket) => {
      upstreamSocket = socket
      socket.write(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${'x'.repeat(50_000)}`)
    })
    const { body } = await fetch.raw(call(url)).response
    await turn()
    const closed = new Promise((resolve) => upstreamSocket.once('close', resolve))
    upstreamSocket[end]()
    if (end !== 'end') await closed
    for (let i = 0; i < 20; i += 1) await turn()
    const outcome = await getText(body).catch((error: NodeJS.ErrnoException) => error)
    if (end === 'resetAndDestroy') assert.instance(outcome, Error)
    else assert.is(outcome.toString().length, 50_000)
  }
})

test('canceling a call over undici before it is connected rejects immediately and abandons the connection', async () => {
  const { url, sockets } = await raw(() => {})
  const pending = fetch.raw(call(url))
  const reason = new Error('enough')
  pending.cancel(reason)
  assert.is(await rejection(pending.response), reason)
  for (let i = 0; i < 20; i += 1) await turn()
  await noneLeft(sockets)
})

test('canceling a call over undici while it connects leaves no connection behind', async () => {
  const pendingRequest = Promise.withResolvers<void>()
  const { url, server } = await raw(() => pendingRequest.resolve())
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
  const resume = await looked.promise
  pending.cancel()
  assert.is((await rejection(pending.response)).name, 'AbortError')
  resume()
  const next = fetch.raw(call(url)) // a connection that opened after the cancellation
  await pendingRequest.promise
  next.cancel()
  assert.is(connections, 1)
})

test('canceling a call over undici before its headers arrive rejects immediately and closes the connection', async () => {
  const pendingRequest = Promise.withResolvers<void>()
  const { url, sockets } = await raw(() => pendingRequest.resolve())
  const pending = fetch.raw(call(url))
  await pendingRequest.promise
  pending.cancel()
  assert.is((await rejection(pending.response)).name, 'AbortError')
  await noneLeft(sockets)
})

test('canceling a call over undici mid-body closes the connection and rejects pending and later reads', async () => {
  const { url, sockets } = await raw((socket) => socket.write(`${OK}content-length: 99\r\n\r\nhalf`))
  const pending = fetch.raw(call(url))
  const { body } = await pending.response
  await body.next()
  const waiting = rejection(body.next())
  body.cancel('no error')
  assert.is((await waiting).name, 'AbortError')
  assert.is((await rejection(body.next())).name, 'AbortError')
  pending.cancel()
  await noneLeft(sockets)
})

test('canceling a body drops the chunks that have arrived', async () => {
  const { url } = await raw((socket) => socket.write(`${OK}content-length: 99\r\n\r\nhalf`))
  const { body } = await fetch.raw(call(url)).response
  body.cancel()
  await rejection(body.next())
})

test("canceling a finished call is a no-op and doesn't affect its connection", async () => {
  const { url, sockets } = await http((_, res) => res.end('ok'))
  const pending = fetch.raw(call(url))
  const { body } = await pending.response
  assert.is(await getText(body), 'ok')
  pending.cancel()
  body.cancel()
  assert.is(await body.next(), undefined)
  assert.is(await getText((await fetch.raw(call(url)).response).body), 'ok')
  assert.is(sockets.size, 1)
})

test("an unread body doesn't block its connection for the next call", async () => {
  const { url, sockets } = await raw(
    (socket) => socket.write(`${OK}content-length: 7000\r\n\r\n${'x'.repeat(7_000)}`), // one read returns more than may stay unread
  )
  for (let i = 0; i < 3; i += 1) {
    await fetch.raw(call(url)).response
    for (let j = 0; j < 5; j += 1) await turn()
  }
  assert.is(sockets.size, 1)
})

test('the response promise of a canceled call may stay unhandled', async () => {
  const { url } = await raw(() => {})
  const fresh = createNodeFetch()
  closers.push(fresh.close)
  for (const own of [fetch, fresh]) own.raw(call(url)).cancel()
  for (let i = 0; i < 20; i += 1) await turn() // the test runner fails on unhandled rejections
})

test('the first call can be canceled while undici is still loading', async () => {
  const { url, sockets } = await raw(() => assert.unreachable())
  const fresh = createNodeFetch()
  const pending = fresh.raw(call(url))
  const reason = new Error('enough')
  pending.cancel(reason)
  assert.is(await rejection(pending.response), reason)
  assert.is(sockets.size, 0)
  fresh.close()
})
