import { parseSource, type Source } from './source.ts'

/** The layers, from lowest to highest. A file may import from its own module and from lower layers. Its module is the longest matching path. */
const LAYERS: readonly (readonly string[])[] = [
  ['src/traits.ts', 'src/types/', 'src/types.ts', 'src/errors.ts', 'src/lib/'],
  ['src/protocols/formats/', 'src/protocols/providers/', 'src/records/'],
  ['src/protocols/kinds/'],
  [
    'src/request/routing/',
    'src/request/upstream/',
    'src/pricing/',
    'src/features/limits/ledger/',
    'src/features/cloud-sync/',
  ],
  ['src/request/codec/'],
  ['src/request/'],
  ['src/request/door/', 'src/admin/operation-table.ts'],
  ['src/feature.ts'],
  ['src/features/access/', 'src/features/usage/', 'src/features/prompt-caching/'],
  ['src/features/listing/', 'src/features/edit-text/'],
  ['src/admin/'],
  [
    'src/features/limits/',
    'src/features/accounts/',
    'src/features/tokens/',
    'src/features/request-models/',
    'src/features/observe/',
    'src/features/guards/',
    'src/features/live/',
    'src/features/explain/',
    'src/features/usage/operations/',
    'src/features/cloud-sync/gateway/',
  ],
  ['src/admin/http/'],
  ['src/management/'],
  [
    'src/index.ts',
    'src/gateway.ts',
    'src/config/',
    'src/core.ts',
    'src/default-storage.ts',
    'src/compose.ts',
    'src/options.ts',
    'src/extend.ts',
    'src/feature-serving.ts',
    'src/platform.ts',
    'src/ai/',
    'src/features/cloud-sync/proxy/',
    'src/client/',
    'src/cli/',
    'src/features/dashboard/',
  ],
]
const TOP = LAYERS.length - 1
/** The layer for features that no layer lists. */
const FEATURES = LAYERS.findIndex((modules) => modules.includes('src/features/limits/'))

/** The modules in the lowest layer are in order: each may import only the ones before it. */
const LOWEST_LAYER = ['src/traits.ts', 'src/types/', 'src/types.ts', 'src/errors.ts', 'src/lib/']

