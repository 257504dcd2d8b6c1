import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import type { GatewayOptions } from '../../src/options.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { catalog } from '../pipeline/support/world.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { getOutcome } from './support/app.ts'

const test = suite('keys that act for accounts')

async function open(options: Partial<GatewayOptions> = {}) {
  const clock = fakeClock()
  const storage = memoryStorage({ clock })
  const fetch = fakeUpstream(() => json(chatResponse()))
  const { api, fetch: send } = createGateway({ storage, clock, fetch, catalog, logger: false, ...options })
  await api.connections.create({ provider: 'one', apiKey: 'secret-of-one' })
  const sendRequest = async (key: string, account?: string, body: object = {}) =>
    getOutcome(
      await send('http://app.test/v1/chat/completions', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${key}`,
          ...(account !== undefined && { 'x-signalbox-account': account }),
        },
        body: JSON.stringify({ model: 'one/m', messages: [], ...body }),
      }),
    )
  return { api, send: sendRequest, fetch }
}

const naming = (quotaEntityId: string) => ({ providerOptions: { gateway: { quotaEntityId } } })

test('a key that acts for accounts selects one with a header, and the plan limits each account', async () => {
  const { api, send } = await open()
  const { id: plan } = await api.groups.create({ name: 'pro', each: { requests: { day: 1 } } })
  const { key } = await api.keys.create({ name: 'host', actsFor: { plan } })
  assert.equal([await send(key, 'bob'), await send(key, 'alice')], ['200', '200'])
  assert.is(await send(key, 'bob'), '429 rate_limit_exceeded')
  assert.is(await send(key), '200')
  const { requests } = await api.usage.requests({ account: 'bob' })
  assert.is(requests.length, 2)
})

test("the key's plan applies only to accounts without their own plan", async () => {
  const { api, send } = await open()
  const [free, pro] = [
    await api.groups.create({ name: 'free', each: { requests: { day: 1 } } }),
    await api.groups.create({ name: 'pro', each: { requests: { day: 2 } } }),
  ]
  const { key, id } = await api.keys.create({ name: 'host', actsFor: { plan: free.id } })
  await api.accounts.put({ id: 'alice', plan: pro.id })
  assert.equal([await send(key, 'alice'), await send(key, 'alice')], ['200', '200'])
  assert.equal([await send(key, 'bob'), await send(key, 'bob')], ['200', '429 rate_limit_exceeded'])
  await api.keys.update(id, { actsFor: { plan: pro.id } })
  assert.is(await send(key, 'bob'), '200', "the key's plan isn't stored in the account")
})

test("a plan can't be deleted while a key that acts for accounts uses it", async () => {
  const { api } = await open()
  const { id: plan } = await api.groups.create({ name: 'free' })
  const { id } = await api.keys.create({ name: 'host', actsFor: { plan } })
  const message = await api.groups.delete(plan).catch((error: Error) => error.message)
  assert.match(String(message), /or in "actsFor" of a key/)
  await api.keys.update(id, { actsFor: null })
  assert.equal(await api.groups.delete(plan), { success: true })
})

test("a key that can't act for accounts is rejected if its header selects another account", async () => {
  const { api, send, fetch } = await open()
  const { key } = await api.keys.create({ name: 'app' })
  const own = await api.keys.create({ name: 'of alice', account: 'alice' })
  assert.equal(
    [await send(key, 'bob'), await send(own.key, 'bob')],
    ['403 account_not_allowed', '403 account_not_allowed'],
  )
  assert.is(fetch.calls.length, 0)
  assert.is(await send(own.key, 'alice'), '200')
})

test("an AI SDK quotaEntityId must match the request's account", async () => {
  const { api, send } = await open()
  const { key } = await api.keys.create({ name: 'host', actsFor: {} })
  assert.is(await send(key, 'bob', naming('alice')), '403 account_not_allowed')
  assert.is(await send(key, undefined, naming('alice')), '403 account_not_allowed')
  assert.is(await send(key, 'bob', naming('bob')), '200')
})

test('an invalid account id returns a 400', async () => {
  const { api, send } = await open()
  const { key } = await api.keys.create({ name: 'host', actsFor: {} })
  for (const id of ['x'.repeat(201), 'a_aaaaaaaaaaaaaaaaaaaaaaaaaa']) assert.match(await send(key, id), /^400/)
})

test('a key also acts for accounts when "identify" returns nothing', async () => {
  const { api, send } = await open({ identify: () => undefined })
  const { key } = await api.keys.create({ name: 'host', actsFor: {} })
  assert.is(await send(key, 'bob'), '200')
  assert.is((await api.usage.requests({ account: 'bob' })).requests.length, 1)
})

test("a key can't both belong to an account and act for others", async () => {
  const { api } = await open()
  const message = await api.keys
    .create({ name: 'both', account: 'alice', actsFor: {} })
    .catch((error: Error) => error.message)
  assert.match(String(message), /cannot have "actsFor"/)
})
