import { DatabaseSync } from 'node:sqlite'
import { fileStorage } from '../../adapters/storage/file.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { catalogCopies } from '../conformance/catalog-copies.ts'
import { temporaryFolder } from './support/folder.ts'

catalogCopies('memory', async () => ({ storage: memoryStorage(), destroy() {} }))

catalogCopies('a file', async () => {
  const { path, remove } = await temporaryFolder()
  const storage = fileStorage({ path, logger: false })
  return {
    storage,
    async destroy() {
      await storage.close?.()
      await remove()
    },
  }
})

catalogCopies('node:sqlite', async () => {
  const database = new DatabaseSync(':memory:')
  return { storage: sqliteStorage(database), destroy: () => database.close() }
})
