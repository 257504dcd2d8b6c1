import { manifest } from '../dist/built.ts'
import { assert, suite } from '../support/suite.ts'
import {
  BUNDLED,
  type Component,
  findSbomFaults,
  machineTraces,
  misstated,
  overBudget,
  PACKAGE_BUDGETS,
  packageSbom,
  readNotes,
  type Sbom,
  strangeFiles,
} from './contents.ts'

const test = suite('the contents of a release')

test("a file that doesn't belong in the package is detected", () => {
  const good = [
    'package.json',
    'dist/index.js',
    'dist/storage/file.d.ts',
    'docs/src/content/docs/reference/cli.md',
    'docs/src/content/docs/reference/bundle-size.md',
    'docs/src/content/docs/guides/fallbacks.md',
    'examples/next/app/ai/[...path]/route.js',
  ]
  const bad = [
    'dist/index.js.map',
    'src/index.ts',
    'src/features/usage/README.md',
    'docs/astro.config.mjs',
    'examples/node/.env',
    'examples/node/data/keys',
    'test/run.ts',
    '.npmrc',
    'dist/secret.pem',
  ]
  assert.equal(strangeFiles([...good, ...bad]), bad)
})

test('a size over its budget is detected', () => {
  assert.equal(overBudget({ ...PACKAGE_BUDGETS }), [])
  assert.equal(overBudget({ packed: PACKAGE_BUDGETS.packed + 1, files: 1 }), [
    `packed: ${PACKAGE_BUDGETS.packed + 1}, more than ${PACKAGE_BUDGETS.packed}`,
  ])
})

test('a wrong size on the front page is detected', () => {
  const page = 'The package is 1 MB and has two dependencies (`a`, `b`). The total installed size is 8 MB.'
  assert.equal(misstated(page, { packed: 971_257, installed: 7_874_075 }), [])
  assert.equal(misstated(page, { packed: 1_600_000, installed: 5_400_000 }), [
    'the front page says 1 MB packed, which are 2',
    'the front page says 8 MB installed, which are 5',
  ])
  assert.equal(misstated('', { packed: 1e6, installed: 1e6 }).length, 2)
})

test('a version without notes or a date, and a tag for another version, are rejected', () => {
  const log =
    '# Changelog\n\n## [0.3.0] - unreleased\n\n- New.\n\n## [0.2.0] - 2027-01-31\n\n### Added\n\n- A word.\n\n## [0.1.0] - 2026-12-01\n\nNothing.\n'
  assert.is(readNotes(log, '0.2.0', 'v0.2.0'), '### Added\n\n- A word.')
  assert.is(readNotes(log, '0.3.0'), '- New.')
  assert.throws(() => readNotes(log, '0.3.0', 'v0.3.0'), /has no day/)
  assert.throws(() => readNotes(log, '0.2.0', 'v0.2.1'), /is not of version 0\.2\.0/)
  for (const version of ['0.1.0', '0.4.0', '0.2']) assert.throws(() => readNotes(log, version), /says nothing of/)
})

const component = (name: string, extra: Partial<Component> = {}): Component => ({
  'bom-ref': `${name}@1.0.0`,
  name,
  version: '1.0.0',
  purl: `pkg:npm/${name}@1.0.0`,
  licenses: [{ license: { id: 'MIT' } }],
  hashes: [{ alg: 'SHA-512', content: '00' }],
  ...extra,
})
const lock = Object.fromEntries(
  BUNDLED.map((name) => [`node_modules/${name}`, { version: '2.0.0', license: 'MIT', integrity: 'sha512-AAEC' }]),
)

/** Returns npm's SBOM for a folder where the package was installed from a file. */
function sbomOfNpm(): Sbom {
  const names = Object.keys(manifest.dependencies)
  const file = { type: 'distribution', url: 'file:///tmp/release/signalbox.tgz' }
  const site = { type: 'website', url: 'https://example.com' }
  return {
    bomFormat: 'CycloneDX',
    metadata: { component: component('consumer', { hashes: undefined }) },
    components: [
      component(manifest.name, { externalReferences: [file, site] }),
      ...names.map((name) => component(name)),
    ],
    dependencies: [
      { ref: 'consumer@1.0.0', dependsOn: [`${manifest.name}@1.0.0`] },
      { ref: `${manifest.name}@1.0.0`, dependsOn: names.map((name) => `${name}@1.0.0`) },
      ...names.map((name) => ({ ref: `${name}@1.0.0`, dependsOn: [] })),
    ],
  }
}

test('the SBOM describes the package and everything bundled into it', () => {
  const sbom = packageSbom(sbomOfNpm(), lock)
  assert.equal(findSbomFaults(sbom), [])
  assert.is(sbom.metadata.component.name, manifest.name)
  assert.not.match(JSON.stringify(sbom), /consumer|file:/)
  const preact = sbom.components.find(({ name }) => name === 'preact')
  assert.equal([preact?.purl, preact?.hashes], ['pkg:npm/preact@2.0.0', [{ alg: 'SHA-512', content: '000102' }]])
  const boom = sbom.components.find(({ name }) => name === '@hapi/boom')
  assert.is(boom?.purl, 'pkg:npm/%40hapi/boom@2.0.0')
  assert.throws(() => packageSbom(sbomOfNpm(), {}), /package-lock.json has no @hapi\/boom/)
})

test('an SBOM that lacks a dependency, is for another package, or lists development packages is rejected', () => {
  const good = packageSbom(sbomOfNpm(), lock)
  const [first, ...others] = good.components
  assert.equal(findSbomFaults({ ...good, bomFormat: undefined }), ['it is no CycloneDX'])
  assert.equal(findSbomFaults({ ...good, components: [...good.components, component('esbuild')] }), [
    'esbuild is for development',
  ])
  assert.equal(findSbomFaults({ ...good, components: others })[0], `${first?.name} is missing`)
  const bare = { ...good, components: [...others, component(first?.name ?? '', { hashes: undefined })] }
  assert.equal(findSbomFaults(bare), [`${first?.name} has no hashes`])
  assert.ok(findSbomFaults(sbomOfNpm()).includes('it is of consumer'))
})

test('a build machine path or a source map in the package files is detected', () => {
  const text = "import '/home/me/signalbox/src/index.ts'\n//# sourceMappingURL=index.js.map\n"
  assert.equal(machineTraces(text, ['/home/me/signalbox/']), ['/home/me/signalbox/', 'sourceMappingURL='])
  assert.equal(machineTraces("import './index.js'\n", ['/home/me/signalbox/']), [])
})
