import type { Browser } from 'playwright-core'
import { assert, type Suite } from '../../support/suite.ts'
import { guardOutcome } from '../guarded.ts'
import { linkPackage } from '../package-link.ts'
import { startServer } from './server.ts'
import { bundle } from './site.ts'

/** Tests a gateway's guards on a page. */
export function addPageGuardTests(test: Suite<{ browser?: Browser }>): void {
  test('guards on a page reject, cut off, and mask content', async ({ browser }) => {
    await linkPackage()
    const script = await bundle(new URL('../apps/guard-checks.mjs', import.meta.url).pathname, 'esm')
    const site = await startServer((req, res) =>
      req.url === '/guards.js'
        ? res.setHeader('content-type', 'text/javascript; charset=utf-8').end(script)
        : res.setHeader('content-type', 'text/html').end('<title>A page</title>'),
    )
    const page = await (browser as Browser).newPage() // launched by `before`
    try {
      await page.goto(`http://localhost:${site.port}/`)
      const outcome = await page.evaluate("import('/guards.js').then(({ checkGuards }) => checkGuards())")
      assert.equal(outcome, guardOutcome)
    } finally {
      await page.close()
      site.close()
    }
  })
}
