import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { entries } from '../tsup.config.ts'
import { findBrokenCitations, findUncitedHeadings, getHeadings } from './architecture/citations.ts'
import { findLongFiles, violations } from './architecture/rules.ts'
import {
  findFolderCycles,
  findImportCycles,
  findMissingFormatFiles,
  findRepeatedTypeNames,
  findTitlesWithoutSubject,
} from './architecture/shape.ts'
import { assert, suite } from './support/suite.ts'

const root = new URL('..', import.meta.url).pathname

const source = suite('the source code')

source('every file follows the architecture rules', () => {
  const found = violations(readTree(['src', 'adapters']), Object.values(entries))
  assert.is(found.length, 0, `${found.length} violations:\n${found.join('\n')}`)
})

source('no file is too long, not even a test', () => {
  const found = findLongFiles(readTree(['src', 'adapters', 'examples', 'test']))
  assert.is(found.length, 0, found.join('\n'))
})

source('every source file has a unique name', () => {
  const paths = Object.groupBy(readTree(['src', 'adapters']).keys(), (path) => path.slice(path.lastIndexOf('/')))
  assert.equal(
    Object.values(paths).filter((same = []) => same.length > 1),
    [],
  )
})

source('every format has the same files', () => {
  assert.equal(findMissingFormatFiles(readTree(['src/protocols/formats']).keys()), [])
})

source('files and folders have no import cycles, not even for types', () => {
  const files = readTree(['src', 'adapters'])
  assert.equal(findImportCycles(files), [])
  assert.equal(findFolderCycles(files), [])
})

/** The maximum number of type names declared twice. Some are by design, such as helper types in two adapters or two formats. */
const MAX_REPEATED_NAMES = 8

source(`at most ${MAX_REPEATED_NAMES} type names are declared twice`, () => {
  const found = findRepeatedTypeNames(readTree(['src', 'adapters']))
  assert.ok(
    found.length <= MAX_REPEATED_NAMES,
    `Rename one type, so that each name means one thing:\n${found.join('\n')}`,
  )
})

source('a type name declared in two files is detected, unless it belongs to a wire format', () => {
  const files = new Map([
    ['src/a.ts', 'export interface Row {}\ntype WireRow = 1\ninterface Own {}'],
    ['src/b.ts', 'type Row = 1\nexport interface WireRow {}'],
  ])
  assert.equal(findRepeatedTypeNames(files), ['Row: src/a.ts, src/b.ts'])
})

source('at most 5% of the test titles lack a subject', () => {
  const { tests, found } = findTitlesWithoutSubject(readTree(['test']))
  assert.ok(tests > 2_000, `only ${tests} tests were found`)
  assert.ok(found.length <= tests / 20, `${found.length} of ${tests} titles begin with a verb:\n${found.join('\n')}`)
})

source('a title that begins with a verb is detected, even with options or in a template', () => {
  const text = [
    "test('is skipped', () => {})",
    'test(`has that`, { timeoutMs: 1 }, async () => {})',
    "test('a target is skipped', () => {})",
  ]
  const { tests, found } = findTitlesWithoutSubject(new Map([['test/a.test.ts', text.join('\n')]]))
  assert.is(tests, 3)
  assert.equal(
    found.map((line) => line.slice(0, 20)),
    ['test/a.test.ts: is s', 'test/a.test.ts: has '],
  )
})

const readRules = () => getHeadings(readFileSync(join(root, 'src/rules.md'), 'utf8'))

source('comments cite only documents in the repository and rules in src/rules.md', () => {
  const files = readTree(['src', 'adapters', 'examples', 'test'])
  const documents = { exists: (path: string) => existsSync(join(root, path)), headings: readRules() }
  assert.equal(findBrokenCitations(files, documents), [])
})

source('comments cite every rule in src/rules.md', () => {
  assert.equal(findUncitedHeadings(readTree(['src', 'adapters', 'examples', 'test']), readRules()), [])
})

source('a comment of any kind that cites a missing document or rule is detected', () => {
  const documents = {
    exists: (path: string) => ['src/rules.md', 'src/a/notes.md'].includes(path),
    headings: getHeadings('# Rules\n\n## Client keys\n\n- Text\n\n## Listing: order\n'),
  }
  const findBroken = (text: string) => findBrokenCitations(new Map([['src/a/b.ts', text]]), documents)
  for (const text of [
    '/** Some keys (src/rules.md, Client keys). */',
    '/**\n * Some lists (src/rules.md, Listing:\n * order).\n */',
    '// As notes.md says, and https://example.com/guide.md too.\n',
    "const title = 'spec.md'",
  ])
    assert.equal(findBroken(text), [], text)
  const missing = 'docs/missing.md' // assembled, so this file doesn't contain the citation itself
  for (const text of [
    `/**\n * Some\n * (${missing}, 4). */`,
    `  // see ${missing}\n`,
    `const a = 1 // ${missing}`,
    `/* ${missing} */`,
  ])
    assert.match(findBroken(`\n${text}`).join(), /^src\/a\/b\.ts:2 cites docs\/missing\.md, which is not/, text)
  assert.equal(findBroken('/** Some (src/rules.md, Other keys). */'), [
    'src/a/b.ts:1 cites "Other keys). */", which is no heading of src/rules.md',
  ])
  assert.equal(findUncitedHeadings(new Map([['a.ts', '// (src/rules.md, Client keys)\n']]), documents.headings), [
    'Listing: order',
  ])
})

