import { readFileSync } from 'node:fs'
import { listCommands } from '../src/cli/commands/commands.ts'
import { operations } from '../src/management/operations.ts'
import { modelAdditions, unknownAdditions } from '../src/pricing/additions.ts'
import { endpoints } from '../src/protocols/kinds/kinds.ts'
import { rerankVendors } from '../src/protocols/kinds/rerank/rerank-adapters.ts'
import { defaultCatalog } from '../src/protocols/providers/catalog.ts'
import { guardKinds } from '../src/types/records/guard-fields.ts'
import { providerFormats, strategies } from '../src/types/unions.ts'
import { readPages } from './docs/pages.ts'
import { getPrefixes } from './providers/page.ts'
import { assert, suite } from './support/suite.ts'

const test = suite('names that users write')

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')

/** Returns the names at the start of each table row in a file. A cell may contain several names. */
function getRows(file: string): string[] {
  const cells = [...read(file).matchAll(/^\| ((?:`[\w-]+`(?:, )?)+) +\|/gm)]
  return cells.flatMap(([, names = '']) => [...names.matchAll(/[\w-]+/g)].map(([name]) => name))
}

/** Returns the members of an interface in a source file. */
function getMembers(file: string, name: string): string[] {
  const [, body = ''] = new RegExp(`^export interface ${name}\\b[^{]*\\{\n([\\s\\S]*?)^\\}`, 'm').exec(read(file)) ?? []
  return [...body.matchAll(/^ {2}(\w+)\??:/gm)].map(([, member = '']) => member)
}

const findMissing = (names: readonly string[], rows: readonly string[]) => names.filter((name) => !rows.includes(name))

test('each strategy has a row in docs/src/content/docs/reference/combos-and-strategies.md', () => {
  assert.equal(findMissing(strategies, getRows('docs/src/content/docs/reference/combos-and-strategies.md')), [])
})

test('each format has a row in docs/src/content/docs/reference/formats.md', () => {
  assert.equal(findMissing(providerFormats, getRows('docs/src/content/docs/reference/formats.md')), [])
})

test('each kind of guard has a row in docs/src/content/docs/reference/guards.md', () => {
  assert.equal(findMissing(Object.keys(guardKinds), getRows('docs/src/content/docs/reference/guards.md')), [])
})

test('docs/src/content/docs/guides/rerank.md mentions each rerank vendor', () => {
  const words = read('docs/src/content/docs/guides/rerank.md')
    .toLowerCase()
    .split(/[^\w-]+/)
  assert.equal(
    findMissing(
      rerankVendors.map(({ name }) => name),
      words,
    ),
    [],
  )
})

test('the options page has exactly one row for each option, limit, and hook', () => {
  const rows = getRows('docs/src/content/docs/reference/options.md')
  const options = [
    ...getMembers('src/options.ts', 'GatewayOptions'),
    ...getMembers('src/config/route-option.ts', 'RouteOptions'),
  ]
  const limits = [...getMembers('src/options.ts', 'Limits'), ...getMembers('src/request/context.ts', 'PipelineLimits')]
  const accounts = getMembers('src/features/accounts/accounts.ts', 'AccountOptions')
  assert.ok(options.length >= 20 && limits.length > 10, `${options} ${limits}`)
  assert.equal(findMissing([...options, ...limits, ...accounts], rows), [])
  const others = [
    'onRequest',
    'onAttempt',
    'onUsage',
    'onError',
    'complete',
    'cut',
    'aborted',
    'failed',
    'refused',
    'api',
    'end',
  ]
  assert.equal(findMissing(rows, [...options, ...limits, ...accounts, ...others]), [])
})

test('docs/src/content/docs/reference/providers.md lists the prefixes of each catalog provider', () => {
  const named = [...read('docs/src/content/docs/reference/providers.md').matchAll(/^\| (`[^|]+`) +\|/gm)].map(
    ([, cell = '']) => cell,
  )
  const prefixes = named.flatMap((cell) => [...cell.matchAll(/`([\w-]+)\/`/g)].map(([, prefix = '']) => prefix))
  const all = Object.entries(defaultCatalog).flatMap(([id, definition]) => getPrefixes(id, definition))
  assert.equal(findMissing(all, prefixes), [])
})

test("the page on other frameworks lists the gateway's paths outside /v1, /v1beta, and /api", () => {
  const page = read('docs/src/content/docs/start/other-frameworks.md')
  const outside = endpoints.map(({ path }) => path).filter((path) => !/^\/(?:v1|v1beta|api|v[34]\/ai)\//.test(path))
  assert.ok(outside.length > 0)
  for (const path of [...outside, '/health', '/v3/ai/*', '/v4/ai/*', '/admin', '/metrics'])
    assert.match(page, `\`${path}\``)
})

test('every management API call in the documentation exists', () => {
  const known = getCalls(operations)
    .flatMap((call) => [call, call.replace(/\/:\w+\?$/, '')]) // the ID is optional
    .map((call) => call.replace(/:\w+[+?]?/g, '*'))
  const others = ['GET /api/live', 'GET /api/openapi.json', 'POST /api/try', 'GET /api/usage/live']
  const calls = readPages().flatMap(({ path: page, text }) =>
    [...text.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/api\/[\w/{}.-]*[\w}])/g)].map(([, method = '', path = '']) => ({
      page,
      call: `${method} ${path.replace(/\{[^}]+\}/g, '*')}`,
    })),
  )
  assert.ok(calls.length > 30 && known.length > 30, `${calls.length} ${known.length}`)
  assert.equal(
    calls
      .filter(({ call }) => ![...known, ...others].some((value) => matches(value, call)))
      .map(({ page, call }) => `${page}: ${call}`),
    [],
  )
})

/** Returns whether two calls are the same, if either may have a value in place of an ID. */
const matches = (known: string, call: string) => {
  const [first, second] = [known.split('/'), call.split('/')]
  return first.length === second.length && first.every((part, index) => part === second[index] || part === '*')
}

function getCalls(rows: object): string[] {
  return Object.values(rows).flatMap((row: unknown) => {
    if (typeof row !== 'object' || row === null) return []
    return 'path' in row && 'method' in row ? [`${row.method} ${row.path}`] : getCalls(row)
  })
}

test('the CLI page mentions every command', () => {
  const page = read('docs/src/content/docs/reference/cli.md')
  assert.equal(
    Object.keys(listCommands()).filter((name) => !new RegExp(`\`(?:npx signalbox )?${name}\\b`).test(page)),
    [],
  )
})

test('the token estimates page lists the overhead of every model family', () => {
  const rows = [
    ...read('docs/src/content/docs/reference/token-estimates.md').matchAll(
      /^ +\| (?!Models|-)[\w .-]+?[^|]*\| ([\d,]+) +\|/gm,
    ),
  ]
  const named = rows.map(([, tokens = '']) => Number(tokens.replaceAll(',', '')))
  const all = [...modelAdditions, unknownAdditions].map(({ base }) => base)
  assert.equal([...new Set(named)].sort(), [...new Set(all)].sort())
})
