import { type NodeServer, type ServeNodeOptions, serveNode } from '../../../adapters/mount/node.ts'
import { assert, suite } from '../../support/suite.ts'
import { createLab, json, source, stubGateway } from './lab.ts'

const lab = createLab()
const servers: NodeServer[] = []
const test = suite('serveNode')
test.after(async () => {
  lab.close()
  await Promise.all(servers.map((server) => server.close({ graceMs: 0 })))
})

async function serve(respond: Parameters<typeof stubGateway>[0], options?: ServeNodeOptions): Promise<NodeServer> {
  const server = await serveNode(stubGateway(respond), options)
  servers.push(server)
  return server
}

const request = (host: string, path = '/v1') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`

test('serveNode listens on a free local port and reports it', async () => {
  const { url, port } = await serve(({ path }) => json(path))
  assert.is(url, `http://127.0.0.1:${port}`)
  assert.is(await (await fetch(`${url}/v1`)).json(), '/v1')
})

test('serveNode reports a reachable URL for each address it can listen on', async () => {
  for (const [hostname, name] of [
    ['::1', '[::1]'],
    ['0.0.0.0', 'localhost'],
    ['localhost', 'localhost'],
  ] as const) {
    const server = await serve(({ path }) => json(path), { hostname }).catch((error) => error)
    if (server instanceof Error && hostname === '::1') continue // the machine has no IPv6
    assert.is(server.url, `http://${name}:${server.port}`)
    assert.is(await (await fetch(`${server.url}/v1`)).json(), '/v1')
  }
})

test("serveNode returns the gateway's reply for paths outside the gateway", async () => {
  const { url } = await serve(() => json('ours'))
  assert.is((await fetch(`${url}/host`)).status, 404)
})

test('serveNode rejects with a clear message if the port is in use', async () => {
  const { port } = await lab.listen(() => {})
  const error = await serveNode(
    stubGateway(() => undefined),
    { port },
  ).catch((cause) => cause)
  assert.is(error.message, `Port ${port} on 127.0.0.1 is already in use. Choose another port, or 0 for any free one.`)
  assert.is(error.code, 'EADDRINUSE')
})

test("serveNode rejects with a clear message if the address isn't a local one", async () => {
  const error = await serveNode(
    stubGateway(() => undefined),
    { hostname: '192.0.2.1' },
  ).catch((cause) => cause)
  assert.match(
    error.message,
    /^Port 0 on 192\.0\.2\.1 cannot be opened because the address does not belong to this machine\.$/,
  )
})

test("serveNode on a loopback address accepts only hosts that other sites' pages can't have", async () => {
  const { port } = await serve(() => json('secret'))
  const status = async (host: string) => {
    const connection = lab.dial(port, request(host))
    return Number((await connection.until(/\}$|"$/)).split(' ')[1])
  }
  for (const host of [
    'localhost',
    `LocalHost:${port}`,
    'localhost.',
    'app.localhost:1',
    '127.0.0.1',
    '10.0.0.1:80',
    '[::1]:9',
  ])
    assert.is(await status(host), 200, host)
  for (const host of [
    'evil.example',
    `rebind.evil.example:${port}`,
    'localhost.evil.example',
    'evillocalhost',
    '127.0.0.1.evil',
  ]) {
    assert.is(await status(host), 403, host)
    assert.is(await status(host), 403, `${host} again`)
  }
})

test("serveNode's error explains how to allow a host, and allowed hosts are accepted", async () => {
  const { port } = await serve(() => json('ours'), { allowedHosts: ['Gateway.Example'] })
  const rejected = lab.dial(port, request('evil.example'))
  assert.match(
    await rejected.until(/\}$/),
    /^HTTP\/1\.1 403 [\s\S]*\{"error":"This gateway does not accept requests for the host \\"evil\.example\\"\. To allow it, add it to allowedHosts\."\}$/,
  )
  const letIn = lab.dial(port, request('gateway.example:1234'))
  assert.match(await letIn.until(/"ours"$/), /^HTTP\/1\.1 200 /)
})

test('serveNode on other addresses accepts every host unless allowedHosts is set', async () => {
  const open = await serve(() => json('ours'), { hostname: '0.0.0.0' })
  await lab.dial(open.port, request('anything.example')).until(/"ours"$/)
  const named = await serve(() => json('ours'), { hostname: '0.0.0.0', allowedHosts: ['a.example'] })
  await lab.dial(named.port, request('anything.example')).until(/403 /)
})

test('serveNode sends 100 Continue only once the body is read', async () => {
  const { port } = await serve(async (exchange) => {
    if (exchange.path === '/v1/unread') return json('unread')
    return json(Buffer.from(await exchange.body(10)).toString())
  })
  const post = (path: string, length: number) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`
  const read = lab.dial(port, post('/v1', 4))
  await read.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/)
  read.socket.write('body')
  await read.until(/HTTP\/1\.1 200 [\s\S]*"body"$/)
  const unread = lab.dial(port, post('/v1/unread', 4))
  assert.match(await unread.until(/"unread"$/), /^HTTP\/1\.1 200 [\s\S]*connection: close/i)
  await unread.closed
})

test('closing a Node server lets in-flight responses finish, rejects new connections, and ends idle ones', async () => {
  const body = source()
  const server = await serve(() => ({ status: 200, headers: {}, body }))
  const idle = lab.dial(server.port, request('localhost', '/host'))
  await idle.until(/\}$/)
  const busy = lab.dial(server.port, request('localhost'))
  await busy.until(/\r\n\r\n$/)
  const closed = server.close({ graceMs: 60_000 })
  await idle.closed
  const late = lab.dial(server.port)
  await late.closed
  body.push('data')
  body.end()
  await busy.until(/data\r\n0\r\n\r\n$/)
  await closed
  await busy.closed
})

test("closing a Node server cuts off responses that don't finish in time, and notifies the gateway", async () => {
  const body = source()
  const server = await serve(() => ({ status: 200, headers: {}, body }))
  const busy = lab.dial(server.port, request('localhost'))
  await busy.until(/\r\n\r\n$/)
  const closing = server.close({ graceMs: 20 })
  assert.is(server.close(), closing, 'a second close() returns the same promise')
  await closing
  await busy.closed
  await body.canceled
})

test('a connection that sends another request while the server is closing gets one more response', async () => {
  const body = source()
  const server = await serve(({ path }) => (path === '/v1' ? { status: 200, headers: {}, body } : json('last')))
  const busy = lab.dial(server.port, request('localhost'))
  await busy.until(/\r\n\r\n$/)
  const closing = server.close({ graceMs: 60_000 })
  await new Promise((resolve) => busy.socket.write(request('localhost', '/v1/next'), resolve))
  body.end()
  assert.match(await busy.until(/"last"$/), /\r\n0\r\n\r\nHTTP\/1\.1 200 [\s\S]*connection: close/i)
  await closing
  await busy.closed
})

test('serveNode keeps idle connections open longer than load balancers do', async () => {
  const { port } = await serve(() => json('ours'))
  const connection = lab.dial(port, request('localhost'))
  assert.match(await connection.until(/"ours"$/), /keep-alive: timeout=65/i)
})
