import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createIdentity, gatewayId } from '../../src/sync/cryptography.ts'
import { paths, SESSION_MS } from '../../src/sync/protocol.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { createClient } from './support/client.ts'
import { ENROLMENT, openProxy } from './support/proxy.ts'

const test = suite('sessions at a cloud proxy')

test('a proxy says hello without a credential', async () => {
  const { door } = openProxy()
  const client = await createClient(door)
  const answer = await client.send({ method: 'GET', path: paths.hello, headers: {} })
  assert.equal(answer, { status: 200, body: { service: 'signalbox-cloud', protocol: 1 } })
})

test('sessions are opened by a gateway that has enrolled once, and then without the credential', async () => {
  const { door, storage } = openProxy()
  const client = await createClient(door)
  const refused = await client.open()
  assert.is(refused.status, 401)
  assert.is(refused.body.code, 'NOT_ENROLLED')
  const wrong = await client.open(`${ENROLMENT.slice(0, -1)}x`)
  assert.is(wrong.body.code, 'NOT_ENROLLED')
  assert.match(String(wrong.body.error), /is wrong/)
  const tenant = await gatewayId(client.kept.publicKey)
  assert.equal(
    (await storage.list('')).filter(({ key }) => key.includes(tenant)),
    [],
  )
  assert.is((await client.open(ENROLMENT)).status, 200)
  assert.is((await client.open()).status, 200)
  const { body } = await client.call('GET', paths.sessions)
  assert.is(Array.isArray(body.sessions) && body.sessions.length, 2)
})

test('sessions are opened by no new gateway where the proxy has no enrolment credential, and the refusal says so', async () => {
  const { door } = openProxy({ enrolment: undefined } as object)
  const client = await createClient(door)
  const { status, body } = await client.open(ENROLMENT)
  assert.is(status, 401)
  assert.match(String(body.error), /createCloudProxy\(\{ enrolment \}\)/)
})

test('sessions are opened once for each challenge, after a restart of the proxy too', async () => {
  const world = openProxy()
  const client = await createClient(world.door)
  const { message } = await client.opening(ENROLMENT)
  assert.is((await client.post(paths.sessions, message)).status, 200)
  for (let attempt = 0; attempt < 2; attempt++) {
    const { status, body } = await client.post(paths.sessions, message)
    assert.equal([status, body.code], [401, 'SESSION_INVALID'])
    world.restart()
  }
})

test('sessions need a challenge of this proxy that is less than a minute old', async () => {
  const world = openProxy()
  const client = await createClient(world.door)
  const { message } = await client.opening(ENROLMENT)
  await world.clock.advance(60_000)
  assert.is((await client.post(paths.sessions, message)).status, 401)
  const other = await createClient(openProxy().door)
  const foreign = await other.opening(ENROLMENT)
  const { challenge } = foreign.message
  const { message: relayed } = await client.opening(ENROLMENT, { challenge })
  assert.is((await client.post(paths.sessions, relayed)).status, 401)
})

test('sessions need the signature of the key that they are opened for, over every member', async () => {
  const world = openProxy()
  const client = await createClient(world.door)
  const { message } = await client.opening(ENROLMENT)
  const stranger = await createIdentity()
  const other = await client.opening(ENROLMENT)
  for (const change of [
    { publicKey: stranger.publicKey },
    { exchangeKey: other.message.exchangeKey },
    { challenge: other.message.challenge },
    { enrolment: `${ENROLMENT}x` },
    { signature: other.message.signature },
  ]) {
    const { status, body } = await client.post(paths.sessions, { ...message, ...change })
    assert.equal([status, body.code], [401, 'SESSION_INVALID'], Object.keys(change).join())
  }
  assert.is((await client.post(paths.sessions, message)).status, 200)
})

