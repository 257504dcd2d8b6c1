import { fileURLToPath } from 'node:url'
import { storesRunBy } from './runs-in.ts'

await storesRunBy('Bun', fileURLToPath(new URL('../../runtimes/node_modules/.bin/bun', import.meta.url)))
