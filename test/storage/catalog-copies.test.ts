import { catalogCopies } from '../conformance/catalog-copies.ts'
import { localStores } from './support/local-stores.ts'

for (const [name, open] of Object.entries(localStores)) catalogCopies(name, open)
