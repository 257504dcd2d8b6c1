import { memoryStorage } from '../../adapters/storage/memory.ts'
import { assert, suite } from '../support/suite.ts'
import { chatResponse } from './support/responses.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld, token } from './support/world.ts'

const test = suite("connections with a credential that can't be decrypted")

async function open(options: { limits?: { maxAttempts: number } } = {}) {
  const storage = memoryStorage()
  const upstream = fakeUpstream(() => json(chatResponse()))
  const world = await openWorld({ fetch: upstream, storage, combos: { chain: ['one/m', 'two/m'] }, ...options })
  for (const { key, value } of await storage.list('connections/'))
    if (value.includes('"provider":"one"'))
      await storage.set(key, value.replace(/("sealedApiKey":"[^"]{40})..../, '$1AAAA'))
  return { upstream, world }
}

const admin = { headers: { authorization: `Bearer ${token}` } }

test("a connection with a credential that can't be decrypted is listed with the others, with the reason", async () => {
  const { world } = await open()
  const response = await world.gateway.fetch(new Request('http://gateway/api/connections', admin))
  assert.is(response.status, 200)
  const { connections } = await response.json()
  const [first, two] = connections
  assert.equal([first.provider, first.apiKey], ['one', undefined])
  assert.match(first.error, /^The credential cannot be decrypted because .* set "apiKey" again\.$/)
  assert.equal([two.provider, two.apiKey, two.error], ['two', '…-two', undefined])
  const alone = await world.gateway.fetch(new Request(`http://gateway/api/connections/${first.id}`, admin))
  assert.is((await alone.json()).error, first.error)
})

test("setting a new credential repairs a connection with a credential that can't be decrypted", async () => {
  const { world, upstream } = await open()
  const [first] = (await world.api.connections.list()).connections
  const repaired = await world.api.connections.update(first?.id ?? '', { apiKey: 'another-credential' })
  assert.equal([repaired.apiKey, repaired.error], ['…tial', undefined])
  await world.chat({})
  assert.is(upstream.calls[0]?.headers.get('authorization'), 'Bearer another-credential')
})

test("a connection whose credential can't be decrypted is tried last, at most once per request", async () => {
  const { world, upstream } = await open()
  const send = async () => (await world.chat({ model: 'one/m' })).headers.get('x-signalbox-attempts')
  assert.is(await send(), 'one/m=500:credentials')
  assert.is(await send(), 'one/m=skipped:credentials, one/m=500:credentials')
  assert.is(upstream.calls.length, 0)
})

test("a connection with a credential that can't be decrypted doesn't count toward the attempt limit", async () => {
  const { world, upstream } = await open({ limits: { maxAttempts: 1 } })
  const response = await world.chat({ model: 'chain' })
  assert.is(response.headers.get('x-signalbox-attempts'), 'one/m=500:credentials;via=chain:fallback, two/m=200')
  assert.equal(upstream.providers, ['two'])
})
