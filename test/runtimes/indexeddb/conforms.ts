import type { Browser, BrowserContext, Page } from 'playwright-core'
import { storageTests } from '../../conformance/storage.ts'
import type { Suite } from '../../support/suite.ts'
import { act, startSite } from './site.ts'

const PLACES = [
  ['a page', 'page'],
  ['a service worker', 'worker'],
  ['a page and a service worker that share a database', 'both'],
  ['a page, in memory', 'memory'],
] as const

/** Runs the entire conformance suite everywhere IndexedDB is available, and for memory storage on a page. */
export function addConformanceTests(test: Suite<{ browser?: Browser }>): void {
  let site: Awaited<ReturnType<typeof startSite>>
  let context: BrowserContext
  let page: Page

  test.before({ timeoutMs: 300_000 }, async ({ browser }) => {
    site = await startSite('indexeddb-page.mjs', 'indexeddb-worker.mjs')
    context = await (browser as Browser).newContext() // launched by `before`
    page = await context.newPage()
    await page.goto(site.url)
    await act(page, 'register')
  })
  test.after(async () => {
    await context?.close()
    site?.close()
  })

  for (const [location, action] of PLACES)
    storageTests(
      (title) =>
        test(`in ${location}: ${title}`, async () => {
          const failure = await act<string | undefined>(page, action, title)
          if (failure) throw new Error(failure)
        }),
      {},
    )
}
