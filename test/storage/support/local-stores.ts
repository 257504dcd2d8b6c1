import { DatabaseSync } from 'node:sqlite'
import { fileStorage } from '../../../adapters/storage/file.ts'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import type { Storage } from '../../../src/types.ts'
import { temporaryFolder } from './folder.ts'

/** A function for each kind of store without a server, which opens an empty one. The names are used in test titles. */
export const localStores: Readonly<
  Record<string, () => Promise<{ storage: Storage; destroy(): Promise<void> | void }>>
> = {
  memory: async () => ({ storage: memoryStorage(), destroy() {} }),
  'a file': async () => {
    const { path, remove } = await temporaryFolder()
    const storage = fileStorage({ path, logger: false })
    return {
      storage,
      async destroy() {
        await storage.close?.()
        await remove()
      },
    }
  },
  'node:sqlite': async () => {
    const database = new DatabaseSync(':memory:')
    return { storage: sqliteStorage(database), destroy: () => database.close() }
  },
}
