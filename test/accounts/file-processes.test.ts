import { temporaryFolder } from '../storage/support/folder.ts'
import { appConformance, outageConformance } from './support/app-processes.ts'
import { firstRequestsConformance } from './support/first-requests.ts'

async function create() {
  const { path, remove } = await temporaryFolder()
  return { place: path, remove }
}

firstRequestsConformance('the file store', { create })
appConformance('the file store', { create })
outageConformance('the file store', { create })
