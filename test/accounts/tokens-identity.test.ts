import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGatewayWith } from '../../src/gateway.ts'
import type { Identify } from '../../src/request/identity.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { catalog } from '../pipeline/support/world.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { byCookie, getOutcome } from './support/app.ts'
import { SECRET } from './support/token-world.ts'

const test = suite('tokens combined with the identify function')

async function openApp(identify: Identify = byCookie) {
  const clock = fakeClock()
  const upstream = fakeUpstream(() => json(chatResponse()))
  const seen: unknown[] = []
  const { gateway } = createGatewayWith({
    storage: memoryStorage({ clock }),
    secret: SECRET,
    clock,
    fetch: upstream,
    catalog,
    logger: false,
    identify,
    extend: [
      {
        name: 'look',
        aroundRequest(request, next) {
          const { caller } = request as unknown as { caller: { account?: { id: string }; token?: { id: string } } }
          seen.push([caller.account?.id, caller.token?.id])
          return next()
        },
      },
    ],
  })
  await gateway.api.connections.create({ provider: 'one', apiKey: 'secret-of-one' })
  const chat = async (headers: Record<string, string>) =>
    getOutcome(
      await gateway.fetch(
        new Request('http://app.test/v1/chat/completions', {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: '{"model":"one/m","messages":[]}',
        }),
      ),
    )
  return { api: gateway.api, chat, seen, upstream }
}

test('an identity and a token of the same account work together, and both sets of limits apply', async () => {
  const { api, chat, seen } = await openApp()
  const { token, id } = await api.tokens.mint({ account: 'alice', limits: { requests: { total: 1 } } })
  const both = { cookie: 's=alice', 'x-api-key': token }
  assert.is(await chat(both), '200')
  assert.is(await chat(both), '429 rate_limit_exceeded')
  assert.is(await chat({ cookie: 's=alice' }), '200')
  assert.equal(seen, [
    ['alice', id],
    ['alice', id],
    ['alice', undefined],
  ])
})

test('a request is rejected if its identity and its token belong to different accounts', async () => {
  const { api, chat, upstream } = await openApp()
  const { token } = await api.tokens.mint({ account: 'bob' })
  assert.is(await chat({ cookie: 's=alice', 'x-api-key': token }), '400 identity_conflict')
  assert.is(await chat({ cookie: 's=alice', 'x-api-key': `${token}x` }), '401 token_invalid')
  assert.is(upstream.calls.length, 0)
})

test('a token and a key of the same account work together', async () => {
  const { api, chat, seen } = await openApp(() => undefined)
  const { key } = await api.keys.create({ name: 'of-alice', account: 'alice' })
  const { token, id } = await api.tokens.mint({ account: 'alice' })
  const other = await api.tokens.mint({ account: 'bob' })
  assert.is(await chat({ 'x-api-key': token, 'api-key': key }), '200')
  assert.is(await chat({ 'x-api-key': other.token, 'api-key': key }), '400 identity_conflict')
  assert.equal(seen, [['alice', id]])
})

test('a request is rejected if its headers contain keys or tokens of different accounts', async () => {
  const { api, chat, seen } = await openApp(() => undefined)
  const [alice, bob, none] = await Promise.all([
    api.keys.create({ name: 'of-alice', account: 'alice' }),
    api.keys.create({ name: 'of-bob', account: 'bob' }),
    api.keys.create({ name: 'of-none' }),
  ])
  const mint = async (account: string) => (await api.tokens.mint({ account })).token
  const tokens = [await mint('alice'), await mint('bob'), await mint('alice')]
  const pairs = [
    [alice.key, bob.key],
    [none.key, alice.key],
    [tokens[0], tokens[1]],
    [tokens[0], tokens[2]],
  ]
  for (const [value = '', second = ''] of pairs.flatMap(([a, b]) => [
    [a, b],
    [b, a],
  ])) {
    assert.is(await chat({ authorization: `Bearer ${value}`, 'x-api-key': second }), '400 identity_conflict')
    assert.is(await chat({ 'x-goog-api-key': value, 'api-key': second }), '400 identity_conflict')
  }
  assert.equal(seen, [])
  const second = await api.keys.create({ name: 'of-none, too' })
  assert.is(await chat({ 'x-api-key': none.key, 'api-key': second.key }), '200')
  assert.is(await chat({ 'x-api-key': alice.key, 'api-key': `${bob.key}x` }), '200')
})

test('the token applies if identify returns nothing, but not if it rejects the request', async () => {
  const silent = await openApp(() => undefined)
  const { token } = await silent.api.tokens.mint({ account: 'alice' })
  assert.is(await silent.chat({ 'x-api-key': token }), '200')
  assert.is(await silent.chat({ 'x-api-key': token, 'x-signalbox-account': 'alice' }), '200')
  assert.is(await silent.chat({ 'x-api-key': token, 'x-signalbox-account': 'bob' }), '403 account_not_allowed')
  const { key } = await silent.api.keys.create({ name: 'plain' })
  assert.is(await silent.chat({ 'x-api-key': token, 'api-key': key }), '400 identity_conflict')
  const closed = await openApp(() => null)
  const other = await closed.api.tokens.mint({ account: 'alice' })
  assert.is(await closed.chat({ 'x-api-key': other.token }), '401 identity_required')
})
