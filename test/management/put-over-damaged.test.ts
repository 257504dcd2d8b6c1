import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Management } from '../../src/management/operations.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('putting a damaged record')

const secret = 'a secret of at least 32 characters'

const puts: ReadonlyArray<readonly [key: string, put: (api: Management) => Promise<object>]> = [
  ['combos/fast', (api) => api.combos.put({ name: 'fast', models: ['openai/gpt-5'] })],
  ['combos/fast', (api) => api.combos.put({ id: 'chosen', name: 'fast', models: ['openai/gpt-5'] })],
  ['guards/words', (api) => api.guards.put({ name: 'words', kind: 'words', words: ['secret'] })],
  ['groups/team', (api) => api.groups.put({ id: 'team', name: 'Team', limits: { usd: { month: 5 } } })],
  ['connections/main', (api) => api.connections.put({ id: 'main', provider: 'openai', apiKey: 'sk-0123456789' })],
  ['aliases/quick', (api) => api.aliases.set({ alias: 'quick', model: 'openai/gpt-5' })],
]

const damages = {
  'text that is not JSON': '{"order":1,',
  'an empty string': '',
  'no record': '{"order":1,"record":null}',
  'an empty record': '{"order":1,"record":{}}',
}

const open = (storage = memoryStorage()) => createGateway({ storage, secret, logger: false })

for (const [kind, text] of Object.entries(damages))
  test(`a put replaces ${kind} as if no record existed`, async () => {
    for (const [key, put] of puts) {
      if (key.startsWith('groups/') && kind === 'an empty record') continue // a group without a signature (see below)
      const storage = memoryStorage()
      const before = open(storage)
      const wanted = await put(before.api)
      await before.close()
      await storage.set(key, text)

      const gateway = open(storage)
      const written = await put(gateway.api)
      const same = { id: 'any', createdAt: 'any', updatedAt: 'any' } // a combo without an ID gets a new one
      assert.equal({ ...written, ...same }, { ...wanted, ...same }, key)
      assert.equal((await gateway.api.health.list()).damaged, [], key)
      assert.equal(await put(gateway.api), written, `${key} again`)
      await gateway.close()
      const reopened = open(storage)
      assert.equal(await put(reopened.api), written, `${key} in another gateway`)
      await reopened.close()
    }
  })

test('two gateways can concurrently replace the same damaged record', async () => {
  const storage = memoryStorage()
  await storage.set('groups/team', 'damaged')
  const [first, second] = [open(storage), open(storage)]
  const put = (gateway: typeof first, name: string) => gateway.api.groups.put({ id: 'team', name })
  await Promise.all([put(first, 'One'), put(second, 'Other')])
  const { name } = await open(storage).api.groups.get('team')
  assert.ok(['One', 'Other'].includes(name), name)
})

test('"isActive" confirms a group without a signature, as the error explains', async () => {
  const storage = memoryStorage()
  await storage.set('groups/team', '{"order":1,"record":{}}')
  const { api } = open(storage)
  const message = await api.groups.put({ id: 'team', name: 'Team' }).catch((error: Error) => error.message)
  assert.match(
    String(message),
    /was not written by a gateway with this secret.*PUT \/api\/groups\/\{id\} with "isActive", or DELETE/,
  )
  assert.is((await api.groups.put({ id: 'team', name: 'Team', isActive: true })).error, undefined)
})