const rules = suite('the architecture rules')

/** Files that must be rejected: path, text, and part of the message. */
const rejected: Record<string, [path: string, text: string, says: RegExp]> = {
  'an import from a higher layer': [
    'src/records/a.ts',
    "import { run } from '../request/run.ts'",
    /layer 1 imports from layer 5/,
  ],
  'a type from a higher layer': [
    'src/lib/a.ts',
    "import type { Key } from '../records/keys.ts'",
    /layer 0 imports from layer 1/,
  ],
  'a re-export from a higher layer': [
    'src/request/routing/a.ts',
    "export { x } from '../door/x.ts'",
    /layer 3 imports from layer 6/,
  ],
  'a dynamic import': [
    'src/request/door/a.ts',
    "const x = await import('../../gateway.ts')",
    /layer 6 imports from layer 14/,
  ],
  'an inline type import': [
    'src/request/door/a.ts',
    "let x: import('../../gateway.ts').Gateway",
    /layer 6 imports from layer 14/,
  ],
  'an import with a hidden type': ['adapters/mount/a.ts', "await import('preact' as string)", /imports preact: only/],
  'a computed import': ['src/cli/a.ts', 'const x = await import(name)', /a computed path/],
  "an import from a folder that isn't a stage": [
    'src/request/limits/a.ts',
    "import type { X } from '../outcome.ts'",
    /limits\/ is not a stage/,
  ],
  'an import from a later stage in an earlier one': [
    'src/request/choose/a.ts',
    "import type { X } from '../reply/x.ts'",
    /a request comes to reply\/ after choose\//,
  ],
  'an import from a sibling on the same layer': [
    'src/protocols/formats/a.ts',
    "import { x } from '../providers/x.ts'",
    /siblings/,
  ],
  'a format that imports another format': [
    'src/protocols/formats/gemini/gemini-fields.ts',
    "import { x } from '../openai-chat/fields.ts'",
    /formats do not import each other/,
  ],
  'an import from the provider side in the client side of a format': [
    'src/protocols/formats/gemini/client/gemini-client-request.ts',
    "import { x } from '../provider/request.ts'",
    /client\/ and provider\/ of a format do not import each other/,
  ],
  'an import from the client side in the provider side of a format': [
    'src/protocols/formats/gemini/provider/gemini-provider-stream.ts',
    "import type { X } from '../client/stream.ts'",
    /client\/ and provider\/ of a format do not import each other/,
  ],
  'a feature imported in the request path': [
    'src/request/a.ts',
    "import { x } from '../features/limits/x.ts'",
    /layer 5 imports from layer 11/,
  ],
  'a helper imported by an error': ['src/errors.ts', "import { encodeUtf8 } from './lib/encoding.ts'", /siblings/],
  'an error imported by the types': ['src/types.ts', "import type { E } from './errors.ts'", /siblings/],
  'a new feature that imports another one': [
    'src/features/exact-cache/a.ts',
    "import { x } from '../limits/gate.ts'",
    /siblings/,
  ],
  "a folder that isn't in a layer": ['src/misc/a.ts', 'export const a = 1', /is in no layer/],
  'a client that imports server code': [
    'src/client/a.ts',
    "import { routes } from '../request/door/routes.ts'",
    /types and src\/lib\/ only/,
  ],
  'an adapter imported by the core': [
    'src/gateway.ts',
    "import { m } from '../adapters/storage/memory.ts'",
    /command line chooses/,
  ],
  'a test imported by the core': [
    'src/gateway.ts',
    "import { c } from '../test/support/clock.ts'",
    /no part of the library/,
  ],
  'the router outside src/request/door': [
    'src/request/a.ts',
    "import { Router } from 'itty-router'",
    /only src\/request\/door\/ does/,
  ],
  'boom outside src/errors.ts': [
    'src/request/door/a.ts',
    "import { boomify } from '@hapi/boom'",
    /only src\/errors.ts does/,
  ],
  'undici in the core': ['src/request/upstream/a.ts', "import { request } from 'undici'", /only adapters\/ does/],
  "a package that isn't a dependency": ['src/lib/a.ts', "import { debounce } from 'lodash'", /no dependency/],
  'a Node module in the core': ['src/lib/a.ts', "import { randomUUID } from 'node:crypto'", /imports node:crypto/],
  Buffer: ['src/lib/a.ts', "export const a = Buffer.from('a')", /uses Buffer/],
  process: ['src/gateway.ts', 'export const a = process.env.HOME', /uses process/],
  console: ['src/request/door/a.ts', "console.log('here')", /uses console/],
  'Date.now': ['src/records/a.ts', 'export const now = () => Date.now()', /uses Date\.now/],
  'a date that reads the clock': ['src/records/a.ts', 'export const now = new Date()', /uses new Date\(\)/],
  setTimeout: ['src/request/upstream/a.ts', 'setTimeout(() => {}, 1)', /uses setTimeout/],
  setInterval: ['src/request/upstream/a.ts', 'export const every = setInterval', /uses setInterval/],
  'Math.random': ['src/request/routing/a.ts', 'export const pick = () => Math.random()', /uses Math\.random/],
  'ambient fetch': ['src/request/upstream/a.ts', "export const call = () => fetch('/')", /uses fetch/],
  'an anonymous function assigned to a property': [
    'src/features/limits/a.ts',
    'log.rule = (call) => rule(call)',
    /give it a name first/,
  ],
  'ambient fetch through globalThis': ['src/request/upstream/a.ts', "globalThis.fetch('/')", /uses fetch/],
  'ambient fetch, bound': ['src/request/upstream/a.ts', 'export const call = fetch.bind(undefined)', /uses fetch/],
  'destructured ambient fetch': ['src/request/upstream/a.ts', 'export const { fetch } = globalThis', /uses globalThis/],
  'shorthand for ambient fetch': ['src/request/upstream/a.ts', 'export const platform = { fetch }', /uses fetch/],
  'ambient fetch when another scope declares fetch': [
    'src/request/upstream/a.ts',
    "export function a(fetch: () => void) { fetch() }\nexport const b = () => fetch('/')",
    /a\.ts:2 uses fetch/,
  ],
  'the type any': ['src/lib/a.ts', 'export const a = (b: any) => b', /uses the type any/],
  'a compiler-silencing comment': ['adapters/mount/a.ts', '// @ts-ignore\nexport const a = 1', /silences the compiler/],
  'a core file imported by an adapter': [
    'adapters/mount/bun.ts',
    "import { x } from '../../src/lib/bytes.ts'",
    /knows src\/index\.ts/,
  ],
  'the gateway imported by an adapter': [
    'adapters/mount/bun.ts',
    "import { createGateway } from '../../src/index.ts'",
    /types only/,
  ],
  'an adapter imported by another adapter': [
    'adapters/mount/bun.ts',
    "import { x } from './node.ts'",
    /do not import each other/,
  ],
  "another adapter's helper": [
    'adapters/storage/file.ts',
    "import { x } from '../mount/helper.ts'",
    /helper of other adapters/,
  ],
}

