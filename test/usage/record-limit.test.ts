import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createDefaultStorage } from '../../src/default-storage.ts'
import { createUsageOperations } from '../../src/features/usage/operations/usage-operations.ts'
import type { Storage } from '../../src/types.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { getRequest, noAccounts, noNames, openInstance } from './support/instances.ts'

const test = suite('usage in a storage that limits records')

for (const [bound, usageRecordLimit] of [
  ['count', { records: 1_000, bytes: 1e9 }],
  ['bytes', { records: 1e9, bytes: 200_000 }],
] as const)
  test(`the oldest records beyond the limit on ${bound} are removed, but still count in totals`, async () => {
    const clock = fakeClock()
    const storage: Storage = { ...memoryStorage({ clock }), usageRecordLimit }
    const instances = [openInstance(storage, clock), openInstance(storage, clock)]
    const [usage = openInstance(storage, clock)] = instances
    const api = createUsageOperations({ usage, clock, store: noNames, accounts: noAccounts })
    const start = clock.now()
    const ids: string[] = []
    for (let hour = 0; hour < 10; hour++) {
      for (let index = 0; index < 300; index++) {
        const request = getRequest(clock.now() + index, { keyId: `k${index % 7}` })
        ids.push(request.id)
        instances[index % 2]?.storeRequest(request)
      }
      await clock.advance(130_000)
      for (const instance of instances) instance.storeRequest(getRequest(clock.now(), { keyId: 'last' }))
      await clock.advance(3_600_000 - 130_000)
    }
    for (const instance of instances) await instance.close()
    const { requests } = await api.requests({ limit: 1_000 })
    assert.ok(requests.length > 300 && requests.length <= 1_000, `${requests.length}`)
    const listed = new Set(requests.map(({ id }) => id))
    const kept = ids.filter((id) => listed.has(id))
    assert.equal(kept, ids.slice(-kept.length), 'the newest records are kept')
    assert.is((await api.summary({ by: 'key' })).totals.requests, ids.length + 20)
    assert.is((await api.summary({ by: 'hour' })).totals.requests, ids.length + 20)
    // An hour without records can't be split, so its totals are included in full.
    const part = await api.summary({ from: new Date(start + 100).toISOString() })
    assert.equal(
      [part.totals.requests, part.from],
      [ids.length + 20, new Date(Math.floor(start / 3_600_000) * 3_600_000).toISOString()],
    )
    const { records, bytes } = usageRecordLimit
    const values = await storage.list('usage/requests/')
    const written = values.reduce((sum, { value }) => sum + value.length, 0)
    assert.ok(written <= bytes && requests.length <= records)
  })

test('the memory store and the default storage have a usage record limit', () => {
  const logger = { warn: () => {}, error: () => {} }
  assert.equal(memoryStorage().usageRecordLimit, { records: 100_000, bytes: 33_554_432 })
  assert.equal(createDefaultStorage(fakeClock(), logger).usageRecordLimit, memoryStorage().usageRecordLimit)
})
