import { memoryStorage } from '../../adapters/storage/memory.ts'
import { isGatewayError } from '../../src/errors.ts'
import type { Storage } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite('a storage that rejects every write')

/** Creates a store that reports a conflict for every write after `lose()`. */
function losing() {
  const inner = memoryStorage()
  let isLosing = false
  const storage: Storage = {
    ...inner,
    set: async (key, value, options = {}) => !isLosing && inner.set(key, value, options),
    delete: async (key, options = {}) => !isLosing && inner.delete(key, options),
  }
  return {
    storage,
    lose() {
      isLosing = true
    },
  }
}

test('every change fails with an error code if every write to the storage conflicts', async () => {
  const { storage, lose } = losing()
  const { api } = openManagement({ storage }).gateway
  const key = await api.keys.create({ name: 'mine' })
  const combo = await api.combos.create({ name: 'pool', models: ['a/x'] })
  await api.aliases.set({ alias: 'old', model: 'a/x' })
  lose()
  const changes: Record<string, () => Promise<unknown>> = {
    settings: () => api.settings.update({ requireApiKey: true }),
    'a key': () => api.keys.update(key.id, { isActive: false }),
    'deleting a key': () => api.keys.delete(key.id),
    'a combo': () => api.combos.update(combo.id, { models: ['a/y'] }),
    'deleting a combo': () => api.combos.delete(combo.id),
    'an alias': () => api.aliases.set({ alias: 'old', model: 'a/y' }),
    'a new alias': () => api.aliases.set({ alias: 'new', model: 'a/y' }),
    'a provider': () => api.providers.update('openai', { strategy: 'random' }),
    "a vault that doesn't exist yet": () =>
      openManagement({ storage: createEmpty(storage) }).gateway.api.keys.create({ name: 'a' }),
  }
  for (const [label, change] of Object.entries(changes)) {
    const reason = await change().catch((error: unknown) => error)
    assert.ok(isGatewayError(reason, 'STORAGE_FAILED'), label)
  }
})

test('a hundred concurrent writers all succeed on working storage', async () => {
  const { gateway } = openManagement()
  const writers = Array.from({ length: 100 }, (_, index) =>
    gateway.api.settings.update({ cloudUrl: `https://${index}.example` }),
  )
  for (const { cloudUrl } of await Promise.all(writers)) assert.match(cloudUrl, /^https:/)
})

const createEmpty = (storage: Storage): Storage => ({ ...storage, get: async () => undefined, list: async () => [] })
