import { manifest } from '../dist/built.ts'

/** The files that the package may have. */
const KNOWN =
  /^(?:dist\/(?:[\w-]+\/)*[\w.-]+\.(?:js|d\.ts)$|examples\/[\w-]+\/(?:[\w-]+(?:\.test)?\.m?js|app\/ai\/\[\.\.\.path\]\/route\.js|index\.html|package\.json|wrangler(?:\.kv)?\.jsonc|README\.md)$|examples\/container\/(?:Dockerfile|compose\.yaml|[\w-]+\.(?:ya?ml|json)|[\w-]+\/[\w-]+\.ya?ml)$|(?:src\/observe|dist)\/grafana\/[\w-]+\.(?:json|ya?ml)$|package\.json$|LICENSE$|llms\.txt$|(?:(?:adapters\/storage|examples|src(?:\/[a-z]+)?)\/)?[A-Z]+\.md$)/

/** What everybody downloads and keeps; bytes. */
export const PACKAGE_BUDGETS = { files: 320, packed: 1_000_000, unpacked: 3_600_000, installed: 12_000_000 }

/** The files of a package that should not be in it. */
export const strangeFiles = (names: readonly string[]): string[] => names.filter((name) => !KNOWN.test(name))

/** What is larger than it may be, a line each. */
export function overBudget(sizes: Readonly<Partial<Record<keyof typeof PACKAGE_BUDGETS, number>>>): string[] {
  return Object.entries(sizes).flatMap(([name, size]) => {
    const most = PACKAGE_BUDGETS[name as keyof typeof PACKAGE_BUDGETS] // the names are those of the budgets
    return size > most ? [`${name}: ${size}, more than ${most}`] : []
  })
}

/**
 * The notes of a version in the changelog. Throws when there are none; with `tag`, the name of what is released, also when it is of another version, or when
 * the heading has no day yet.
 */
export function notesOf(changelog: string, version: string, tag?: string): string {
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((one) => one.startsWith(`[${version}]`)) ?? ''
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

/** What is missing from an SBOM in CycloneDX of the installed package, or should not be in it; a line each. */
export function sbomFaults(sbom: { bomFormat?: string; components?: { name: string; purl?: string }[] }): string[] {
  const names = (sbom.components ?? []).map(({ name }) => name)
  const wanted = [manifest.name, ...Object.keys(manifest.dependencies)]
  return [
    ...(sbom.bomFormat === 'CycloneDX' ? [] : ['it is no CycloneDX']),
    ...wanted.filter((name) => !names.includes(name)).map((name) => `${name} is missing`),
    ...names
      .filter((name) => name in manifest.devDependencies && !wanted.includes(name))
      .map((name) => `${name} is for development`),
  ]
}
