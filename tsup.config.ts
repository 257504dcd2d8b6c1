import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { type OutputChunk, rollup } from 'rollup'
import type { Options } from 'tsup'
import { dashboardAssets } from './dashboard.config.ts'

/** The source file of each entry point, the same set as in `exports` and `bin` of package.json. */
export const entries: Record<string, string> = {
  index: 'src/index.ts',
  catalog: 'src/protocols/providers/catalog.ts',
  cloud: 'src/features/cloud-sync/proxy/proxy.ts',
  client: 'src/client/client.ts',
  ai: 'src/ai/signalbox.ts',
  dashboard: 'src/features/dashboard/dashboard.ts',
  otel: 'src/features/observe/otel.ts',
  prometheus: 'src/features/observe/prometheus.ts',
  log: 'src/features/observe/log.ts',
  guards: 'src/features/guards/guards.ts',
  'edit-text': 'src/features/edit-text/edit-text.ts',
  'storage/memory': 'adapters/storage/memory.ts',
  'storage/file': 'adapters/storage/file.ts',
  'storage/postgres': 'adapters/storage/postgres.ts',
  'storage/sqlite': 'adapters/storage/sqlite.ts',
  'storage/kv': 'adapters/storage/kv.ts',
  'storage/durable-object': 'adapters/storage/durable-object.ts',
  'storage/redis': 'adapters/storage/redis.ts',
  'storage/upstash': 'adapters/storage/upstash.ts',
  'storage/indexeddb': 'adapters/storage/indexeddb.ts',
  'storage/deno-kv': 'adapters/storage/deno-kv.ts',
  'storage/unstorage': 'adapters/storage/unstorage.ts',
  'credentials/google': 'adapters/credentials/google-credentials.ts',
  'credentials/aws': 'adapters/credentials/aws-credentials.ts',
  'credentials/azure': 'adapters/credentials/azure-credentials.ts',
  node: 'adapters/mount/node.ts',
  express: 'adapters/mount/express.ts',
  bun: 'adapters/mount/bun.ts',
  deno: 'adapters/mount/deno.ts',
  workers: 'adapters/mount/workers.ts',
  lambda: 'adapters/mount/lambda.ts',
  'service-worker': 'adapters/mount/service-worker.ts',
  cli: 'src/cli/main.ts',
}

type Plugin = NonNullable<Options['esbuildPlugins']>[number]

/**
 * Makes `@hapi/boom` portable: replaces hoek, which needs Node's `Buffer`, and makes a V8-only call optional. Also makes it an ES module without the
 * parts that the gateway doesn't use: the factory for each status, because errors come from a table, and the names of statuses below 400.
 */
export const portableBoom: Plugin = {
  name: 'portable-boom',
  setup(build) {
    build.onResolve({ filter: /^@hapi\/hoek$/ }, () => ({ path: `${import.meta.dirname}/src/lib/hoek-shim.ts` }))
    build.onLoad({ filter: /@hapi[\\/]boom[\\/]lib[\\/]index\.js$/ }, async ({ path }) => {
      let contents = await readFile(path, 'utf8')
      for (const [part, replacement] of BOOM_CHANGES) {
        if (contents.search(part) < 0) return { errors: [{ text: `boom no longer contains ${part}` }] }
        contents = contents.replace(part, replacement)
      }
      return { contents }
    })
  },
}

const BOOM_CHANGES: ReadonlyArray<readonly [part: RegExp, replacement: string]> = [
  [/Error\.captureStackTrace\(/, 'Error.captureStackTrace?.('],
  // `exports.badRequest = function (…) {…};`, its siblings, and the helper that only they call.
  [/^(?:exports\.(?!Boom\b|isBoom\b|boomify\b)\w+|internals\.serverError) = function[\s\S]*?^};\n/gm, ''],
  [/^ *\[[123]\d\d, '.*'\],\n/gm, ''],
  [/^const Hoek = require\('@hapi\/hoek'\);/m, "import * as Hoek from '@hapi/hoek';"],
  [/^exports\.(\w+) =/gm, 'export const $1 ='],
  [/\bexports\./g, ''],
]

/**
 * Splits the output into chunks again, with Rollup. esbuild makes a chunk for each set of entries and dynamic imports that share code. Rollup knows
 * that a dynamic import's importer is already loaded, and so needs a third fewer chunks. That makes importing the package a third faster.
 */
async function splitAgain(folder: string): Promise<void> {
  const shared = Object.keys(entries).filter((name) => !SEPARATE.test(name))
  const groups = [shared, ...Object.keys(entries).flatMap((name) => (SEPARATE.test(name) ? [[name]] : []))]
  const parts = (await Promise.all(groups.map((names) => split(folder, names)))).flat()
  const oldChunks = (await readdir(folder)).filter(
    (name) => name.endsWith('.js') && !Object.hasOwn(entries, name.slice(0, -3)),
  )
  await Promise.all(oldChunks.map((name) => rm(join(folder, name))))
  for (const { fileName, code } of parts) await writeFile(join(folder, fileName), code)
}

/** Entries that must not share chunks. Each imports an optional package, and bundlers resolve every package that a chunk imports. */
const SEPARATE = /^credentials\//

async function split(folder: string, names: readonly string[]): Promise<OutputChunk[]> {
  const input = Object.fromEntries(names.map((name) => [name, join(folder, `${name}.js`)]))
  const bundle = await rollup({ input, external: (id) => !id.startsWith('.') && !isAbsolute(id), logLevel: 'warn' })
  const chunkFileNames = ({ name }: { name: string }) => `${name.replace(/-[A-Z\d]{8}$/, '')}-[hash].js` // drops esbuild's hash
  const options = { format: 'es', chunkFileNames, hashCharacters: 'base36', experimentalMinChunkSize: 7_000 } as const // avoids tiny files
  const { output } = await bundle.generate(options)
  return output.filter((part) => part.type === 'chunk')
}

export default function config(): Options {
  const { cli, ...typed } = entries // the command has no types
  const outDir = join(import.meta.dirname, process.env.BUILD_OUT ?? 'dist')
  return {
    entry: entries,
    outDir,
    onSuccess: () => splitAgain(outDir),
    format: ['esm'],
    platform: 'neutral',
    target: 'es2022',
    splitting: true,
    silent: true,
    tsconfig: 'tsconfig.node.json',
    dts: process.env.BUILD_QUICK === '1' ? false : { entry: typed },
    noExternal: [/^@hapi\//, /^yaml$/],
    external: [/^node:/],
    removeNodeProtocol: false, // `node:sqlite` exists only with the prefix
    esbuildPlugins: [portableBoom, dashboardAssets],
    esbuildOptions(options) {
      options.mainFields = ['module', 'main'] // the neutral platform has none by default
    },
  }
}
