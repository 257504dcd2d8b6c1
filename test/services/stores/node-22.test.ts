import { fileURLToPath } from 'node:url'
import { addStoreTestsWithCommand } from './runs-in.ts'

await addStoreTestsWithCommand('Node 22', fileURLToPath(new URL('../node_modules/node-22/bin/node', import.meta.url)))
