import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { TOKEN } from './site.ts'

/** The time limit for a page while other tests use the CPU, in ms. */
const WAIT_MS = 20_000

export interface VisitOptions {
  width?: number
  scheme?: 'light' | 'dark'
  /** The dashboard's path. */
  path?: string
  token?: string
  /** The current time on the page, in ms since the epoch. Default: the real time. */
  now?: number
  /** Lets the test advance the page's timers (`page.clock.runFor`). */
  movesTime?: true
  /** Prepares the page before it loads the dashboard. */
  before?: (page: Page) => Promise<unknown>
}

/** A browser page with a dashboard, and its faults: errors, policy violations, requests to other origins, and dialogs. */
export interface Visit {
  page: Page
  faults: string[]
  close(): Promise<void>
}

/** Opens a gateway's dashboard at the URL that the CLI prints. */
export async function visit(browser: Browser, url: string, options: VisitOptions = {}): Promise<Visit> {
  const { width = 1280, scheme = 'light', path = '/admin/', token = TOKEN, now, movesTime, before } = options
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, locale: 'en-GB' })
  const page = await context.newPage()
  if (now !== undefined) await page.clock.setFixedTime(now)
  if (movesTime) await page.clock.install()
  page.setDefaultTimeout(WAIT_MS)
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(`error: ${message}`))
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(`console: ${message.text()}`)
  })
  const own = new URL(url).origin
  page.on('request', (request) => {
    const address = request.url()
    if (!/^(?:data|blob):/.test(address) && new URL(address).origin !== own) faults.push(`request: ${address}`)
  })
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (event) => console.error('violation', event.violatedDirective, event.blockedURI))",
  )
  await before?.(page)
  await page.goto(`${url}${path}#token=${token}`)
  return { page, faults, close: () => context.close() }
}

/** Opens a view by its URL, and waits until it has loaded. */
export async function goTo(page: Page, link: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(link)}`)
  await waitUntilSettled(page)
}

/** Waits until the initial load is complete. */
export async function waitUntilSettled(page: Page): Promise<void> {
  await page.locator('main h1').waitFor()
  await page.locator('.loading').first().waitFor({ state: 'detached' })
}

/** Waits until the condition holds. After the page's time limit, it returns anyway, so the next assertion shows what's missing. */
export async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + WAIT_MS; performance.now() < end && !(await holds()); ) await sleep(20)
}
