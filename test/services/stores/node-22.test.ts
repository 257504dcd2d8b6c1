import { fileURLToPath } from 'node:url'
import { storesRunBy } from './runs-in.ts'

await storesRunBy('Node 22', fileURLToPath(new URL('../node_modules/node-22/bin/node', import.meta.url)))
