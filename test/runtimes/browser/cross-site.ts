import { readFile } from 'node:fs/promises'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { assert, type Suite } from '../../support/suite.ts'
import { type Server, startChild } from '../child.ts'
import { getClient } from '../client.ts'
import { startProvider } from './provider.ts'
import { startServer } from './server.ts'

type Received = [attempt: string, text: string][]

const messages = [{ role: 'user', content: 'Hi' }]
const managed = ['/api/keys', '/api/connections', '/api/settings']
const changes = [
  ['POST', '/api/keys', { name: 'evil' }],
  ['POST', '/api/connections', { provider: 'openai', apiKey: 'sk-evil', name: 'evil' }],
  ['PATCH', '/api/settings', { cloudUrl: 'http://evil.test' }],
  ['DELETE', '/api/models/aliases/ours', {}],
]
const spending = [
  ['POST', '/v1/chat/completions', { model: 'up/m', messages }],
  ['POST', '/v1/messages', { model: 'up/m', max_tokens: 9, messages }],
]

/** Tests what pages on other origins can do with a local gateway that is open to everyone. */
export function guardHolds(test: Suite<{ browser?: Browser }>): void {
  let server: Server
  let provider: Awaited<ReturnType<typeof startProvider>>
  let other: Awaited<ReturnType<typeof startServer>>
  let context: BrowserContext
  let page: Page
  let script = ''
  /** What each document could read, and the state before the attempts. */
  const seen = new Map<string, Received>()
  let before = ''

  const site = (host: string) => `http://${host}:${other.port}/`
  const gateway = (host: string) => `http://${host}:${new URL(server.url).port}`
  /** Documents on origins other than the gateway's (localhost), and their URLs. */
  const foreign: [name: string, address: () => string][] = [
    ['another site', () => site('evil.test')],
    ['another hostname of this machine', () => site('127.0.0.1')],
    ['another port on the same host', () => site('localhost')],
    ['an opaque origin', () => `${site('evil.test')}sandboxed`],
  ]

  test.before({ timeoutMs: 300_000 }, async ({ browser }) => {
    script = await readFile(new URL('../apps/browser-attack.js', import.meta.url), 'utf8')
    other = await startServer((_, res) => void res.setHeader('content-type', 'text/html').end('<title>A page</title>'))
    ;[server, provider] = await Promise.all([
      startChild(process.execPath, ['apps/node-open.mjs', site('app.test').slice(0, -1)]),
      startProvider(),
    ])
    context = await (browser as Browser).newContext() // launched by `before`
    page = await context.newPage()
    await Promise.all([prepare(), page.goto(site('evil.test'))])
    before = await state()
    const all = [...changes, ...spending]
    await Promise.all([
      ...foreign.map(([name, address]) => attack(name, address(), { url: gateway('localhost'), changes: all })),
      // After DNS rebinding, a page still uses its own hostname, which the gateway sees in the Host header.
      attack('known name', `${gateway('evil.test')}/v1/models`, { changes }),
      attack('unknown name', `${gateway('other.test')}/v1/models`, { changes: all }),
    ])
  })
  test.after(async () => {
    await context?.close()
    await server?.stop()
    provider?.close()
    other?.close()
  })

  async function prepare() {
    const { connect, manage } = getClient(server.url)
    await connect(`${provider.url}/v1`)
    assert.is((await manage('/keys', { name: 'ours' })).status, 201)
    const body = JSON.stringify({ alias: 'ours', model: 'up/m' })
    const headers = { 'content-type': 'application/json' }
    const { status } = await fetch(`${server.url}/api/models/aliases`, { method: 'PUT', headers, body })
    assert.is(status, 200)
  }

  /** Returns all data that an attack could have changed. */
  async function state(): Promise<string> {
    const paths = [...managed, '/api/models/aliases']
    return (await Promise.all(paths.map(async (path) => (await fetch(server.url + path)).text()))).join('\n')
  }

  /** Opens a document in a separate frame, with an opaque origin if its URL ends in `sandboxed`, and runs every attempt in it. */
  async function attack(name: string, address: string, { url = '', changes }: { url?: string; changes: unknown[] }) {
    const sandbox = address.endsWith('sandboxed') ? "frame.sandbox = 'allow-scripts allow-forms'" : ''
    const navigated = page.waitForEvent('framenavigated', (item) => item.name() === name && item.url() === address)
    await page.evaluate(`new Promise((resolve) => {
      const frame = Object.assign(document.createElement('iframe'), { name: '${name}', onload: resolve })
      ${sandbox}
      frame.src = '${address}'
      document.body.append(frame)
    })`)
    const frame = await navigated // a cross-process frame may be reported later
    seen.set(name, await frame.evaluate<Received>(`${script}\nattack(...${JSON.stringify([url, managed, changes])})`))
  }

  for (const [name] of foreign) test(`a page on ${name} can't read anything`, () => assert.equal(seen.get(name), []))

  for (const [name, message, source] of [
    ['known name', /browsers can only use the management API on this machine/, 'accepts its hostname'],
    ['unknown name', /does not accept requests for the host/, "doesn't accept its hostname"],
  ] as const)
    test(`a server that ${source} rejects a DNS rebinding page`, () => {
      const refusals = seen.get(name) ?? []
      for (const [attempt, text] of refusals) assert.match(text, message, attempt)
      assert.ok(refusals.length > 15)
    })

  test('no page on another origin changes anything or calls a provider', async () => {
    assert.is(await state(), before)
    assert.equal(provider.calls, [])
  })

  test("a page on another site can list the models, and can read a rejected request's status", async () => {
    const list = (...calls: object[]) =>
      page.evaluate<{ status: number; text: string }[]>(
        `Promise.all(${JSON.stringify(calls)}.map((headers) => fetch('${gateway('localhost')}/v1/models', { headers })
          .then(async (response) => ({ status: response.status, text: await response.text() }))))`,
      )
    const requireKeys = async (requireApiKey: boolean) => {
      const headers = { 'content-type': 'application/json' }
      await fetch(`${server.url}/api/settings`, { method: 'PATCH', headers, body: JSON.stringify({ requireApiKey }) })
    }
    const [plain, preflighted] = await list({}, { 'x-api-key': 'none' })
    assert.match(plain?.text ?? '', /"up\/m"/)
    assert.is(preflighted?.status, 200)
    await requireKeys(true)
    assert.is((await list({ 'x-api-key': 'none' }))[0]?.status, 401)
    await requireKeys(false)
  })

  test("a page on an allowed origin can call models, but can't manage the gateway", async () => {
    const app = await context.newPage()
    await app.goto(site('app.test'))
    const send = (path: string, body: object) =>
      app.evaluate<string[]>(
        `fetch('${gateway('localhost')}${path}', {
          method: 'POST',
          headers: { authorization: 'Bearer none', 'content-type': 'application/json' },
          body: JSON.stringify(${JSON.stringify(body)}),
        }).then(async (response) => [response.headers.get('x-signalbox-target'), await response.text()], (error) => [error.name])`,
      )
    const [target, text] = await send('/v1/chat/completions', { model: 'up/at-once', stream: true, messages })
    assert.is(target, 'openai-compatible-up/at-once')
    assert.match(text ?? '', /Hel[\s\S]*DONE/)
    assert.match((await send('/v1/messages', { model: 'nobody/knows' })).join(), /nobody\/knows/)
    assert.equal(await send('/api/keys', { name: 'app' }), ['TypeError'])
    await app.close()
  })

  test("a page on the gateway's own origin can read records, change them, and call a provider", async () => {
    await attack('own', `${gateway('localhost')}/v1/models`, { changes: [...changes, ...spending] })
    const read = JSON.stringify(seen.get('own'))
    assert.match(read, /sbx_/)
    assert.match(read, /text\/plain form: POST \/api\/keys.*Send JSON/, 'forms reach the gateway')
    assert.is.not(await state(), before)
    assert.ok(provider.calls.length > 0)
  })
}
