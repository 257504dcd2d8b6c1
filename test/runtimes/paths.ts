import { connect } from 'node:net'
import { spellings } from '../support/spellings.ts'
import { assert, suite } from '../support/suite.ts'
import type { Server } from './child.ts'

/** Path spellings that a request line can contain. */
const sendable = spellings.filter(([spelling]) => !spelling.includes('\t'))

const hosts = [
  'a/api/keys?',
  'a/v1/models?',
  'a/v1/models#',
  'a\\api\\keys?',
  'x@localhost',
  'a b',
  'a%2fb',
  '[::1',
  'a?',
]

/** Tests that the gateway authorizes the path in the request line, however the runtime builds its URLs. */
export function addPathTests(name: string, start: () => Promise<Server>): void {
  const test = suite(`request paths of ${name}`)
  let server: Server
  let below = ''
  test.before(async () => {
    server = await start()
    below = new URL(server.url).pathname.replace(/\/$/, '')
  })
  test.after(() => server?.stop())

  test(`authorization and routing agree on the path in ${sendable.length} spellings`, async () => {
    let answered = 0
    for (const [spelling, area] of sendable) {
      if (below && !spelling.startsWith('/')) continue // outside the adapter's path
      const { status, text } = await send(server.url, `${below}${spelling}`, 'localhost')
      if (status === 400) continue // rejected before routing
      answered += 1
      const location = `${spelling}: ${text}`
      assert.ok(status > 0 && status < 500, location)
      assert.is(status === 401, area === 'management', location)
      if (area === 'elsewhere') assert.is(status, 404, location)
    }
    assert.ok(answered > 30, `${answered} spellings got a response`)
  })

  test("paths don't depend on the Host", async () => {
    for (const host of hosts) {
      for (const path of ['/nowhere', '/v1/models', '/api/keys']) {
        const { status, text } = await send(server.url, `${below}${path}`, host)
        assert.ok(
          status === 400 || status === 403 || (status === 404 && path === '/nowhere'),
          `${host} ${path}: ${text}`,
        )
      }
    }
  })
}

/** Sends a raw request line and `Host`. Resolves to the response, or to status 0 if the server hangs up without one. */
function send(url: string, target: string, host: string): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(Number(port), hostname)
    socket.setEncoding('latin1')
    socket.on('data', (part) => {
      text += part
    })
    socket.on('error', () => {}) // `close` follows and handles it
    socket.on('close', () => resolve({ status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0), text }))
    socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`, 'latin1')
  })
}
