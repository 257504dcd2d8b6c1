import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { assert, suite } from '../support/suite.ts'
import { RUN_MS } from './example.ts'
import { type Deployment, deploy, type Reply } from './vercel/platform.ts'

/* Unless a test says otherwise, each request is served by a new instance, which ends after its response and the `waitUntil` work. */

const test = suite<{ app: Deployment; ada: string; bob: string; admin: string }>('the vercel example')

test.before({ timeoutMs: 2 * RUN_MS }, async (context) => {
  context.app = await deploy()
  for (const name of ['ada', 'bob', 'admin'] as const) context[name] = await signUp(context.app, name)
  const readme = await readFile(join(context.app.example.folder, 'README.md'), 'utf8')
  const [, makeAdmin = ''] = /^```sql\n([\s\S]*?)^```$/m.exec(readme) ?? []
  await context.app.query(makeAdmin.replace('you@example.com', 'admin@example.com'))
})
test.after(({ app }) => app?.remove())

/** Creates a user who also tries to become an admin during sign-up. Returns the session cookies. */
async function signUp({ send }: Deployment, name: string): Promise<string> {
  const body = { name, email: `${name}@example.com`, password: 'correct horse battery', isAdmin: true }
  const reply = await send('POST', '/api/auth/sign-up/email', { body })
  assert.is(reply.status, 200, reply.body)
  return (reply.headers['set-cookie'] ?? []).map((cookie) => cookie.split(';')[0]).join('; ')
}

const chat = { messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }] }

/** Returns the text of a streamed message, or its error. */
function getText({ body }: Reply): string {
  const parts = [...body.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json))
  return parts.map(({ delta, errorText }) => delta ?? errorText ?? '').join('')
}

test('a signed-in user gets a stream, and its usage is stored before the instance freezes', async ({
  app,
  ada,
  admin,
}) => {
  const reply = await app.send('POST', '/api/chat', { cookie: ada, body: chat })
  assert.equal([reply.status, getText(reply)], [200, 'Hello'], reply.body)
  const usage = await app.send('GET', '/ai/api/usage/requests', { cookie: admin })
  const { requests } = JSON.parse(usage.body)
  assert.is(requests.length, 1)
  assert.equal(requests[0].tokens.output, 2)
})

test('without a session, the chat and the API return 401, and the page offers sign-in', async ({ app }) => {
  const instance = await app.start({ isKept: true })
  const calls = app.calls.length
  for (const cookie of [undefined, '__Secure-better-auth.session_token=forged.signature']) {
    assert.is((await instance.send('POST', '/api/chat', { cookie, body: chat })).status, 401)
    const body = { model: 'chat', messages: [{ role: 'user', content: 'Hello' }] }
    assert.is((await instance.send('POST', '/ai/v1/chat/completions', { cookie, body })).status, 401)
    assert.is((await instance.send('GET', '/ai/api/accounts', { cookie })).status, 401)
    assert.match((await instance.send('GET', '/', { cookie })).body, /Sign in/)
  }
  assert.is(app.calls.length, calls)
  await instance.stop()
})

test('only admins can use the dashboard, and nobody can sign up as an admin', async ({ app, bob, admin }) => {
  const instance = await app.start({ isKept: true })
  const change = { limits: { requests: { day: 1 } } }
  for (const [cookie, status] of [
    [bob, 401],
    [admin, 200],
  ] as const) {
    assert.is((await instance.send('GET', '/ai/api/accounts', { cookie })).status, status)
    assert.is((await instance.send('PATCH', '/ai/api/settings', { cookie, body: {} })).status, status)
    assert.is((await instance.send('GET', '/', { cookie })).body.includes('href="/ai/admin/"'), cookie === admin)
    const other = { model: 'openai/gpt-5.5', messages: [{ role: 'user', content: 'Hello' }] }
    assert.is((await instance.send('POST', '/ai/v1/chat/completions', { cookie, body: other })).status, 403)
  }
  const foreign = { cookie: admin, body: change, origin: 'https://evil.test' }
  assert.is((await instance.send('PATCH', '/ai/api/settings', foreign)).status, 403)
  assert.is((await instance.send('GET', '/ai/admin/', { cookie: admin })).status, 200)
  await instance.stop()
})

test("concurrent cold instances enforce a user's limit exactly, and other users keep theirs", async ({
  app,
  ada,
  bob,
  admin,
}) => {
  const user = await app.query(`SELECT id FROM "user" WHERE email = 'ada@example.com'`)
  const path = `/ai/api/accounts/${user.rows[0]?.id}`
  const limited = await app.send('PATCH', path, { cookie: admin, body: { limits: { requests: { day: 3 } } } })
  assert.is(limited.status, 200, limited.body)
  const calls = app.calls.length
  const instances = await Promise.all(Array.from({ length: 4 }, () => app.start()))
  const replies = await Promise.all(
    instances.map(({ send }, index) => send('POST', '/api/chat', { cookie: index === 3 ? bob : ada, body: chat })),
  )
  await Promise.all(instances.map(({ ended }) => ended))
  const texts = replies.map(getText)
  assert.is(texts[3], 'Hello') // sent by Bob
  assert.equal(texts.slice(0, 3).filter((text) => text === 'Hello').length, 2, texts.join('\n')) // the first test sent one
  assert.match(texts.find((text) => text !== 'Hello') ?? '', /Your account can make 3 requests per day/)
  assert.is(app.calls.length - calls, 3)
})

test('a cold instance calls the provider after three database round trips, and is idle between requests', async ({
  app,
  bob,
}) => {
  const { neon, calls } = app
  neon.delayMs = 50 // longer than the work between two queries
  const instance = await app.start({ isKept: true })
  const before = neon.roundTrips
  await instance.send('POST', '/api/chat', { cookie: bob, body: chat })
  neon.delayMs = 0
  assert.is((calls.at(-1) ?? 0) - before, 3) // one reads the session, and two are from the gateway
  let requests = -1
  for (let tries = 0; requests !== neon.requests && tries < 10; tries++) {
    requests = neon.requests
    await sleep(3_000) // until usage has been stored for the first time
  }
  assert.is(neon.requests, requests)
  await instance.stop()
})
