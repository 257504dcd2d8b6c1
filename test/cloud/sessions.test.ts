import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createIdentity, getGatewayId } from '../../src/features/cloud-sync/cryptography.ts'
import { paths, SESSION_MS } from '../../src/features/cloud-sync/protocol.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { createClient } from './support/client.ts'
import { ENROLLMENT_TOKEN, openProxy } from './support/proxy.ts'

const test = suite('sessions at a cloud proxy')

test('a proxy returns its name and protocol version without a credential', async () => {
  const { server } = openProxy()
  const client = await createClient(server)
  const response = await client.send({ method: 'GET', path: paths.hello, headers: {} })
  assert.equal(response, { status: 200, body: { service: 'signalbox-cloud', protocol: 1 } })
})

test('a gateway needs the enrollment token only to open its first session', async () => {
  const { server, storage } = openProxy()
  const client = await createClient(server)
  const rejected = await client.open()
  assert.is(rejected.status, 401)
  assert.is(rejected.body.code, 'NOT_ENROLLED')
  const wrong = await client.open(`${ENROLLMENT_TOKEN.slice(0, -1)}x`)
  assert.is(wrong.body.code, 'NOT_ENROLLED')
  assert.match(String(wrong.body.error), /is wrong/)
  const tenant = await getGatewayId(client.kept.publicKey)
  assert.equal(
    (await storage.list('')).filter(({ key }) => key.includes(tenant)),
    [],
  )
  assert.is((await client.open(ENROLLMENT_TOKEN)).status, 200)
  assert.is((await client.open()).status, 200)
  const { body } = await client.call('GET', paths.sessions)
  assert.is(Array.isArray(body.sessions) && body.sessions.length, 2)
})

test('a proxy without an enrollment token enrolls no new gateway, and the error explains why', async () => {
  const { server } = openProxy({ enrollmentToken: undefined } as object)
  const client = await createClient(server)
  const { status, body } = await client.open(ENROLLMENT_TOKEN)
  assert.is(status, 401)
  assert.match(String(body.error), /createCloudProxy\(\{ enrollmentToken \}\)/)
})

test('a challenge opens only one session, even after the proxy restarts', async () => {
  const world = openProxy()
  const client = await createClient(world.server)
  const { message } = await client.opening(ENROLLMENT_TOKEN)
  assert.is((await client.post(paths.sessions, message)).status, 200)
  for (let attempt = 0; attempt < 2; attempt++) {
    const { status, body } = await client.post(paths.sessions, message)
    assert.equal([status, body.code], [401, 'SESSION_INVALID'])
    world.restart()
  }
})

test('a session needs a challenge from this proxy that is less than a minute old', async () => {
  const world = openProxy()
  const client = await createClient(world.server)
  const { message } = await client.opening(ENROLLMENT_TOKEN)
  await world.clock.advance(60_000)
  assert.is((await client.post(paths.sessions, message)).status, 401)
  const other = await createClient(openProxy().server)
  const foreign = await other.opening(ENROLLMENT_TOKEN)
  const { challenge } = foreign.message
  const { message: relayed } = await client.opening(ENROLLMENT_TOKEN, { challenge })
  assert.is((await client.post(paths.sessions, relayed)).status, 401)
})

test('opening a session requires a signature over every field', async () => {
  const world = openProxy()
  const client = await createClient(world.server)
  const { message } = await client.opening(ENROLLMENT_TOKEN)
  const outsider = await createIdentity()
  const other = await client.opening(ENROLLMENT_TOKEN)
  for (const change of [
    { publicKey: outsider.publicKey },
    { exchangeKey: other.message.exchangeKey },
    { challenge: other.message.challenge },
    { enrollmentToken: `${ENROLLMENT_TOKEN}x` },
    { signature: other.message.signature },
  ]) {
    const { status, body } = await client.post(paths.sessions, { ...message, ...change })
    assert.equal([status, body.code], [401, 'SESSION_INVALID'], Object.keys(change).join())
  }
  assert.is((await client.post(paths.sessions, message)).status, 200)
})

test('an invalid session message returns a 400 and writes nothing', async () => {
  const world = openProxy()
  const client = await createClient(world.server)
  const { message } = await client.opening(ENROLLMENT_TOKEN)
  const before = await world.storage.list('')
  const { signature: _, ...unsigned } = message
  const { message: noKey } = await client.opening(ENROLLMENT_TOKEN, { exchangeKey: 'AAAA' })
  for (const body of [{}, unsigned, { ...message, more: 1 }, { ...message, publicKey: 1 }, noKey]) {
    const response = await client.post(paths.sessions, body)
    assert.equal([response.status, response.body.code], [400, 'INVALID_MESSAGE'], JSON.stringify(body))
  }
  for (const [text, status] of [
    ['', 400],
    ['[]', 400],
    ['{"a":', 400],
    [`{"a":${'['.repeat(100)}${']'.repeat(100)}}`, 400],
    [JSON.stringify({ ...message, enrollmentToken: 'x'.repeat(20_000) }), 413],
  ] as const) {
    const response = await client.send({ method: 'POST', path: paths.sessions, headers: {}, body: text })
    assert.is(response.status, status, text.slice(0, 40))
  }
  assert.is((await world.storage.list('')).length, before.length)
})

