import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { assert, suite } from './support/suite.ts'

const root = new URL('..', import.meta.url).pathname

const test = suite('src/README.md, the source map')

test('every file and folder that the contributor pages mention exists', () => {
  const paths = ['CONTRIBUTING.md', 'src/README.md', 'src/RECORDS.md'].flatMap((page) => {
    const named = readFileSync(root + page, 'utf8').matchAll(/`([\w./-]+(?:\/|\.ts))`/g)
    const isRelative = (name: string) => page.startsWith('src/') && !/^(?:adapters|test)\//.test(name)
    return Array.from(named, ([, name = '']) => (isRelative(name) ? `src/${name}` : name)).filter(
      (path) => path !== 'dist/',
    )
  })
  assert.ok(paths.length > 30, `only ${paths.length} paths were found`)
  assert.equal(
    paths.filter((path) => !existsSync(root + path)),
    [],
  )
})

test('every path with `<kind>` in the source map exists for at least one kind', () => {
  const kinds = readdirSync(`${root}src/protocols/kinds`)
  const text = readFileSync(`${root}src/README.md`, 'utf8')
  const paths = Array.from(text.matchAll(/`([\w./<>-]*<kind>[\w./<>-]*)`/g), ([, path = '']) => path)
  assert.ok(paths.length > 4, `only ${paths.length} paths were found`)
  for (const path of paths) {
    const isThere = kinds.some((kind) => existsSync(`${root}src/${path.replaceAll('<kind>', kind)}`))
    assert.ok(isThere, `src/README.md mentions ${path}, which exists for no kind`)
  }
})

test('every function, type, and property that the contributor pages mention exists', () => {
  const files = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const words = new Set(files.flatMap((file) => readFileSync(`${root}src/${file}`, 'utf8').match(/\w+/g) ?? []))
  const named = ['CONTRIBUTING.md', 'src/README.md', 'src/RECORDS.md'].flatMap((page) =>
    Array.from(readFileSync(root + page, 'utf8').matchAll(/`([a-z]+[A-Z]\w*|[A-Z][a-z]\w*)`/g), ([, name = '']) => ({
      page,
      name,
    })),
  )
  assert.ok(named.length > 20, `only ${named.length} names were found`)
  assert.equal(
    named.filter(({ name }) => !words.has(name)).map(({ page, name }) => `${page} names ${name}, which isn't in src`),
    [],
  )
})

test('the source map has a line for each folder in src', () => {
  const text = readFileSync(`${root}src/README.md`, 'utf8')
  const folders = readdirSync(`${root}src`, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  assert.ok(folders.length > 10, `only ${folders.length} folders were found`)
  const missing = folders.map(({ name }) => name).filter((name) => !text.includes(`\`${name}/`))
  assert.equal(missing, [])
})

test('the source map gives a reason for each package that is published or bundled', () => {
  const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(
    readFileSync(`${root}package.json`, 'utf8'),
  )
  const [, libraries = ''] = readFileSync(`${root}src/README.md`, 'utf8').split('## Libraries')
  for (const name of [...Object.keys(dependencies), '@hapi/boom', 'yaml'])
    assert.ok(libraries.includes(`\`${name}\``), name)
})