/** The packages that may be imported, and the files that may import them. */
const PACKAGES: readonly { name: RegExp; where: RegExp }[] = [
  { name: /^itty-router$/, where: /^src\/request\/door\// },
  { name: /^@hapi\/boom$/, where: /^src\/errors\.ts$/ },
  { name: /^(?:aws4fetch|jose\/.+)$/, where: /^src\/(?:request\/upstream\/clouds|features\/tokens)\// },
  { name: /^@cfworker\/json-schema$/, where: /^src\/lib\/matches-schema\.ts$/ },
  { name: /^leven$/, where: /^src\/lib\/spelling\.ts$/ },
  { name: /^valibot$/, where: /^src\// },
  { name: /^undici(?:\/|$)/, where: /^adapters\// },
  { name: /^idb-keyval$/, where: /^adapters\/storage\/indexeddb/ },
  {
    name: /^(?:google-auth-library|@aws-sdk\/credential-providers|@azure\/identity)$/,
    where: /^adapters\/credentials\//,
  },
  { name: /^yaml$/, where: /^src\/cli\// },
  // The operator's config file, and a package that bundlers must not resolve.
  { name: /^a computed path$/, where: /^src\/(?:cli\/code-file|features\/guards\/kinds\/pattern-finder)\.ts$/ },
  { name: /^(?:preact(?:\/hooks)?|@preact\/signals)$/, where: /^src\/features\/dashboard\/page\// },
  { name: /^signalbox:dashboard$/, where: /^src\/features\/dashboard\/dashboard\.ts$/ },
  { name: /^node:/, where: /^(?:src\/cli|adapters)\// },
]

/** Globals that only the composition root may take from the platform. Other files receive them as parameters. */
const PLATFORM = /^(?:Date\.now|new Date\(\)|set(?:Timeout|Interval|Immediate)|Math\.random|fetch|console|globalThis)$/
const DEFAULTS = /^src\/(?:(?:gateway|platform|client\/client-platform)\.ts$|features\/dashboard\/page\/)/ // the page only runs in browsers
/** Globals that exist only in Node, or that belong to the app that embeds the library. */
const HOST = /^(?:Buffer|process)$/

/**
 * The files that serve requests. V8 allocates a function assigned to a member in old space, so everything it refers to stays alive until a major
 * collection. With one such function per request, entire requests stayed alive, and a limit took twice the CPU time.
 */
const OF_REQUESTS = /^src\/(?:protocols\/(?:formats|kinds)|pricing|request|features\/(?:limits|usage))\//

const isForbiddenName = (name: string) => HOST.test(name) || PLATFORM.test(name)

const MAX_LINES = 400
/** Generated data, which nobody reads from start to finish. */
const GENERATED = /\.data\.ts$/

/** Checks files (text by path from the root) against the architecture rules. Returns one line per violation. */
export function violations(files: ReadonlyMap<string, string>, entries: readonly string[] = []): string[] {
  return [...files].flatMap(([path, text]) => {
    const source = parseSource(path, text, isForbiddenName)
    return [...importViolations(source, entries), ...platformViolations(source), ...formViolations(source)]
  })
}

/** Finds files that are too long to read in one sitting. Returns one line per file. */
export function findLongFiles(files: ReadonlyMap<string, string>): string[] {
  return [...files].flatMap(([path, text]) => {
    const lineCount = text.replace(/\n$/, '').split('\n').length
    return lineCount > MAX_LINES && !GENERATED.test(path)
      ? [`${path} has ${lineCount} lines, more than ${MAX_LINES}`]
      : []
  })
}

function* importViolations({ path, imports }: Source, entries: readonly string[]): Generator<string> {
  if (path.startsWith('src/') && !getModule(path))
    yield `${path} is in no layer: add its folder to LAYERS in test/architecture/rules.ts, and to src/README.md`
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
    return /^src\/(?:client|lib)\//.test(target) || isTypeOnly ? undefined : 'the client takes types and src/lib/ only'
  if (target.startsWith('adapters/')) {
    const isDefault = path === 'src/default-storage.ts' && target === 'adapters/storage/memory.ts'
    return path.startsWith('src/cli/') || isDefault ? undefined : 'only the command line chooses adapters'
  }
  if (!target.startsWith('src/')) return 'it is no part of the library'
  return whyNotSide(path, target) ?? whyNotStage(path, target) ?? whyNotDown(path, target)
}

/** Formats must not import each other. Within a format, the client side and the provider side must not import each other either. */
function whyNotSide(path: string, target: string): string | undefined {
  const from = FORMAT.exec(path)?.groups
  const to = FORMAT.exec(target)?.groups
  if (!from || !to || SHARED_FORMATS.test(path) || SHARED_FORMATS.test(target)) return undefined
  if (from.format !== to.format) return 'formats do not import each other'
  if (!from.side || !to.side || from.side === to.side) return undefined
  return 'client/ and provider/ of a format do not import each other'
}

const FORMAT = /^src\/protocols\/formats\/(?<format>[^/]+)\/(?:(?<side>client|provider)\/)?/
/** The modules that every format is built on. */
const SHARED_FORMATS = /^src\/protocols\/formats\/(?:canonical|errors)\//

/** The stages of a request, in order. They aren't modules. Each may import only earlier stages. */
const STAGES = ['choose', 'attempt', 'reply']

function whyNotStage(path: string, target: string): string | undefined {
  const stage = STAGE.exec(path)?.[1]
  const from = STAGES.indexOf(stage ?? '')
  if (stage !== undefined && from < 0) return `${stage}/ is not a stage of a request: add it to STAGES or LAYERS`
  const to = STAGES.indexOf(STAGE.exec(target)?.[1] ?? '')
  return from >= 0 && to > from ? `a request comes to ${STAGES[to]}/ after ${STAGES[from]}/` : undefined
}

const STAGE = /^src\/request\/(?!(?:routing|upstream|codec|door)\/)([^/]+)\//

function whyNotDown(path: string, target: string): string | undefined {
  const from = getModule(path)
  const to = getModule(target)
  if (!from || !to) return to ? undefined : 'it is in no layer'
  if (to.layer > from.layer) return `layer ${from.layer} imports from layer ${to.layer}, and imports go downward only`
  if (to.layer < from.layer || to.layer === TOP || to.module === from.module) return undefined
  if (from.layer === 0 && LOWEST_LAYER.indexOf(to.module) < LOWEST_LAYER.indexOf(from.module)) return undefined
  return `both are in layer ${to.layer}, and siblings do not import each other`
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
  return getFolder(path) === getFolder(target) ? undefined : 'it is a helper of other adapters'
}

function* platformViolations({ path, ambients }: Source): Generator<string> {
  if (!path.startsWith('src/') || path.startsWith('src/cli/')) return
  for (const { name, line } of ambients) {
    if (HOST.test(name)) yield `${path}:${line} uses ${name}`
    if (PLATFORM.test(name) && !DEFAULTS.test(path)) yield `${path}:${line} uses ${name} and is not given it`
  }
}

function* formViolations({ path, anys, assigned, silenced }: Source): Generator<string> {
  for (const line of anys) yield `${path}:${line} uses the type any`
  for (const line of silenced) yield `${path}:${line} silences the compiler`
  if (OF_REQUESTS.test(path))
    for (const line of assigned) yield `${path}:${line} writes a function at an assignment: give it a name first`
}

/** The module that a file belongs to, and the module's layer. */
export function getModule(path: string): { layer: number; module: string } | undefined {
  const fitting = LAYERS.flatMap((modules, layer) => modules.map((module) => ({ layer, module }))).filter(
    ({ module }) => path === module || (module.endsWith('/') && path.startsWith(module)),
  )
  const [longest] = fitting.sort((a, b) => b.module.length - a.module.length)
  const [feature] = /^src\/features\/[^/]+\//.exec(path) ?? []
  return longest ?? (feature === undefined ? undefined : { layer: FEATURES, module: feature })
}

function isPath(target: string): boolean {
  return /^(?:src|adapters|test|examples|\.\.?)\//.test(target) || /\.(?:ts|json)$/.test(target)
}

function getFolder(path: string): string {
  return path.split('/').slice(0, 2).join('/')
}