for (const [name, [path, text, message]] of Object.entries(rejected)) {
  rules(`the architecture rules reject ${name}`, () => {
    const found = check({ [path]: text })
    assert.is(found.length, 1, found.join('\n') || 'nothing was found')
    assert.match(found[0] ?? '', message)
  })
}

const allowed: Record<string, [path: string, text: string]> = {
  'imports from lower layers': [
    'src/request/door/a.ts',
    "import { x } from '../run.ts'\nimport { y } from '../../lib/y.ts'",
  ],
  'a new feature that no layer lists': [
    'src/features/exact-cache/a.ts',
    "import type { Feature } from '../../feature.ts'\nimport { b } from './b.ts'\nimport { x } from '../../request/steps.ts'",
  ],
  'files in the same module': ['src/records/a.ts', "import { x } from './b.ts'"],
  'both sides of a format and their shared code': [
    'src/protocols/formats/gemini/client/gemini-client-request.ts',
    "import { x } from '../fields.ts'\nimport { y } from '../../canonical/parts.ts'\nimport { z } from '../../errors/read.ts'",
  ],
  'errors that import types': ['src/errors.ts', "import type { A } from './types.ts'"],
  'helpers that import types and errors': [
    'src/lib/a.ts',
    "import type { A } from '../types.ts'\nimport { b } from '../errors.ts'",
  ],
  "the composition root's exports": ['src/index.ts', "export { createGateway } from './gateway.ts'"],
  'a CLI that imports Node modules and adapters': [
    'src/cli/main.ts',
    "import { argv } from 'node:process'\nimport { s } from '../../adapters/mount/node.ts'\nconsole.log(Date.now(), argv, s)",
  ],
  'the composition defaults': [
    'src/gateway.ts',
    'export const clock = { now: () => Date.now(), fetch, setTimeout, console }',
  ],
  'an injected fetch': [
    'src/request/upstream/a.ts',
    'export const call = ({ fetch, clock }: Given) => fetch(clock.now())',
  ],
  'a property with the name of a global': [
    'src/request/door/a.ts',
    'export const a = (gateway: Gateway) => gateway.fetch({ process: 1 })',
  ],
  'a type that names a global': ['src/types.ts', 'export interface Options { fetch?: typeof fetch; console: Console }'],
  'a date created from a number': ['src/records/a.ts', 'export const iso = (ms: number) => new Date(ms).toISOString()'],
  'the word "any" in comments and strings': ['src/lib/a.ts', "/** Any error, any value. */\nexport const any = 'any'"],
  'adapters that import errors, helpers, and types': [
    'adapters/mount/node.ts',
    "import { request } from 'undici'\nimport { gatewayError } from '../../src/errors.ts'\nimport type { Gateway } from '../../src/index.ts'\nimport { a } from '../lib/a.ts'\nimport type { B } from '../types/b.ts'\nimport { c } from './node-bridge.ts'",
  ],
  'a client that imports route types': ['src/client/a.ts', "import type { Routes } from '../request/door/routes.ts'"],
  'a client that imports shared helpers': ['src/client/a.ts', "import { hashOf } from '../lib/hash.ts'"],
}