test("a session expires a day after its last use, by the proxy's clock", async () => {
  const world = openProxy()
  const client = await world.enrolled()
  for (let day = 0; day < 3; day++) {
    await world.clock.advance(SESSION_MS - 1)
    assert.is((await client.call('GET', paths.sessions)).status, 200)
  }
  await world.clock.advance(SESSION_MS)
  const { status, body } = await client.call('GET', paths.sessions)
  assert.equal([status, body.code], [401, 'SESSION_INVALID'])
  assert.is((await client.open()).status, 200)
})

test('a session expires a day after its last use even if the storage keeps expired entries', async () => {
  const { set, ...storage } = memoryStorage()
  const world = openProxy({
    storage: { ...storage, set: (key, value, { ttlMs: _, ...rest } = {}) => set(key, value, rest) },
  })
  const client = await world.enrolled()
  await world.clock.advance(SESSION_MS)
  assert.is((await client.call('GET', paths.sessions)).body.code, 'SESSION_INVALID')
  await client.open()
  const { body } = await client.call('GET', paths.sessions)
  assert.is(Array.isArray(body.sessions) && body.sessions.length, 1)
})

test('a session belongs to the enrolled gateway, even if someone replaces the public key in the storage', async () => {
  const world = openProxy()
  const [client, outsider] = [await world.enrolled(), await world.enrolled()]
  const [own, other] = await Promise.all([client, outsider].map(({ kept }) => getGatewayId(kept.publicKey)))
  const theirs = await world.storage.get(`enrolments/${other}`)
  await world.storage.set(`enrolments/${own}`, theirs?.value ?? '')
  const message = await outsider.signed('GET', paths.sessions, undefined, client.session())
  assert.is((await outsider.send(message)).body.code, 'SESSION_INVALID')
})

test('a gateway lists and revokes only its own sessions', async () => {
  const world = openProxy()
  const [client, outsider] = [await world.enrolled(), await world.enrolled()]
  const first = client.session()
  await world.clock.advance(1_000)
  await client.open()
  const { body } = await client.call('GET', paths.sessions)
  assert.equal(body.sessions, [
    { id: first.session, createdAt: '2026-01-01T00:00:00.000Z', lastUsedAt: '2026-01-01T00:00:00.000Z' },
    { id: client.session().session, createdAt: '2026-01-01T00:00:01.000Z', lastUsedAt: '2026-01-01T00:00:01.000Z' },
  ])
  const foreign = await outsider.call('DELETE', paths.session(first.session))
  assert.equal([foreign.status, foreign.body.code], [404, 'NOT_FOUND'])
  assert.equal((await client.call('DELETE', paths.session(first.session))).body, { success: true })
  const left = await client.call('GET', paths.sessions)
  assert.is(Array.isArray(left.body.sessions) && left.body.sessions.length, 1)
  const revoked = await client.send(await client.signed('GET', paths.sessions, undefined, first))
  assert.equal([revoked.status, revoked.body.code], [401, 'SESSION_INVALID'])
})

test('a gateway has at most a hundred sessions, and a new one replaces the least recently used', async () => {
  const world = openProxy()
  const client = await world.enrolled()
  const first = client.session()
  await world.clock.advance(1)
  await client.open()
  const second = client.session()
  await world.clock.advance(1)
  assert.is((await client.send(await client.signed('GET', paths.sessions, undefined, first))).status, 200)
  await world.clock.advance(1)
  for (let more = 0; more < 99; more++) await client.open()
  const status = async (by: typeof first) =>
    (await client.send(await client.signed('GET', paths.sessions, undefined, by))).status
  assert.equal([await status(first), await status(second)], [200, 401])
})

test('a session accepts a signed request only once, even if copies arrive concurrently', async () => {
  const world = openProxy()
  const client = await world.enrolled()
  const message = await client.signed('GET', paths.sessions)
  const responses = await Promise.all(Array.from({ length: 8 }, () => client.send(message)))
  assert.is(responses.filter(({ status }) => status === 200).length, 1)
  assert.is(responses.filter(({ status }) => status === 401).length, 7)
})

