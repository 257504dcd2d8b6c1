import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import type { GatewayOptions } from '../../src/options.ts'
import type { CredentialRequest, CredentialSource } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('credentials from functions')

interface Call {
  host: string
  authorization: string | null
}

type Respond = (call: Call) => Response | undefined

function open(
  apiKey: CredentialSource | { resolve: CredentialSource; shared: true },
  respond: Respond = () => undefined,
) {
  const clock = fakeClock()
  const calls: Call[] = []
  const errors: unknown[] = []
  const storage = memoryStorage({ clock })
  const options: GatewayOptions = {
    storage,
    clock,
    connections: {
      first: { provider: 'openai-compatible-first', baseUrl: 'http://first.test/v1', apiKey },
      second: { provider: 'openai-compatible-second', baseUrl: 'http://second.test/v1', apiKey: 'the-key-of-second' },
    },
    combos: { both: ['openai-compatible-first/m', 'openai-compatible-second/m'] },
    identify: (request) => ({ account: request.headers.get('x-user') ?? 'nobody' }),
    fetch: async (url: unknown, init?: RequestInit) => {
      const call = { host: new URL(String(url)).host, authorization: new Headers(init?.headers).get('authorization') }
      calls.push(call)
      return respond(call) ?? Response.json(chatResponse())
    },
    hooks: { onError: (error) => void errors.push(error) },
    logger: false,
  }
  const gateway = createGateway(options)
  const send = (model = 'openai-compatible-first/m', user = 'alice') =>
    gateway.fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-user': user },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
    })
  return { gateway, send, calls, clock, errors, storage }
}

const unauthorized = (text = 'no') => Response.json({ error: { message: text } }, { status: 401 })

test('concurrent requests share one credential function call until the credential expires', async () => {
  const requests: CredentialRequest[] = []
  const { send, calls, clock } = open(async (about) => {
    requests.push(about)
    return { apiKey: `key-number-${requests.length}`, expiresAt: clock.now() + 10 * 60_000 }
  })
  const replies = await Promise.all(Array.from({ length: 100 }, () => send()))
  assert.ok(replies.every(({ status }) => status === 200))
  assert.equal([requests.length, calls.length], [1, 100])
  const { signal, ...about } = requests[0] ?? ({} as CredentialRequest)
  assert.equal(about, { connectionId: 'first', reason: 'first', model: 'm', account: 'alice' })
  assert.not(signal.aborted)
  await clock.advance(8 * 60_000)
  await send()
  assert.is(requests.length, 1)
  await clock.advance(61_000) // less than a minute before it expires
  await send()
  assert.equal(
    requests.map(({ reason }) => reason),
    ['first', 'expired'],
  )
  assert.is(calls.at(-1)?.authorization, 'Bearer key-number-2')
})

test('a 401 renews the credential once, and the client gets a response', async () => {
  const reasons: string[] = []
  const { send, calls } = open(
    ({ reason }) => `a-key-for-${reasons.push(reason)}`,
    ({ authorization }) => (authorization === 'Bearer a-key-for-1' ? unauthorized() : undefined),
  )
  assert.is((await send()).status, 200)
  assert.equal(reasons, ['first', 'rejected'])
  assert.equal(
    calls.map(({ authorization }) => authorization),
    ['Bearer a-key-for-1', 'Bearer a-key-for-2'],
  )
  assert.is((await send()).status, 200)
  assert.is(reasons.length, 2)
})

test("the next target is tried if the renewed credential is also rejected or hasn't changed", async () => {
  for (const source of [() => 'always-the-same-key', ({ reason }: CredentialRequest) => `the-${reason}-key`]) {
    const { send, calls } = open(source, ({ host }) => (host === 'first.test' ? unauthorized() : undefined))
    assert.is((await send('both')).status, 200)
    assert.is(calls.at(-1)?.host, 'second.test')
    assert.ok(calls.length <= 3)
  }
})

test('a connection is skipped if its credential function returns nothing', async () => {
  const { send, calls, errors } = open(() => undefined)
  assert.is((await send('both')).status, 200)
  assert.equal(
    calls.map(({ host }) => host),
    ['second.test'],
  )
  assert.equal(errors, [])
  const alone = await send()
  assert.is(alone.status, 502)
  assert.match(await alone.text(), /credential function of the connection \\"first\\" returned nothing/)
})

