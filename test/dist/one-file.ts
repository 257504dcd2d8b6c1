import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'
import { portableBoom } from '../../tsup.config.ts'
import { root } from './built.ts'
import { portable } from './portable.ts'

/**
 * Bundles modules the way most bundlers would: into one file with all static imports, minified and gzipped. Returns its size in bytes. `modules` are
 * paths from the repository root. Dynamic imports and the catalog data don't count.
 */
export async function measureOneFile(modules: readonly string[]): Promise<number> {
  const { outputFiles = [] } = await build({
    ...portable,
    stdin: {
      contents: modules.map((module, index) => `export * as m${index} from './${module}'`).join('\n'),
      resolveDir: root,
    },
    minify: true,
    plugins: [withoutLaterParts(modules), withoutCatalog, portableBoom],
  })
  return gzipSync(outputFiles[0]?.text ?? '', { level: 9 }).byteLength
}

/** Excludes modules that are imported dynamically, unless they are measured too. */
const withoutLaterParts = (modules: readonly string[]): Plugin => ({
  name: 'without-later-parts',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^/ }, async ({ path, kind, resolveDir, pluginData }) => {
      if (kind !== 'dynamic-import' || pluginData === RESOLVED) return undefined
      const found = await resolve(path, { kind, resolveDir, pluginData: RESOLVED })
      return modules.includes(found.path.slice(root.length)) ? found : { path, external: true }
    })
  },
})

const RESOLVED = Symbol('resolved')

/** Replaces the catalog data with empty data. */
const withoutCatalog: Plugin = {
  name: 'without-catalog',
  setup({ onLoad }) {
    onLoad({ filter: /src\/protocols\/providers\/catalog\.ts$/ }, async ({ path }) => {
      const names = [...(await readFile(path, 'utf8')).matchAll(/^export (?:const|function) (\w+)/gm)].map(
        (match) => match[1],
      )
      return { contents: names.map((name) => `export const ${name} = {}`).join('\n') }
    })
  },
}
