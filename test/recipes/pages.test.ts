import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { linkPackage } from '../runtimes/package-link.ts'
import { assert, suite } from '../support/suite.ts'
import { PAGES, readRecipe } from './page.ts'

const here = new URL('.', import.meta.url)
const root = fileURLToPath(new URL('../..', here))
const slugs = (await readdir(PAGES)).map((name) => name.replace(/\.md$/, '')).filter((slug) => slug !== 'index')

const IMPORTS = /^(?:import|export) (?:[^'"]*? from )?['"]([^.'"][^'"]*)['"]/gm
const toPackage = (specifier: string) => specifier.match(/^(?:@[^/]+\/)?[^/]+/)?.[0] ?? ''

/** The route types, which a TanStack Start build generates. */
const ROUTES = `
import '@tanstack/react-start'
declare module '@tanstack/react-router' {
  interface FileRoutesByPath {
    '/ai/$': { id: '/ai/$'; path: '/ai/$'; fullPath: '/ai/$'; preLoaderRoute: any; parentRoute: any }
    '/login': { id: '/login'; path: '/login'; fullPath: '/login'; preLoaderRoute: any; parentRoute: any }
  }
}
`

const test = suite('the recipe pages')

test('the recipe list links to each recipe', async () => {
  const list = await readFile(new URL('index.md', PAGES), 'utf8')
  assert.equal(
    slugs.filter((slug) => !list.includes(`(${slug}.md)`)),
    [],
  )
})

test('each recipe page has its own test', async () => {
  const tests = await readdir(here)
  assert.ok(slugs.length > 0)
  assert.equal(
    slugs.filter((slug) => !tests.includes(`${slug}.test.ts`)),
    [],
  )
})

for (const slug of slugs)
  test(`${slug}.md installs every package that its code imports`, async () => {
    const { files, installs } = await readRecipe(slug)
    const imported = [...files.values()].flatMap((code) => [...code.matchAll(IMPORTS)].map(([, name = '']) => name))
    const needed = imported
      .filter((name) => !/^(?:node:|@\/)/.test(name) && !builtinModules.includes(name))
      .map(toPackage)
    const missing = new Set(needed.filter((name) => !installs.includes(name)))
    assert.equal([...missing], [])
  })

test('the TypeScript code on each page compiles in strict mode', { timeoutMs: 180_000 }, async () => {
  await linkPackage(here)
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-recipe-types-'))
  try {
    await symlink(fileURLToPath(new URL('node_modules', here)), join(folder, 'node_modules'), 'dir')
    for (const slug of slugs)
      for (const [path, code] of (await readRecipe(slug)).files) {
        await mkdir(dirname(join(folder, slug, path)), { recursive: true })
        await writeFile(join(folder, slug, path), code)
      }
    await writeFile(join(folder, 'tanstack-start/routes.d.ts'), ROUTES)
    const config = {
      compilerOptions: {
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        allowImportingTsExtensions: true,
        target: 'ES2024',
        lib: ['ES2024', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
        module: 'ESNext',
        moduleResolution: 'bundler',
        experimentalDecorators: true,
        emitDecoratorMetadata: true,
        jsx: 'preserve',
        paths: { '@/*': ['./nextjs-authjs/*', './nextjs-better-auth/*'] },
        types: ['node'],
        typeRoots: [join(root, 'node_modules/@types')],
      },
      include: ['*/**/*.ts', '*/**/*.tsx'],
    }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const args = [join(root, 'node_modules/tsc7/bin/tsc'), '--pretty', 'false', '-p', folder]
    const { stdout } = await promisify(execFile)(process.execPath, args).catch((error: { stdout: string }) => error)
    assert.is(stdout, '')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
