import { manifest } from '../dist/built.ts'

/** Matches the files that the package may contain. */
const KNOWN =
  /^(?:dist\/(?:[\w-]+\/)*[\w.-]+\.(?:js|d\.ts)$|dist\/config\.schema\.json$|examples\/[\w-]+\/(?:[\w-]+(?:\.test)?\.m?js|app\/ai\/\[\.\.\.path\]\/route\.js|index\.html|package\.json|wrangler(?:\.kv)?\.jsonc|README\.md)$|examples\/vercel\/(?:(?:app|lib)\/(?:[\w.[\]-]+\/)*[\w-]+\.(?:tsx?|css|svg)|(?:next\.config\.ts|tsconfig\.json))$|examples\/container\/(?:Dockerfile|compose\.yaml|[\w-]+\.(?:ya?ml|json)|[\w-]+\/[\w-]+\.ya?ml)$|(?:src\/features\/observe|dist)\/grafana\/[\w-]+\.(?:json|ya?ml)$|package\.json$|LICENSE$|docs\/src\/content\/docs\/(?:[a-z-]+\/)*[\w-]+\.md$|llms\.txt$|(?:examples\/)?[A-Z]+\.md$)/

/** The maximum number of files, and the maximum download and disk sizes, in bytes. */
export const PACKAGE_BUDGETS = { files: 440, packed: 1_475_000, unpacked: 5_350_000, installed: 12_000_000 }

/** Returns the files that shouldn't be in the package. */
export const strangeFiles = (names: readonly string[]): string[] => names.filter((name) => !KNOWN.test(name))

/** Lists the sizes that exceed their budget, one per line. */
export function overBudget(sizes: Readonly<Partial<Record<keyof typeof PACKAGE_BUDGETS, number>>>): string[] {
  return Object.entries(sizes).flatMap(([name, size]) => {
    const most = PACKAGE_BUDGETS[name as keyof typeof PACKAGE_BUDGETS] // the names match those of the budgets
    return size > most ? [`${name}: ${size}, more than ${most}`] : []
  })
}

/** Returns the sizes on the front page that differ from the measured ones, in MB. */
export function misstated(page: string, sizes: { packed: number; installed: number }): string[] {
  const stated = { packed: /The package is (\d+) MB/, installed: /installed size is (\d+) MB/ }
  return Object.entries(stated).flatMap(([name, pattern]) => {
    const output = pattern.exec(page)?.[1]
    const measured = (sizes[name as keyof typeof stated] / 1e6).toFixed() // the names match those of `stated`
    return output === measured ? [] : [`the front page says ${output ?? 'no'} MB ${name}, which are ${measured}`]
  })
}

/**
 * Returns a version's notes from the changelog. Throws if there are none. With `tag`, also throws if the tag is for another version or the heading
 * has no date.
 */
export function readNotes(changelog: string, version: string, tag?: string): string {
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((section) => section.startsWith(`[${version}]`)) ?? ''
  const [heading = '', ...lines] = section.split('\n')
  const notes = lines.join('\n').trim()
  if (!/^- \S/m.test(notes))
    throw new Error(`CHANGELOG.md says nothing of ${version}: give it a heading "## [${version}]" with a list`)
  if (tag !== undefined && tag !== `v${version}`)
    throw new Error(`the tag ${tag} is not of version ${version}: it is v${version}`)
  if (tag !== undefined && !/^\[[^\]]+\] - \d{4}-\d{2}-\d{2}$/.test(heading))
    throw new Error(`the heading of ${version} in CHANGELOG.md has no day, as in "## [${version}] - 2027-01-31"`)
  return notes
}

/** The development dependencies that the build bundles into the package's own files. */
export const BUNDLED = ['@hapi/boom', '@preact/signals', '@preact/signals-core', 'preact', 'yaml']

/** An SBOM component, with CycloneDX's names. */
export interface Component {
  'bom-ref': string
  name: string
  version: string
  purl?: string
  licenses?: unknown[]
  hashes?: { alg: string; content: string }[] | undefined
  properties?: { name: string; value: string }[]
  externalReferences?: { type: string; url: string }[]
  [field: string]: unknown
}

