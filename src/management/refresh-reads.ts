import type { WritableStore } from '../records/writable-store.ts'
import type { Management } from './operations.ts'

type RefreshedCollection =
  | 'keys'
  | 'groups'
  | 'settings'
  | 'guards'
  | 'combos'
  | 'connections'
  | 'customModels'
  | 'aliases'
  | 'providers'

/** The in-memory records that each read returns. Reads that aren't listed go to the storage anyway. */
const collectionsByRead: { [Name in keyof Management]?: Record<string, readonly RefreshedCollection[]> } = {
  keys: { list: ['keys', 'settings'] },
  groups: { list: ['groups'], get: ['groups'] },
  settings: { get: ['settings'] },
  guards: { list: ['guards'] },
  combos: { list: ['combos'], get: ['combos'] },
  connections: { list: ['connections'], get: ['connections'] },
  customModels: { list: ['customModels'] },
  aliases: { list: ['aliases'] },
  providers: { list: ['providers'], get: ['providers', 'connections'] },
  health: { list: ['connections'] },
}

/**
 * Makes lists and reads of single records wait for a slow store, so they return other gateways' changes. Changes don't wait, because they read
 * several times and must fail fast while the storage is unavailable.
 */
export function refreshReads(
  api: Management<unknown>,
  store: Pick<WritableStore, RefreshedCollection>,
): Management<unknown> {
  const resources = Object.entries(collectionsByRead).map(([name, reads]) => {
    const resource = Object(Reflect.get(api, name))
    const refreshedEntries = Object.entries(reads).map(([read, collections]) => {
      const call = async (...args: unknown[]) => {
        await Promise.all(collections.map((collection) => store[collection].refresh()))
        return resource[read](...args)
      }
      return [read, call]
    })
    return [name, { ...resource, ...Object.fromEntries(refreshedEntries) }]
  })
  return { ...api, ...Object.fromEntries(resources) }
}
