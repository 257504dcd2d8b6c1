import process from 'node:process'
import { storesRunBy } from './runs-in.ts'

await storesRunBy('Node 24', process.execPath)
