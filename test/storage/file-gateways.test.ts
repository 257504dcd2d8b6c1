import { sharedStoreConformance } from '../conformance/gateways.ts'
import { temporaryFolder } from './support/folder.ts'

sharedStoreConformance('a file store', {
  create: async () => {
    const { path, remove } = await temporaryFolder()
    return { place: path, remove }
  },
  knownWithinMs: 100,
})
