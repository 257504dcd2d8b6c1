import type { ManagementOptions } from '../../src/request/door/management-options.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement, TOKEN } from './open-management.ts'

const test = suite('browser requests to /api')

const open: ManagementOptions = { dangerouslyAllowUnauthenticated: true }
const session: ManagementOptions = { authorize: () => true }
const json = { 'content-type': 'application/json' }
const body = '{"name":"a"}'

const create = async (management: ManagementOptions, headers: Record<string, string>) =>
  (
    await openManagement({ management }).send('POST', '/api/keys', {
      headers: { host: 'localhost:8080', ...headers },
      body,
    })
  ).status

const read = async (management: ManagementOptions, headers: Record<string, string>) =>
  (await openManagement({ management }).send('GET', '/api/keys', { headers })).status

/** Origin headers that a browser may send with a change, and whether the change is allowed. */
const origins: Array<[may: boolean, headers: Record<string, string>]> = [
  [true, {}],
  [true, { origin: 'http://localhost:8080' }],
  [true, { 'sec-fetch-site': 'same-origin' }],
  [true, { 'sec-fetch-site': 'none' }],
  [true, { 'sec-fetch-site': 'same-origin', origin: 'http://localhost:8080' }],
  [false, { origin: 'http://localhost:3000' }],
  [false, { origin: 'http://localhost' }],
  [false, { origin: 'https://evil.example' }],
  [false, { origin: 'http://localhost:8080.evil.example' }],
  [false, { origin: 'null' }],
  [false, { origin: '' }],
  [false, { 'sec-fetch-site': 'cross-site' }],
  [false, { 'sec-fetch-site': 'same-site' }],
  [false, { 'sec-fetch-site': 'cross-site', origin: 'http://localhost:8080' }],
  [false, { 'sec-fetch-site': 'something-new' }],
]
for (const [isAllowed, headers] of origins) {
  test(`a change with ${JSON.stringify(headers)} is ${isAllowed ? 'accepted' : 'rejected with a 403'}`, async () => {
    assert.is(await create(open, { ...json, ...headers }), isAllowed ? 201 : 403)
    assert.is(await create(session, { ...json, ...headers }), isAllowed ? 201 : 403)
    assert.is(await create({ token: TOKEN }, { ...json, ...headers, authorization: `Bearer ${TOKEN}` }), 201)
  })
}

test('the gateway recognizes its own origin with and without the default port', async () => {
  for (const [host, origin] of [
    ['admin.example', 'https://admin.example'],
    ['admin.example:443', 'https://admin.example'],
    ['admin.example', 'http://admin.example:80'],
    ['ADMIN.example', 'https://admin.example'],
    ['[::1]:8080', 'http://[::1]:8080'],
  ] as const) {
    assert.is(await create(session, { ...json, host, origin }), 201, `${host} ${origin}`)
  }
  assert.is(await create(session, { ...json, host: 'admin.example', origin: 'https://admin.example:444' }), 403)
})

test('behind a proxy, the gateway uses publicOrigin instead of Host', async () => {
  const { send } = openManagement({ management: session, publicOrigin: 'https://admin.example' })
  const status = async (origin: string) =>
    (await send('POST', '/api/keys', { headers: { ...json, host: 'internal:8080', origin }, body })).status
  assert.is(await status('https://admin.example'), 201)
  for (const origin of ['http://internal:8080', 'https://admin.example:444'])
    assert.is(await status(origin), 403, origin)
})

test('an unknown origin is treated as cross-origin, regardless of the host', async () => {
  assert.is(await create(session, { ...json, host: 'null', origin: 'null' }), 403)
  for (const host of ['a b', '']) assert.is(await create(session, { ...json, host, origin: 'null' }), 400, host)
})

test("without a Host header, the gateway compares the origin to the URL's host", async () => {
  const { send } = openManagement({ management: session })
  const status = async (origin: string) =>
    (await send('POST', '/api/keys', { headers: { ...json, origin }, body })).status
  assert.is(await status('http://gateway.test'), 201)
  assert.is(await status('http://other.test'), 403)
})

for (const charset of ['utf-16', '"utf-16be"', 'iso-8859-1']) {
  test(`rejects a body in ${charset} with a 415`, async () => {
    const management = openManagement({ management: open })
    const headers = { 'content-type': `application/json; charset=${charset}` }
    const response = await management.send('POST', '/api/keys', { headers, body })
    assert.is(response.status, 415)
    assert.is(response.body.error, `Send the JSON in UTF-8; the content-type says "${charset.replaceAll('"', '')}".`)
    assert.is((await management.gateway.api.keys.list()).keys.length, 0)
  })
}

