import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createScopes } from '../../src/features/cloud-sync/proxy/tenant-scope.ts'
import { storageConformance } from '../conformance/storage.ts'
import { assert, suite } from '../support/suite.ts'

storageConformance('scoped', {
  create({ clock }) {
    const storage = memoryStorage({ clock })
    return {
      storage: createScopes(storage).scope('tenants/a/'),
      reopen: () => createScopes(storage).scope('tenants/a/'),
    }
  },
})

const test = suite('scopes of a storage')

test("scopes can't see or change each other's data", async () => {
  const storage = memoryStorage()
  const { scope } = createScopes(storage)
  const [first, second, longer] = [scope('tenants/a/'), scope('tenants/b/'), scope('tenants/aa/')]
  for (const each of [first, second, longer]) await each.set('key', 'value')
  assert.is(await first.delete('key'), true)
  assert.is((await first.list('')).length, 0)
  for (const each of [second, longer])
    assert.equal(
      (await each.list('')).map(({ key }) => key),
      ['key'],
    )
})

test('scopes report only their own changes, with one watch on the storage', async () => {
  const storage = memoryStorage()
  let watches = 0
  const watched = {
    ...storage,
    watch(onChange: (key: string) => void) {
      watches++
      const stop = storage.watch?.(onChange)
      return () => {
        watches--
        stop?.()
      }
    },
  }
  const { scope, watch } = createScopes(watched)
  const recorded: string[] = []
  const stops = [
    scope('tenants/a/').watch?.((key) => recorded.push(`a ${key}`)),
    scope('tenants/b/').watch?.((key) => recorded.push(`b ${key}`)),
    watch('tenants/', (key) => recorded.push(`all ${key}`)),
  ]
  await storage.set('tenants/a/keys/1', '')
  await storage.set('other/a/keys/1', '')
  await storage.set('tenants/b/x', '')
  assert.equal(recorded, ['all a/keys/1', 'a keys/1', 'all b/x', 'b x'])
  assert.is(watches, 1)
  for (const stop of stops) stop?.()
  assert.is(watches, 0)
})

test('scopes leave room for their prefix in the longest key', () => {
  const { scope } = createScopes({ ...memoryStorage(), longestKeyBytes: 100 })
  assert.is(scope('tenants/a/').longestKeyBytes, 90)
})
