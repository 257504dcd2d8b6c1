import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { writeSqlite } from '../cli/import-samples.ts'
import { assert, suite } from '../support/suite.ts'
import { manifest, root } from './built.ts'

const execute = promisify(execFile)
const test = suite('the build on the installed Node', { node: '' })

test.before(async (context) => {
  context.node = ownNode()
  const { stdout } = await execute(context.node, ['--version'])
  if (!stdout.startsWith('v20.')) console.log(`  this machine's own Node is ${stdout.trim()}, not 20`)
})

for (const subpath of Object.keys(manifest.exports)) {
  const name = subpath === '.' ? 'index' : subpath.slice(2)
  if (name.endsWith('.json')) continue
  test(`importing ${join(manifest.name, subpath)} prints nothing`, async ({ node }) => {
    assert.equal(await run(node, `await import('${join(manifest.name, subpath)}')`), { stdout: '', stderr: '' })
  })
}

test('the built gateway handles a request', async ({ node }) => {
  const { stdout } = await run(
    node,
    `const { createGateway } = await import('signalbox')
     const { memoryStorage } = await import('signalbox/storage/memory')
     const gateway = createGateway({ storage: memoryStorage() })
     const response = await gateway.fetch(new Request('http://localhost/v1/models'))
     console.log(response.status, typeof (await response.json()))
     await gateway.close()`,
  )
  assert.is(stdout, '200 object\n')
})

test('the built CLI runs, or states which Node version it needs', async ({ node }) => {
  const { stdout: version } = await execute(node, ['--version'])
  const output = await execute(node, ['dist/cli.js', '--help'], { cwd: root }).catch((error) => error)
  if (!version.startsWith('v20.')) assert.match(output.stdout, /signalbox/i)
  else
    assert.equal(
      [output.code, output.stderr],
      [1, `signalbox: Node.js ${version.trim().slice(1)} is too old. Install 22.13.0 or later: https://nodejs.org\n`],
    )
})

test('the built file store opens, or states which Node version it needs', async ({ node }) => {
  const { stdout: version } = await execute(node, ['--version'])
  const folder = await mkdtemp(join(tmpdir(), 'own-node-'))
  const script = `
    const { fileStorage } = await import('signalbox/storage/file')
    try {
      const storage = fileStorage(${JSON.stringify(folder)})
      await storage.set('key', 'value')
      console.log((await storage.get('key')).value)
    } catch (error) {
      console.log(error.code, error.message)
    }`
  const { stdout } = await run(node, script)
  if (version.startsWith('v20.')) assert.match(stdout, /^STORAGE_UNSUPPORTED fileStorage needs Node 22\.13 or later/)
  else assert.is(stdout, 'value\n')
  await rm(folder, { recursive: true })
})

test('the built CLI imports a 9router SQLite file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nine-router-'))
  await mkdir(join(folder, 'db'))
  writeSqlite(join(folder, 'db/data.sqlite'))
  const { stdout } = await execute(process.execPath, ['dist/cli.js', 'import', '9router', folder], { cwd: root })
  assert.match(stdout, /connection zai/)
  await rm(folder, { recursive: true })
})

function run(node: string, script: string): Promise<{ stdout: string; stderr: string }> {
  return execute(node, ['--input-type=module', '--eval', script], { cwd: root })
}

/** Returns the first `node` in `PATH` that isn't from a package. */
function ownNode(): string {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
  const found = folders.map((folder) => join(folder, 'node')).find(isExecutable)
  if (!found) throw new Error('this machine has no Node of its own on the path')
  return found
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
