import process from 'node:process'
import { addStoreTestsWithCommand } from './runs-in.ts'

await addStoreTestsWithCommand('Node 24', process.execPath)