test('the response to a signed request contains only encrypted data', async () => {
  const world = openProxy()
  const client = await world.enrolled()
  const { status, body } = await client.send(await client.signed('GET', paths.sessions))
  assert.is(status, 200)
  assert.equal(Object.keys(body), ['sealed'])
})

test('a signed request gets a 503 after the proxy has closed', async () => {
  const world = openProxy()
  const client = await world.enrolled()
  await world.proxy.close()
  const { status, body } = await client.call('GET', paths.sessions)
  assert.equal([status, body.code], [503, 'CLOSED'])
})

/** Opens two proxies on one storage, with different clocks. */
function openTwoProxies(differenceMs: number) {
  const storage = memoryStorage()
  const one = openProxy({ storage })
  const other = openProxy({ storage, clock: fakeClock(one.clock.now() + differenceMs) })
  /** Alternates requests between the proxies. */
  const between = (first: typeof one, second: typeof one) => {
    let count = 0
    return { fetch: (request: Request) => (count++ % 2 === 0 ? first : second).server.fetch(request) }
  }
  return { one, other, between }
}

test('a session opens even if proxies on one storage have clocks a minute apart', async () => {
  for (const differenceMs of [-60_000, 60_000]) {
    const { one, other, between } = openTwoProxies(differenceMs)
    const client = await createClient(between(one, other))
    assert.is((await client.open(ENROLLMENT_TOKEN)).status, 200)
    assert.is((await client.open()).status, 200)
    const back = await createClient(between(other, one), client.kept)
    assert.is((await back.open()).status, 200)
    assert.is((await back.call('GET', paths.sessions)).status, 200)
  }
})

test("a session still opens after the proxy's clock goes back", async () => {
  for (const backMs of [60_000, 3_600_000]) {
    const storage = memoryStorage()
    const before = openProxy({ storage, clock: fakeClock(Date.UTC(2026, 0, 2)) })
    const client = await createClient(before.server)
    assert.is((await client.open(ENROLLMENT_TOKEN)).status, 200)
    const after = openProxy({ storage, clock: fakeClock(Date.UTC(2026, 0, 2) - backMs) })
    const again = await createClient(after.server, client.kept)
    assert.is((await again.open()).status, 200)
    assert.is((await again.call('GET', paths.sessions)).status, 200)
  }
})

test('a message from before the gateway enrolled opens no session, regardless of the clock', async () => {
  const { one, other } = openTwoProxies(60_000)
  const client = await createClient(one.server)
  const { message } = await client.opening()
  assert.is((await client.post(paths.sessions, message)).body.code, 'NOT_ENROLLED')
  assert.is((await client.open(ENROLLMENT_TOKEN)).status, 200)
  for (const { server } of [one, other]) {
    const again = await createClient(server, client.kept)
    assert.is((await again.post(paths.sessions, message)).body.code, 'SESSION_INVALID')
  }
})

test("another proxy's challenge works for one more minute to allow for clock skew, and only once", async () => {
  const { one, other } = openTwoProxies(0)
  const client = await createClient(one.server)
  const [first, second] = [await client.opening(ENROLLMENT_TOKEN), await client.opening(ENROLLMENT_TOKEN)]
  await Promise.all([one, other].map(({ clock }) => clock.advance(119_999)))
  const otherInstance = await createClient(other.server, client.kept)
  assert.is((await client.post(paths.sessions, first.message)).status, 401)
  assert.is((await otherInstance.post(paths.sessions, first.message)).status, 200)
  assert.is((await otherInstance.post(paths.sessions, first.message)).status, 401)
  await Promise.all([one, other].map(({ clock }) => clock.advance(1)))
  assert.is((await otherInstance.post(paths.sessions, second.message)).status, 401)
})

test('a query string is rejected on every route, and the error on unsigned routes mentions it', async () => {
  const { server, enrolled } = openProxy()
  const client = await createClient(server)
  const json = { 'content-type': 'application/json' }
  for (const message of [
    { method: 'GET', path: `${paths.hello}?a=1`, headers: {} },
    { method: 'POST', path: `${paths.challenge}?a=1`, headers: json, body: '{}' },
    {
      method: 'POST',
      path: `${paths.sessions}?a=1`,
      headers: json,
      body: JSON.stringify((await client.opening(ENROLLMENT_TOKEN)).message),
    },
  ]) {
    const { status, body } = await client.send(message)
    assert.equal([status, body.code], [400, 'INVALID_MESSAGE'], message.path)
    assert.match(String(body.error), /query/)
  }
  const own = await enrolled()
  const signed = await own.signed('GET', paths.sessions)
  assert.is((await own.send({ ...signed, path: `${signed.path}?a=1` })).body.code, 'SESSION_INVALID')
})
