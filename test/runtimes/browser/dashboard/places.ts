import type { Browser } from 'playwright-core'
import { assert, type Suite } from '../../../support/suite.ts'
import { linkPackage } from '../../package-link.ts'
import { startServer } from '../server.ts'
import { bundle } from '../site.ts'
import { serveDashboard, TOKEN } from './site.ts'
import { goTo, visit, waitUntilSettled } from './visit.ts'

/** Tests the dashboard below any path, behind proxies, offline, and with an expired token. */
export function addBasePathTests(test: Suite<{ browser?: Browser }>): void {
  for (const basePath of ['', '/ai', '/a/b'])
    test(`the dashboard works below "${basePath}/"`, async ({ browser }) => {
      const server = await serveDashboard({ basePath })
      await works(browser as Browser, server.url, `${basePath}/admin`)
      await server.close()
    })

  for (const [name, basePath] of [
    ['strips its prefix', ''],
    ['keeps its prefix', '/gate'],
  ] as const)
    test(`the dashboard works behind a proxy that ${name}`, async ({ browser }) => {
      const server = await serveDashboard({ basePath })
      const proxy = await startProxy(server.url, (path) => (basePath === '' ? path.replace(/^\/gate/, '') : path))
      await works(browser as Browser, `http://127.0.0.1:${proxy.port}`, '/gate/admin')
      proxy.close()
      await server.close()
    })

  test('the dashboard works offline, with the gateway in a service worker', async ({ browser }) => {
    await linkPackage()
    const worker = await bundle(new URL('../../apps/dashboard-worker.mjs', import.meta.url).pathname, 'iife')
    const site = await startServer((req, res) => {
      const isWorker = req.url === '/worker.js'
      res.setHeader('content-type', isWorker ? 'text/javascript' : 'text/html')
      res.end(isWorker ? worker : '<!doctype html><title>A page</title>')
    })
    const url = `http://localhost:${site.port}`
    const { page, faults, close } = await visit(browser as Browser, url, { path: '/', token: '' })
    await page.evaluate(`navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready)`)
    await page.evaluate(
      `navigator.serviceWorker.controller || new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve)).then(() => 1)`,
    )
    site.close()
    faults.length = 0
    await page.goto(`${url}/ai/admin/`)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await goTo(page, '#/keys')
    await makeGroup(page)
    assert.equal(faults, [])
    await close()
  })

  test('the dashboard shows why a token is rejected, and accepts the right one', async ({ browser }) => {
    const server = await serveDashboard()
    const { page, faults, close } = await visit(browser as Browser, server.url, { token: 'another' })
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.getByRole('alert').getByText(/token/).waitFor()
    assert.not.match(page.url(), 'another')
    await page.getByLabel('Admin token').fill(TOKEN)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await waitUntilSettled(page)
    assert.equal(withoutStatus(faults), [])
    await close()
    await server.close()
  })

  for (const link of ['#/keys', '#/requests'])
    test(`the dashboard asks for the token again if it becomes invalid while ${link} is shown`, async ({ browser }) => {
      let valid = TOKEN
      const server = await serveDashboard({
        management: {
          authorize: ({ headers }) => headers.get('authorization') === `Bearer ${valid}` || 'The admin token is wrong.',
        },
      })
      const { page, faults, close } = await visit(browser as Browser, server.url)
      await goTo(page, link)
      valid = 'a-newer-token'
      await page.getByRole('link', { name: 'Overview' }).click()
      await page.getByRole('alert').getByText('The admin token is wrong.').waitFor()
      assert.equal(await page.evaluate('[sessionStorage.length, document.body.innerText.includes("Bearer")]'), [
        0,
        false,
      ])
      assert.equal(withoutStatus(faults), [])
      await close()
      await server.close()
    })
}

/** Opens the dashboard by a URL without the trailing slash, and creates a group. */
async function works(browser: Browser, url: string, path: string): Promise<void> {
  const { page, faults, close } = await visit(browser, url, { path })
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  assert.match(page.url(), `${url}${path}/#`)
  await goTo(page, '#/keys')
  await makeGroup(page)
  await goTo(page, '#/usage')
  assert.equal(faults, [])
  await close()
}

async function makeGroup(page: Awaited<ReturnType<typeof visit>>['page']): Promise<void> {
  await page.getByRole('button', { name: 'Create group' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('team')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('button', { name: 'Delete: team' }).waitFor()
}

/** Ignores the message that the browser logs for each 401. */
const withoutStatus = (faults: string[]) => faults.filter((fault) => !fault.includes('status of 401'))

/** Starts a proxy that forwards all requests, with each path rewritten by `getPath`. */
const startProxy = (target: string, getPath: (path: string) => string) =>
  startServer(async (req, res) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of req) chunks.push(chunk)
    const reply = await fetch(`${target}${getPath(req.url ?? '/')}`, {
      method: req.method ?? 'GET',
      headers: Object.entries(req.headers).filter(
        (header): header is [string, string] =>
          typeof header[1] === 'string' && !/^(?:host|connection|content-length)$/.test(header[0]),
      ),
      redirect: 'manual',
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    })
    const headers = [...reply.headers].filter(
      ([name]) => !/^(?:content-encoding|content-length|transfer-encoding|connection)$/.test(name),
    )
    res.writeHead(reply.status, Object.fromEntries(headers))
    try {
      for await (const chunk of reply.body ?? []) res.write(chunk)
      res.end()
    } catch {
      res.destroy() // the gateway closed mid-stream
    }
  })