test('a credential function that throws or hangs fails its target, and only onError gets the cause', async () => {
  const error = open(() => {
    throw new Error('vault of acme is sealed')
  })
  assert.is((await error.send('both')).status, 200)
  const alone = await error.send('openai-compatible-first/m', 'bob')
  const text = await alone.text()
  assert.is(alone.status, 502)
  assert.match(text, /credential function of the connection \\"first\\" failed/)
  assert.not.match(text, /acme/)
  assert.match(
    String(error.errors[0]),
    /The credential function of "first" failed\. The hook "onError" gets the cause\.$/,
  )
  assert.match(String((error.errors[0] as Error).cause), /vault of acme is sealed/)

  let signal: AbortSignal | undefined
  const hanging = open((about) => {
    signal = about.signal
    return new Promise(() => {})
  })
  const pending = hanging.send('both')
  await hanging.clock.advance(5_100)
  assert.is((await pending).status, 200)
  assert.ok(signal?.aborted)
})

test('each account gets its own credential, unless it is shared', async () => {
  const byAccount = open(({ account }) => `the-key-of-${account}`)
  const users = Array.from({ length: 50 }, (_, index) => `user-${index % 5}`)
  await Promise.all(users.map((user) => byAccount.send(undefined, user)))
  assert.equal(
    byAccount.calls.map(({ authorization }) => authorization).sort(),
    users.map((user) => `Bearer the-key-of-${user}`).sort(),
  )
  let times = 0
  const shared = open({ shared: true, resolve: ({ account }) => `shared-key-${++times}-${account}` })
  await Promise.all(users.map((user) => shared.send(undefined, user)))
  assert.equal([times, new Set(shared.calls.map(({ authorization }) => authorization)).size], [1, 1])
  assert.is(shared.calls[0]?.authorization, 'Bearer shared-key-1-undefined')
})

test("one account's rejected credential doesn't put the target in cooldown for others", async () => {
  const { send, calls } = open(
    ({ account }) => `the-key-of-${account}`,
    ({ authorization }) => (authorization?.endsWith('mallory') ? unauthorized() : undefined),
  )
  for (let index = 0; index < 10; index++) assert.not((await send(undefined, 'mallory')).ok)
  assert.is((await send('both', 'alice')).status, 200)
  assert.equal(calls.at(-1), { host: 'first.test', authorization: 'Bearer the-key-of-alice' })
})

test('no response, record, or error contains the credential from a function', async () => {
  const secret = 'a-very-secret-credential-of-a-vault'
  const { gateway, send, errors, storage } = open(
    () => ({ accessToken: secret }),
    () =>
      Response.json(
        { error: { message: `Key ${secret} is over its quota` } },
        { status: 400, headers: { 'x-echo': secret } },
      ),
  )
  const response = await send()
  const text = `${await response.text()} ${JSON.stringify([...response.headers])}`
  assert.match(text, /\[credential\]/)
  await gateway.close()
  const records = JSON.stringify([await storage.list(''), await gateway.api.connections.list()])
  for (const seen of [text, records, errors.map(String).join()]) assert.not(seen.includes(secret))
})

test("a credential function's invalid value is rejected without quoting it", async () => {
  for (const value of [7, {}, { apiKey: '' }, { accessKeyId: 'AKIAIOSFODNN7EXAMPLE' }, ['a']]) {
    const { send, errors } = open((() => value) as never)
    assert.is((await send()).status, 502)
    assert.match(String(errors[0]), /must return a string, \{ apiKey \}/)
  }
})

test("a credential that isn't valid in a header is rejected without a provider call", async () => {
  for (const value of ['two words', 'two\nlines', 'schlüssel']) {
    const { send, calls, errors } = open(() => value)
    assert.is((await send()).status, 502)
    assert.is(calls.length, 0)
    assert.match(String(errors[0]), /must return the bare credential/)
    assert.not.match(String(errors[0]), new RegExp(value))
  }
})

test("AWS access keys from a function aren't sent to providers other than Bedrock", async () => {
  const keys = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wombatUmbrellaCobaltFandangoPickledHerring' }
  const { send, calls, errors } = open(() => keys)
  assert.is((await send()).status, 502)
  assert.equal(calls, [])
  assert.match(String(errors[0]), /"first" returned AWS access keys, which only Bedrock accepts/)
})

test('a non-numeric expiresAt is rejected, and null means no expiry', async () => {
  for (const expiresAt of [Number.NaN, '2030-01-01', new Date()]) {
    const { send, errors } = open((() => ({ apiKey: 'a-key-that-expires', expiresAt })) as never)
    assert.is((await send()).status, 502)
    assert.match(String(errors[0]), /must return "expiresAt" in epoch milliseconds/)
  }
  const { send: askWithSeconds, errors } = open(() => ({
    apiKey: 'a-key-that-expires',
    expiresAt: fakeClock().now() / 1_000 + 3_600,
  }))
  assert.is((await askWithSeconds()).status, 502)
  assert.match(String(errors[0]), /must return "expiresAt" in epoch milliseconds, not in seconds/)
  let times = 0
  const { send: sendRequest } = open((() => ({ apiKey: `key-number-${++times}`, expiresAt: null })) as never)
  assert.equal([(await sendRequest()).status, (await sendRequest()).status, times], [200, 200, 1])
})

