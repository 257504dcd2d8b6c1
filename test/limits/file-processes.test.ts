import { temporaryFolder } from '../storage/support/folder.ts'
import { sharedBudgetConformance } from './support/budget.ts'

sharedBudgetConformance('the file store', {
  async create() {
    const { path, remove } = await temporaryFolder()
    return { place: path, remove }
  },
})
