import { readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

/** Tests that start many processes and builds, the longest first, so that nobody waits for them at the end. */
const SLOW = ['storage/file-kills', 'storage/file-processes', 'runtimes', 'dist', 'runner', 'mount']

export interface Discovery {
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
  const at = SLOW.findIndex((start) => name.startsWith(start))
  return at < 0 ? SLOW.length : at
}
