import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import type { GatewayOptions } from '../../src/options.ts'
import type { Identify } from '../../src/request/identity.ts'
import { chatAnswer } from '../pipeline/support/answers.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { catalog } from '../pipeline/support/world.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { byCookie, outcomeOf } from './support/app.ts'

const test = suite('users of an app, from the cookie to the counters')

async function open(options: Partial<GatewayOptions> = {}) {
  const clock = fakeClock()
  const storage = memoryStorage({ clock })
  const fetch = fakeUpstream(() => json(chatAnswer()))
  const gateway = createGateway({ storage, clock, fetch, catalog, logger: false, identify: byCookie, ...options })
  await gateway.api.connections.create({ provider: 'one', apiKey: 'secret-of-one' })
  const ask = (user: string, headers: Record<string, string> = {}) =>
    gateway.fetch('http://app.test/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: `s=${user}`, ...headers },
      body: JSON.stringify({ model: 'one/m', messages: [] }),
    })
  return { gateway, storage, fetch, ask }
}

const perMinute = (minute: number) => ({ requests: { minute } })

/** Each user may send so many requests a minute. */
const withLimit = (minute: number) => ({
  identify: (async (request, about) => {
    const identity = await byCookie(request, about)
    return identity && { ...identity, limits: perMinute(minute) }
  }) satisfies Identify,
})

test('check 25: each user has limits of their own, from the first request on', async () => {
  const { ask } = await open(withLimit(2))
  assert.equal(
    [(await ask('alice')).status, (await ask('alice')).status, (await ask('alice')).status, (await ask('bob')).status],
    [200, 200, 429, 200],
  )
})

test('the models and limits of an identity and of its plan apply', async () => {
  const { gateway } = await open()
  const { id } = await gateway.api.groups.create({ name: 'free', models: ['one/*'] })
  const { fetch } = gateway.as({ account: 'alice', plan: id, limits: perMinute(2), models: ['one/m'] })
  const ask = async (model: string) =>
    (
      await fetch('http://app.test/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [] }),
      })
    ).status
  assert.is(await ask('one/other'), 403)
  assert.equal([await ask('one/m'), await ask('one/m'), await ask('one/m')], [200, 200, 429])
})

test('an unknown plan is an error of the app', async () => {
  const errors: unknown[] = []
  const { gateway, fetch } = await open({ hooks: { onError: (error) => void errors.push(error) } })
  const response = await gateway.as({ account: 'alice', plan: 'platinum' }).fetch('http://app.test/v1/models')
  assert.equal([response.status, errors.length, fetch.calls.length], [500, 1, 0])
})

test('a user who runs into the limit gets an error about the account, which names no key', async () => {
  const { ask } = await open(withLimit(1))
  await ask('alice')
  const response = await ask('alice')
  const text = await response.clone().text()
  assert.match(text, /Your account/)
  assert.not.match(text, /API key/)
  assert.is(await outcomeOf(response), '429 rate_limit_exceeded')
})

test('a user reads the limits of the own account', async () => {
  const { gateway, ask } = await open(withLimit(5))
  await ask('alice')
  const read = async (user: string) => {
    const response = await gateway.fetch('http://app.test/v1/account', { headers: { cookie: `s=${user}` } })
    assert.is(response.status, 200)
    const { limits } = (await response.json()) as { limits: Array<{ used: number; limit: number }> }
    return limits.map(({ used, limit }) => [used, limit])
  }
  assert.equal(await read('alice'), [[1, 5]])
  assert.equal(await read('bob'), [[0, 5]])
})

test('check 31: the storage keeps no id of a user in plain sight', async () => {
  const { gateway, storage, ask } = await open()
  const secretive = 'user-7c1e'
  await ask(secretive)
  await gateway.close()
  const stored = await storage.list('')
  assert.ok(stored.length > 2)
  assert.not.match(JSON.stringify(stored), new RegExp(secretive))
})
