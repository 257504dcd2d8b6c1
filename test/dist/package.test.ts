import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { entries as bundledEntries } from '../../tsup.config.ts'
import { readPages } from '../docs/pages.ts'
import { strangeFiles } from '../release/contents.ts'
import { assert, suite } from '../support/suite.ts'
import { built, manifest, root } from './built.ts'

const execute = promisify(execFile)
const test = suite('the package', { folder: '', tarball: '' })

test.before(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'package-'))
  await execute(process.execPath, ['llms.mjs'], { cwd: root })
  await execute('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', context.folder], { cwd: root })
  const [name] = await readdir(context.folder)
  context.tarball = join(context.folder, name ?? 'nothing was packed')
})

test.after(async ({ folder }) => {
  if (folder) await rm(folder, { recursive: true })
})

test('publint finds no problem in the package', async ({ tarball }) => {
  const file = await readFile(tarball)
  const contents = file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength)
  const { messages, pkg = {} } = await publint({ pack: { tarball: contents }, strict: true })
  assert.equal(
    messages.map((message) => formatMessage(message, pkg, { color: false })),
    [],
  )
})

test("the package's types resolve the same way as its modules", async ({ tarball }) => {
  const attw = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js')
  const args = [
    attw,
    tarball,
    '--profile',
    'esm-only',
    '--no-definitely-typed',
    '--format',
    'ascii',
    '--no-color',
    '--no-emoji',
  ]
  const { stdout } = await execute(process.execPath, args, { cwd: root }).catch((error) => {
    throw new Error(String(error.stdout || error))
  })
  const modules = Object.values(manifest.exports).filter((target) => typeof target === 'object')
  assert.is(stdout.match(/node16 \(from ESM\): OK \(ESM\)/g)?.length, modules.length, stdout)
})

test('the package has at most 148 modules in addition to its entries', () => {
  const modules = built('.js').filter((path) => !(path.slice(0, -'.js'.length) in bundledEntries))
  assert.ok(modules.length <= 148, `there are ${modules.length}`)
})

test('the package contains the build, examples, and license, but no source code or tests', async ({ tarball }) => {
  const names = await listPackedFiles(tarball)
  assert.equal(strangeFiles(names), [])
  assert.ok(names.includes('LICENSE'))
})

test('the package contains no files left behind by running an example', async ({ folder }) => {
  const copy = join(folder, 'copy')
  await cp(join(root, 'package.json'), join(copy, 'package.json'))
  const leftovers = ['.env', '.next/build.js', '.wrangler/state', 'data/store', 'node_modules/fastify/index.js']
  for (const path of [...leftovers, 'package-lock.json', 'server.mjs']) {
    const file = join(copy, 'examples/fastify', path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, '{}')
  }
  const { stdout } = await execute('npm', ['pack', '--ignore-scripts', '--silent', '--dry-run', '--json'], {
    cwd: copy,
  })
  const names = [...stdout.matchAll(/"path": "(examples[^"]*)"/g)].map(([, name]) => name)
  assert.equal(names, ['examples/fastify/server.mjs'])
})

test('the examples page lists all examples, and nothing else', async () => {
  const page = await readFile(join(root, 'examples/README.md'), 'utf8')
  const listed = [...page.matchAll(/^\| \[[^\]]+\]\(([\w-]+)\//gm)].map(([, name]) => name)
  const entries = await readdir(join(root, 'examples'), { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  assert.equal(listed.toSorted(), folders.toSorted())
})

test('the package contains every user documentation page, and every file that they link to', async ({ tarball }) => {
  const names = await listPackedFiles(tarball)
  const pages = readPages().filter(({ path }) => names.includes(path))
  for (const path of [
    'README.md',
    'SECURITY.md',
    'docs/src/content/docs/reference/options.md',
    'docs/src/content/docs/reference/failures.md',
    'examples/README.md',
  ])
    assert.ok(
      pages.some((page) => page.path === path),
      path,
    )
  const missing = pages.flatMap(({ path: from, links }) =>
    links.filter(({ path }) => !names.includes(path) && !isImage(path)).map(({ path }) => `${from} -> ${path}`),
  )
  assert.equal(missing, [])
})

/** Images stay in the repository, where the package's npm page finds them. They would make up a quarter of the package. */
const isImage = (path: string) => /\.(?:webp|svg)$/.test(path)

test('llms.txt lists each page in the package exactly once', async ({ tarball }) => {
  const { stdout } = await execute('tar', ['-xzOf', tarball, 'package/llms.txt'])
  const listed = [...stdout.matchAll(/^- \[[^\]]+\]\(([^)]+)\): \S.*$/gm)].map(([, path = '']) => path)
  const pages = (await listPackedFiles(tarball)).filter((name) => name.endsWith('.md'))
  assert.equal(listed.toSorted(), pages.toSorted())
  assert.is(
    stdout.split('\n').filter((line) => line.startsWith('- ')).length,
    listed.length,
    'each line describes its page',
  )
})

test('package.json links to the repository and enables provenance', async () => {
  const { repository, homepage, bugs, publishConfig } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  assert.match(repository.url, /^git\+https:\/\/github\.com\/[\w-]+\/[\w-]+\.git$/) // npm compares it with the workflow's repository, and case matters
  const page = repository.url.slice('git+'.length, -'.git'.length)
  assert.equal([homepage, bugs], [`${page}#readme`, `${page}/issues`])
  assert.equal(publishConfig, { access: 'public', provenance: true })
})

async function listPackedFiles(tarball: string): Promise<string[]> {
  const { stdout } = await execute('tar', ['-tzf', tarball])
  return stdout
    .trim()
    .split('\n')
    .map((name) => name.replace(/^package\//, ''))
}

test('the package contains the licenses of bundled packages', async ({ tarball }) => {
  const { stdout: notices } = await execute('tar', ['-xzOf', tarball, 'package/NOTICES.md'])
  const bundled = {
    '@hapi/boom': 'LICENSE.md', // also yaml (see noExternal in tsup.config.ts)
    yaml: 'LICENSE',
    preact: 'LICENSE', // preact with its signals, in the dashboard's page
    '@preact/signals': 'LICENSE',
    '@preact/signals-core': 'LICENSE',
  }
  const { metafile } = await build({
    entryPoints: [join(root, 'src/features/dashboard/page/main.tsx')],
    bundle: true,
    splitting: true,
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    outdir: join(root, 'page'),
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
  const inPage = Object.keys(metafile.inputs).flatMap(
    (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
  )
  for (const name of inPage) assert.ok(Object.hasOwn(bundled, name), `${name} is in the dashboard's page`)
  for (const [name, file] of Object.entries(bundled)) {
    const licence = await readFile(join(root, 'node_modules', name, file), 'utf8')
    assert.ok(notices.includes(licence.trim()), name)
  }
})

test('no dependency of the package has an install script', async () => {
  const lock: { packages: Record<string, { dev?: boolean; hasInstallScript?: boolean }> } = JSON.parse(
    await readFile(join(root, 'package-lock.json'), 'utf8'),
  )
  const runtime = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && !dev)
  for (const name of Object.keys(manifest.dependencies))
    assert.ok(
      runtime.some(([path]) => path === `node_modules/${name}`),
      name,
    )
  assert.equal(
    runtime.filter(([, { hasInstallScript }]) => hasInstallScript),
    [],
  )
})