const types: Array<[may: boolean, type: string | undefined]> = [
  [true, 'application/json'],
  [true, 'application/json; charset=utf-8'],
  [true, 'Application/JSON ;charset=utf-8'],
  [true, 'application/json; charset="US-ASCII"'],
  [true, 'application/vnd.api+json'],
  [false, 'text/plain'],
  [false, 'text/plain; application/json'],
  [false, 'text/plain, application/json'],
  [false, 'application/x-www-form-urlencoded'],
  [false, 'multipart/form-data; boundary=x'],
  [false, 'application/jsonp'],
  [false, 'x/application/json'],
  [false, undefined],
]
for (const [isAllowed, type] of types) {
  test(`a body of type ${type} is ${isAllowed ? 'accepted' : 'rejected with a 415'} in every mode`, async () => {
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
    for (const management of [open, session]) {
      const door = openManagement({ management })
      const response = await door.send('POST', '/api/keys', { headers, body: new TextEncoder().encode(body) })
      assert.is(response.status, isAllowed ? 201 : 415)
      assert.is((await door.gateway.api.keys.list()).keys.length, isAllowed ? 1 : 0)
      if (!isAllowed) assert.match(response.body.error, 'Send JSON with the header "content-type: application/json"')
    }
    const headersWithToken = { ...headers, authorization: `Bearer ${TOKEN}` }
    const reply = await openManagement().send('POST', '/api/keys', {
      headers: headersWithToken,
      body: new TextEncoder().encode(body),
    })
    assert.is(reply.status, isAllowed ? 201 : 415)
  })
}

test('a DELETE needs the right origin, but no content type', async () => {
  for (const management of [open, session]) {
    const { send, gateway } = openManagement({ management })
    const { id } = await gateway.api.keys.create({ name: 'a' })
    const headers = { host: 'localhost', 'sec-fetch-site': 'cross-site' }
    assert.is((await send('DELETE', `/api/keys/${id}`, { headers })).status, 403)
    assert.is((await send('DELETE', `/api/keys/${id}`)).status, 200)
  }
})

test('authorize is called before the origin check, so a rejected caller learns nothing else', async () => {
  const headers = { 'sec-fetch-site': 'cross-site', 'content-type': 'text/plain' }
  assert.is(await create({ authorize: () => false }, headers), 401)
})

/** Hosts that a browser may use without authentication, and host names that an attacker may have pointed at this machine. */
const hosts: Array<[may: boolean, host: string]> = [
  [true, 'localhost'],
  [true, 'LOCALHOST:8080'],
  [true, 'localhost.:8080'],
  [true, 'app.localhost:8080'],
  [true, '127.0.0.1:8080'],
  [true, '192.168.1.20'],
  [true, '[::1]:8080'],
  [true, '[fe80::1]'],
  [true, 'box.lan:8080'],
  [true, 'BOX.lan'],
  [false, 'evil.example'],
  [false, 'evil.example:8080'],
  [false, 'localhost.evil.example'],
  [false, 'notlocalhost'],
  [false, '127.0.0.1.evil.example'],
  [false, 'other.box.lan'],
  [false, 'box.lan.evil.example'],
  [false, 'lan'],
]
/** Values that aren't valid hosts, which are rejected for all clients. */
const noHosts = [
  'localhost@evil.example',
  'evil.example#localhost',
  'evil.example/localhost',
  'evil.example@localhost',
  'localhost/evil.example',
  'localhost#evil.example',
  'localhost?evil.example',
  'a b',
  '',
]
const browsers: Array<Record<string, string>> = [
  { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' },
  { 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-mode': 'cors' },
  { 'sec-fetch-dest': 'empty' },
]
for (const [isAllowed, host] of hosts) {
  const isMalformed = /^$|[@#/?]/.test(host) // rejected for everyone, before anything else
  const status = isAllowed ? 200 : isMalformed ? 400 : 403
  test(`without authentication, a browser request to the host "${host}" is ${isAllowed ? 'accepted' : `rejected with ${status}`}`, async () => {
    const management = { ...open, allowedHosts: ['Box.lan'] }
    for (const browser of browsers) {
      assert.is(await read(management, { ...browser, host }), status, JSON.stringify(browser))
      if (!isAllowed) assert.is(await create(management, { ...json, ...browser, host }), status)
    }
    assert.is(await read(management, { origin: `http://${host}`, host }), status)
    if (isMalformed) return
    assert.is(await read(management, { host, 'user-agent': 'curl/8' }), 200) // no web page can send this request
    assert.is(await read(session, { host, 'sec-fetch-site': 'same-origin' }), 200) // a session cookie is bound to its host
  })
}

for (const host of noHosts) {
  test(`rejects the malformed host "${host}"`, async () => {
    for (const headers of [...browsers, { 'user-agent': 'curl/8' }]) {
      assert.is(await read(open, { ...headers, host }), 400)
      assert.is(await create(open, { ...json, ...headers, host }), 400)
    }
  })
}

test('the error for a rejected host explains how to allow it', async () => {
  const { send } = openManagement({ management: open })
  const { body } = await send('GET', '/api/keys', { headers: { host: 'box.lan', 'sec-fetch-site': 'none' } })
  assert.is(
    body.error,
    'Without authentication, browsers can only use the management API on this machine, not at "box.lan". If that host is yours, add it to management.allowedHosts.',
  )
})
