import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createCloudProxy } from '../../src/features/cloud-sync/proxy/proxy.ts'
import type { Storage } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { CLOUD_URL, openOverMsw, PROVIDER_KEY, type Recorded } from './support/over-msw.ts'
import { ENROLLMENT_TOKEN, SECRET } from './support/proxy.ts'

/*
 * Tests the promises in docs/src/content/docs/reference/cloud-proxy.md about stores that aren't atomic, such as Workers KV: one location sees
 * another's writes late.
 */

const test = suite('a cloud proxy in two locations on non-atomic storage')

/** Creates another location's view of a store. Between `hold` and `release`, it doesn't see writes by others. Its own writes reach everyone. */
function latePlace(all: Storage) {
  let seen = all
  const storage: Storage = {
    atomic: false,
    get: (key) => seen.get(key),
    list: (prefix, options) => seen.list(prefix, options),
    async set(key, value, options) {
      const written = await seen.set(key, value, options)
      if (seen === all || written === false) return written
      const { ifVersion, ...rest } = options ?? {}
      await all.set(key, value, rest)
      return written
    },
    async delete(key, options) {
      const deleted = await seen.delete(key, options)
      if (seen !== all && deleted) await all.delete(key)
      return deleted
    },
  }
  return {
    storage,
    async hold() {
      const held = memoryStorage()
      for (const { key, value } of await all.list('')) await held.set(key, value)
      seen = held
    },
    release() {
      seen = all
    },
  }
}

test('the proxy may accept a replayed message if writes propagate slowly, and the next sync corrects the effect', async () => {
  const all = memoryStorage()
  const { watch, increment, ...rest } = all
  const ends = openOverMsw({ cloud: { storage: { ...rest, atomic: false } } })
  const late = latePlace(all)
  const elsewhere = createCloudProxy({
    storage: late.storage,
    clock: ends.cloudClock,
    secret: SECRET,
    enrollmentToken: ENROLLMENT_TOKEN,
    logger: false,
  })
  const { api } = ends.home
  await api.connections.put({ id: 'openai', provider: 'openai', apiKey: PROVIDER_KEY })
  const { key, id } = await api.keys.create({ name: 'app' })
  await api.settings.update({ cloudUrl: CLOUD_URL })
  await api.cloud.enable()
  const turn = async (isActive: boolean): Promise<Recorded[]> => {
    const before = ends.recorded.length
    await api.keys.update(id, { isActive })
    await api.cloud.sync()
    await ends.cloudClock.advance(2_000) // until cached data expires
    return ends.recorded.slice(before)
  }

  await turn(false)
  await late.hold()
  const resumed = await turn(true)
  await turn(false)
  assert.is((await ends.chat(key)).status, 403)

  const responses: number[] = []
  for (const { method, path, headers, body } of resumed) {
    const response = await elsewhere.fetch(new Request(CLOUD_URL + path, { method, headers, body }))
    responses.push(response.status)
    assert.not.match(await response.text(), new RegExp(id))
  }
  late.release()
  assert.ok(responses.includes(200), 'a request was accepted twice')
  await ends.cloudClock.advance(2_000)
  assert.is((await ends.chat(key)).status, 200, 'the replayed request undid the later pause')

  assert.equal(await api.cloud.sync(), { success: true, conflicts: [] })
  await ends.cloudClock.advance(2_000)
  assert.is((await ends.chat(key)).status, 403)
  assert.is((await api.keys.get(id)).key.isActive, false)
  await elsewhere.close()
  await ends.close()
})
