import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inFolder } from '../../storage/support/folder.ts'
import { assert, suite } from '../../support/suite.ts'
import { addStoreTestsWithCommand, bundle } from './runs-in.ts'

const deno = fileURLToPath(new URL('../../runtimes/node_modules/.bin/deno', import.meta.url))
const run = ['run', '--allow-all', '--no-prompt', '--unstable-kv']
await addStoreTestsWithCommand('Deno', deno, ...run)

const test = suite('four processes on one Deno KV')

test('four processes on one Deno KV lose no concurrent updates or increments', () =>
  inFolder(async (folder) => {
    const outfile = join(folder, 'adds.mjs')
    await bundle('deno-kv-adds.ts', { outfile, platform: 'node' })
    const program = (times: number) => promisify(execFile)(deno, [...run, outfile, join(folder, 'kv.db'), `${times}`])
    await Promise.all(Array.from({ length: 4 }, () => program(200)))
    const { stdout } = await program(0)
    const totals = [
      ['count', '800'],
      ['sum', '800'],
    ]
    assert.equal(JSON.parse(stdout), totals)
  }))
