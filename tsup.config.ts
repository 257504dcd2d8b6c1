import { readFile } from 'node:fs/promises'
import type { Options } from 'tsup'

/** Every entry of the package and its source; `exports` and `bin` in package.json name the same ones. */
export const entries: Record<string, string> = {
  index: 'src/index.ts',
  catalog: 'src/providers/catalog.ts',
  cloud: 'src/cloud/proxy.ts',
  client: 'src/client/client.ts',
  'storage/memory': 'adapters/storage/memory.ts',
  'storage/file': 'adapters/storage/file.ts',
  'storage/postgres': 'adapters/storage/postgres.ts',
  'storage/sqlite': 'adapters/storage/sqlite.ts',
  'storage/kv': 'adapters/storage/kv.ts',
  'storage/durable-object': 'adapters/storage/durable-object.ts',
  'storage/redis': 'adapters/storage/redis.ts',
  'storage/indexeddb': 'adapters/storage/indexeddb.ts',
  'storage/deno-kv': 'adapters/storage/deno-kv.ts',
  'storage/unstorage': 'adapters/storage/unstorage.ts',
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

/** `@hapi/boom` for every runtime: without hoek, which needs Node's byte type, and without an API that only V8 has. */
export const portableBoom: Plugin = {
  name: 'portable-boom',
  setup(build) {
    build.onResolve({ filter: /^@hapi\/hoek$/ }, () => ({ path: `${import.meta.dirname}/src/lib/hoek-shim.ts` }))
    build.onLoad({ filter: /@hapi[\\/]boom[\\/]lib[\\/]index\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8')
      const contents = source.replace('Error.captureStackTrace(', 'Error.captureStackTrace?.(')
      return contents === source ? { errors: [{ text: 'boom no longer calls Error.captureStackTrace' }] } : { contents }
    })
  },
}

export default function config(): Options {
  const { cli, ...typed } = entries // a command has no types
  return {
    entry: entries,
    outDir: process.env.BUILD_OUT ?? 'dist',
    format: ['esm'],
    platform: 'neutral',
    target: 'es2022',
    splitting: true,
    silent: true,
    tsconfig: 'tsconfig.node.json',
    dts: process.env.BUILD_QUICK === '1' ? false : { entry: typed },
    noExternal: [/^@hapi\//, /^yaml$/],
    external: [/^node:/],
    esbuildPlugins: [portableBoom],
    esbuildOptions(options) {
      options.mainFields = ['module', 'main'] // the neutral platform looks at none
    },
  }
}
