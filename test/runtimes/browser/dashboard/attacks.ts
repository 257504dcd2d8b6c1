import { readFile } from 'node:fs/promises'
import type { Browser } from 'playwright-core'
import { assert, type Suite } from '../../../support/suite.ts'
import { type DashboardServer, serveDashboard } from './site.ts'
import { goTo, visit, waitUntilSettled } from './visit.ts'

/** Attacker-controlled names, models, and errors, which would do harm if the page treated them as anything but text. */
const TEXTS = [
  '<img src=x onerror="alert(1)">',
  '<script>alert(1)</script>',
  '"><svg onload=alert(1)>',
  '<iframe srcdoc="<script>alert(1)</script>">',
  '<a href="javascript:alert(1)">x</a>',
  '{{7*7}}#{7*7}<%= 7*7 %>',
  '\u202Eevil\u2066name\u2069',
  'a\u0000b\u0007c\u001b[31m',
  '=HYPERLINK("http://evil.test","x")',
  '+SUM(1)',
  '@SUM(1)',
  '__proto__',
  'constructor',
  '%2e%2e/..%00',
  'long '.repeat(2_000),
  'x'.repeat(10_000),
]

/** Tests that attacker-controlled strings are shown as text only, and don't break the layout. */
export function addHostileTextTests(test: Suite<{ browser?: Browser }>): void {
  test('attacker-controlled strings are shown as text on every page, on wide and narrow screens', {
    timeoutMs: 300_000,
  }, async ({ browser }) => {
    let content = ''
    const server = await serveDashboard({
      fetch: async () => Response.json({ error: { message: content } }, { status: 400 }),
    })
    const { api } = server.gateway
    const created: string[] = []
    /** Ignores names that the gateway rejects, because no page can show them. */
    const attempt = async (label: string, act: () => Promise<unknown>) => {
      await act().then(
        () => created.push(label),
        () => {},
      )
    }
    await api.connections.create({ provider: 'openai', apiKey: 'sk-0123456789abcdef' })
    for (const text of TEXTS) {
      content = text
      await attempt('key', () => api.keys.create({ name: text, metadata: { team: text } }))
      await attempt('group', () => api.groups.create({ name: text }))
      await attempt('connection', () =>
        api.connections.create({ provider: 'groq', name: text, apiKey: 'gsk_0123456789' }),
      )
      await attempt('combo', () => api.combos.create({ name: text, models: ['openai/gpt-5-mini'] }))
      await attempt('alias', () => api.aliases.set({ alias: text, model: text }))
      await (await server.send({ model: text, user: text })).text()
      await (await server.send({ model: 'openai/gpt-5-mini', user: text })).text()
    }
    for (const kind of ['key', 'group', 'connection']) assert.ok(created.includes(kind), `no ${kind} was created`)
    await Promise.all([1280, 360].map((width) => assertShownAsText(browser as Browser, server, width)))
    await server.close()
  })

  test('CSV exports contain no formulas from attackers', async ({ browser }) => {
    const server = await serveDashboard()
    for (const text of TEXTS) await (await server.send({ model: text, user: text })).text()
    const { page, close } = await visit(browser as Browser, server.url)
    for (const by of ['model', 'user']) {
      await goTo(page, `#/usage?by=${by}`)
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export CSV' }).click(),
      ])
      const text = await readFile(await download.path(), 'utf8')
      assert.match(text, /SUM/)
      assert.not.match(text, /(?:^|[,\n])"?[=+@]/)
    }
    await close()
    await server.close()
  })
}

/** Checks all pages and the key dialogs in a window of this width. */
async function assertShownAsText(browser: Browser, server: DashboardServer, width: number): Promise<void> {
  const { page, faults, close } = await visit(browser, server.url, { width })
  await waitUntilSettled(page)
  const links = await page.locator('nav a').evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
  const { requests } = await server.gateway.api.usage.requests()
  for (const by of ['key', 'model', 'user', 'target']) links.push(`#/usage?by=${by}`)
  const wide: string[] = []
  for (const link of [...links, ...requests.slice(0, 20).map(({ id }) => `#/requests/${id}`)]) {
    await goTo(page, link)
    assert.equal(await page.evaluate(STRANGE), [], link)
    if ((await page.evaluate('document.documentElement.scrollWidth')) !== width) wide.push(link)
  }
  assert.equal(wide, [], `wider than the window of ${width} pixels`)
  await goTo(page, '#/keys')
  for (const button of await page.getByRole('button', { name: /^Delete: / }).all()) {
    await button.click()
    await page.getByRole('dialog').waitFor()
    assert.equal(await page.evaluate(STRANGE), [], 'a dialog')
    await page.keyboard.press('Escape')
  }
  assert.equal(faults, [])
  await close()
}

/** Returns elements that the page never creates, and text that contains bidirectional or line-breaking control characters. */
const STRANGE = `[
  ...[...document.querySelectorAll('img, iframe, script:not([src]), [onerror], [onload], a[href^="javascript"]')].map(({ outerHTML }) => outerHTML),
  ...(document.body.innerText.match(/[\\u202a-\\u202e\\u2066-\\u2069\\u0000-\\u0008\\u001b]/g) ?? []),
  ...[...document.querySelectorAll('[aria-label], [title]')].flatMap((one) =>
    ((one.getAttribute('aria-label') ?? '') + (one.title ?? '')).match(/[\\u202a-\\u202e\\u2066-\\u2069]/g) ?? []),
]`