test('the next request calls the credential function again if it returned nothing', async () => {
  const reasons: string[] = []
  const { send } = open(({ reason }) => (reasons.push(reason) === 1 ? undefined : 'a-key-that-was-added'))
  assert.equal([(await send()).status, (await send()).status], [502, 200])
  assert.equal(reasons, ['first', 'first'])
})

test("concurrent requests renew a rejected credential once, even if it doesn't change", async () => {
  for (const renewed of ['the-first-key', 'another-key']) {
    const reasons: string[] = []
    const renewal = Promise.withResolvers<string>()
    const { send, calls, clock } = open(
      ({ reason }) => (reasons.push(reason) === 1 ? 'the-first-key' : renewal.promise),
      ({ authorization }) => (authorization === 'Bearer the-first-key' ? unauthorized() : undefined),
    )
    await send('openai-compatible-second/m') // loads all modules
    const pending = Promise.all(Array.from({ length: 50 }, () => send()))
    await clock.advance(1_000) // all of them were rejected
    renewal.resolve(renewed)
    assert.ok((await pending).every(({ ok }) => ok === (renewed === 'another-key')))
    assert.equal(reasons, ['first', 'rejected'])
    assert.is(calls.length, renewed === 'another-key' ? 101 : 51)
  }
})

test('a request that is split into several calls renews the credential once', async () => {
  let times = 0
  const { gateway, calls } = open(
    () => `key-number-${++times}`,
    () => (times < 20 ? unauthorized() : new Response('too many', { status: 400 })),
  )
  const response = await gateway.fetch('http://gateway/v1/embeddings', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-user': 'alice' },
    body: JSON.stringify({
      model: 'openai-compatible-first/m',
      input: Array.from({ length: 5_000 }, (_, index) => `text ${index}`),
    }),
  })
  assert.is(response.status, 502)
  assert.is(times, 2)
  assert.ok(calls.length > 2 && calls.length <= 8)
})

test("one key's rejected credential doesn't put the target in cooldown for other keys", async () => {
  const calls: Array<string | null> = []
  let badId = ''
  const { api, fetch } = createGateway({
    storage: memoryStorage(),
    connections: {
      first: {
        provider: 'openai-compatible-first',
        baseUrl: 'http://first.test/v1',
        apiKey: ({ keyId }) => `the-key-of-${keyId}`,
      },
    },
    fetch: async (_: unknown, init?: RequestInit): Promise<Response> => {
      const authorization = new Headers(init?.headers).get('authorization')
      calls.push(authorization)
      return authorization === `Bearer the-key-of-${badId}` ? unauthorized() : Response.json(chatResponse())
    },
    logger: false,
  })
  const [bad, good] = [await api.keys.create({ name: 'bad' }), await api.keys.create({ name: 'good' })]
  badId = bad.id
  const send = (key: string) =>
    fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'openai-compatible-first/m', messages: [{ role: 'user', content: 'Hi' }] }),
    })
  for (let index = 0; index < 10; index++) assert.not((await send(bad.key)).ok)
  assert.is((await send(good.key)).status, 200)
  assert.is(calls.at(-1), `Bearer the-key-of-${good.id}`)
})

test('parts of AWS access keys are removed from errors, unless the key is a short placeholder', async () => {
  const credential = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY',
    sessionToken: 'FwoGZXIvYXdzEBYaDsession',
  }
  const quoting = open(
    () => credential,
    () => Response.json({ error: { message: `bad: ${Object.values(credential).join(' ')}` } }, { status: 400 }),
  )
  const text = await (await quoting.send()).text()
  for (const part of [credential.secretAccessKey, credential.sessionToken]) assert.not(text.includes(part))
  const local = open(
    () => 'e',
    () => Response.json({ error: { message: 'there were errors here' } }, { status: 400 }),
  )
  assert.match(await (await local.send()).text(), /there were errors here/)
})

test('no error is reported if the client disconnects while the credential is being renewed', async () => {
  const client = new AbortController()
  let times = 0
  const { gateway, calls, errors } = open(
    () => {
      if (++times === 1) return 'the-first-key'
      queueMicrotask(() => client.abort())
      return new Promise(() => {})
    },
    () => unauthorized(),
  )
  const response = await gateway
    .fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-user': 'alice' },
      body: JSON.stringify({ model: 'both', messages: [{ role: 'user', content: 'Hi' }] }),
      signal: client.signal,
    })
    .catch(() => undefined)
  assert.ok(response === undefined || response.status === 499)
  assert.equal([times, calls.length, errors], [2, 1, []])
})
