import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { entries } from '../../tsup.config.ts'
import { isOfSite, readPages, SITE } from '../docs/pages.ts'
import { assert, suite } from '../support/suite.ts'
import { QUESTIONS } from './questions.ts'

const docs = fileURLToPath(new URL('../../docs', import.meta.url))
const BASE = '/signalbox/'
const pages = readPages().filter(isOfSite)

const test = suite('the built documentation site', { out: '', log: '' })

test.before(async (context) => {
  context.out = await mkdtemp(join(tmpdir(), 'signalbox-site-'))
  const astro = join(docs, 'node_modules/astro/bin/astro.mjs')
  const env = { ...process.env, ASTRO_TELEMETRY_DISABLED: '1', NO_COLOR: '1' }
  const run = (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: docs, env })
  await run('prepare.ts')
  const { stdout, stderr } = await run(astro, 'build', '--force', '--outDir', context.out)
  context.log = stdout + stderr
})

test.after(({ out }) => rm(out, { recursive: true, force: true }))

test('the site builds without logging errors', ({ log }) => {
  assert.not.match(log, /\[ERROR\]/)
})

test('the site has every page as HTML and as Markdown', ({ out }) => {
  for (const { path } of pages) {
    const name = path.slice(SITE.length)
    const html = name.replace(/(?<=^|\/)index\.md$/, 'index.html').replace(/\.md$/, '/index.html')
    for (const file of [html, name]) assert.ok(existsSync(join(out, file)), file)
  }
})

test('every link within the site leads to a page, and every anchor to an element', ({ out }) => {
  const files = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'))
  const html = new Map(
    files.map((name) => [`${BASE}${name}`.replace(/index\.html$/, ''), readFileSync(join(out, name), 'utf8')]),
  )
  const ids = new Map(
    [...html].map(([url, text]) => [url, new Set(Array.from(text.matchAll(/ id="([^"]+)"/g), ([, id]) => id))]),
  )
  let count = 0
  const broken = [...html].flatMap(([from, text]) =>
    Array.from(text.matchAll(/ (?:href|src)="([^"]+)"/g), ([, link = '']) => link)
      .filter((link) => !/^(?:https?:|mailto:|data:)/.test(link))
      .filter((link) => {
        count++
        const { pathname, hash } = new URL(link.replaceAll('&amp;', '&'), `http://site${from}`)
        if (!pathname.startsWith(BASE)) return true
        const target = ids.get(pathname)
        if (target === undefined) return pathname.endsWith('/') || !existsSync(join(out, pathname.slice(BASE.length)))
        return hash !== '' && !target.has(decodeURIComponent(hash.slice(1)))
      })
      .map((link) => `${from} -> ${link}`),
  )
  assert.ok(count > 500, `only ${count} links were found`)
  assert.equal(broken, [])
})

test('the search returns the page that answers a question among the first three results', async ({ out }) => {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://site')
    readFile(join(out, pathname.slice(BASE.length))).then(
      (bytes) => response.end(bytes),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const { options, search }: Pagefind = await import(pathToFileURL(join(out, 'pagefind/pagefind.js')).href)
  await options({ basePath: `http://127.0.0.1:${address.port}${BASE}pagefind/`, baseUrl: BASE })
  const missed = []
  for (const [request, page] of QUESTIONS) {
    const { results } = await search(request)
    const urls = await Promise.all(results.slice(0, 3).map(async (result) => (await result.data()).url))
    if (!urls.includes(`${BASE}${page}/`)) missed.push(`${request}: ${urls.join(', ') || 'nothing'}`)
  }
  server.close()
  assert.equal(missed, [])
})

/** The parts of Pagefind's API that the site's search box uses. */
interface Pagefind {
  options(options: { basePath: string; baseUrl: string }): Promise<void>
  search(query: string): Promise<{ results: { data(): Promise<{ url: string }> }[] }>
}

test('the site references have a page for every operation and every entry point', ({ out }) => {
  const { paths } = JSON.parse(readFileSync(join(docs, '.generated/openapi.json'), 'utf8'))
  const ids = Object.values<Record<string, { operationId: string }>>(paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  )
  assert.ok(ids.length > 100, `only ${ids.length} operations were found`)
  const slugs = new Set(readdirSync(join(out, 'reference/api/operations')))
  assert.equal(
    ids.filter((id) => !slugs.has(id.toLowerCase().replace(/[^\w-]/g, ''))),
    [],
  )
  // If a page name differs from a type's name only by case, TypeDoc adds a number to it.
  for (const name of Object.keys(entries).filter((entry) => entry !== 'index' && entry !== 'cli'))
    assert.ok(
      [name, `${name}-1`].some((slug) => existsSync(join(out, 'typescript/signalbox', slug, 'index.html'))),
      name,
    )
})

test('llms.txt links to the Markdown of every page, and llms-full.txt contains their text', async ({ out }) => {
  const list = await readFile(join(out, 'llms.txt'), 'utf8')
  const listed = Array.from(
    list.matchAll(/^- \[[^\]]+\]\(https:\/\/[^/]+\/signalbox\/([^)]+)\): \S/gm),
    ([, name]) => name,
  )
  const names = pages.map(({ path }) => path.slice(SITE.length)).filter((name) => name !== 'index.md')
  assert.equal(listed.toSorted(), names.toSorted())
  const full = await readFile(join(out, 'llms-full.txt'), 'utf8')
  for (const { frontmatter } of pages) assert.ok(full.includes(`# ${frontmatter.title}\n`), String(frontmatter.title))
})
