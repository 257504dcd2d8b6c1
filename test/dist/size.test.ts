import { gzipSync } from 'node:zlib'
import { type BuildOptions, build } from 'esbuild'
import { entries, portableBoom } from '../../tsup.config.ts'
import { assert, suite } from '../support/suite.ts'
import { root } from './built.ts'
import { measureOneFile } from './one-file.ts'
import { portable } from './portable.ts'
import { assertListed, listedImports } from './sizes-page.ts'

/** The maximum download size of a page or worker in bytes: minified and gzipped, including dependencies. */
const BUDGETS = { core: 80_000, catalog: 25_000, client: 4_600 }

/** Packages that apps install themselves. */
const VENDORS = ['google-auth-library', '@aws-sdk/credential-providers', '@azure/identity']

/**
 * The maximum sizes of storage adapters, in bytes. SQLite's includes the engine of the file store: shared transactions, waiting for locks, and
 * detecting changes by other processes.
 */
const ADAPTERS: Readonly<Record<string, number>> = { 'storage/sqlite': 7_100 }
const ADAPTER = 4_400

const test = suite('bundle sizes')

test('the core without catalog data stays within its size budget', async () => {
  report('core', await measureOneFile(['src/index.ts']))
})

test('the catalog stays within its size budget', async () => {
  const size = await measure('catalog')
  report('catalog', size)
  assertListed('The catalog, in addition to each of these', size)
})

test('the management client stays within its size budget, without packages or gateway code', async () => {
  report('client', await measure('client'))
  const code = await bundle({ entryPoints: [`${root}dist/client.js`], packages: 'external', minify: false })
  assert.not.match(code, /^import\b|\bfrom ['"]|\bimport\(/m)
  const { createClient } = await import(`data:text/javascript,${encodeURIComponent(code)}`)
  const { keys } = createClient({
    baseUrl: 'http://gateway.test',
    fetch: async (url: string) => Response.json({ url }),
  })
  assert.equal(await keys.list(), { url: 'http://gateway.test/api/keys?values=none' })
})

for (const name of [
  'storage/memory',
  'storage/postgres',
  'storage/redis',
  'storage/upstash',
  'storage/sqlite',
  'storage/kv',
  'storage/durable-object',
  'storage/indexeddb',
  'storage/deno-kv',
  'storage/unstorage',
  'credentials/google',
  'credentials/aws',
  'credentials/azure',
])
  test(`the adapter ${name} without its client stays within its size budget`, async () => {
    const size = await measure(name)
    assert.ok(size <= (ADAPTERS[name] ?? ADAPTER), `${name} is ${size} bytes gzipped`)
  })

test('the bundle size page lists the size of every import', async () => {
  const unlisted = ['index', 'catalog', 'dashboard', 'storage/file', 'cli']
  assert.equal([...listedImports, ...unlisted].sort(), Object.keys(entries).sort())
  const core = await measureOneFile(['src/index.ts'])
  for (const name of listedImports) {
    const entry = entries[name] ?? ''
    const isAlone = name === 'client' || name === 'cloud'
    const size = isAlone ? await measureOneFile([entry]) : (await measureOneFile(['src/index.ts', entry])) - core
    assertListed(`\`signalbox/${name}\``, size)
  }
})

test('the core can be bundled for runtimes other than Node', async () => {
  const code = await bundle({ entryPoints: [`${root}dist/index.js`], minify: false })
  const strange = code.split('\n').filter((line) => /\bBuffer\b|['"]node:|\brequire\(|\bprocess\b\./.test(line))
  assert.equal(strange, [])
})

function report(name: keyof typeof BUDGETS, size: number): void {
  const budget = BUDGETS[name]
  console.log(`  ${name}: ${(size / 1000).toFixed(1)} kB of ${budget / 1000} kB gzipped`)
  assert.ok(size <= budget, `${name} is ${size} bytes gzipped, more than ${budget}`)
}

/** Measures an entry and its static imports. Parts that load on demand aren't included. */
async function measure(name: string): Promise<number> {
  const { outputFiles = [], metafile } = await build({
    ...portable,
    entryPoints: { [name]: root + (entries[name] ?? '') },
    minify: true,
    splitting: true,
    metafile: true,
    outdir: `${root}size`,
    absWorkingDir: root,
    plugins: [portableBoom],
    external: VENDORS,
  })
  const outputs = metafile?.outputs ?? {}
  const wanted = [`size/${name}.js`]
  for (const path of wanted) {
    for (const { kind, path: imported } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && !wanted.includes(imported)) wanted.push(imported)
  }
  const files = outputFiles.filter(({ path }) => wanted.includes(path.slice(root.length)))
  assert.is(files.length, wanted.length)
  return gzipSync(files.map(({ text }) => text).join(''), { level: 9 }).byteLength
}

/** Bundles everything into one module. Throws if a package can't be bundled. */
async function bundle(options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({ ...portable, ...options })
  return outputFiles?.[0]?.text ?? ''
}
