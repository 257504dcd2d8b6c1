import { getModule } from './rules.ts'
import { parseSource } from './source.ts'

const SHARED = ['errors.ts', 'fields.ts', 'format.ts', 'translator.ts', 'wire.ts']
const SIDE = ['conversation.ts', 'request.ts', 'response.ts', 'stream.ts', 'tools.ts']

/**
 * Finds the files that a format lacks. All formats have the same files, except that a format without clients has no `client/` and one without
 * providers has no `provider/`.
 */
export function findMissingFormatFiles(paths: Iterable<string>): string[] {
  const known = new Set(paths)
  const folders = [...known].flatMap((path) => {
    const [, folder, short] = /^(src\/protocols\/formats\/[^/]+\/)([\w-]+)-format\.ts$/.exec(path) ?? []
    return folder && short ? [[folder, short] as const] : []
  })
  return folders.flatMap(([folder, short]) => {
    const hasClients = [...known].some((path) => path.startsWith(`${folder}client/`))
    const hasProviders = !hasClients || [...known].some((path) => path.startsWith(`${folder}provider/`))
    const sides = [...(hasClients ? ['client'] : []), ...(hasProviders ? ['provider'] : [])]
    const wanted = [
      ...SHARED.map((name) => `${short}-${name}`),
      ...sides.flatMap((side) => SIDE.map((name) => `${side}/${short}-${side}-${name}`)),
    ]
    return wanted.map((name) => folder + name).filter((path) => !known.has(path))
  })
}

/**
 * Finds type names that several files declare, exported or not. Returns one line per name, with its files. The formats' `Wire…` types are excluded,
 * because all formats use the same names for them.
 */
export function findRepeatedTypeNames(files: ReadonlyMap<string, string>): string[] {
  const declaredIn = new Map<string, string[]>()
  for (const [path, text] of files)
    for (const [, name = ''] of text.matchAll(/^(?:export )?(?:interface|type) (\w+)/gm))
      if (!name.startsWith('Wire')) declaredIn.set(name, [...(declaredIn.get(name) ?? []), path])
  return [...declaredIn].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(', ')}`)
}

/** Counts the tests, and finds titles that begin with a verb and so don't say what acts. */
export function findTitlesWithoutSubject(files: ReadonlyMap<string, string>): { tests: number; found: string[] } {
  const titles = [...files].flatMap(([path, text]) =>
    [...text.matchAll(TITLE)].map(([, , title = '']) => `${path}: ${title}`),
  )
  return { tests: titles.length, found: titles.filter((line) => VERB.test(line)) }
}

/** Matches a test title: the first argument, if followed by optional options and an anonymous function. */
const TITLE = /^ *[a-z]\w*\(\s*(['"`])((?:(?!\1).|\\\1)+)\1,\s*(?:\{[^}]*\},\s*)?(?:async )?\(/gm

const VERB =
  /^\S+: (?:is|are|was|has|have|does|may|can|cannot|says|takes|keeps|ends|reads|refuses|lets|hands|holds|gives|waits|makes|goes|runs|reports|fails|cuts|sends|reaches|passes|finds|costs|asks|answers (?!are|is|of|to|with)|returns|stops|begins|shows|works|uses|needs|leaves|starts|changes (?!are|of|to)|loses) /

/** Finds groups of files that import each other, directly or indirectly, ignoring types. Returns one line per group. */
export function findImportCycles(files: ReadonlyMap<string, string>): string[] {
  const imports = [...files].map(([path, text]): [string, string[]] => [
    path,
    parseSource(path, text, () => false).imports.flatMap(({ target, isTypeOnly }) => (isTypeOnly ? [] : target)),
  ])
  return getCycles(new Map(imports.map(([path, targets]) => [path, targets.filter((target) => files.has(target))])))
}

/** Finds groups of modules in `src` whose files import each other, including types. Returns one line per group. */
export function findFolderCycles(files: ReadonlyMap<string, string>): string[] {
  const imports = new Map<string, string[]>()
  for (const [path, text] of files) {
    const folder = getFolder(path)
    if (!folder) continue
    const targets = parseSource(path, text, () => false).imports.flatMap(({ target }) => getFolder(target) ?? [])
    imports.set(folder, [...(imports.get(folder) ?? []), ...targets.filter((target) => target !== folder)])
  }
  return getCycles(imports)
}

/** Returns the file's module, or `undefined` if the module is a single file. */
function getFolder(path: string): string | undefined {
  const module = getModule(path)?.module
  return module?.endsWith('/') ? module.slice(0, -1) : undefined
}

function getCycles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const reachable = new Map([...imports.keys()].map((path) => [path, reachableFrom(path, imports)]))
  const groups = [...imports.keys()]
    .filter((path) => reachable.get(path)?.has(path))
    .map((path) => [...imports.keys()].filter((other) => inCycle(path, other)).join(' '))
  return [...new Set(groups)]

  function inCycle(path: string, other: string): boolean {
    return Boolean(reachable.get(path)?.has(other) && reachable.get(other)?.has(path))
  }
}

function reachableFrom(path: string, imports: ReadonlyMap<string, readonly string[]>): Set<string> {
  const found = new Set<string>()
  const waiting = [path]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
    for (const target of imports.get(next) ?? [])
      if (!found.has(target)) {
        found.add(target)
        waiting.push(target)
      }
  return found
}