for (const [name, [path, text]] of Object.entries(allowed)) {
  rules(`the architecture rules allow ${name}`, () => assert.equal(check({ [path]: text }), []))
}

rules('the architecture rules reject files of more than 400 lines, except generated data', () => {
  const getLines = (count: number) => 'export {}\n'.repeat(count)
  const files = {
    'src/lib/a.ts': getLines(400),
    'test/lib/b.ts': getLines(401),
    'src/protocols/providers/models.data.ts': getLines(900),
  }
  assert.equal(findLongFiles(new Map(Object.entries(files))), ['test/lib/b.ts has 401 lines, more than 400'])
})

rules('the architecture rules report the files that a format lacks', () => {
  const inFolder = (names: string[], prefix: string) =>
    names.map((name) => `src/protocols/formats/new-format/${prefix}${name}.ts`)
  const shared = inFolder(['errors', 'fields', 'format', 'translator', 'wire'], 'new-')
  const side = ['conversation', 'request', 'response', 'stream', 'tools']
  const provider = inFolder(side, 'provider/new-provider-')
  assert.equal(
    findMissingFormatFiles([...shared, ...provider, 'src/protocols/formats/canonical/canonical-parts.ts']),
    [],
  )
  assert.equal(findMissingFormatFiles([...shared, ...provider.slice(1)]), provider.slice(0, 1))
  assert.equal(
    findMissingFormatFiles([...shared, ...provider, ...inFolder(['models'], 'client/new-client-')]),
    inFolder(side, 'client/new-client-'),
  )
})

rules('the architecture rules detect import cycles between files, ignoring types', () => {
  const files = {
    'src/lib/a.ts': "import { b } from './b.ts'",
    'src/lib/b.ts': "import { c } from './c.ts'",
    'src/lib/c.ts': "export const load = () => import('./a.ts')",
    'src/lib/d.ts': "import { e } from './e.ts'",
    'src/lib/e.ts': "import type { D } from './d.ts'",
  }
  assert.equal(findImportCycles(new Map(Object.entries(files))), ['src/lib/a.ts src/lib/b.ts src/lib/c.ts'])
})

rules('the architecture rules detect import cycles between folders, including types', () => {
  const files = {
    'src/request/codec/a.ts': "import { b } from '../upstream/b.ts'",
    'src/request/upstream/b.ts': "import type { C } from '../codec/c.ts'",
    'src/request/codec/c.ts': "import type { A } from './a.ts'",
    'src/request/d.ts': "import { a } from '../codec/a.ts'",
  }
  assert.equal(findFolderCycles(new Map(Object.entries(files))), ['src/request/codec src/request/upstream'])
})

function check(files: Record<string, string>): string[] {
  return violations(new Map(Object.entries(files)), ['adapters/mount/node.ts', 'adapters/storage/file.ts'])
}

function readTree(folders: string[]): Map<string, string> {
  const files = new Map<string, string>()
  function read(folder: string): void {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.')) read(path)
      else if (entry.isFile() && /\.m?[jt]s$/.test(path)) files.set(path, readFileSync(join(root, path), 'utf8'))
    }
  }
  for (const folder of folders) read(folder)
  assert.ok(files.size > 0, 'the tree is empty')
  return files
}
