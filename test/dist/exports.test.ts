import { statSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join } from 'node:path'
import { createConfigSchema } from '../../src/cli/config-schema/config-schema.ts'
import { entries } from '../../tsup.config.ts'
import { assert, suite } from '../support/suite.ts'
import { built, manifest, readBuilt, root } from './built.ts'

/** Packages that an entry's types may import. Apps that mount the gateway in `node:http` have Node's types, and undici is a dependency. */
const typePackages: Record<string, string[]> = { node: ['node:http', 'undici'], express: ['node:http', 'undici'] }

const test = suite('exports and built files')

test('package.json and the build list the same entries', () => {
  const expected = Object.keys(entries)
    .filter((name) => name !== 'cli')
    .map((name) => {
      const subpath = name === 'index' ? '.' : `./${name}`
      return [subpath, { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` }] as const
    })
  assert.equal(manifest.exports, {
    ...Object.fromEntries(expected),
    './config.schema.json': './dist/config.schema.json',
    './package.json': './package.json',
  })
  assert.equal(manifest.bin, { [manifest.name]: 'dist/cli.js' })
})

test("the build contains the config file's JSON Schema, at the path that signalbox init writes", () => {
  assert.equal(JSON.parse(readBuilt('config.schema.json')), createConfigSchema())
})

test('exports list their types first', () => {
  for (const [subpath, target] of Object.entries(manifest.exports)) {
    if (typeof target === 'object') assert.is(Object.keys(target)[0], 'types', subpath)
  }
})

test('the build contains only the entries, their types, and shared chunks', () => {
  const present = Object.keys(entries)
  const scripts = built('.js').filter((name) => !/-[0-9a-z]{8}\.js$/.test(name))
  assert.equal(scripts.sort(), present.map((name) => `${name}.js`).sort())
  const types = new Set(built('.d.ts'))
  for (const name of present) assert.is(types.has(`${name}.d.ts`), name !== 'cli', `types of ${name}`)
})

test('built files import Node modules with the `node:` prefix', () => {
  for (const name of built('.js')) {
    const specifiers = readBuilt(name).matchAll(/\b(?:from|import)\s*\(?\s*['"]([\w/]+)['"]/g)
    const bare = [...specifiers]
      .map(([, specifier = '']) => specifier)
      .filter((value) => builtinModules.includes(value) || value === 'sqlite')
    assert.equal([...new Set(bare)], [], name)
  }
})

test("the types don't require any runtime packages", () => {
  for (const name of Object.keys(entries).filter((entry) => entry !== 'cli')) {
    const { packages, text } = readTypes(`${name}.d.ts`)
    const strange = packages.filter((each) => !typePackages[name]?.includes(each))
    assert.equal(strange, [], `${name} imports packages`)
    assert.not.match(text, /reference types=|\bBuffer\b|\bNodeJS\./, name)
  }
})

test('the built CLI starts with a shebang and is executable', () => {
  assert.match(readBuilt('cli.js'), /^#!\/usr\/bin\/env node\n/)
  assert.ok(statSync(`${root}dist/cli.js`).mode & 0o100, 'not executable')
})

test('the cloud packages load with the first call to a cloud', () => {
  const chunks = built('.js').filter((name) => packagesAtOnce(name).has('aws4fetch'))
  assert.is(chunks.length, 1, `loaded by ${chunks.join(', ')}`)
  assert.ok(packagesAtOnce(chunks[0] ?? '').has('jose/jwt/sign'))
})

test('the token packages load when the first token is used or minted', () => {
  const findLoading = (name: string) => built('.js').filter((file) => packagesAtOnce(file).has(name))
  assert.is(findLoading('jose/jwt/verify').length, 1, 'one chunk for tokens')
  assert.is(findLoading('jose/jwt/sign').length, 2, 'one chunk for clouds, and one for tokens')
})

test("each cloud's credentials import only that vendor's package", () => {
  const packages = {
    google: 'google-auth-library',
    aws: '@aws-sdk/credential-providers',
    azure: '@azure/identity',
  }
  for (const [name, own] of Object.entries(packages)) {
    const files = [`credentials/${name}.js`]
    for (const file of files) {
      const imported = [...readBuilt(file).matchAll(/\bfrom ['"](\.[^'"]+)['"]/g)].map(([, from = '']) =>
        join(dirname(file), from),
      )
      files.push(...imported.filter((each) => !files.includes(each)))
    }
    const texts = files.map(readBuilt).join('\n')
    assert.equal(
      [...texts.matchAll(/\bimport\(["']([^"']+)["']\)/g)].map(([, each]) => each),
      [own],
    )
  }
})

/** Returns the packages that a built file imports statically. */
function packagesAtOnce(name: string, seen = new Set<string>()): Set<string> {
  const packages = new Set<string>()
  if (seen.has(name)) return packages
  seen.add(name)
  for (const [, from = ''] of readBuilt(name).matchAll(/^(?:import|export)\b[^'"(]*['"]([^'"]+)['"]/gm)) {
    if (from.startsWith('.')) for (const each of packagesAtOnce(join(dirname(name), from), seen)) packages.add(each)
    else packages.add(from)
  }
  return packages
}

/** Returns the types of an entry, including everything they import, and the packages they import. */
function readTypes(name: string): { packages: string[]; text: string } {
  const texts = new Map<string, string>()
  const packages = new Set<string>()
  const read = (path: string) => {
    if (texts.has(path)) return
    texts.set(path, readBuilt(path))
    for (const [, from = ''] of readBuilt(path).matchAll(/(?:from|import\(|import) ?['"]([^'"]+)['"]/g)) {
      if (from.startsWith('.')) read(join(dirname(path), from.replace(/\.js$/, '.d.ts')))
      else packages.add(from)
    }
  }
  read(name)
  return { packages: [...packages].sort(), text: [...texts.values()].join('\n') }
}
