import { temporaryFolder } from '../storage/support/folder.ts'
import { firstRequestsConformance } from './support/first-requests.ts'

firstRequestsConformance('the file store', {
  async create() {
    const { path, remove } = await temporaryFolder()
    return { place: path, remove }
  },
})
