import { memoryStorage } from '../../adapters/storage/memory.ts'
import { storageConformance } from '../conformance/storage.ts'

storageConformance('memory', {
  create({ clock }) {
    const storage = memoryStorage({ clock })
    return { storage, reopen: () => storage }
  },
})
