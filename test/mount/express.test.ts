import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { toExpressHandler } from '../../adapters/mount/express.ts'
import { assert, suite } from '../support/suite.ts'
import { createLab, json, source, stubGateway } from './node/lab.ts'

type Next = (error?: unknown) => void
type Middleware = (req: IncomingMessage, res: ServerResponse, next: Next) => void

/** The parts of Express that these tests use, which has no types of its own. */
interface Express {
  (): RequestListener & { use(path: string | Middleware, middleware?: Middleware): void }
  json(options?: { limit?: string }): Middleware
  raw(options: { type: string }): Middleware
  text(options: { type: string }): Middleware
  urlencoded(options: { extended: boolean }): Middleware
}

/** Returns what the gateway received: method, path, query, relevant headers, and body. */
const echo = stubGateway(async (exchange) =>
  json({
    method: exchange.method,
    target: exchange.path + exchange.query,
    encoding: exchange.header('content-encoding') ?? null,
    url: exchange.toRequest().url.replace(/^http:\/\/[^/]+/, ''),
    body: Buffer.from(await exchange.body(1_000_000)).toString(),
  }),
)

for (const name of ['express', 'express4']) {
  const { default: express } = (await import(name)) as { default: Express }
  const lab = createLab()
  const test = suite(`${name === 'express' ? 'Express 5' : 'Express 4'}`)
  test.after(lab.close)

  const post = async (url: string, body: BodyInit, type = 'application/json') => {
    const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': type } })
    return response.json()
  }

  test('Express strips the mount path for a gateway without a base path', async () => {
    const app = express()
    app.use('/ai', toExpressHandler(echo))
    const { url } = await lab.listen(app)
    const body = '{"n":12345678901234567890}'
    assert.equal(await post(`${url}/ai/v1/models?a=1`, body), {
      method: 'POST',
      target: '/v1/models?a=1',
      encoding: null,
      url: '/v1/models?a=1',
      body,
    })
    assert.is((await (await fetch(`${url}/ai`)).json()).target, '/')
    assert.is((await (await fetch(`${url}/ai/v1/%2e%2e/api`)).json()).target, '/api')
  })

  test(`${name === 'express' ? 'Express 5' : 'Express 4'} keeps the full path for a gateway with a base path`, async () => {
    const app = express()
    app.use('/ai', toExpressHandler({ ...echo, basePath: '/ai' }))
    const { url } = await lab.listen(app)
    assert.is((await (await fetch(`${url}/ai/v1/models`)).json()).target, '/ai/v1/models')
  })

  test(`${name === 'express' ? 'Express 5' : 'Express 4'} works under a nested router`, async () => {
    const inner = express()
    inner.use('/b', toExpressHandler(echo))
    const app = express()
    app.use('/a', inner)
    const { url } = await lab.listen(app)
    assert.is((await (await fetch(`${url}/a/b/v1/models`)).json()).target, '/v1/models')
  })

  const parsers: Array<[name: string, parser: (from: Express) => Middleware, type: string, sent: string]> = [
    ['json', (from) => from.json(), 'application/json', '{"a":["\u00e9",1.5,null]}'],
    ['json, for another content type', (from) => from.json(), 'text/plain', 'left alone'],
    ['raw', (from) => from.raw({ type: '*/*' }), 'application/json', '{"exact" : 12345678901234567890}'],
    ['text', (from) => from.text({ type: '*/*' }), 'application/json', '{"exact" : 12345678901234567890}'],
  ]
  for (const [parser, make, type, sent] of parsers) {
    test(`${name === 'express' ? 'Express 5' : 'Express 4'} supports a body that a parser has consumed: ${parser}`, async () => {
      const app = express()
      app.use(make(express))
      app.use('/ai', toExpressHandler(echo))
      const { url } = await lab.listen(app)
      assert.is((await post(`${url}/ai/v1`, sent, type)).body, sent)
    })
  }

  test("a body that a parser has decompressed isn't treated as compressed", async () => {
    const app = express()
    app.use(express.json())
    app.use('/ai', toExpressHandler(echo))
    const { url } = await lab.listen(app)
    const { gzipSync } = await import('node:zlib')
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const response = await fetch(`${url}/ai/v1`, { method: 'POST', body: gzipSync('{"a":1}'), headers })
    const { encoding, body } = await response.json()
    assert.equal([encoding, body], [null, '{"a":1}'])
  })

  test("the gateway uses a parsed body's exact bytes if the host app keeps them", async () => {
    const app = express()
    app.use((req, _, next) => {
      const kept = { rawBody: Buffer.from('{"n":12345678901234567890}'), body: { n: 1 } }
      Object.assign(req, kept)
        .resume()
        .on('end', () => next())
    })
    app.use('/ai', toExpressHandler(echo))
    const { url } = await lab.listen(app)
    assert.is((await post(`${url}/ai/v1`, '{}')).body, '{"n":12345678901234567890}')
  })

  test("the gateway's body limit also applies to a body that Express has parsed", async () => {
    const small = stubGateway(async (exchange) => json(await exchange.body(5).catch((error) => error.code)))
    const app = express()
    app.use(express.json())
    app.use('/ai', toExpressHandler(small))
    const { url } = await lab.listen(app)
    assert.is(await post(`${url}/ai/v1`, '{"a":1}'), 'PAYLOAD_TOO_LARGE')
  })

  test(`${name === 'express' ? 'Express 5' : 'Express 4'} explains what to do if the body was consumed but not parsed`, async () => {
    const app = express()
    app.use((req, _, next) => {
      req.resume().on('end', () => next())
    })
    app.use('/ai', toExpressHandler(stubGateway(async (x) => json(await x.body(9).catch((error) => error.message)))))
    const { url } = await lab.listen(app)
    assert.match(await post(`${url}/ai/v1`, '{}'), /Mount the gateway before any body parser\. In Fastify/)
  })

  test('a request outside the gateway goes to the next handler, with its body unread', async () => {
    const app = express()
    app.use(toExpressHandler(echo))
    app.use(express.text({ type: '*/*' }))
    app.use((req, res) => res.end(`host: ${String((req as { body?: unknown }).body)}`))
    const { url } = await lab.listen(app)
    const response = await fetch(`${url}/host/page`, { method: 'POST', body: 'kept' })
    assert.is(await response.text(), 'host: kept')
  })

  test('an invalid request target is rejected only inside the base path', async () => {
    const app = express()
    app.use(toExpressHandler({ ...echo, basePath: '/ai' }))
    app.use((_, res) => res.end('host'))
    const { port } = await lab.listen(app)
    const send = async (target: string, host = 'a') => {
      const connection = lab.dial(port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      await connection.closed
      return connection.text
    }
    assert.match(await send('//elsewhere'), /host$/)
    assert.match(await send('/ai/v1', 'a/b'), /^HTTP\/1\.1 400 /)
    assert.match(await send('/host', 'a/b'), /host$/)
  })

  test('each chunk is sent as it arrives, and the gateway is notified when the client disconnects', async () => {
    const body = source()
    const app = express()
    app.use(
      '/ai',
      toExpressHandler(stubGateway(() => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body }))),
    )
    const { port } = await lab.listen(app)
    const connection = lab.dial(port, 'GET /ai/v1 HTTP/1.1\r\nHost: a\r\n\r\n')
    await connection.until(/\r\n\r\n$/)
    body.push('data: 1\n\n')
    await connection.until(/data: 1\n\n\r\n$/)
    connection.socket.destroy()
    await body.canceled
  })
}
