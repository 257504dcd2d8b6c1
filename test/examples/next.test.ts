import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { RUN_MS } from './example.ts'
import { addWrongSecretTest, assertMissingListed, testExample } from './scenario.ts'

/** Turbopack rejects links that point outside the folder. */
const test = testExample('next', () => ({ address: '127.0.0.1:3000/ai', copiesPackages: true }))

addWrongSecretTest(test)

test('the example lists missing variables at startup and exits with code 1', { timeoutMs: RUN_MS }, async ({
  server,
}) => {
  const file = join(server.example.folder, '.env')
  await rename(file, `${file}.aside`)
  await assertMissingListed(server.example, ['SIGNALBOX_SECRET', 'SIGNALBOX_ADMIN_TOKEN', 'APP_KEY', 'OPENAI_API_KEY'])
  await rename(`${file}.aside`, file)
})
