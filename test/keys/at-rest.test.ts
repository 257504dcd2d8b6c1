import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Storage } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld, type WorldOptions } from '../pipeline/support/world.ts'
import { times } from '../support/ci.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('keys and credentials at rest')

async function open(storage: Storage, options: WorldOptions = {}) {
  const upstream = fakeUpstream(() => json(chatResponse()))
  const world = await openWorld({ fetch: upstream, storage, ...options })
  const status = async (key: string) => (await world.chat({}, { headers: { 'x-api-key': key } })).status
  return { world, upstream, status }
}

const contents = async (storage: Storage) =>
  (await storage.list('')).map(({ key, value }) => `${key} ${value}`).join('\n')

test('no part of a key or credential is stored in plaintext', async () => {
  const storage = memoryStorage()
  const { world } = await open(storage, { connections: [] })
  const secrets: string[] = []
  for (let created = 0; created < times(1_000); created++) {
    secrets.push((await world.api.keys.create({ name: `key ${created}` })).key)
    const apiKey = `sk-credential-${created}-${'x'.repeat(20)}`
    await world.api.connections.create({ provider: 'one', apiKey })
    secrets.push(apiKey)
  }
  const raw = await contents(storage)
  assert.ok(raw.length > times(500_000))
  for (const secret of secrets) {
    for (const form of [secret, secret.slice(4, 30), btoa(secret), btoa(secret).slice(4, 30)])
      assert.not.ok(raw.includes(form), form)
  }
})

test('an encrypted credential that was moved to another connection is rejected', async () => {
  const storage = memoryStorage()
  const { world, upstream } = await open(storage, { connections: ['one', 'two'] })
  const [first, second] = await storage.list('connections/')
  const one = JSON.parse(first?.value ?? '')
  const two = JSON.parse(second?.value ?? '')
  ;[one.record.sealedApiKey, two.record.sealedApiKey] = [two.record.sealedApiKey, one.record.sealedApiKey]
  await storage.set(first?.key ?? '', JSON.stringify(one))
  await storage.set(second?.key ?? '', JSON.stringify(two))
  const response = await world.chat({})
  assert.is(response.status, 500)
  assert.is(upstream.calls.length, 0)
  assert.match(String(world.recorded.errors[0]), /changed or moved/)
})

test('a flipped bit anywhere in an encrypted credential is detected', async () => {
  const storage = memoryStorage()
  const { upstream } = await open(storage, { connections: ['one'] })
  const [stored] = await storage.list('connections/')
  const { order, record } = JSON.parse(stored?.value ?? '')
  const sealed: string = record.sealedApiKey
  const world = await openWorld({ storage, fetch: upstream, connections: [] })
  for (let index = 0; index < sealed.length; index++) {
    const flipped = String.fromCharCode(sealed.charCodeAt(index) ^ 1)
    const changed = sealed.slice(0, index) + flipped + sealed.slice(index + 1)
    await storage.set(stored?.key ?? '', JSON.stringify({ order, record: { ...record, sealedApiKey: changed } }))
    const { status } = await world.chat({})
    assert.is(status, getBytes(changed) === getBytes(sealed) ? 200 : 500, `at ${index}`) // the last bits of base64 may be unused
  }
  await storage.set(stored?.key ?? '', stored?.value ?? '')
  assert.is((await world.chat({})).status, 200)
})

function getBytes(sealed: string): string | undefined {
  try {
    return sealed.split('.').map(atob).join('.')
  } catch {
    return undefined
  }
}

test("copying a key record to another digest doesn't give the other key access", async () => {
  const storage = memoryStorage()
  const { world, status } = await open(storage)
  await world.api.settings.update({ requireApiKey: true })
  const { key } = await world.api.keys.create({ name: 'one' })
  const [stored] = await storage.list('keys/')
  assert.is(stored?.key.includes(key), false)
  await storage.delete(stored?.key ?? '')
  await storage.set(`keys/${'0'.repeat(64)}`, stored?.value ?? '')
  assert.is(await status(key), 401)
})

test('keys and credentials survive a secret rotation, after which the old secret is no longer needed', async () => {
  const { ownSecret: _, ...storage } = memoryStorage()
  const gatewayWith = (secret: NonNullable<Parameters<typeof createGateway>[0]['secret']>) => {
    const upstream = fakeUpstream(() => json(chatResponse()))
    const gateway = createGateway({
      storage,
      secret,
      logger: false,
      fetch: upstream,
      catalog: { one: { baseUrl: 'http://one.test' } },
    })
    const status = async (key: string) => {
      const init = { method: 'POST', body: '{"model":"one/m"}', headers: { 'x-api-key': key } }
      return (await gateway.fetch(new Request('http://gateway/v1/chat/completions', init))).status
    }
    return { gateway, upstream, status }
  }
  const old = gatewayWith('an old secret, as long as secrets must be')
  await old.gateway.api.connections.create({ provider: 'one', apiKey: 'credential-of-one' })
  await old.gateway.api.settings.update({ requireApiKey: true })
  const { key } = await old.gateway.api.keys.create({ name: 'team' })
  assert.is(await old.status(key), 200)

  const both = [
    { version: 'new', value: 'a new secret, as long as secrets must be' },
    { version: 'default', value: 'an old secret, as long as secrets must be' },
  ]
  const rotating = gatewayWith(both)
  assert.is(await rotating.status(key), 200)
  assert.is(rotating.upstream.calls[0]?.headers.get('authorization'), 'Bearer credential-of-one')

  const rotated = gatewayWith(both.slice(0, 1))
  assert.is(await rotated.status(key), 200)
  assert.is(rotated.upstream.calls[0]?.headers.get('authorization'), 'Bearer credential-of-one')
  assert.is((await rotated.gateway.api.keys.list()).keys[0]?.key, key)

  for (const wrong of ['an old secret, as long as secrets must be', 'a guess, as long as secrets must be']) {
    const { status, upstream } = gatewayWith(wrong)
    assert.is(await status(key), 500, "a wrong secret can't decrypt anything")
    assert.is(upstream.calls.length, 0)
  }
})

test("a request reads one key and doesn't list keys, regardless of how many exist", async () => {
  const readsAmong = async (keys: number) => {
    const storage = memoryStorage()
    const { world, status } = await open(storage, { connections: ['one'] })
    await world.api.settings.update({ requireApiKey: true })
    const { key } = await world.api.keys.create({ name: 'one more' })
    for (let created = 0; created < keys; created++) {
      const record = { id: `k${created}`, name: 'n', sealedKey: 'x', createdAt: '2026-01-01T00:00:00Z' }
      await storage.set(`keys/${created.toString(16).padStart(64, '0')}`, JSON.stringify({ order: created, record }))
    }
    const { get, list } = storage
    const reads: string[] = []
    storage.get = (name) => {
      if (name.startsWith('keys/')) reads.push('get')
      return get(name)
    }
    storage.list = (...args) => {
      if (args[0].startsWith('keys')) reads.push('list')
      return list(...args)
    }
    const settings = (await storage.get('settings'))?.value ?? ''
    for (let turn = 0; turn < 3; turn++) {
      assert.is(await status(key), 200)
      await storage.set('settings', settings) // so the settings aren't cached
    }
    return reads
  }
  const few = await readsAmong(1)
  assert.equal(few, ['get'], 'the key is cached after the first request')
  assert.equal(await readsAmong(5_000), few)
})
