import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { entries, portableBoom } from '../../tsup.config.ts'
import { assert, suite } from '../support/suite.ts'
import { root } from './built.ts'
import { measureOneFile } from './one-file.ts'
import { portable } from './portable.ts'
import { assertListed } from './sizes-page.ts'

/**
 * The maximum code that a gateway has loaded after its first request, as one file, and the maximum code that it can load in total, in bytes: minified
 * and gzipped, with dependencies, and without catalog data and the API description. `everything` includes 16 kB for cloud sync, which management
 * loads, and 7 kB for validating responses against schemas.
 */
const BUDGETS = {
  passed: 80_000,
  streamed: 93_300,
  failing: 104_100,
  translated: 188_300,
  everything: 542_000,
  description: 18_000,
}

const execute = promisify(execFile)
const test = suite('code loaded by a request', {
  folder: '',
  /** Maps the file of each entry point to its source module. */
  later: new Map<string, string>(),
  /** The file that contains the API description, and its contents. */
  description: { file: '', text: '' },
})

test.before(async (context) => {
  context.folder = await mkdtemp(join(root, 'node_modules/.loads-'))
  const { outputFiles = [], metafile } = await build({
    ...portable,
    entryPoints: Object.fromEntries(['index', 'catalog'].map((name) => [name, root + (entries[name] ?? '')])),
    minify: true,
    splitting: true,
    metafile: true,
    outdir: context.folder,
    absWorkingDir: root,
    plugins: [portableBoom],
  })
  await writeFile(join(context.folder, 'package.json'), '{"type":"module"}')
  for (const { path, text } of outputFiles) {
    await writeFile(path, text)
    const { entryPoint } = metafile?.outputs[path.slice(root.length)] ?? {}
    if (entryPoint) context.later.set(basename(path), entryPoint)
    if (entryPoint === 'src/admin/http/openapi/document.ts') context.description = { file: basename(path), text }
  }
})

test.after(({ folder }) => rm(folder, { recursive: true, force: true }))

for (const [request, status, label] of [
  ['passed', 200, "A response in the client's own format, passed through"],
  ['streamed', 200, "A stream in the client's own format, passed through"],
  ['failing', 500, 'A response that fails at the provider'],
  ['translated', 200, "A translation, such as an Anthropic client that uses OpenAI's model"],
] as const) {
  test(`a ${request} request loads at most ${BUDGETS[request]} bytes of code`, async ({
    folder,
    later,
    description,
  }) => {
    const script = join(root, 'test/dist/first-request.mjs')
    const { stdout } = await execute(process.execPath, [script, folder, request])
    const answered: { status: number; loaded: string[] } = JSON.parse(stdout)
    assert.is(answered.status, status)
    assert.not.ok(answered.loaded.includes(description.file), 'only a request for the API description loads it')
    const loadsGuards = answered.loaded.some((file) => later.get(file)?.includes('features/guards/'))
    assert.not.ok(loadsGuards, 'guards are loaded only if a request may need them')
    const loadsCaching = answered.loaded.some((file) => later.get(file)?.includes('prompt-cacher'))
    assert.not.ok(loadsCaching, 'prompt caching is loaded only if it is on')
    const size = await measureOneFile(answered.loaded.flatMap((file) => later.get(file) ?? []))
    report(request, size)
    assertListed(label, size)
  })
}

test('all code that a gateway can load stays within its size budget', async ({ later, description }) => {
  const modules = [...later].flatMap(([file, module]) => (file === description.file ? [] : module))
  report('everything', await measureOneFile(modules))
})

test('the API description stays within its size budget', ({ description }) => {
  report('description', gzipSync(description.text, { level: 9 }).byteLength)
})

function report(label: keyof typeof BUDGETS, size: number): void {
  console.log(`  ${label}: ${(size / 1_000).toFixed(1)} kB of ${BUDGETS[label] / 1_000} kB gzipped`)
  assert.ok(size > 1_000 && size <= BUDGETS[label], `${label}: ${size} bytes gzipped, more than ${BUDGETS[label]}`)
}
