import { DatabaseSync } from 'node:sqlite'
import { fileStorage } from '../../adapters/storage/file.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { damagedRecords } from '../conformance/damaged-records.ts'
import { temporaryFolder } from './support/folder.ts'

damagedRecords('memory', async () => ({ storage: memoryStorage(), destroy() {} }))

damagedRecords('a file', async () => {
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

damagedRecords('node:sqlite', async () => {
  const database = new DatabaseSync(':memory:')
  return { storage: sqliteStorage(database), destroy: () => database.close() }
})
