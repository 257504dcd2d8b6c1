import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { chromiumPath, launchWithProfile } from '../runtimes/browser/chromium.ts'
import { startProvider } from '../runtimes/browser/provider.ts'
import { startServer } from '../runtimes/browser/server.ts'
import { assert, skip, suite } from '../support/suite.ts'

if (!chromiumPath) skip('there is no Chromium: install it, or name it in SIGNALBOX_TEST_CHROMIUM')
const chromium = chromiumPath

const execute = promisify(execFile)
type BrowserContext = Awaited<ReturnType<typeof launchWithProfile>>
type Page = Awaited<ReturnType<BrowserContext['newPage']>>
const root = fileURLToPath(new URL('../..', import.meta.url))
const PROVIDER_KEY = 'sk-lab-4f1d9b7a35'

/** The example in a separate folder with the packed package, as in its README, and a browser with a persistent profile. */
const test = suite<{ folder: string; profile: string }>('the browser example', { folder: '', profile: '' })
let provider: Awaited<ReturnType<typeof startProvider>>
let server: Awaited<ReturnType<typeof startServer>> | undefined
let context: BrowserContext | undefined
let page: Page
let url = ''

test.before({ timeoutMs: 300_000 }, async (each) => {
  each.folder = await mkdtemp(join(tmpdir(), 'example-'))
  each.profile = await mkdtemp(join(tmpdir(), 'profile-'))
  await cp(join(root, 'examples/browser'), each.folder, { recursive: true })
  await execute('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', each.folder], { cwd: root })
  const tarball = (await readdir(each.folder)).find((name) => name.endsWith('.tgz')) ?? 'nothing was packed'
  const { devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const packages = [join(each.folder, tarball), `esbuild@${devDependencies.esbuild}`]
  await execute('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...packages], { cwd: each.folder })
  const bundle = ['esbuild', 'worker.mjs', '--bundle', '--minify', '--outfile=worker.js']
  await execute('npx', bundle, { cwd: each.folder })
  provider = await startProvider()
  server = await serve(each.folder)
  url = `http://localhost:${server.port}/`
  await openBrowser(each.profile)
})

test.after(async ({ folder, profile }) => {
  await context?.close()
  server?.close()
  provider?.close()
  for (const path of [folder, profile]) if (path) await rm(path, { recursive: true, force: true, maxRetries: 5 })
})

/** Serves the folder's files. */
function serve(folder: string) {
  const types: Record<string, string> = {
    '/': 'text/html',
    '/page.mjs': 'text/javascript',
    '/worker.js': 'text/javascript',
  }
  return startServer(async (req, res) => {
    const path = req.url ?? ''
    const type = types[path]
    if (!type) return void res.writeHead(404).end()
    res.setHeader('content-type', type).end(await readFile(join(folder, path === '/' ? 'index.html' : path)))
  })
}

async function openBrowser(profile: string): Promise<void> {
  context = await launchWithProfile(chromium, profile)
  page = await openTab()
}

async function openTab(): Promise<Page> {
  const tab = await (context as BrowserContext).newPage() // launched by an earlier test
  await tab.goto(url)
  await tab.getByText('Ready.').waitFor()
  return tab
}

/** Sends a prompt on a page. Resolves to the response once the status line has this text. */
async function send(tab: Page, status: string): Promise<string | null> {
  await tab.fill('[name=question]', 'Hi')
  await tab.click('[name=ask]')
  await tab.getByText(status).waitFor()
  return tab.textContent('output')
}

/** Returns the gateway's response to a request from the page. */
const call = (tab: Page, method: string, path: string, { body, key }: { body?: object; key?: string } = {}) =>
  tab.evaluate<{ status: number; text: string }>(
    `fetch('/ai${path}', ${JSON.stringify({
      method,
      headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
      ...(body && { body: JSON.stringify(body) }),
    })}).then(async (response) => ({ status: response.status, text: await response.text() }))`,
  )

const ANSWERED = 'Answered by openai-compatible-mine/'

test('the browser example streams a response to the page', async () => {
  await page.selectOption('[name=provider]', 'openai-compatible-mine')
  await page.fill('[name=baseUrl]', `${provider.url}/v1`)
  await page.fill('[name=apiKey]', PROVIDER_KEY)
  await page.fill('[name=model]', 'm')
  await page.fill('[name=question]', 'Hi')
  await page.click('[name=ask]')
  await page.getByText('Hel', { exact: true }).waitFor()
  await fetch(`${provider.url}/step`)
  await page.getByText('Hello', { exact: true }).waitFor()
  await fetch(`${provider.url}/step`)
  await page.getByText(`${ANSWERED}m.`).waitFor()
})

test('the browser example keeps its connection after a reload and in a second tab', async () => {
  await page.reload()
  await page.getByText('Ready.').waitFor()
  await chooseModel(page, 'at-once')
  assert.is(await send(page, `${ANSWERED}at-once.`), 'Hello')
  const second = await openTab()
  assert.is(await second.inputValue('[name=model]'), 'at-once')
  assert.is(await send(second, `${ANSWERED}at-once.`), 'Hello')
  await second.close()
})

async function chooseModel(tab: Page, model: string): Promise<void> {
  if (!(await tab.isVisible('[name=model]'))) await tab.click('summary')
  await tab.fill('[name=model]', model)
}

let key = ''
const request = { model: 'chat', messages: [{ role: 'user', content: 'Hi' }] }

test('after a browser restart, the browser example works offline and keeps its keys', async ({ folder, profile }) => {
  key = JSON.parse((await call(page, 'POST', '/api/keys', { body: { name: 'app' } })).text).key
  assert.is((await call(page, 'PATCH', '/api/settings', { body: { requireApiKey: true } })).status, 200)
  await context?.close()
  server?.close()
  const calls = provider.calls.length
  await openBrowser(profile)
  assert.match((await page.textContent('h1')) ?? '', /A gateway in a service worker/)
  assert.is((await call(page, 'GET', '/v1/models')).status, 401)
  const listed = await call(page, 'GET', '/v1/models', { key })
  assert.is(listed.status, 200)
  assert.match(listed.text, /"object":"list"/)
  assert.match((await call(page, 'GET', '/api/keys')).text, /"name":"app"/)
  assert.is(provider.calls.length, calls)
  assert.is(
    (await call(page, 'POST', '/v1/chat/completions', { key, body: request })).status,
    200,
    'the provider is reachable',
  )
  server = await serve(folder)
})

test('the browser example immediately rejects a key that another tab has paused', async () => {
  const second = await openTab()
  const { keys } = JSON.parse((await call(second, 'GET', '/api/keys')).text)
  const paused = await call(second, 'PATCH', `/api/keys/${keys[0].id}`, { body: { isActive: false } })
  assert.is(paused.status, 200, paused.text)
  assert.match(
    (await call(page, 'POST', '/v1/chat/completions', { key, body: request })).text,
    /paused|inactive|disabled/i,
  )
  await call(second, 'PATCH', `/api/keys/${keys[0].id}`, { body: { isActive: true } })
  assert.is((await call(page, 'POST', '/v1/chat/completions', { key, body: request })).status, 200)
  await second.close()
})

test('the browser example rejects changes with a 503 when storage is full, and keeps working', async () => {
  const session = await (context as BrowserContext).newCDPSession(page)
  const { origin } = new URL(url)
  await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1_000 })
  const create = () => call(page, 'POST', '/api/keys', { body: { name: 'more' } })
  let response = await create()
  const end = performance.now() + 30_000 // the browser caches its free quota for a few seconds
  while (response.status === 201 && performance.now() < end) response = await create()
  assert.is(response.status, 503, response.text)
  assert.match(JSON.parse(response.text).error, /cannot write its storage/)
  assert.is((await call(page, 'POST', '/v1/chat/completions', { key, body: request })).status, 200)
  await session.send('Storage.overrideQuotaForOrigin', { origin })
  await session.detach()
  assert.is((await create()).status, 201)
})

test('the browser example stores no provider or client key unencrypted', async ({ profile }) => {
  await context?.close()
  context = undefined
  const database = join(profile, 'Default', 'IndexedDB')
  const files = await readdir(database, { recursive: true, withFileTypes: true })
  const texts = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), 'latin1')),
  )
  const full = texts.join('\n').replaceAll('\0', '')
  assert.match(full, /openai-compatible-mine/, 'stored data is visible')
  assert.not.ok(full.includes(PROVIDER_KEY))
  assert.not.ok(full.includes(key))
})
