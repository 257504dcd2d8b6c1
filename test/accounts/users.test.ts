import * as ai from 'ai'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createSignalbox } from '../../src/ai/signalbox.ts'
import { createGateway } from '../../src/gateway.ts'
import type { GatewayOptions } from '../../src/options.ts'
import type { Identify } from '../../src/request/identity.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { catalog } from '../pipeline/support/world.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { byCookie, getOutcome } from './support/app.ts'

const test = suite('app users end to end, from cookie to counters')

async function open({
  clock = fakeClock(),
  ...options
}: Partial<Omit<GatewayOptions, 'clock'>> & { clock?: FakeClock } = {}) {
  const storage = memoryStorage({ clock })
  const fetch = fakeUpstream(() => json(chatResponse()))
  const gateway = createGateway({ storage, clock, fetch, catalog, logger: false, identify: byCookie, ...options })
  await gateway.api.connections.create({ provider: 'one', apiKey: 'secret-of-one' })
  const send = (user: string, headers: Record<string, string> = {}) =>
    gateway.fetch('http://app.test/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: `s=${user}`, ...headers },
      body: JSON.stringify({ model: 'one/m', messages: [] }),
    })
  return { gateway, storage, fetch, send }
}

const perMinute = (minute: number) => ({ requests: { minute } })

/** Returns gateway options that allow each user this many requests per minute. */
const withLimit = (minute: number) => ({
  identify: (async (request, about) => {
    const identity = await byCookie(request, about)
    return identity && { ...identity, limits: perMinute(minute) }
  }) satisfies Identify,
})

test('each user has separate limits from the first request', async () => {
  const { send } = await open(withLimit(2))
  assert.equal(
    [
      (await send('alice')).status,
      (await send('alice')).status,
      (await send('alice')).status,
      (await send('bob')).status,
    ],
    [200, 200, 429, 200],
  )
})

test("a request must be allowed by both the identity's and the plan's models and limits", async () => {
  const { gateway } = await open()
  const { id } = await gateway.api.groups.create({ name: 'free', models: ['one/*'] })
  const { fetch } = gateway.as({ account: 'alice', plan: id, limits: perMinute(2), models: ['one/m'] })
  const send = async (model: string) =>
    (
      await fetch('http://app.test/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [] }),
      })
    ).status
  assert.is(await send('one/other'), 403)
  assert.equal([await send('one/m'), await send('one/m'), await send('one/m')], [200, 200, 429])
})

test('an unknown plan returns a 500 and is reported to onError', async () => {
  const errors: unknown[] = []
  const { gateway, fetch } = await open({ hooks: { onError: (error) => void errors.push(error) } })
  const response = await gateway.as({ account: 'alice', plan: 'platinum' }).fetch('http://app.test/v1/models')
  assert.equal([response.status, errors.length, fetch.calls.length], [500, 1, 0])
})

test('a user who reaches a limit gets an error that mentions the account but no key', async () => {
  const { send } = await open(withLimit(1))
  await send('alice')
  const response = await send('alice')
  const text = await response.clone().text()
  assert.match(text, /Your account/)
  assert.not.match(text, /API key/)
  assert.is(await getOutcome(response), '429 rate_limit_exceeded')
})

test("users can read their account's limits", async () => {
  const { gateway, send } = await open(withLimit(5))
  await send('alice')
  const read = async (user: string) => {
    const response = await gateway.fetch('http://app.test/v1/account', { headers: { cookie: `s=${user}` } })
    assert.is(response.status, 200)
    const { limits } = (await response.json()) as { limits: Array<{ used: number; limit: number }> }
    return limits.map(({ used, limit }) => [used, limit])
  }
  assert.equal(await read('alice'), [[1, 5]])
  assert.equal(await read('bob'), [[0, 5]])
})

test('the storage contains no user id in plaintext', async () => {
  const { gateway, storage, send } = await open()
  const secretive = 'user-7c1e'
  await send(secretive)
  await gateway.close()
  const stored = await storage.list('')
  assert.ok(stored.length > 2)
  assert.not.match(JSON.stringify(stored), new RegExp(secretive))
})

