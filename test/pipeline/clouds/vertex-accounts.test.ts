import { toBase64 } from '../../../src/lib/bytes.ts'
import { assert, suite } from '../../support/suite.ts'
import { json, never, type Respond } from '../support/upstream.ts'
import { all, CLAUDE, hello, open, TOKEN } from './vertex-world.ts'

const test = suite('Vertex AI credentials')

const RS256 = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
const { privateKey } = await crypto.subtle.generateKey(
  { ...RS256, modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1) },
  true,
  ['sign', 'verify'],
)
const der = toBase64(new Uint8Array(await crypto.subtle.exportKey('pkcs8', privateKey)))
const private_key = `-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----\n`
const keyFile = JSON.stringify({
  type: 'service_account',
  project_id: 'theirs',
  private_key,
  client_email: 'me@theirs.iam.gserviceaccount.com',
})

test("requests with a service account share one token and use the account's project", async () => {
  const respond: Respond = (call, index) =>
    call.url.pathname === '/token' ? json({ access_token: TOKEN, expires_in: 3_600 }) : all(call, index)
  const { upstream, world } = await open({ respond, apiKey: keyFile, data: {} })
  await Promise.all([world.chat(hello), world.chat(hello), world.chat({ ...hello, model: CLAUDE })])
  const [exchange, ...calls] = upstream.calls
  assert.is(exchange?.url.href, 'https://oauth2.googleapis.com/token')
  assert.is(calls.length, 3)
  for (const { url, headers } of calls) {
    assert.match(url.pathname, /\/projects\/theirs\/locations\/global\//)
    assert.is(headers.get('authorization'), `Bearer ${TOKEN}`)
  }
})

test("a service account that can't get a token causes an error that doesn't contain its key", async () => {
  const respond: Respond = ({ body }) => json({ error: 'invalid_grant', error_description: body }, 400)
  const { upstream, world } = await open({ respond, apiKey: keyFile, data: {} })
  const response = await world.chat(hello)
  assert.is(response.status, 502)
  const text = await response.text()
  assert.match(text, /Google did not issue a token for the service account \(invalid_grant\)\./)
  const sent = new URLSearchParams(upstream.calls[0]?.body).get('assertion') ?? ''
  const shown =
    text + JSON.stringify([world.recorded, await world.api.connections.list(), await world.api.health.list()])
  for (const secret of [sent, keyFile, private_key.slice(40, 80)]) assert.ok(!shown.includes(secret))
})

test("an access token that Google echoes in an error isn't passed to the client", async () => {
  const { world } = await open({ respond: () => json({ error: { code: 400, message: `bad ${TOKEN}` } }, 400) })
  const text = await (await world.chat(hello)).text()
  assert.ok(!text.includes(TOKEN), text)
})

test("a client disconnect doesn't cancel a token request that another client is waiting for", async () => {
  let giveToken = () => {}
  const given = new Promise<void>((resolve) => {
    giveToken = resolve
  })
  const respond: Respond = async (call, index) => {
    if (call.url.pathname !== '/token') return all(call, index)
    await given
    return json({ access_token: TOKEN, expires_in: 3_600 })
  }
  const { upstream, world } = await open({ respond, apiKey: keyFile, data: {} })
  const controller = new AbortController()
  const left = world.chat(hello, { signal: controller.signal })
  const stayed = world.chat(hello)
  while (upstream.calls.length === 0) await world.clock.advance(0)
  controller.abort()
  assert.is((await left).status, 499)
  giveToken()
  assert.is((await stayed).status, 200)
  assert.equal(
    upstream.calls.map(({ url }) => url.hostname),
    ['oauth2.googleapis.com', 'aiplatform.googleapis.com'],
  )
})

test('a request that waits too long for an access token returns a 504', async () => {
  const { upstream, world } = await open({ respond: never, apiKey: keyFile, data: {} })
  const pending = world.chat(hello)
  while (upstream.calls.length === 0) await world.clock.advance(0)
  await world.clock.advance(10_000)
  const response = await pending
  assert.is(response.status, 504)
  assert.match(response.headers.get('x-signalbox-attempts') ?? '', /=504:timeout/)
  assert.is(world.clock.pending(), 0)
})
