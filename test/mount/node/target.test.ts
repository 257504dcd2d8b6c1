import { parseTarget } from '../../../adapters/mount/node/request-target.ts'
import { toNodeHandler } from '../../../adapters/mount/node.ts'
import { assert, suite } from '../../support/suite.ts'
import { createLab, json, stubGateway } from './lab.ts'

const lab = createLab()
const test = suite('request targets')
test.after(lab.close)

/** Spellings of a path that some parser could take for another path. */
const SPELLINGS = [
  '/v1/models',
  '/v1/models/',
  '/V1/Models',
  '/v1//models',
  '/v1/./models',
  '/v1/../api/keys',
  '/v1/models/../../api/keys',
  '/v1/%2e%2e/api/keys',
  '/v1/%2E%2E/api/keys',
  '/v1/.%2e/api/keys',
  '/v1/%2e/models',
  '/v1/..%2fapi/keys',
  '/v1/..',
  '/v1/.',
  '/..',
  '/../../api/keys',
  '/v1\\models',
  '/v1/..\\..\\api/keys',
  '/v1/models;/../../api/keys',
  '/v1;a=b/models',
  '/v1/models%3b',
  '/v1/models%00',
  '/v1/mod%65ls',
  '/%76%31/models',
  '/v1/models%2fgpt',
  '/v1/models%5cgpt',
  '/v1/models/a:b@c',
  '/v1/models/.../x',
  '/v1/models/.hidden',
  '/v1/models/a..b',
  '/v1/models?',
  '/v1/models?a=/../b',
  '/v1/models?a=%2e%2e/',
  '/v1/models?a=b?c;d',
  "/v1/models?q='x'",
  '/v1/models?a=[1]&b={2}|^`',
  '/v1/models#part',
  '/v1/models/{id}|^`"<>',
  '/v1/models/%',
  '/v1/models/%zz',
  '/v1/models/caf\u00e9',
  '/v1/models/\u6a21\u578b?q=\u00fc',
  "/v1/models/~tilde!$&'()*+,=",
  '/v1/\t/models',
  '/v1/models/a b',
  '/',
  '/?x',
]

test('any spelling of a request target is parsed like the URL of a Fetch request', async () => {
  assert.ok(SPELLINGS.length >= 40)
  for (const spelling of SPELLINGS) {
    const { pathname, search } = new URL(new Request(`http://localhost${spelling}`).url)
    assert.equal(parseTarget(spelling), { path: pathname, query: search }, spelling)
  }
})

test('a request target is rejected unless it starts with a single slash', async () => {
  for (const target of ['*', 'v1/models', '//evil/v1', '/\\evil', '///', '/\t/evil', 'http://a/v1/models', 'a:443', ''])
    assert.is(parseTarget(target), undefined, target)
})

const { port } = await lab.listen(toNodeHandler(stubGateway(({ path, query }) => json({ path, query }))))

/** Sends a request with a handwritten request line. */
async function send(target: string, host = 'localhost'): Promise<string> {
  const connection = lab.dial(port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  await connection.closed
  return connection.text
}

test('over a real connection, the gateway gets the same path that parsing the target returns', async () => {
  const refusedByNode = /[\t \x80-\uffff]/
  for (const spelling of SPELLINGS.filter((text) => !refusedByNode.test(text))) {
    const { pathname, search } = new URL(`http://localhost${spelling}`)
    const text = await send(spelling)
    assert.ok(text.endsWith(`\r\n\r\n${JSON.stringify({ path: pathname, query: search })}`), `${spelling}: ${text}`)
  }
})

test('a request target in absolute form, or that looks like a host, gets a 400', async () => {
  for (const target of ['http://localhost/v1/models', '//evil/v1/models', '*']) {
    const text = await send(target)
    assert.match(text, /^HTTP\/1\.1 400 /, target)
    assert.match(text, /content-type: application\/json\r\n/i)
    assert.match(
      text,
      /"error":"The request target must be a path that starts with .* Check whether the base URL ends with a slash\."/,
    )
  }
})

test("a Host that isn't a host name gets a 400", async () => {
  for (const host of ['a/b', 'evil@localhost', 'a?b', 'a#b', 'a b', 'a:b', 'a:99999', '[::1', 'a\\b', '', '-'])
    assert.match(await send('/v1/models', host), /^HTTP\/1\.1 400 /, host)
})

test("a rejected request doesn't close the connection", async () => {
  const connection = lab.dial(port, 'GET //evil HTTP/1.1\r\nHost: a\r\n\r\n')
  assert.match(await connection.until(/\}$/), /connection: keep-alive/i)
})

test('valid Host headers are accepted', async () => {
  for (const host of [
    'localhost',
    'LOCALHOST:80',
    'my_host.example.com',
    '127.0.0.1:8080',
    '[::1]:8080',
    'a.b.',
    'xn--mnchen-3ya.de',
  ])
    assert.match(await send('/v1/models', host), /^HTTP\/1\.1 200 /, host)
})

test("a request without a Host header is served if its HTTP version doesn't require one", async () => {
  const connection = lab.dial(port, 'GET /v1/models HTTP/1.0\r\n\r\n')
  await connection.closed
  assert.match(connection.text, /^HTTP\/1\.1 200 /)
})

test("TRACE is rejected, because a Fetch request can't have that method", async () => {
  const connection = lab.dial(port, 'TRACE /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  await connection.closed
  assert.match(connection.text, /^HTTP\/1\.1 405 /)
})
