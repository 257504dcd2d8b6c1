import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { assert, suite } from './support/suite.ts'

const root = new URL('..', import.meta.url).pathname

const test = suite('src/README.md, the map of the source')

/** The files and folders that the map names, from the root of the repository. */
function namedPaths(): string[] {
  const text = readFileSync(`${root}src/README.md`, 'utf8')
  const names = [...text.matchAll(/`([\w./-]+(?:\/|\.ts))`/g)].map(([, name = '']) => name)
  return names.map((name) => (/^(?:adapters|test)\//.test(name) ? name : `src/${name}`))
}

test('every file and folder that the map names exists', () => {
  const paths = namedPaths()
  assert.ok(paths.length > 30, `only ${paths.length} paths were found`)
  assert.equal(
    paths.filter((path) => !existsSync(root + path)),
    [],
  )
})

test('the map has a line for each folder of src', () => {
  const text = readFileSync(`${root}src/README.md`, 'utf8')
  const folders = readdirSync(`${root}src`, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  assert.ok(folders.length > 10, `only ${folders.length} folders were found`)
  const missing = folders.map(({ name }) => name).filter((name) => !text.includes(`\`${name}/`))
  assert.equal(missing, [])
})

test('the map has a reason for each package that is published or bundled', () => {
  const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(
    readFileSync(`${root}package.json`, 'utf8'),
  )
  const [, libraries = ''] = readFileSync(`${root}src/README.md`, 'utf8').split('## Libraries')
  for (const name of [...Object.keys(dependencies), '@hapi/boom', 'yaml'])
    assert.ok(libraries.includes(`\`${name}\``), name)
})