/** Opens a gateway whose default plan allows this many requests per day. */
async function openWithPlan(day: number, options: Parameters<typeof open>[0] = {}) {
  const opened = await open({ accounts: { defaultPlan: 'Free' }, ...options })
  await opened.gateway.api.groups.create({ name: 'Free', each: { requests: { day } } })
  return opened
}

test("a request with a user's cookie and a key of the same account counts toward both", async () => {
  const { gateway, send, fetch } = await openWithPlan(9)
  const { api } = gateway
  const { key, id } = await api.keys.create({ name: 'app', account: 'alice', limits: { requests: { day: 2 } } })
  const headers = { 'x-api-key': key }
  const statuses = []
  for (let index = 0; index < 3; index++) statuses.push((await send('alice', headers)).status)
  assert.equal([...statuses, (await send('alice')).status], [200, 200, 429, 200])
  const readUsed = async (resource: 'keys' | 'accounts', value: string) =>
    (await api[resource].limits.get(value)).limits.map(({ scope, used }) => `${scope} ${used}`)
  assert.equal(await readUsed('keys', id), ['key 2', 'account 3'])
  assert.equal(await readUsed('accounts', 'alice'), ['account 3'])
  const calls = fetch.calls.length
  assert.is(await getOutcome(await send('bob', headers)), '400 identity_conflict')
  assert.equal([fetch.calls.length, await readUsed('keys', id)], [calls, ['key 2', 'account 3']])
})

test("in-process models follow their account's limits", async () => {
  const { gateway, send } = await openWithPlan(2)
  const model = createSignalbox(gateway, { account: 'alice' })('one/m')
  const generate = () =>
    ai.generateText({ model, prompt: 'Hi', maxRetries: 0 }).then(
      () => 200,
      (error: { statusCode?: number }) => error.statusCode,
    )
  assert.equal([await generate(), (await send('alice')).status, await generate()], [200, 200, 429])
  assert.is((await send('alice')).status, 429)
})

test('the default plan limits a new user across endpoints, even with an admin token', async () => {
  const token = 'admin-token-of-thirty-two-characters'
  const { gateway, fetch } = await openWithPlan(3, { management: { token } })
  const send = async (path: string, user: string, body: object, headers: Record<string, string> = {}) =>
    gateway.fetch(`http://app.test${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: `s=${user}`, ...headers },
      body: JSON.stringify(body),
    })
  const chat = { model: 'one/m', messages: [{ role: 'user', content: 'Hi' }] }
  const requests: Array<[path: string, body: object]> = [
    ['/v1/chat/completions', chat],
    ['/v1/messages', { ...chat, max_tokens: 9 }],
    ['/v1/responses', { model: 'one/m', input: 'Hi' }],
    ['/v1beta/models/one/m:generateContent', { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }],
    ['/v1/chat/completions', { ...chat, stream: true }],
  ]
  for (const [user, headers] of [
    ['alice', {}],
    ['admin', { authorization: `Bearer ${token}` }],
    ['root', { 'x-api-key': token }],
  ] as const) {
    const calls = fetch.calls.length
    const statuses: number[] = []
    for (const [path, body] of requests) statuses.push((await send(path, user, body, headers)).status)
    assert.equal(statuses, [200, 200, 200, 429, 429], user)
    assert.is(fetch.calls.length, calls + 3)
  }
  const concurrent = await Promise.all(requests.map(([path, body]) => send(path, 'carol', body)))
  assert.is(concurrent.filter(({ status }) => status === 200).length, 3)
})

test("a user's limit resets if the clock goes ahead a month, but not back a day", async () => {
  const fake = fakeClock(Date.UTC(2026, 4, 20))
  let movedMs = 0
  const { send } = await openWithPlan(1, { clock: { ...fake, now: () => fake.now() + movedMs } })
  assert.equal([(await send('alice')).status, (await send('alice')).status], [200, 429])
  movedMs = -24 * 60 * 60 * 1_000
  assert.is((await send('alice')).status, 429)
  movedMs = 31 * 24 * 60 * 60 * 1_000
  assert.equal([(await send('alice')).status, (await send('alice')).status], [200, 429])
  movedMs = 0
  assert.is((await send('alice')).status, 429)
})
