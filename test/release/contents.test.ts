import { manifest } from '../dist/built.ts'
import { assert, suite } from '../support/suite.ts'
import { notesOf, overBudget, PACKAGE_BUDGETS, sbomFaults, strangeFiles } from './contents.ts'

const test = suite('the checks of a release')

test('a file that is no part of the package is found', () => {
  const good = [
    'package.json',
    'dist/index.js',
    'dist/storage/file.d.ts',
    'src/cli/README.md',
    'src/usage/KEPT.md',
    'examples/next/app/ai/[...path]/route.js',
  ]
  const bad = [
    'dist/index.js.map',
    'src/index.ts',
    'examples/node/.env',
    'examples/node/data/keys',
    'test/run.ts',
    '.npmrc',
    'dist/secret.pem',
  ]
  assert.equal(strangeFiles([...good, ...bad]), bad)
})

test('a size over its budget is found', () => {
  assert.equal(overBudget({ ...PACKAGE_BUDGETS }), [])
  assert.equal(overBudget({ packed: PACKAGE_BUDGETS.packed + 1, files: 1 }), [
    `packed: ${PACKAGE_BUDGETS.packed + 1}, more than ${PACKAGE_BUDGETS.packed}`,
  ])
})

test('a version without notes, without a day, or under the tag of another one is refused', () => {
  const log =
    '# Changelog\n\n## [0.3.0] - unreleased\n\n- New.\n\n## [0.2.0] - 2027-01-31\n\n### Added\n\n- A word.\n\n## [0.1.0] - 2026-12-01\n\nNothing.\n'
  assert.is(notesOf(log, '0.2.0', 'v0.2.0'), '### Added\n\n- A word.')
  assert.is(notesOf(log, '0.3.0'), '- New.')
  assert.throws(() => notesOf(log, '0.3.0', 'v0.3.0'), /has no day/)
  assert.throws(() => notesOf(log, '0.2.0', 'v0.2.1'), /is not of version 0\.2\.0/)
  for (const version of ['0.1.0', '0.4.0', '0.2']) assert.throws(() => notesOf(log, version), /says nothing of/)
})

test('an SBOM without a dependency, or with what is for development, is refused', () => {
  const components = [manifest.name, ...Object.keys(manifest.dependencies)].map((name) => ({ name }))
  assert.equal(sbomFaults({ bomFormat: 'CycloneDX', components }), [])
  assert.equal(sbomFaults({ bomFormat: 'CycloneDX', components: [...components.slice(1), { name: 'esbuild' }] }), [
    `${manifest.name} is missing`,
    'esbuild is for development',
  ])
  assert.ok(sbomFaults({ components }).length === 1)
})
