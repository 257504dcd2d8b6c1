import { fileStorage } from '../../adapters/storage/file.ts'
import { storageConformance } from '../conformance/storage.ts'
import { temporaryFolder } from './support/folder.ts'

storageConformance('file', {
  async create({ clock }) {
    const { path, remove } = await temporaryFolder()
    const open = () => fileStorage({ path, clock, logger: false })
    return { storage: open(), reopen: open, destroy: remove }
  },
})
