/*
 * Writes what the site's references are made from, into docs/.generated: the OpenAPI document of a gateway, and a module for each entry point of the
 * package, named as its users import it. `npm run docs` runs it.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { memoryStorage } from '../adapters/storage/memory.ts'
import { createGateway } from '../src/gateway.ts'
import { entries } from '../tsup.config.ts'

const folder = join(import.meta.dirname, '.generated')
const write = (name: string, text: string) => {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

rmSync(folder, { recursive: true, force: true })

const gateway = createGateway({
  storage: memoryStorage(),
  logger: false,
  usage: true,
  management: { authorize: () => true },
})
const document = await gateway.api.openapi()
write('openapi.json', JSON.stringify({ ...document, servers: [{ url: 'http://127.0.0.1:4000' }] }))
await gateway.close()

for (const [name, source] of Object.entries(entries)) {
  if (name === 'cli') continue
  const path = join(folder, 'entries', name === 'index' ? 'signalbox.ts' : `signalbox/${name}.ts`)
  const from = relative(dirname(path), join(import.meta.dirname, '..', source)).replaceAll('\\', '/')
  write(relative(folder, path), `export * from '${from}'\n`)
}
write(
  'entries/tsconfig.json',
  JSON.stringify({ extends: '../../../tsconfig.node.json', include: ['**/*.ts'], exclude: [] }),
)
