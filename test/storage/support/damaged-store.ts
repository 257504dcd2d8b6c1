import { memoryStorage } from '../../../adapters/storage/memory.ts'
import type { Storage } from '../../../src/types.ts'
import { openWorld } from '../../pipeline/support/world.ts'

/** The JSON that is stored for a record. */
export type Envelope = { order: unknown; record: Record<string, unknown> }

/** Fills a store with two records of each kind: one to leave intact, and one to damage. */
export async function fillStore() {
  const storage = memoryStorage()
  const { api } = await openWorld({
    storage,
    connections: ['one', 'two'],
    combos: { good: ['one/m'], hurt: ['two/m'] },
  })
  const { key } = await api.keys.create({ name: 'good' })
  await api.keys.create({ name: 'hurt' })
  await api.customModels.create({ providerAlias: 'one', id: 'good' })
  await api.customModels.create({ providerAlias: 'one', id: 'hurt' })
  await api.aliases.set({ alias: 'good-alias', model: 'one/m' })
  await api.aliases.set({ alias: 'hurt-alias', model: 'two/m' })
  await api.providers.update('one', { strategy: 'random' })
  await api.providers.update('two', { strategy: 'random' })
  return { storage, key }
}

/** By kind, a string that only the record to damage contains. */
export const kinds = {
  'keys/': '"hurt"',
  'connections/': '"provider":"two"',
  'combos/': '"name":"hurt"',
  'custom-models/': '"id":"hurt"',
  'aliases/': '"hurt-alias"',
  'providers/': '"provider":"two"',
}

/** Changes the stored text of the record to damage. Resolves to its storage key. */
export async function damageStore(
  storage: Storage,
  prefix: keyof typeof kinds,
  how: (text: string) => string,
): Promise<string> {
  const found = (await storage.list(prefix)).find(({ value }) => value.includes(kinds[prefix]))
  await storage.set(found?.key ?? '', how(found?.value ?? ''))
  return found?.key ?? ''
}
