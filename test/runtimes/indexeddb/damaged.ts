import type { Browser, BrowserContext, Page } from 'playwright-core'
import { damagedRecordsTests } from '../../conformance/damaged-records.ts'
import type { Suite } from '../../support/suite.ts'
import { act, startSite } from './site.ts'

/** Tests a gateway on a page whose database contains damaged records. */
export function testDamaged(test: Suite<{ browser?: Browser }>): void {
  let site: Awaited<ReturnType<typeof startSite>>
  let context: BrowserContext
  let page: Page

  test.before({ timeoutMs: 300_000 }, async ({ browser }) => {
    site = await startSite('indexeddb-damage.mjs', 'indexeddb-worker.mjs')
    context = await (browser as Browser).newContext() // launched by `before`
    page = await context.newPage()
    await page.goto(site.url)
  })
  test.after(async () => {
    await context?.close()
    site?.close()
  })

  damagedRecordsTests(
    (title) =>
      test(`damaged records on a page: ${title}`, async () => {
        const failure = await act<string | undefined>(page, 'damage', title)
        if (failure) throw new Error(failure)
      }),
    () => Promise.reject(new Error('the storage is on the page')),
  )
}
