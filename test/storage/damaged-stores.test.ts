import { damagedRecords } from '../conformance/damaged-records.ts'
import { localStores } from './support/local-stores.ts'

for (const [name, open] of Object.entries(localStores)) damagedRecords(name, open)
