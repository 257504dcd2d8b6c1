// Does damage to the records of a gateway in this page, as the other stores have it done to theirs.
import { indexeddbStorage } from '../../../adapters/storage/indexeddb.ts'
import { damagedRecords } from '../../conformance/damaged-records.ts'
import { deleteDatabase, runTest } from '../indexeddb/run.ts'

damagedRecords('IndexedDB', async () => {
  const name = crypto.randomUUID()
  const storage = indexeddbStorage({ name })
  return {
    storage,
    async destroy() {
      await storage.close()
      await deleteDatabase(name)
    },
  }
})

globalThis.actions = { damage: (title) => runTest(`damaged records in IndexedDB › ${title}`) }
