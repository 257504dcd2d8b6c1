import type { Browser, BrowserContext, Page } from 'playwright-core'
import { toNodeHandler } from '../../../adapters/mount/node/handler.ts'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { createGateway } from '../../../src/gateway.ts'
import { assert, type Suite } from '../../support/suite.ts'
import { startServer } from './server.ts'

const response = {
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}

interface Outcome {
  name: string
  status: number
  text: string
  cacheControl?: string | null
}

/** Tests what pages on an app's site and on other sites can do with a signed-in user's cookie. */
export function addUserSiteTests(test: Suite<{ browser?: Browser }>): void {
  let server: Awaited<ReturnType<typeof startServer>>
  let context: BrowserContext
  let page: Page
  let calls = 0
  /** The cookies that `identify` has seen, and the statuses of the gateway's responses. */
  const requests: Array<string | null> = []
  const replied: number[] = []

  const site = (host: string) => `http://${host}.test:${server.port}`

  test.before({ timeoutMs: 300_000 }, async ({ browser }) => {
    let handle: ReturnType<typeof toNodeHandler> | undefined
    server = await startServer((req, res) => {
      const url = req.url ?? ''
      if (url.startsWith('/v1')) {
        res.on('close', () => replied.push(res.statusCode))
        return void handle?.(req, res)
      }
      if (url === '/sign-in') res.setHeader('set-cookie', 's=alice; Path=/; HttpOnly; Domain=app.test; SameSite=Lax')
      res.setHeader('content-type', 'text/html').end('<title>A page</title>')
    })
    const gateway = createGateway({
      storage: memoryStorage(),
      logger: false,
      catalog: { one: { baseUrl: 'http://one.test' } },
      allowedOrigins: [site('partner.app'), { origin: site('admin.app'), credentials: true }],
      identify({ headers }) {
        const cookie = headers.get('cookie')
        requests.push(cookie)
        return cookie?.includes('s=alice') ? { account: 'alice' } : null
      },
      async fetch() {
        calls++
        return Response.json(response)
      },
    })
    await gateway.api.connections.create({ provider: 'one', apiKey: 'secret-of-one' })
    handle = toNodeHandler(gateway)
    context = await (browser as Browser).newContext() // launched by `before`
    page = await context.newPage()
  })
  test.after(async () => {
    await context?.close()
    server?.close()
  })

  async function signIn(): Promise<void> {
    await page.goto(`${site('app')}/sign-in`)
    calls = 0
    requests.length = 0
    replied.length = 0
  }

  /** A script that tries everything a page can send to the gateway, and returns the outcomes. */
  const getAttempts = (origin: string) => `(async () => {
    const form = () => {
      const data = new FormData()
      data.set('model', 'one/m')
      data.set('file', new Blob(['sound'], { type: 'audio/wav' }), 'a.wav')
      return data
    }
    const body = JSON.stringify({ model: 'one/m', messages: [] })
    const credentials = 'include'
    const tries = {
      json: ['/v1/chat/completions', { method: 'POST', credentials, headers: { 'content-type': 'application/json' }, body }],
      'plain text': ['/v1/chat/completions', { method: 'POST', credentials, body }],
      'no-cors': ['/v1/chat/completions', { method: 'POST', credentials, mode: 'no-cors', body }],
      form: ['/v1/audio/transcriptions', { method: 'POST', credentials, mode: 'no-cors', body: form() }],
      account: ['/v1/account', { credentials }],
    }
    const outcomes = []
    for (const [name, [path, init]] of Object.entries(tries)) {
      try {
        const response = await fetch('${origin}' + path, init)
        const cacheControl = response.headers.get('cache-control')
        outcomes.push({ name, status: response.status, text: await response.text(), cacheControl })
      } catch (error) {
        outcomes.push({ name, status: -1, text: String(error) })
      }
    }
    return outcomes
  })()`

  async function tryAll(host: string): Promise<Map<string, Outcome>> {
    await signIn()
    await page.goto(`${site(host)}/`)
    const outcomes = await page.evaluate<Outcome[]>(getAttempts(site('app')))
    return new Map(outcomes.map((outcome) => [outcome.name, outcome]))
  }

  test("requests from the app's own page include its cookie, and their responses aren't cacheable", async () => {
    const outcomes = await tryAll('app')
    assert.is(outcomes.get('json')?.status, 200)
    assert.is(outcomes.get('account')?.status, 200)
    assert.match(outcomes.get('account')?.cacheControl ?? '', /private, no-store/)
    assert.ok(calls > 0)
    assert.not.ok(replied.includes(403), `${replied}`)
  })

  for (const [name, host] of [
    ['another site', 'evil'],
    ['a subdomain of the app, whose requests include the cookie', 'blog.app'],
  ] as const)
    test(`a page on ${name} changes nothing and reads nothing`, async () => {
      const outcomes = await tryAll(host)
      for (const read of ['json', 'plain text', 'account']) assert.is(outcomes.get(read)?.status, -1, read)
      for (const blind of ['no-cors', 'form']) assert.is(outcomes.get(blind)?.status, 0, blind) // opaque responses
      assert.is(calls, 0)
      assert.is(replied.filter((status) => status === 403).length, 3, `${replied}`) // except the JSON request, whose preflight fails
      const { length } = requests
      assert.ok(length <= 1, `${requests}`) // only the account request, and the page can't read its response
    })

  test('a frame with an opaque origin changes nothing and reads nothing', async () => {
    await signIn()
    await page.goto(`${site('evil')}/`)
    const framed = page.waitForEvent('frameattached')
    await page.evaluate(`document.body.append(Object.assign(document.createElement('iframe'), {
      sandbox: 'allow-scripts', src: '${site('evil')}/frame' }))`)
    const frame = await framed
    await frame.waitForLoadState()
    const outcomes = await frame.evaluate<Outcome[]>(getAttempts(site('app')))
    assert.ok(outcomes.every(({ status }) => status <= 0))
    assert.is(calls, 0)
  })

  test('a page on an allowed origin is never identified by the cookie', async () => {
    const outcomes = await tryAll('partner.app')
    assert.is(outcomes.get('json')?.status, -1) // the request had credentials, which the response doesn't allow
    assert.is(calls, 0)
    assert.ok(
      requests.every((cookie) => cookie === null),
      `${requests}`,
    )
  })

  test('a page on an origin allowed with credentials is identified by the cookie', async () => {
    const outcomes = await tryAll('admin.app')
    assert.is(outcomes.get('json')?.status, 200)
    assert.is(outcomes.get('account')?.status, 200)
    assert.is(calls > 0, true)
  })
}
