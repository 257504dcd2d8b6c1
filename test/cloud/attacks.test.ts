import { headers, paths, SESSION_MS } from '../../src/features/cloud-sync/protocol.ts'
import { createCloudRoutes, type SignedRoute } from '../../src/features/cloud-sync/proxy/proxy-protocol.ts'
import type { Storage } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import type { Client, Message } from './support/client.ts'
import { ENROLLMENT_TOKEN, openProxy } from './support/proxy.ts'
import { keyState } from './support/states.ts'

const test = suite('requests with wrong credentials')

const rejectAll = async (): Promise<never> => Promise.reject(new Error('The table alone is read.'))
const unused = {
  createChallenge: rejectAll,
  open: rejectAll,
  authorize: rejectAll,
  list: rejectAll,
  revoke: rejectAll,
  revokeAll: rejectAll,
}
const { open, signed } = createCloudRoutes(
  { ...unused, isEnrolled: rejectAll, unenroll: rejectAll },
  { sync: rejectAll, exchangeSpending: rejectAll, remove: rejectAll },
  { timeoutMs: 1, clock: { now: () => 0, sleep: rejectAll }, nextTurn: rejectAll },
)

/** Opens two gateways, each with a replica, and an API key of the first. */
async function openWorld() {
  const world = openProxy()
  const [client, outsider] = [await world.enrolled(), await world.enrolled()]
  const { value, state } = await keyState('one')
  const { mirror, stamp } = await client.sync({ create: true })
  const { stamp: current } = await client.sync({ mirror, stamp, changes: [state] })
  await outsider.sync({ create: true })
  const sync = { mirror, stamp: current, changes: [], seen: [] }
  const contents: Record<string, object> = { [paths.replica]: sync, [paths.spent]: { mirror, accounts: [] } }
  const right = (route: SignedRoute, by = client.session(), from: Client = client): Promise<Message> => {
    const path = route.path.replace(':id', client.session().session)
    return from.signed(route.method, path, route.method === 'POST' ? contents[path] : undefined, by)
  }
  return { ...world, client, stranger: outsider, value, right }
}

type World = Awaited<ReturnType<typeof openWorld>>
type Attack = (world: World, route: SignedRoute) => Promise<Message | Message[]>

const withHeaders = (message: Message, changed: Record<string, string>): Message => ({
  ...message,
  headers: { ...message.headers, ...changed },
})

const unsigned = ({ headers: input, ...message }: Message, added: Record<string, string> = {}): Message => ({
  ...message,
  headers: { 'content-type': input['content-type'] ?? 'application/json', ...added },
})

/** Flips each bit of each character in turn. Skips results that aren't printable ASCII. */
function flipBits(text: string): string[] {
  return [...text].flatMap((character, index) =>
    [1, 2, 4, 8, 16, 32].flatMap((bit) => {
      const code = character.charCodeAt(0) ^ bit
      const isPlain = code > 0x20 && code < 0x7f
      return isPlain ? [text.slice(0, index) + String.fromCharCode(code) + text.slice(index + 1)] : []
    }),
  )
}

/** Samples a list, including its first and last items. */
const sample = (texts: string[], most = 40) =>
  texts.filter((_, index) => index % Math.ceil(texts.length / most) === 0 || index === texts.length - 1)

