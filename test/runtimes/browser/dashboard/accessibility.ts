import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { assert, type Suite } from '../../../support/suite.ts'
import { fill } from './fill.ts'
import { type DashboardServer, serveDashboard } from './site.ts'
import { goTo, visit, waitUntilSettled } from './visit.ts'

/** For each dialog: the page it's on, the button that opens it, the button to press in it, and the text it shows after the gateway responds. */
const DIALOGS: ReadonlyArray<readonly [link: string, button: RegExp, then?: RegExp, shows?: string]> = [
  ['#/keys', /^Create key$/, /^Add limit$/],
  ['#/keys', /^Create group$/],
  ['#/keys', /^Limits: ci$/],
  ['#/keys', /^Edit: ci$/],
  ['#/keys', /^Rotate: ci$/],
  ['#/keys', /^Rotate: bob$/, /^Rotate key$/, 'Copy this key now.'],
  ['#/keys', /^Delete: ci$/, /^Delete$/, 'This key was used today.'],
  ['#/targets', /^Add connection$/],
  ['#/targets', /^Edit: main$/],
  ['#/targets', /^Delete: main$/],
  ['#/combos', /^Create combo$/, /^Add model$/],
  ['#/combos', /^Edit: fast$/],
  ['#/combos', /^Delete: fast$/],
]

/** Tests that each page and dialog is accessible, in light and dark mode, on desktops and phones. */
export function addAccessibilityTests(test: Suite<{ browser?: Browser }>): void {
  let server: DashboardServer
  test.before(async () => {
    server = await serveDashboard()
    await fill(server)
  })
  test.after(() => server?.close())

  for (const width of [1280, 360])
    test(`axe finds no serious problem in any page or dialog at ${width} pixels wide`, {
      timeoutMs: 300_000,
    }, async ({ browser }) => {
      // Sequentially, because a key press can miss a window while another browser window has the focus.
      for (const scheme of ['light', 'dark'] as const) await lookAround(browser as Browser, server, { scheme, width })
    })
}

/** Checks each page and dialog with axe. */
async function lookAround(
  browser: Browser,
  server: DashboardServer,
  { scheme, width }: { scheme: 'light' | 'dark'; width: number },
): Promise<void> {
  const { page, faults, close } = await visit(browser, server.url, { scheme, width })
  await waitUntilSettled(page)
  await page.evaluate(await axe())
  const found: string[] = []
  const look = async (location: string) =>
    found.push(...(await violations(page)).map((value) => `${location}: ${value}`))
  const links = await page.locator('nav a').evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
  assert.ok(links.length >= 9)
  for (const link of [...links, `#/requests/${await lastRequest(server)}`, '#/nowhere']) {
    await goTo(page, link)
    await look(link)
    const shown = await page.evaluate('document.documentElement.scrollWidth')
    assert.is(shown, width, `${link} is no wider than its window`)
  }
  for (const [link, button, then, shows] of DIALOGS) {
    await goTo(page, link)
    const opener = page.getByRole('button', { name: button })
    await opener.click()
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    if (then) await dialog.getByRole('button', { name: then }).click()
    if (shows) await dialog.getByText(shows).waitFor()
    await dialog.locator('.loading').first().waitFor({ state: 'detached' })
    await look(`${link} ${button}`)
    await dialog.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await opener.and(page.locator(':focus')).waitFor()
  }
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await look('sign in')
  assert.equal(found, [], `${scheme}, ${width} pixels wide`)
  assert.equal(faults, [])
  await close()
}

const axe = () => readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Looked {
  /** The number of axe rules that the page passes. */
  passes: number
  violations: string[]
}

/** Returns axe's serious findings. They are formatted on the page, because the full results are megabytes. */
const LOOK = `axe.run({ resultTypes: ['violations'] }).then(({ passes, violations }) => ({
  passes: passes.length,
  violations: violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes: [node] }) => [id, node?.html, node?.failureSummary].join(' ')),
}))`

async function violations(page: Page): Promise<string[]> {
  const looked: Looked = await page.evaluate(LOOK)
  assert.ok(looked.passes > 5, 'axe has run')
  return looked.violations
}

async function lastRequest({ gateway }: DashboardServer): Promise<string> {
  const { requests } = await gateway.api.usage.requests()
  return requests[0]?.id ?? ''
}
