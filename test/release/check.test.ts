import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { manifest, root } from '../dist/built.ts'
import { assert, suite } from '../support/suite.ts'
import { packageChecks } from './check.ts'
import { PACKAGE_BUDGETS } from './contents.ts'
import { sourceFaults } from './source.ts'

const execute = promisify(execFile)

const test = suite('release checks', { folder: '' })

test.before(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'release-'))
})

test.after(async ({ folder }) => {
  if (folder) await rm(folder, { recursive: true })
})

test('only an unmodified clone is released, at a tagged commit on main', async ({ folder }) => {
  const origin = join(folder, 'origin')
  const clone = join(folder, 'clone')
  const git = (cwd: string, ...args: string[]) =>
    execute('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'init.defaultBranch=main', ...args], {
      cwd,
    })
  const commit = async (name: string) => {
    await writeFile(join(origin, name), name)
    await git(origin, 'add', '.')
    await git(origin, 'commit', '--quiet', '--message', name)
  }
  await mkdir(origin)
  await git(origin, 'init', '--quiet')
  await commit('first')
  await git(origin, 'tag', '--annotate', 'v0.1.0', '--message', 'a tag with a message')
  await commit('second')
  await git(origin, 'checkout', '--quiet', '-b', 'elsewhere')
  await commit('third')
  await git(origin, 'tag', 'v0.3.0')
  await git(folder, 'clone', '--quiet', '--branch', 'v0.1.0', origin, clone)

  assert.equal(await sourceFaults(clone, 'v0.1.0'), [])
  assert.equal(await sourceFaults(clone, 'v0.2.0'), ['there is no tag v0.2.0 in the clone'])
  assert.equal(await sourceFaults(clone, 'v0.3.0'), ['the clone is at another commit than the tag v0.3.0'])
  await writeFile(join(clone, 'first'), 'changed')
  await writeFile(join(clone, 'added'), '')
  assert.equal(await sourceFaults(clone, 'v0.1.0'), ['the clone has changes: M first, ?? added'])
  await git(clone, 'checkout', '--quiet', '--force', 'v0.3.0')
  await rm(join(clone, 'added'))
  const notOnMain = 'the commit is not on main of origin, or the clone is without its history'
  assert.equal(await sourceFaults(clone, 'v0.3.0'), [notOnMain])
})

test('a wrong tag aborts the release immediately, with the reason', async () => {
  const program = join(root, 'test/release/check.ts')
  const { code, stdout, stderr } = await execute(process.execPath, [program, '--check', '--tag', 'v99.0.0'], {
    cwd: root,
  }).catch((error) => error)
  assert.is(code, 1)
  assert.match(stdout, /✘ source .*there is no tag v99\.0\.0/)
  assert.match(stdout, /✘ notes .*the tag v99\.0\.0 is not of version/)
  assert.match(stderr, /not ready for a release: source, notes/)
  assert.is(stdout.trim().split('\n').length, 2, 'nothing is packed')
})

/** Returns a check's output for a package with these files next to its package.json. */
async function checked(folder: string, check: string, files: Readonly<Record<string, string>>): Promise<string> {
  const location = await mkdtemp(join(folder, 'package-'))
  const tarball = join(location, 'package.tgz')
  const all = Object.entries({ 'package.json': '{}', ...files })
  for (const [name, text] of all) {
    await mkdir(dirname(join(location, 'package', name)), { recursive: true })
    await writeFile(join(location, 'package', name), text)
  }
  await execute('tar', ['-czf', tarball, ...all.map(([name]) => `package/${name}`)], { cwd: location })
  await mkdir(join(location, 'node_modules'))
  await rename(join(location, 'package'), join(location, 'node_modules', manifest.name))
  const run = packageChecks(location)[check]
  if (run === undefined) throw new Error(`there is no check ${check}`)
  return run({ folder: location, tarball })
}

/** Returns the reason why a check rejects a package with these files. */
const getError = (folder: string, check: string, files: Readonly<Record<string, string>>) =>
  checked(folder, check, files).then(
    () => 'it does not',
    (error: Error) => error.message,
  )

test('a package with an unexpected file, or over its size budget, is rejected', async ({ folder }) => {
  const check = 'files and sizes'
  assert.match(await checked(folder, check, { 'dist/index.js': 'export {}' }), /^files 2, packed \d+, unpacked 11,/)
  assert.is(await getError(folder, check, { 'src/index.ts': '' }), 'should not be in the package: src/index.ts')
  const large = ' '.repeat(PACKAGE_BUDGETS.unpacked)
  assert.match(await getError(folder, check, { 'dist/index.js': large }), /^unpacked: \d+, more than \d+$/)
})

test('a file that contains a path from the build machine is rejected', async ({ folder }) => {
  const check = 'no build machine paths'
  assert.is(await checked(folder, check, { 'dist/index.js': 'export {}' }), '2 files')
  assert.match(await getError(folder, check, { 'dist/index.js': `// ${root}src/index.ts` }), /dist\/index\.js has \//)
})

test('a dependency with an install script is rejected', async ({ folder }) => {
  const location = await mkdtemp(join(folder, 'locked-'))
  const packages = { '': {}, 'node_modules/a': {}, 'node_modules/b': { hasInstallScript: true } }
  await writeFile(join(location, 'package-lock.json'), JSON.stringify({ packages }))
  const run = packageChecks(location)['no install scripts in dependencies']
  const output = await run?.({ folder: location, tarball: '' }).catch((error: Error) => error.message)
  assert.is(output, 'node_modules/b')
})
