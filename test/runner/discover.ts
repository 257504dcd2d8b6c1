import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

/** Paths of tests that mostly wait for child processes. */
const WAITING = ['runtimes', 'cli', 'docs', 'setup', 'storage/file-', 'dist', 'runner', 'keys/pause']

export interface Discovery {
  /** In the order that `arrange` returns. */
  readonly files: string[]
  /** The files that only run with `isAll`. */
  readonly leftOut: LeftOut
  /** Filters that match no file, such as typos. */
  readonly unmatched: string[]
}

export interface LeftOut {
  /** Files in a folder of `heavy.json`. */
  readonly heavy: string[]
  /** Files in `long.json`. */
  readonly long: string[]
}

/**
 * Finds every `*.test.ts` under `root` with a path that contains one of the filters, or all of them if there are no filters. Files in the folders of
 * `heavy.json` need `isAll`, because their packages are installed separately. Files in `long.json` need `isAll` or a filter.
 */
export async function discover(root: string, filters: readonly string[], isAll = false): Promise<Discovery> {
  const heavy: string[] = await readList(root, 'heavy.json', [])
  const long: Record<string, number> = await readList(root, 'long.json', {})
  const isHeavy = (name: string) => heavy.some((folder) => name.startsWith(`${folder}/`))
  const isLong = (name: string) => Object.hasOwn(long, name) && !isHeavy(name)
  const wanted = filters.map((filter) => filter.replace(/^\.\//, ''))

  const all = (await findTestFiles(root)).map((path) => ({
    path,
    name: withSlashes(relative(root, path)),
    shown: withSlashes(relative(process.cwd(), path)),
  }))
  const isChosen = ({ shown }: { shown: string }) =>
    wanted.length === 0 || wanted.some((filter) => shown.includes(filter))
  const chosen = arrange(all.filter(isChosen), [...heavy, ...WAITING], long)
  const leaveOut = (isOut: (name: string) => boolean) =>
    isAll ? [] : chosen.filter(({ name }) => isOut(name)).map(({ path }) => path)
  const leftOut = { heavy: leaveOut(isHeavy), long: wanted.length === 0 ? leaveOut(isLong) : [] }
  const out = new Set([...leftOut.heavy, ...leftOut.long])

  return {
    files: chosen.map(({ path }) => path).filter((path) => !out.has(path)),
    leftOut,
    unmatched: wanted.filter((filter) => !all.some(({ shown }) => shown.includes(filter))),
  }
}

async function readList<List>(root: string, name: string, fallback: List): Promise<List> {
  const text = await readFile(join(root, name), 'utf8').catch(() => undefined)
  return text === undefined ? fallback : JSON.parse(text)
}

async function findTestFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const found = entries.map(async (entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory())
      return entry.name === 'node_modules' || entry.name === 'fixtures' ? [] : findTestFiles(path)
    return entry.name.endsWith('.test.ts') ? [path] : []
  })
  return (await Promise.all(found)).flat()
}

function withSlashes(path: string): string {
  return path.split(sep).join('/')
}

/**
 * Puts the files that mostly wait first, alternating between the path groups in `waiting`, because files in the same group wait for the same
 * resource, such as the disk. The longest files are at both ends, where the workers start, so workers end with short files.
 */
function arrange<File extends { name: string }>(
  files: readonly File[],
  waiting: readonly string[],
  seconds: Readonly<Record<string, number>>,
): File[] {
  const secondsFor = ({ name }: File) => seconds[name] ?? 0
  const byName = files.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const groups = Map.groupBy(byName, ({ name }) => waiting.findIndex((start) => name.startsWith(start)))
  const waits = waiting.map((_, index) => (groups.get(index) ?? []).toSorted((a, b) => secondsFor(b) - secondsFor(a)))
  const turns = Array.from({ length: Math.max(0, ...waits.map(({ length }) => length)) }, (_, turn) => turn)
  const others = (groups.get(-1) ?? []).toSorted((a, b) => secondsFor(a) - secondsFor(b))
  return [...turns.flatMap((turn) => waits.flatMap((group) => group.slice(turn, turn + 1))), ...others]
}
