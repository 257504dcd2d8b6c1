// Damages a gateway's records on this page, like the tests of other stores.
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
