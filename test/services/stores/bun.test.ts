import { fileURLToPath } from 'node:url'
import { addStoreTestsWithCommand } from './runs-in.ts'

await addStoreTestsWithCommand('Bun', fileURLToPath(new URL('../../runtimes/node_modules/.bin/bun', import.meta.url)))
