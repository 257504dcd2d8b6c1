import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Hooks } from '../../src/features/observe/hooks.ts'
import { createGateway } from '../../src/gateway.ts'
import type { UsageRecord } from '../../src/pricing/usage-record.ts'
import type { RequestRecord } from '../../src/request/hook-records.ts'
import type { Identity } from '../../src/request/identity.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { catalog } from '../pipeline/support/world.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('usage by account')

async function open(hooks: Hooks = {}) {
  const clock = fakeClock()
  const storage = memoryStorage({ clock })
  const fetch = fakeUpstream(() => json(chatResponse()))
  const gateway = createGateway({
    storage,
    clock,
    fetch,
    catalog,
    logger: false,
    hooks,
    secret: 'a secret for tokens of 32 characters',
  })
  const { api } = gateway
  await api.connections.create({ provider: 'one', apiKey: 'secret-of-one' })
  const sendRequest = async (
    identity: Identity | undefined,
    headers: Record<string, string> = {},
    body: object = {},
  ) => {
    const { fetch: send } = identity ? gateway.as(identity) : gateway
    const response = await send('http://app.test/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'one/m', messages: [], ...body }),
    })
    await response.text()
    return response
  }
  const requests = async (query = {}) => (await api.usage.requests(query)).requests
  return { api, send: sendRequest, clock, requests, storage }
}

test('records and totals include the account, and filters accept its id or ref', async () => {
  const { api, send, requests } = await open()
  const { ref } = await api.accounts.put({ id: 'alice', name: 'Alice' })
  await api.accounts.put({ id: 'bob' })
  await send({ account: 'alice', metadata: { plan: 'x' }, tags: ['beta'] })
  await send({ account: 'alice' })
  await send({ account: 'bob' })
  const first = (await requests()).find(({ tags }) => tags)
  assert.equal([first?.account, first?.metadata, first?.tags], [ref, { plan: 'x' }, ['beta']])
  assert.is((await requests({ account: 'alice' })).length, 2)
  assert.is((await requests({ account: ref })).length, 2)
  assert.is((await requests({ account: '' })).length, 0)
  const { rows, names } = await api.usage.summary({ by: 'account', names: true })
  assert.equal(
    rows.map(({ account = '', requests: count }) => [names?.[account], count]),
    [
      ['Alice', 2],
      ['bob', 1],
    ],
  )
  assert.is((await api.usage.summary({ account: 'bob' })).totals.requests, 1)
})

test("stored usage contains the account's ref, never its id", async () => {
  const { api, send, clock, requests, storage } = await open()
  await send({ account: 'alice@example.com', tags: ['a', 'b'] })
  await clock.advance(10 * 60_000)
  const [record] = await requests()
  assert.equal(record?.tags, ['a', 'b'])
  const dump = (await storage.list('')).map(({ key, value }) => key + value).join('\n')
  assert.not.match(dump, /alice/)
  assert.ok(dump.includes(record?.account ?? 'none'))
  assert.is((await api.usage.summary({ account: 'alice@example.com' })).totals.requests, 1)
})

test('a request with a key counts toward both the key and its account', async () => {
  const { api, send, requests } = await open()
  const key = await api.keys.create({ name: 'app', account: 'alice', metadata: { team: 'y' } })
  await send(undefined, { authorization: `Bearer ${key.key}` })
  const [record] = await requests({ account: 'alice' })
  assert.equal([record?.keyId, record?.metadata], [key.id, { team: 'y' }])
  assert.is((await requests({ keyId: key.id })).length, 1)
  assert.is((await api.keys.list({ account: 'alice', values: 'none' })).keys.length, 1)
  assert.is((await api.keys.list({ account: 'bob', values: 'none' })).keys.length, 0)
})

test("a usage record contains a token's id, and nothing else from the token", async () => {
  const { api, send, requests, storage } = await open()
  const { token, id } = await api.tokens.mint({ account: 'alice' })
  await send(undefined, { authorization: `Bearer ${token}` })
  assert.is((await requests())[0]?.tokenId, id)
  const dump = (await storage.list('')).map(({ value }) => value).join('\n')
  for (const part of token.split('.')) assert.not.ok(dump.includes(part))
})

test("a client's user field doesn't split an account's totals", async () => {
  const { api, send, requests } = await open()
  await send({ account: 'alice' }, {}, { user: 'session-1' })
  await send({ account: 'alice' }, {}, { user: 'session-2' })
  const { rows } = await api.usage.summary({ by: 'user' })
  assert.equal(
    rows.map(({ user, requests: count }) => [user, count]),
    [[undefined, 2]],
  )
  assert.equal((await requests()).map(({ user }) => user).sort(), ['session-1', 'session-2'])
})

test("hooks receive the account's id", async () => {
  const usage: UsageRecord[] = []
  const ended: RequestRecord[] = []
  const { send, api } = await open({
    onUsage: (record) => void usage.push(record),
    onRequest: (record) => void ended.push(record),
  })
  const { ref } = await api.accounts.put({ id: 'alice' })
  await send({ account: 'alice' })
  assert.equal([usage[0]?.account, ended[0]?.account, ended[0]?.accountRef], ['alice', 'alice', ref])
})

test('filtering by an unknown account returns a warning', async () => {
  const { api } = await open()
  const { warnings } = await api.usage.summary({ account: 'nobody' })
  assert.equal(warnings, ['There is no account with the ID or ref "nobody".'])
})

test("a routing explanation applies the rules of the key's account or the specified account", async () => {
  const { api } = await open()
  await api.accounts.put({ id: 'alice', models: ['one/allowed'] })
  const key = await api.keys.create({ name: 'app', account: 'alice' })
  const explain = async (of: object) => (await api.explain({ model: 'one/m', ...of })).targets[0]?.why
  assert.match((await explain({ keyId: key.id })) ?? '', /the API key is not allowed to use it/)
  assert.match((await explain({ account: 'alice' })) ?? '', /the account is not allowed to use it/)
  await api.accounts.pause('alice')
  assert.is((await api.explain({ model: 'one/m', account: 'alice' })).error?.code, 'ACCOUNT_PAUSED')
})

test("a group that is an account's plan can't be deleted", async () => {
  const { api } = await open()
  const { id } = await api.groups.create({ name: 'pro' })
  await api.accounts.put({ id: 'alice', plan: id })
  const message = await api.groups.delete(id).catch((error: Error) => error.message)
  assert.match(String(message), /is the plan of at least one account/)
  await api.accounts.update('alice', { plan: null })
  assert.equal(await api.groups.delete(id), { success: true })
})