const attacks: Readonly<Record<string, Attack>> = {
  'a request without credentials': async ({ right }, route) => unsigned(await right(route)),

  'a client key': async ({ right, value }, route) => {
    const message = await right(route)
    return [
      unsigned(message, { authorization: `Bearer ${value}` }),
      unsigned(message, { 'x-api-key': value }),
      unsigned(message, { [headers.session]: value, [headers.counter]: '1000', [headers.signature]: value }),
      withHeaders(message, { [headers.signature]: value, authorization: `Bearer ${value}` }),
    ]
  },

  'an admin token or the enrollment token': async (_, route) =>
    ['sbx_admin_0123456789012345678901234567890123456789', ENROLLMENT_TOKEN].flatMap((token) => [
      { method: route.method, path: route.path, headers: { authorization: `Bearer ${token}` } },
      { method: route.method, path: route.path, headers: { [headers.session]: token, [headers.signature]: token } },
    ]),

  "another gateway's session, signed with the attacker's key": async ({ right, client, stranger }, route) =>
    right(route, client.session(), stranger),

  "the attacker's message with another gateway's session": async ({ right, client, stranger }, route) =>
    withHeaders(await right(route, stranger.session(), stranger), { [headers.session]: client.session().session }),

  'an expired session': async ({ right, clock, client }, route) => {
    const message = await right(route)
    await clock.advance(SESSION_MS)
    await client.open() // opens another session
    return message
  },

  'a revoked session': async ({ right, client }, route) => {
    const session = client.session()
    await client.open()
    await client.call('DELETE', paths.session(session.session))
    return right(route, session)
  },

  'a counter that goes back or repeats': async ({ right, client }, route) => {
    const by = client.session()
    const counter = by.counter
    return Promise.all([0, 1, counter - 1].map((before) => right(route, { ...by, counter: before })))
  },

  'a counter that is not a number': async ({ right }, route) =>
    Promise.all(
      ['', '0', '-1', '1e9', '01', ' ', '99999999999999999999', 'NaN', '0x99', '٣'].map(async (counter) =>
        withHeaders(await right(route), { [headers.counter]: encodeURI(counter) }),
      ),
    ),

  'a signature for another method': async ({ right }, route) => {
    const message = await right(route)
    const { body: _, ...bare } = message
    const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'].filter(
      (value) => value !== route.method,
    )
    return others.map((method) =>
      method === 'GET' || method === 'HEAD' ? { ...bare, method } : { ...message, method },
    )
  },

  'a signature for another path': async ({ right }, route) => {
    const message = await right(route)
    const changed = flipBits(message.path).filter((path) => /^\/[\w/-]+$/.test(path) && path.startsWith('/cloud/'))
    const others = signed.map(({ path }) => path).filter((path) => path !== message.path)
    return [
      ...sample(changed),
      ...others,
      `${message.path}/`,
      `${message.path}?a=1`,
      '/cloud',
      '/cloud/',
      '/cloud/2/mirror',
    ].map((path) => ({ ...message, path }))
  },

  'a signature for another body': async ({ right }, route) => {
    const message = await right(route)
    if (message.body === undefined) return ['{}', ' ', '\uFEFF'].map((body) => ({ ...message, body }))
    const { body } = message
    return [...sample(flipBits(body)), '', '{}', `${body} `, `\uFEFF${body}`].map((changed) => ({
      ...message,
      body: changed,
    }))
  },

  ...Object.fromEntries(
    [headers.counter, headers.session, headers.signature].map((name): [string, Attack] => [
      `a changed ${name} header`,
      async ({ right }, route) => {
        const message = await right(route)
        const changed = flipBits(message.headers[name] ?? '')
        return sample(changed, 60).map((value) => withHeaders(message, { [name]: value }))
      },
    ]),
  ),
}

/** Open routes respond without a session: see sessions.test.ts. */
const isOpen = (message: Message) => open.some(({ method, path }) => method === message.method && path === message.path)

/** Returns all stored data as a string, to detect changes made by requests. */
const bytes = async (storage: Storage) => JSON.stringify(await storage.list(''))

test('these tests cover every route of the cloud protocol', () => {
  const every = [...open, ...signed].map(({ method, path }) => `${method} ${path}`)
  assert.equal(every, [
    'GET /cloud/1',
    'POST /cloud/1/challenges',
    'POST /cloud/1/sessions',
    'GET /cloud/1/sessions',
    'DELETE /cloud/1/sessions/:id',
    'POST /cloud/1/mirror',
    'POST /cloud/1/spent',
    'DELETE /cloud/1/mirror',
  ])
})

for (const route of signed) {
  for (const [name, attack] of Object.entries(attacks)) {
    if (name === 'a signature for another body' && route.method === 'GET') continue // a GET request has no body
    test(`${route.method} ${route.path} rejects ${name}`, async () => {
      const world = await openWorld()
      const messages = [await attack(world, route)].flat().filter((message) => !isOpen(message))
      assert.ok(messages.length > 0)
      const before = await bytes(world.storage)
      for (const message of messages) {
        const { status, body } = await world.client.send(message)
        const shown = JSON.stringify(message)
        assert.is(status, 401, shown)
        if (message.method !== 'HEAD') assert.is(body.code, 'SESSION_INVALID', shown)
      }
      assert.is(await bytes(world.storage), before)
    })
  }

  test(`${route.method} ${route.path} rejects a replayed request, even after the proxy restarts`, async () => {
    const world = await openWorld()
    await world.client.open()
    const session = world.client.session()
    const earlier = await world.right(route, session)
    const later = await world.right(route, session)
    assert.is((await world.client.send(later)).status, 200)
    const before = await bytes(world.storage)
    for (let restarts = 0; restarts < 2; restarts++) {
      for (const message of [later, earlier])
        assert.equal((await world.client.send(message)).body.code, 'SESSION_INVALID')
      world.restart()
    }
    assert.is(await bytes(world.storage), before)
  })
}

test('wrong credentials get the same response whether the session exists or not', async () => {
  const { client, right } = await openWorld()
  const route = signed[0]
  assert.ok(route)
  const message = await right(route)
  const responses = await Promise.all(
    [
      withHeaders(message, { [headers.session]: message.headers[headers.session]?.replace(/.$/, 'x') ?? '' }),
      withHeaders(message, { [headers.session]: `${'0'.repeat(64)}-${'0'.repeat(32)}` }),
      withHeaders(message, { [headers.signature]: 'AAAA' }),
    ].map(client.send),
  )
  assert.is(new Set(responses.map((response) => JSON.stringify(response))).size, 1)
})
