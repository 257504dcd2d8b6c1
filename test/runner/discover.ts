import { readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

/** Tests that mostly wait for processes of their own. */
const WAITING = ['runtimes', 'cli', 'setup', 'storage/file-', 'dist', 'runner', 'keys/pause']

export interface Discovery {
  /** Those that mostly wait for processes of their own first. */
  readonly files: string[]
  /** Filters that match no file: each one is a mistake. */
  readonly unmatched: string[]
}

/** Every `*.test.ts` under `root` whose path contains one of the filters; all of them without a filter. */
export async function discover(root: string, filters: readonly string[]): Promise<Discovery> {
  const all = (await testFiles(root)).sort((a, b) => rank(root, a) - rank(root, b) || (a < b ? -1 : 1))
  const named = all.map((path) => ({ path, name: relative(process.cwd(), path).split(sep).join('/') }))
  const wanted = filters.map((filter) => filter.replace(/^\.\//, ''))
  return {
    files: named
      .filter(({ name }) => wanted.length === 0 || wanted.some((filter) => name.includes(filter)))
      .map(({ path }) => path),
    unmatched: wanted.filter((filter) => !named.some(({ name }) => name.includes(filter))),
  }
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

function rank(root: string, path: string): number {
  const name = relative(root, path).split(sep).join('/')
  const at = WAITING.findIndex((start) => name.startsWith(start))
  return at < 0 ? WAITING.length : at
}
