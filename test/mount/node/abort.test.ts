import { toNodeHandler } from '../../../adapters/mount/node.ts'
import type { Exchange } from '../../../src/index.ts'
import { assert, suite } from '../../support/suite.ts'
import { createLab, json, source, stubGateway, turn } from './lab.ts'

const lab = createLab()
const test = suite('client disconnects')
test.after(lab.close)

/** A body as long as a coding tool's, so it doesn't arrive in the same packet as the headers. */
const BODY = 'x'.repeat(20_000)
const POST = `POST /v1 HTTP/1.1\r\nHost: a\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`

/** Serves a gateway that reads the body before it responds. */
const serve = (respond: Parameters<typeof stubGateway>[0]) =>
  lab.listen(
    toNodeHandler(
      stubGateway(async (exchange) => {
        await exchange.body(BODY.length)
        return respond(exchange)
      }),
    ),
  )

/** Resolves when the exchange reports that its client disconnected. */
const waitForAbort = (exchange: Exchange) => new Promise<void>((resolve) => void exchange.onAbort(resolve))

test('a client disconnect is reported before there is a response', async () => {
  const left = Promise.withResolvers<void>()
  const { port } = await serve(async (exchange) => {
    connection.socket.destroy()
    await waitForAbort(exchange)
    left.resolve()
    return json('too late')
  })
  const connection = lab.dial(port, POST)
  await left.promise
})

test('a client disconnect is reported, and cancels the stream, before the first chunk and mid-stream', async () => {
  for (const chunks of [0, 2]) {
    const body = source()
    const left = Promise.withResolvers<void>()
    const { port } = await serve((exchange) => {
      exchange.onAbort(left.resolve)
      return { status: 200, headers: {}, body }
    })
    const connection = lab.dial(port, POST)
    await connection.until(/\r\n\r\n$/)
    for (let i = 0; i < chunks; i += 1) body.push('chunk')
    if (chunks) await connection.until(/chunk[\s\S]*chunk\r\n$/)
    connection.socket.destroy()
    await Promise.all([left.promise, body.canceled])
  }
})

test("a client disconnect is reported while the client isn't reading", async () => {
  const body = source()
  const { port } = await serve(() => ({ status: 200, headers: {}, body }))
  const connection = lab.dial(port, POST)
  await connection.until(/\r\n\r\n$/)
  connection.socket.pause()
  for (let i = 0; i < 200; i += 1) body.push('x'.repeat(64 * 1024))
  for (let pulls = -1; pulls !== body.pulls; await turn()) pulls = body.pulls
  connection.socket.resetAndDestroy()
  await body.canceled
})

test('a client disconnect is reported if the client resets the connection mid-stream', async () => {
  const body = source()
  const { port } = await serve(() => ({ status: 200, headers: {}, body }))
  const connection = lab.dial(port, POST)
  await connection.until(/\r\n\r\n$/)
  connection.socket.resetAndDestroy()
  await body.canceled
})

test("a client disconnect before the reply cancels the reply's stream", async () => {
  const body = source()
  const { port } = await serve(async (exchange) => {
    connection.socket.destroy()
    await waitForAbort(exchange)
    return { status: 200, headers: {}, body }
  })
  const connection = lab.dial(port, POST)
  await body.canceled
})

test('a client disconnect is reported to all listeners, even if one removes another', async () => {
  const seen: number[] = []
  const done = Promise.withResolvers<void>()
  const { port } = await serve((exchange) => {
    const stops = [1, 2, 3].map((n) =>
      exchange.onAbort(() => {
        seen.push(n)
        for (const stop of stops) stop()
        if (n === 3) done.resolve()
      }),
    )
    connection.socket.destroy()
    return new Promise(() => {})
  })
  const connection = lab.dial(port, POST)
  await done.promise
  assert.equal(seen, [1, 2, 3])
})

test('a client disconnect is reported once to each listener, even a late one', async () => {
  const seen: string[] = []
  const done = Promise.withResolvers<void>()
  const { port } = await serve(async (exchange) => {
    exchange.onAbort(() => seen.push('early'))
    exchange.onAbort(() => seen.push('stopped'))()
    connection.socket.destroy()
    await waitForAbort(exchange)
    exchange.onAbort(() => seen.push('late'))()
    done.resolve()
    return undefined
  })
  const connection = lab.dial(port, POST)
  await done.promise
  assert.equal(seen, ['early', 'late'])
})

test('if the host app ends the response itself, the gateway treats the client as disconnected', async () => {
  const left = Promise.withResolvers<void>()
  const handle = toNodeHandler(
    stubGateway(async (exchange) => {
      await waitForAbort(exchange)
      left.resolve()
      return json('too late')
    }),
  )
  const { url } = await lab.listen((req, res) => {
    handle(req, res)
    res.writeHead(503).end()
  })
  assert.is((await fetch(url)).status, 503)
  await left.promise
})

test("closing the connection after a complete response isn't a disconnect, for text and for streams", async () => {
  const seen: string[] = []
  const { port } = await serve((exchange) => {
    exchange.onAbort(() => seen.push(exchange.path))
    if (exchange.path === '/v1/text') return json('whole')
    const body = source()
    body.push('"whole')
    body.push('"')
    body.end()
    return { status: 200, headers: {}, body }
  })
  for (const path of ['/v1/text', '/v1/stream']) {
    const connection = lab.dial(port, POST.replace('/v1', path))
    await connection.until(/whole"|0\r\n\r\n$/)
    connection.socket.destroy()
    const other = lab.dial(port, POST.replace('/v1', '/v1/text')) // its response shows that the server has noticed the first client's disconnect
    await other.until(/whole"$/)
  }
  await turn()
  assert.equal(seen, [])
})

test('a client disconnect is reported to every pipelined request, including queued ones, without a warning', async () => {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => void warnings.push(warning)
  process.on('warning', onWarning)
  const started = Promise.withResolvers<void>()
  const leavings: Promise<void>[] = []
  const { port } = await serve((exchange) => {
    leavings.push(waitForAbort(exchange))
    if (leavings.length === 15) started.resolve()
    return new Promise(() => {})
  })
  const connection = lab.dial(port, POST.repeat(15))
  await started.promise
  connection.socket.destroy()
  await Promise.all(leavings)
  await turn()
  process.off('warning', onWarning)
  assert.equal(warnings, [])
})

test('a client that disconnected before its handler ran is reported from the start', async () => {
  const gone = Promise.withResolvers<boolean>()
  const handle = toNodeHandler(
    stubGateway((exchange) => {
      let isGone = false
      exchange.onAbort(() => {
        isGone = true
      })
      gone.resolve(isGone)
      return undefined
    }),
  )
  const { port } = await lab.listen((req, res) => {
    res.on('close', () => handle(req, res))
    connection.socket.destroy()
  })
  const connection = lab.dial(port, POST)
  assert.is(await gone.promise, true)
})
