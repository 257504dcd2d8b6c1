import type { Browser, BrowserContext, Page } from 'playwright-core'
import { assert, type Suite } from '../../support/suite.ts'
import { linkPackage } from '../package-link.ts'
import { startProvider } from './provider.ts'
import { startSite } from './site.ts'

interface Reply {
  status: number
  text: string
  target: string | null
}

interface Streamed {
  pieces: string[]
  error?: { name: string; status?: number; message: string }
}

/** Tests a page with the gateway in its service worker, and a provider on another origin with real CORS. */
export function addWorkerRequestTests(test: Suite<{ browser?: Browser }>): void {
  let site: Awaited<ReturnType<typeof startSite>>
  let provider: Awaited<ReturnType<typeof startProvider>>
  let context: BrowserContext
  let page: Page
  /** Runs an action on the page (`apps/browser-page.mjs`). */
  const act = <T>(name: string, ...args: unknown[]): Promise<T> =>
    page.evaluate(`actions.${name}(...${JSON.stringify(args)})`)
  const call = (path: string, init: object = {}) => act<Reply>('call', path, init)

  test.before({ timeoutMs: 300_000 }, async ({ browser }) => {
    await linkPackage()
    ;[site, provider] = await Promise.all([startSite(), startProvider()])
    context = await (browser as Browser).newContext() // launched by `before`
    page = await context.newPage()
    await page.goto(site.url)
    await act('register')
    await connect()
  })
  test.after(async () => {
    await context?.close()
    provider?.close()
    site?.close()
  })

  async function connect() {
    const accounts = [
      { provider: 'openai-compatible-lab', prefix: 'lab', baseUrl: `${provider.url}/v1` },
      { provider: 'anthropic-compatible-lab', prefix: 'talk', baseUrl: `${provider.url}/v1` },
    ]
    for (const { provider, ...rest } of accounts) {
      const providerSpecificData = { ...rest, enabledModels: ['m'] }
      const body = { provider, apiKey: 'sk-lab', providerSpecificData }
      const { status, text } = await call('/ai/api/connections', { method: 'POST', body })
      assert.is(status, 201, text)
    }
  }

  test("a page can list its service worker gateway's models", async () => {
    const { status, text } = await call('/ai/v1/models')
    assert.is(status, 200)
    assert.equal(
      JSON.parse(text).data.map(({ id }: { id: string }) => id),
      ['lab/m', 'talk/m'],
    )
  })

  for (const model of ['lab/m', 'talk/m']) {
    for (const client of ['openai', 'anthropic']) {
      test(`a page can call ${model} (${client} client)`, async () => {
        assert.is(await act(client, model), 'Hello')
      })

      test(`a page receives each chunk from ${model} before the next one is sent (${client} client)`, async () => {
        const streamed = await act<Streamed>(`${client}Stream`, model, `${provider.url}/step`)
        assert.equal(streamed, { pieces: ['Hel', 'lo'] })
      })
    }
  }

  test('the provider call ends when a page cancels its stream', async () => {
    const left = provider.nextLeft()
    await act('leave', 'lab/forever')
    await left
  })

  test('the provider call ends when the page is closed', async () => {
    const left = provider.nextLeft()
    const other = await context.newPage()
    await other.goto(`${site.url}/blank`)
    const body = JSON.stringify({ model: 'lab/forever', stream: true, messages: [{ role: 'user', content: 'Hi' }] })
    const init = JSON.stringify({ method: 'POST', headers: { 'content-type': 'application/json' }, body })
    await other.evaluate(`fetch('/ai/v1/chat/completions', ${init}).then(({ body }) => body.getReader().read())`)
    await other.close()
    await left
  })

  for (const model of ['lab/cut', 'talk/cut']) {
    for (const client of ['openai', 'anthropic']) {
      test(`a stream from ${model} that breaks off throws after delivering its content so far (${client} client)`, async () => {
        const { pieces, error } = await act<Streamed>(`${client}Stream`, model, `${provider.url}/step`)
        assert.equal(pieces, ['Hel'])
        assert.match(error?.message ?? 'a clean end', /closed the response early/)
      })
    }
  }

  test("a provider's redirect is rejected with a 502, even though the browser hides its target", async () => {
    const { status, text } = await send('lab/moved')
    assert.is(status, 502)
    assert.match(text, /redirect/)
  })

  test("requests for paths outside the gateway's go to the network", async () => {
    assert.is((await call('/v1/models')).text, 'GET /v1/models reached the network')
    assert.is((await call('/ai/page')).text, 'GET /ai/page reached the network')
  })

  test('a form submitted by another site goes to the network', async () => {
    const form = `document.body.innerHTML = '<form method="post" enctype="text/plain" action="${site.url}/ai/v1/chat/completions"></form>'
      document.forms[0].submit()`
    const calls = provider.calls.length
    const other = await context.newPage()
    await other.goto(site.url.replace('localhost', '127.0.0.1'))
    await Promise.all([other.waitForURL('**/ai/v1/**'), other.evaluate(form)])
    assert.is(await other.textContent('body'), 'POST /ai/v1/chat/completions reached the network')
    assert.is(provider.calls.length, calls)
    await other.close()
  })

  test('a page needs an API key once `requireApiKey` is on', async () => {
    const create = await call('/ai/api/keys', { method: 'POST', body: { name: 'page' } })
    const { key } = JSON.parse(create.text)
    await call('/ai/api/settings', { method: 'PATCH', body: { requireApiKey: true } })
    const rejected = await send('lab/m')
    assert.is(rejected.status, 401)
    assert.match(rejected.text, /API key/)
    assert.is((await send('lab/m', { authorization: `Bearer ${key}` })).status, 200)
    await call('/ai/api/settings', { method: 'PATCH', body: { requireApiKey: false } })
  })

  test('a service worker restarts with its stored data after the browser has stopped it', async () => {
    const getIds = async () => {
      const { connections } = JSON.parse((await call('/ai/api/connections')).text)
      return connections.map(({ id }: { id: string }) => id)
    }
    const before = await getIds()
    await stopWorkers()
    assert.equal(await getIds(), before)
    assert.is(before.length, 2)
    assert.is((await send('lab/m')).status, 200)
  })

  test('the example page chats with a model, even after its worker was stopped, and shows errors', async () => {
    const example = await context.newPage()
    await example.goto(`${site.url}/example.html`)
    await example.selectOption('[name=provider]', { label: 'Another one that speaks as OpenAI does' })
    await example.fill('[name=baseUrl]', `${provider.url}/v1`)
    await example.fill('[name=apiKey]', 'sk-lab')
    await example.fill('[name=model]', 'at-once')
    const waitForAnswer = async (status: string) => {
      await example.getByText('Ready.').or(example.getByText('Answered by')).waitFor()
      await example.fill('[name=question]', 'Hi')
      await example.click('[name=ask]')
      await example.getByText(status).waitFor()
      return example.textContent('output')
    }
    assert.is(await waitForAnswer('Answered by openai-compatible-mine/at-once.'), 'Hello')
    await stopWorkers()
    assert.is(await waitForAnswer('Answered by openai-compatible-mine/at-once.'), 'Hello')
    assert.equal(await example.locator('li').allTextContents(), ['Hi', 'Hello', 'Hi'])
    await example.click('summary')
    await example.fill('[name=model]', 'moved')
    assert.is(await waitForAnswer('redirect'), '')
    assert.is(await example.locator('li').count(), 4, 'the failed question is removed')
    await example.close()
  })

  async function stopWorkers() {
    const session = await context.newCDPSession(page)
    await session.send('ServiceWorker.enable')
    await session.send('ServiceWorker.stopAllWorkers')
    await session.detach()
  }

  const send = (model: string, headers: object = {}) =>
    call('/ai/v1/chat/completions', {
      method: 'POST',
      headers,
      body: { model, messages: [{ role: 'user', content: 'Hi' }] },
    })
}
