import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import * as undici from 'undici'
import { loadUndici } from '../../../adapters/mount/node/undici.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('loading parts of undici')

test("the loaded parts are undici's own", async () => {
  const { Client, buildConnector } = await loadUndici()
  assert.is(Client, undici.Client)
  assert.is(buildConnector, undici.buildConnector)
})

test("loading parts of undici doesn't load its index or its default agent", async () => {
  const { href } = new URL('../../../adapters/mount/node/undici.ts', import.meta.url)
  const script = `import { _cache } from 'node:module'; import { loadUndici } from '${href}'; await loadUndici()
    console.log(Object.keys(_cache).filter((path) => /undici.(?:index|lib.dispatcher.agent)\\.js$/.test(path)).length)`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  assert.is(stdout.trim(), '0')
})