test('sessions are refused with 400 when the message is none, and write nothing', async () => {
  const world = openProxy()
  const client = await createClient(world.door)
  const { message } = await client.opening(ENROLMENT)
  const before = await world.storage.list('')
  const { signature: _, ...unsigned } = message
  const { message: noKey } = await client.opening(ENROLMENT, { exchangeKey: 'AAAA' })
  for (const body of [{}, unsigned, { ...message, more: 1 }, { ...message, publicKey: 1 }, noKey]) {
    const answer = await client.post(paths.sessions, body)
    assert.equal([answer.status, answer.body.code], [400, 'INVALID_MESSAGE'], JSON.stringify(body))
  }
  for (const [text, status] of [
    ['', 400],
    ['[]', 400],
    ['{"a":', 400],
    [`{"a":${'['.repeat(100)}${']'.repeat(100)}}`, 400],
    [JSON.stringify({ ...message, enrolment: 'x'.repeat(20_000) }), 413],
  ] as const) {
    const answer = await client.send({ method: 'POST', path: paths.sessions, headers: {}, body: text })
    assert.is(answer.status, status, text.slice(0, 40))
  }
  assert.is((await world.storage.list('')).length, before.length)
})

test('sessions are forgotten a day after their last use, by the clock of the proxy', async () => {
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

test('sessions are forgotten a day after their last use also where the storage keeps what has expired', async () => {
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

test('sessions are of the gateway that enrolled, whatever public key a writer to the storage puts there', async () => {
  const world = openProxy()
  const [client, stranger] = [await world.enrolled(), await world.enrolled()]
  const [own, other] = await Promise.all([client, stranger].map(({ kept }) => gatewayId(kept.publicKey)))
  const theirs = await world.storage.get(`enrolments/${other}`)
  await world.storage.set(`enrolments/${own}`, theirs?.value ?? '')
  const message = await stranger.signed('GET', paths.sessions, undefined, client.session())
  assert.is((await stranger.send(message)).body.code, 'SESSION_INVALID')
})

test('sessions are listed and revoked by their own gateway alone', async () => {
  const world = openProxy()
  const [client, stranger] = [await world.enrolled(), await world.enrolled()]
  const first = client.session()
  await world.clock.advance(1_000)
  await client.open()
  const { body } = await client.call('GET', paths.sessions)
  assert.equal(body.sessions, [
    { id: first.session, createdAt: '2026-01-01T00:00:00.000Z', lastUsedAt: '2026-01-01T00:00:00.000Z' },
    { id: client.session().session, createdAt: '2026-01-01T00:00:01.000Z', lastUsedAt: '2026-01-01T00:00:01.000Z' },
  ])
  const foreign = await stranger.call('DELETE', paths.session(first.session))
  assert.equal([foreign.status, foreign.body.code], [404, 'NOT_FOUND'])
  assert.equal((await client.call('DELETE', paths.session(first.session))).body, { success: true })
  const left = await client.call('GET', paths.sessions)
  assert.is(Array.isArray(left.body.sessions) && left.body.sessions.length, 1)
  const revoked = await client.send(await client.signed('GET', paths.sessions, undefined, first))
  assert.equal([revoked.status, revoked.body.code], [401, 'SESSION_INVALID'])
})

test('sessions are at most a hundred for each gateway: those that were not used for longest go', async () => {
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

test('sessions take requests that come at once one by one, and each only once', async () => {
  const world = openProxy()
  const client = await world.enrolled()
  const message = await client.signed('GET', paths.sessions)
  const answers = await Promise.all(Array.from({ length: 8 }, () => client.send(message)))
  assert.is(answers.filter(({ status }) => status === 200).length, 1)
  assert.is(answers.filter(({ status }) => status === 401).length, 7)
})

test('sessions answer nothing readable without their key', async () => {
  const world = openProxy()
  const client = await world.enrolled()
  const { status, body } = await client.send(await client.signed('GET', paths.sessions))
  assert.is(status, 200)
  assert.equal(Object.keys(body), ['sealed'])
})

test('sessions close with the proxy', async () => {
  const world = openProxy()
  const client = await world.enrolled()
  await world.proxy.close()
  const { status, body } = await client.call('GET', paths.sessions)
  assert.equal([status, body.code], [503, 'CLOSED'])
})

/** Proxies on one storage, whose clocks differ by so much. */
function openTwoProxies(differenceMs: number) {
  const storage = memoryStorage()
  const one = openProxy({ storage })
  const other = openProxy({ storage, clock: fakeClock(one.clock.now() + differenceMs) })
  /** The first request goes to the one, the next to the other. */
  const between = (first: typeof one, second: typeof one) => {
    let count = 0
    return { fetch: (request: Request) => (count++ % 2 === 0 ? first : second).door.fetch(request) }
  }
  return { one, other, between }
}

test('sessions are opened where proxies with one storage have clocks that differ by a minute', async () => {
  for (const differenceMs of [-60_000, 60_000]) {
    const { one, other, between } = openTwoProxies(differenceMs)
    const client = await createClient(between(one, other))
    assert.is((await client.open(ENROLMENT)).status, 200)
    assert.is((await client.open()).status, 200)
    const back = await createClient(between(other, one), client.kept)
    assert.is((await back.open()).status, 200)
    assert.is((await back.call('GET', paths.sessions)).status, 200)
  }
})

test('sessions are opened after the clock of the proxy went back', async () => {
  for (const backMs of [60_000, 3_600_000]) {
    const storage = memoryStorage()
    const before = openProxy({ storage, clock: fakeClock(Date.UTC(2026, 0, 2)) })
    const client = await createClient(before.door)
    assert.is((await client.open(ENROLMENT)).status, 200)
    const after = openProxy({ storage, clock: fakeClock(Date.UTC(2026, 0, 2) - backMs) })
    const again = await createClient(after.door, client.kept)
    assert.is((await again.open()).status, 200)
    assert.is((await again.call('GET', paths.sessions)).status, 200)
  }
})

test('sessions are not opened by a message from before the gateway enrolled, whatever the clock', async () => {
  const { one, other } = openTwoProxies(60_000)
  const client = await createClient(one.door)
  const { message } = await client.opening()
  assert.is((await client.post(paths.sessions, message)).body.code, 'NOT_ENROLLED')
  assert.is((await client.open(ENROLMENT)).status, 200)
  for (const { door } of [one, other]) {
    const again = await createClient(door, client.kept)
    assert.is((await again.post(paths.sessions, message)).body.code, 'SESSION_INVALID')
  }
})

test('a challenge of another proxy holds a minute longer, for clocks that differ, and once', async () => {
  const { one, other } = openTwoProxies(0)
  const client = await createClient(one.door)
  const [first, second] = [await client.opening(ENROLMENT), await client.opening(ENROLMENT)]
  await Promise.all([one, other].map(({ clock }) => clock.advance(119_999)))
  const elsewhere = await createClient(other.door, client.kept)
  assert.is((await client.post(paths.sessions, first.message)).status, 401)
  assert.is((await elsewhere.post(paths.sessions, first.message)).status, 200)
  assert.is((await elsewhere.post(paths.sessions, first.message)).status, 401)
  await Promise.all([one, other].map(({ clock }) => clock.advance(1)))
  assert.is((await elsewhere.post(paths.sessions, second.message)).status, 401)
})

test('a query is refused on every route, and named on those without a signature', async () => {
  const { door, enrolled } = openProxy()
  const client = await createClient(door)
  const json = { 'content-type': 'application/json' }
  for (const message of [
    { method: 'GET', path: `${paths.hello}?a=1`, headers: {} },
    { method: 'POST', path: `${paths.challenge}?a=1`, headers: json, body: '{}' },
    {
      method: 'POST',
      path: `${paths.sessions}?a=1`,
      headers: json,
      body: JSON.stringify((await client.opening(ENROLMENT)).message),
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
