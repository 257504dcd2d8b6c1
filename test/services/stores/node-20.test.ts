import { fileURLToPath } from 'node:url'
import { storesRunBy } from './runs-in.ts'

await storesRunBy('Node 20', fileURLToPath(new URL('../node_modules/node-20/bin/node', import.meta.url)))
