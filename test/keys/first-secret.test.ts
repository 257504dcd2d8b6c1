import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import { fromBase64 } from '../../src/lib/bytes.ts'
import { createKeyring, getApiKeyContext, getKeyContext, isSignedKey } from '../../src/records/keyring.ts'
import type { ConnectionRecord, KeyRecord } from '../../src/records/record-collections.ts'
import type { Storage } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { catalog } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('adding the first secret to a storage')

const SECRET = 'a secret of at least 32 characters'
const CREDENTIAL = 'sk-one-of-the-tests'

function open(storage: Storage, secret?: string) {
  const upstream = fakeUpstream(() => json(chatResponse()))
  const gateway = createGateway({ storage, catalog, fetch: upstream, logger: false, ...(secret && { secret }) })
  const chat = async (key: string) => {
    const body = JSON.stringify({ model: 'one/m', messages: [{ role: 'user', content: 'hello' }] })
    const headers = { 'content-type': 'application/json', 'x-api-key': key }
    return (await gateway.fetch('http://gateway/v1/chat/completions', { method: 'POST', headers, body })).status
  }
  return { ...gateway, chat, upstream }
}

/**
 * Copies a store that was created without a secret. It contains a key, a paused key, a key that another program resumed, a connection, and settings.
 */
async function openUsed() {
  const { ownSecret: _, ...storage } = memoryStorage()
  const gateway = open(storage)
  await gateway.api.connections.create({ provider: 'one', apiKey: CREDENTIAL })
  await gateway.api.settings.update({ requireApiKey: true })
  const created = [await gateway.api.keys.create({ name: 'good' })]
  for (const name of ['paused', 'changed']) {
    const key = await gateway.api.keys.create({ name })
    await gateway.api.keys.update(key.id, { isActive: false })
    created.push(key)
  }
  const changed = (await storage.list('keys/')).find(({ value }) => value.includes('"changed"'))
  await storage.set(changed?.key ?? '', changed?.value.replace('"isActive":false', '"isActive":true') ?? '')
  await gateway.close()
  const former = JSON.parse((await storage.get('vault'))?.value ?? '')
  return {
    storage,
    keys: created.map(({ key }) => key),
    former: await createKeyring(fromBase64(former.keys)),
    copy: async () => {
      const { ownSecret: _, ...copy } = memoryStorage()
      for (const { key, value } of await storage.list('')) await copy.set(key, value)
      return copy
    },
  }
}

type Used = Awaited<ReturnType<typeof openUsed>>

/** Checks that everything works with the secret, and that the keyring that was stored in plaintext opens nothing. */
async function assertAdopted(storage: Storage, { keys, former }: Used): Promise<void> {
  const gateway = open(storage, SECRET)
  const { keys: first } = await gateway.api.keys.list() // as the very first call
  assert.equal(
    first.map(({ key }) => key),
    keys,
  )
  const statuses = []
  for (const key of keys) statuses.push(await gateway.chat(key))
  assert.equal(statuses, [200, 403, 500])
  assert.is(gateway.upstream.calls[0]?.headers.get('authorization'), `Bearer ${CREDENTIAL}`)
  assert.equal(
    (await gateway.api.keys.list()).keys.map(({ key, error }) => [key, error === undefined]),
    keys.map((key, index) => [key, index < 2]),
  )
  assert.is((await gateway.api.settings.get()).requireApiKey, true)
  await gateway.close()
  assert.is(JSON.parse((await storage.get('vault'))?.value ?? '').schema, 2, 'other current releases can read it')
  for (const { key, value } of await storage.list('keys/')) {
    const record = JSON.parse(value).record as KeyRecord // as it was stored
    assert.is(await isSignedKey(former, key.slice('keys/'.length), record), false)
    assert.is(await former.decrypt(getKeyContext(record.id), record.sealedKey).catch(() => 'closed'), 'closed')
  }
  for (const { value } of await storage.list('connections/')) {
    const record = JSON.parse(value).record as ConnectionRecord // as it was stored
    const opened = former.decrypt(getApiKeyContext(record), record.sealedApiKey ?? '')
    assert.is(await opened.catch(() => 'closed'), 'closed')
  }
}

test('adding the first secret keeps API keys and credentials, encrypted and signed with new keys', async () => {
  const before = await openUsed()
  await assertAdopted(before.storage, before)
})

test('adding the first secret keeps API keys if two gateways start at the same time', async () => {
  const before = await openUsed()
  const both = [open(before.storage, SECRET), open(before.storage, SECRET)]
  assert.equal(await Promise.all(both.map(({ chat }) => chat(before.keys[0] ?? ''))), [200, 200])
  await assertAdopted(before.storage, before)
})

test('adding the first secret keeps API keys if startup is interrupted before or after any write', async () => {
  const before = await openUsed()
  for (const isMade of [false, true]) {
    let cuts = 0
    for (let limit = 0; ; limit++) {
      const storage = await before.copy()
      let writes = 0
      const cut: Storage = {
        ...storage,
        async set(...args) {
          if (writes++ < limit) return storage.set(...args)
          if (isMade && writes === limit + 1) await storage.set(...args)
          throw new Error('the process has ended')
        },
      }
      await open(cut, SECRET)
        .api.keys.list()
        .catch(() => cuts++)
      if (writes <= limit) break
      if (limit === 0 && !isMade)
        assert.is(await open(storage).chat(before.keys[0] ?? ''), 200, 'the key still works without the secret')
      await assertAdopted(storage, before)
    }
    assert.ok(cuts >= 7, `${cuts} cuts`) // three keys, a connection, the settings, and two writes for the vault
  }
})

test("a program that replaced the encrypted keyring with the old unencrypted one can't read new data", async () => {
  const before = await openUsed()
  const planted = (await before.storage.get('vault'))?.value ?? ''
  await open(before.storage, SECRET).api.keys.list()
  await before.storage.set('vault', planted)
  const gateway = open(before.storage, SECRET)
  await gateway.api.connections.create({ provider: 'two', apiKey: 'sk-two-of-the-tests' })
  const { value = '' } = (await before.storage.list('connections/')).find(({ value }) => value.includes('two')) ?? {}
  const record = JSON.parse(value).record as ConnectionRecord // as it was stored
  const opened = before.former.decrypt(getApiKeyContext(record), record.sealedApiKey ?? '')
  assert.is(await opened.catch(() => 'closed'), 'closed')
  assert.is.not(await gateway.chat(before.keys[0] ?? ''), 200)
})
