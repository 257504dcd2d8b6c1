import { fileURLToPath } from 'node:url'
import { addStoreTestsWithCommand } from './runs-in.ts'

await addStoreTestsWithCommand('Node 20', fileURLToPath(new URL('../node_modules/node-20/bin/node', import.meta.url)))
