import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { type OutputChunk, rollup } from 'rollup'
import type { Options } from 'tsup'
import { dashboardAssets } from './dashboard.config.ts'

/** Every entry of the package and its source; `exports` and `bin` in package.json name the same ones. */
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
 * `@hapi/boom` for every runtime: without hoek, which needs Node's byte type, and without an API that only V8 has. It becomes an ES module without
 * what the gateway doesn't use: the makers of single statuses, as its errors have a table of their own, and the names of statuses below 400.
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
  // Such as `exports.badRequest = function (…) {…};` and the functions that only they call.
  [/^(?:exports\.(?!Boom\b|isBoom\b|boomify\b)\w+|internals\.serverError) = function[\s\S]*?^};\n/gm, ''],
  [/^ *\[[123]\d\d, '.*'\],\n/gm, ''],
  [/^const Hoek = require\('@hapi\/hoek'\);/m, "import * as Hoek from '@hapi/hoek';"],
  [/^exports\.(\w+) =/gm, 'export const $1 ='],
  [/\bexports\./g, ''],
]

/**
 * Divides the code into chunks anew. esbuild makes a chunk for each set of entries that use its code, late parts among them; Rollup knows that
 * what loads a late part is in memory then, and needs two thirds of the chunks. To import the package takes a third less time with them.
 */
async function divideAnew(folder: string): Promise<void> {
  const [apart, together] = [true, false].map((is) => Object.keys(entries).filter((name) => APART.test(name) === is))
  const groups = [together ?? [], ...(apart ?? []).map((name) => [name])]
  const parts = (await Promise.all(groups.map((names) => divide(folder, names)))).flat()
  const former = (await readdir(folder)).filter(
    (name) => name.endsWith('.js') && !Object.hasOwn(entries, name.slice(0, -3)),
  )
  await Promise.all(former.map((name) => rm(join(folder, name))))
  for (const { fileName, code } of parts) await writeFile(join(folder, fileName), code)
}

/** Entries that share no chunk, as each one imports a package that the users of the others lack: bundlers look for all packages of a chunk. */
const APART = /^credentials\//

async function divide(folder: string, names: readonly string[]): Promise<OutputChunk[]> {
  const input = Object.fromEntries(names.map((name) => [name, join(folder, `${name}.js`)]))
  const bundle = await rollup({ input, external: (id) => !id.startsWith('.') && !isAbsolute(id), logLevel: 'warn' })
  const chunkFileNames = ({ name }: { name: string }) => `${name.replace(/-[A-Z\d]{8}$/, '')}-[hash].js` // without the hash of esbuild
  const options = { format: 'es', chunkFileNames, hashCharacters: 'base36', experimentalMinChunkSize: 5_500 } as const // no file of a few lines
  const { output } = await bundle.generate(options)
  return output.filter((part) => part.type === 'chunk')
}

export default function config(): Options {
  const { cli, ...typed } = entries // a command has no types
  const outDir = join(import.meta.dirname, process.env.BUILD_OUT ?? 'dist')
  return {
    entry: entries,
    outDir,
    onSuccess: () => divideAnew(outDir),
    format: ['esm'],
    platform: 'neutral',
    target: 'es2022',
    splitting: true,
    silent: true,
    tsconfig: 'tsconfig.node.json',
    dts: process.env.BUILD_QUICK === '1' ? false : { entry: typed },
    noExternal: [/^@hapi\//, /^yaml$/],
    external: [/^node:/],
    removeNodeProtocol: false, // `node:sqlite` has no other name
    esbuildPlugins: [portableBoom, dashboardAssets],
    esbuildOptions(options) {
      options.mainFields = ['module', 'main'] // the neutral platform looks at none
    },
  }
}
