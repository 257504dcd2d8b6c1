import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

/** Tests that mostly wait for processes of their own. */
const WAITING = ['runtimes', 'cli', 'docs', 'setup', 'storage/file-', 'dist', 'runner', 'keys/pause']

export interface Discovery {
  /** Those that mostly wait for processes of their own first. */
  readonly files: string[]
  /** Heavy files that the filters match, and that `isAll` would run. */
  readonly leftOut: string[]
  /** Filters that match no file: each one is a mistake. */
  readonly unmatched: string[]
}

/**
 * Every `*.test.ts` under `root` whose path contains one of the filters; all of them without a filter. Those in the folders that `heavy.json`
 * lists are found only with `isAll`: what they need is installed apart.
 */
export async function discover(root: string, filters: readonly string[], isAll = false): Promise<Discovery> {
  const heavy = await heavyFolders(root)
  const rank = rankOf(root, [...heavy, ...WAITING])
  const all = (await testFiles(root)).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
  const named = all.map((path) => ({ path, name: relative(process.cwd(), path).split(sep).join('/') }))
  const wanted = filters.map((filter) => filter.replace(/^\.\//, ''))
  const chosen = named
    .filter(({ name }) => wanted.length === 0 || wanted.some((filter) => name.includes(filter)))
    .map(({ path }) => path)
  const isLeftOut = (path: string) => !isAll && heavy.some((name) => path.startsWith(join(root, name) + sep))
  return {
    files: chosen.filter((path) => !isLeftOut(path)),
    leftOut: chosen.filter(isLeftOut),
    unmatched: wanted.filter((filter) => !named.some(({ name }) => name.includes(filter))),
  }
}

/** The folders of tests whose packages are installed apart, as setup.mjs reads them as well. */
async function heavyFolders(root: string): Promise<string[]> {
  const text = await readFile(join(root, 'heavy.json'), 'utf8').catch(() => '[]')
  return JSON.parse(text)
}

async function testFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const found = entries.map(async (entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' || entry.name === 'fixtures' ? [] : testFiles(path)
    return entry.name.endsWith('.test.ts') ? [path] : []
  })
  return (await Promise.all(found)).flat()
}

function rankOf(root: string, first: readonly string[]) {
  return (path: string): number => {
    const name = relative(root, path).split(sep).join('/')
    const at = first.findIndex((start) => name.startsWith(start))
    return at < 0 ? first.length : at
  }
}