export interface Sbom {
  bomFormat?: string | undefined
  metadata: { component: Component; [field: string]: unknown }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
  [field: string]: unknown
}

/**
 * Creates the package's SBOM from npm's SBOM of a folder that contains only the package. Makes the package its subject instead of the folder, removes
 * local paths, and adds bundled packages. `lock` contains the packages in package-lock.json with their versions.
 */
export function packageSbom(
  sbom: Sbom,
  lock: Readonly<Record<string, { version?: string; license?: string; integrity?: string }>>,
): Sbom {
  const isSubject = ({ name }: Component) => name === manifest.name
  const subject = sbom.components.find(isSubject)
  if (subject === undefined) throw new Error(`npm's SBOM has no ${manifest.name}`)
  const references = (subject.externalReferences ?? []).filter(({ url }) => !url.startsWith('file:'))
  const bundled = BUNDLED.map((name): Component => {
    const { version, license, integrity } = lock[`node_modules/${name}`] ?? {}
    if (version === undefined) throw new Error(`package-lock.json has no ${name}`)
    const sha512 = /^sha512-(.+)$/.exec(integrity ?? '')?.[1]
    return {
      'bom-ref': `${name}@${version}`,
      type: 'library',
      name,
      version,
      scope: 'required',
      purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
      properties: [{ name: 'cdx:npm:package:bundled', value: 'true' }],
      ...(license !== undefined && { licenses: [{ license: { id: license } }] }),
      ...(sha512 !== undefined && {
        hashes: [{ alg: 'SHA-512', content: Buffer.from(sha512, 'base64').toString('hex') }],
      }),
    }
  })
  const others = sbom.components.filter((component) => !isSubject(component))
  const added = bundled.filter((item) => !others.some((other) => other['bom-ref'] === item['bom-ref']))
  return {
    ...sbom,
    metadata: { ...sbom.metadata, component: { ...subject, externalReferences: references } },
    components: [...others, ...added],
    dependencies: [
      ...sbom.dependencies
        .filter(({ ref }) => ref !== sbom.metadata.component['bom-ref'])
        .map(({ ref, dependsOn }) =>
          ref === subject['bom-ref']
            ? { ref, dependsOn: [...new Set([...dependsOn, ...bundled.map((item) => item['bom-ref'])])] }
            : { ref, dependsOn },
        ),
      ...added.map((item) => ({ ref: item['bom-ref'], dependsOn: [] })),
    ],
  }
}

/** Lists packages that are missing from the package's SBOM or don't belong there, one per line. */
export function findSbomFaults({ bomFormat, metadata, components, dependencies }: Sbom): string[] {
  const names = components.map(({ name }) => name)
  const refs = new Set([metadata.component, ...components].map((component) => component['bom-ref']))
  const wanted = [...Object.keys(manifest.dependencies), ...BUNDLED]
  const needed = ['version', 'purl', 'licenses', 'hashes'] as const
  return [
    ...(bomFormat === 'CycloneDX' ? [] : ['it is no CycloneDX']),
    ...(metadata.component.name === manifest.name ? [] : [`it is of ${metadata.component.name}`]),
    ...wanted.filter((name) => !names.includes(name)).map((name) => `${name} is missing`),
    ...names
      .filter((name) => name in manifest.devDependencies && !wanted.includes(name))
      .map((name) => `${name} is for development`),
    ...[metadata.component, ...components].flatMap((component) =>
      needed.filter((field) => component[field] === undefined).map((field) => `${component.name} has no ${field}`),
    ),
    ...dependencies
      .flatMap(({ ref, dependsOn }) => [ref, ...dependsOn])
      .filter((ref) => !refs.has(ref))
      .map((ref) => `${ref} is named and not described`),
  ]
}

/** Finds traces of the build machine in a package file: local paths and source maps. */
export function machineTraces(text: string, folders: readonly string[]): string[] {
  return [...folders, 'file:///', 'sourceMappingURL='].filter((trace) => text.includes(trace))
}
