import { parseSource, type Source } from './source.ts'

/** The floors of the house: a file imports from lower floors and from its own room. */
const FLOORS: readonly (readonly string[])[] = [
  ['src/traits.ts', 'src/types/', 'src/types.ts', 'src/errors.ts', 'src/lib/'],
  ['src/formats/', 'src/providers/', 'src/store/'],
  ['src/routing/', 'src/upstream/', 'src/listing/', 'src/usage/', 'src/sync/'],
  ['src/pipeline/', 'src/management/'],
  ['src/http/'],
  [
    'src/index.ts',
    'src/gateway.ts',
    'src/deferred-api.ts',
    'src/options.ts',
    'src/platform.ts',
    'src/cloud/',
    'src/cli/',
    'src/dashboard/',
  ],
]
const TOP = FLOORS.length - 1

/** The rooms of the ground floor stand in a row: each knows the ones before it. */
const GROUND_FLOOR = ['src/traits.ts', 'src/types/', 'src/types.ts', 'src/errors.ts', 'src/lib/']

/** Which packages may be imported, and where. */
const PACKAGES: readonly { name: RegExp; where: RegExp }[] = [
  { name: /^itty-router$/, where: /^src\/http\// },
  { name: /^@hapi\/boom$/, where: /^src\/errors\.ts$/ },
  { name: /^valibot$/, where: /^src\// },
  { name: /^undici(?:\/|$)/, where: /^adapters\// },
  { name: /^yaml$/, where: /^src\/cli\// },
  { name: /^node:/, where: /^(?:src\/cli|adapters)\// },
]

/** What only the defaults of the composition may take from the platform; everybody else is given it. */
const PLATFORM = /^(?:Date\.now|new Date\(\)|set(?:Timeout|Interval|Immediate)|Math\.random|fetch|console|globalThis)$/
const DEFAULTS = /^src\/(?:gateway|platform)\.ts$/
/** What a runtime other than Node lacks, or what belongs to whoever embeds the library. */
const HOST = /^(?:Buffer|process)$/

const isNoFreeName = (name: string) => HOST.test(name) || PLATFORM.test(name)

const MAX_LINES = 400
/** Data that was generated: nobody reads it from end to end. */
const GENERATED = /\.data\.ts$/

/** Checks files (path from the root, text) against the rules of the house; one line a violation. */
export function violations(files: ReadonlyMap<string, string>, entries: readonly string[] = []): string[] {
  return [...files].flatMap(([path, text]) => {
    const source = parseSource(path, text, isNoFreeName)
    return [...importViolations(source, entries), ...platformViolations(source), ...formViolations(source)]
  })
}

/** The files that nobody can read in one go; one line a file. */
export function longFiles(files: ReadonlyMap<string, string>): string[] {
  return [...files].flatMap(([path, text]) => {
    const lineCount = text.replace(/\n$/, '').split('\n').length
    return lineCount > MAX_LINES && !GENERATED.test(path)
      ? [`${path} has ${lineCount} lines, more than ${MAX_LINES}`]
      : []
  })
}

function* importViolations({ path, imports }: Source, entries: readonly string[]): Generator<string> {
  if (path.startsWith('src/') && !path.startsWith('src/client/') && !roomOf(path)) yield `${path} stands on no floor`
  for (const { target, isTypeOnly, line } of imports) {
    const why = isPath(target) ? whyNotPath(path, target, isTypeOnly, entries) : whyNotPackage(path, target)
    if (why) yield `${path}:${line} imports ${target}: ${why}`
  }
}

function whyNotPackage(path: string, name: string): string | undefined {
  const rule = PACKAGES.find((entry) => entry.name.test(name))
  if (!rule) return 'it is no dependency of the library'
  return rule.where.test(path) ? undefined : `only ${rule.where.source.replace(/[\\^$]/g, '')} does`
}

function whyNotPath(path: string, target: string, isTypeOnly: boolean, entries: readonly string[]): string | undefined {
  if (path.startsWith('adapters/')) return whyNotFromAdapter(path, target, isTypeOnly, entries)
  if (path.startsWith('src/client/'))
    return target.startsWith('src/client/') || isTypeOnly ? undefined : 'the client takes types only'
  if (target.startsWith('adapters/'))
    return path.startsWith('src/cli/') ? undefined : 'only the command line chooses adapters'
  if (!target.startsWith('src/')) return 'it is no part of the library'
  return whyNotDown(path, target)
}

function whyNotDown(path: string, target: string): string | undefined {
  const from = roomOf(path)
  const to = roomOf(target)
  if (!from || !to) return to ? undefined : 'it stands on no floor'
  if (to.floor > from.floor) return `floor ${from.floor} imports from floor ${to.floor}, and imports go downward only`
  if (to.floor < from.floor || to.floor === TOP || to.room === from.room) return undefined
  if (from.floor === 0 && GROUND_FLOOR.indexOf(to.room) < GROUND_FLOOR.indexOf(from.room)) return undefined
  return `both stand on floor ${to.floor}, and siblings do not import each other`
}

function whyNotFromAdapter(
  path: string,
  target: string,
  isTypeOnly: boolean,
  entries: readonly string[],
): string | undefined {
  if (target === 'src/errors.ts') return undefined
  if (target === 'src/index.ts') return isTypeOnly ? undefined : 'an adapter takes its types only'
  if (target.startsWith('src/')) return 'an adapter knows src/index.ts and src/errors.ts only'
  if (!target.startsWith('adapters/')) return 'it is no part of the library'
  if (/^adapters\/(?:types|lib)\//.test(target)) return undefined
  if (entries.includes(target)) return 'adapters do not import each other'
  return folderOf(path) === folderOf(target) ? undefined : 'it is a helper of other adapters'
}

function* platformViolations({ path, ambients }: Source): Generator<string> {
  if (!path.startsWith('src/') || path.startsWith('src/cli/')) return
  for (const { name, line } of ambients) {
    if (HOST.test(name)) yield `${path}:${line} uses ${name}`
    if (PLATFORM.test(name) && !DEFAULTS.test(path)) yield `${path}:${line} uses ${name} and is not given it`
  }
}

function* formViolations({ path, anys, silenced }: Source): Generator<string> {
  for (const line of anys) yield `${path}:${line} uses the type any`
  for (const line of silenced) yield `${path}:${line} silences the compiler`
}

function roomOf(path: string): { floor: number; room: string } | undefined {
  for (const [floor, rooms] of FLOORS.entries()) {
    const room = rooms.find((name) => path === name || (name.endsWith('/') && path.startsWith(name)))
    if (room) return { floor, room }
  }
  return undefined
}

function isPath(target: string): boolean {
  return /^(?:src|adapters|test|examples|\.\.?)\//.test(target) || /\.(?:ts|json)$/.test(target)
}

function folderOf(path: string): string {
  return path.split('/').slice(0, 2).join('/')
}
