import type { IncomingMessage } from 'node:http'
import * as ai from 'ai'
import { toNodeHandler } from '../../adapters/mount/node.ts'
import { createSignalbox } from '../../src/ai/signalbox.ts'
import type { Identity } from '../../src/request/identity.ts'
import { createLab } from '../mount/node/lab.ts'
import { never } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { getOutcome, openApp } from './support/app.ts'

const lab = createLab()
const test = suite('requests on behalf of an account')
test.after(lab.close)

const chat = JSON.stringify({ model: 'one/m', messages: [] })
const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: chat }

test('as() serves requests for one account through fetch and handle, without calling identify', async () => {
  const app = await openApp({ identify: () => null })
  const alice = app.as({ account: 'alice', tags: ['web'] })
  assert.is((await alice.fetch('http://app.test/v1/chat/completions', init)).status, 200)
  assert.is((await alice.handle(new Request('http://app.test/v1/chat/completions', init)))?.status, 200)
  assert.is(await alice.handle(new Request('http://app.test/of-the-app')), undefined)
  assert.is((await alice.fetch('http://app.test/of-the-app')).status, 404)
  assert.is(app.requests.length, 0)
  assert.is(
    (await app.gateway.fetch('http://app.test/v1/chat/completions', init)).status,
    401,
    'other callers are identified',
  )
})

test('as() works on a gateway without identify', async () => {
  const app = await openApp({ identify: undefined })
  assert.is((await app.as({ account: 'alice' }).fetch('http://app.test/v1/chat/completions', init)).status, 200)
})

test('concurrent requests from two accounts stay isolated', async () => {
  const app = await openApp()
  const headers = (account: string) => ({ ...init.headers, 'x-signalbox-account': account })
  const [alice, bob] = ['alice', 'bob'].map((account) => app.as({ account }))
  const send = (gateway: typeof alice, account: string) =>
    gateway?.fetch('http://app.test/v1/chat/completions', { ...init, headers: headers(account) })
  const statuses = await Promise.all([send(alice, 'alice'), send(bob, 'bob'), send(alice, 'bob'), send(bob, 'alice')])
  assert.equal(
    statuses.map((response) => response?.status),
    [200, 200, 403, 403],
  )
})

test("as() ignores the request's cookie, and rejects a header that selects another account", async () => {
  const app = await openApp()
  const { fetch } = app.as({ account: 'alice' })
  const request = app.toRequest('/v1/chat/completions', {
    as: 'bob',
    body: {},
    headers: { 'x-signalbox-account': 'bob' },
  })
  assert.is(await getOutcome(await fetch(request)), '403 account_not_allowed')
})

for (const identity of [
  undefined,
  null,
  'alice',
  [],
  {},
  { account: 7 },
  { account: ' a' },
  { account: 'a', limit: {} },
  { account: 'a', limits: { usd: { month: 0 } } },
  { refuse: 'No.' },
])
  test(`as() throws a TypeError for ${JSON.stringify(identity)}`, async () => {
    const app = await openApp()
    assert.throws(
      () => app.as(identity as Identity),
      (error: unknown) => error instanceof TypeError,
    )
  })

test('as() copies the identity', async () => {
  const app = await openApp()
  const identity: Identity = { account: 'alice' }
  const { fetch } = app.as(identity)
  identity.account = 'bob'
  const request = app.toRequest('/v1/models', { headers: { 'x-signalbox-account': 'alice' } })
  assert.is((await fetch(request)).status, 200)
})

test('a Node handler can serve a single account', async () => {
  const app = await openApp({ identify: () => null })
  const { url } = await lab.listen(toNodeHandler(app.as({ account: 'alice' })))
  assert.is((await fetch(`${url}/v1/chat/completions`, init)).status, 200)
  assert.is(
    (await fetch(`${url}/v1/chat/completions`, { ...init, headers: { ...init.headers, origin: 'null' } })).status,
    403,
  )
})

test("a Node handler can identify callers from the framework's request", async () => {
  const app = await openApp({ identify: () => null })
  const users: Array<string | undefined> = ['alice', undefined, 'bob']
  const platforms: unknown[] = []
  const handler = toNodeHandler(app.gateway, {
    identify(req: IncomingMessage & { user?: string }, { platform }) {
      platforms.push(platform === req)
      return req.user === undefined ? null : { account: req.user }
    },
  })
  const { url } = await lab.listen((req, res) => {
    Object.assign(req, { user: users.shift() }) // as Passport does
    handler(req, res)
  })
  const statuses: number[] = []
  for (let times = 0; times < 3; times++) statuses.push((await fetch(`${url}/v1/chat/completions`, init)).status)
  assert.equal([statuses, platforms, app.requests.length], [[200, 401, 200], [true, true, true], 0])
})

test("a Node handler rejects an identify option that conflicts with the gateway's, or that isn't a function", async () => {
  const app = await openApp()
  assert.throws(() => toNodeHandler(app.as({ account: 'alice' }), { identify: () => null }), /already/)
  assert.throws(() => toNodeHandler(app.gateway, { identify: 'alice' as unknown as () => null }), /function/)
})

test('in-process models run as their account, and skip browser checks', async () => {
  const app = await openApp({ identify: () => null })
  const signalbox = createSignalbox(app.gateway, { account: 'alice' })
  const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  const { text } = await ai.generateText({ model: signalbox('one/m'), prompt: 'Hi', headers })
  assert.is(text, 'Hello')
  const other = { 'x-signalbox-account': 'bob' }
  const rejected = ai.generateText({ model: signalbox('one/m'), prompt: 'Hi', headers: other, maxRetries: 0 })
  assert.is(
    await rejected.then(
      () => 200,
      (error: { statusCode?: number }) => error.statusCode,
    ),
    403,
  )
  app.paused.add('alice')
  const paused = ai.generateText({ model: signalbox('one/m'), prompt: 'Hi', maxRetries: 0 })
  assert.is(
    await paused.then(
      () => 200,
      (error: { statusCode?: number }) => error.statusCode,
    ),
    403,
  )
})

test('aborting an in-process model ends the call', async () => {
  const app = await openApp({ identify: () => null, fetch: () => never() })
  const signalbox = createSignalbox(app.gateway, { account: { account: 'alice', name: 'Alice' } })
  const stop = new AbortController()
  const calling = ai.generateText({ model: signalbox('one/m'), prompt: 'Hi', abortSignal: stop.signal, maxRetries: 0 })
  setTimeout(() => stop.abort(), 20)
  assert.is(
    await calling.then(
      () => 'done',
      (error: Error) => error.name,
    ),
    'AbortError',
  )
})
