import type { Browser } from 'playwright-core'
import { listStores } from '../matrix.ts'
import { assert, skip, suite } from '../support/suite.ts'
import { chromiumPath, launchChromium } from './browser/chromium.ts'
import { addConformanceTests } from './indexeddb/conforms.ts'
import { testDamaged } from './indexeddb/damaged.ts'
import { testFailures } from './indexeddb/failures.ts'

if (!chromiumPath) skip('there is no Chromium: install it, or name it in SIGNALBOX_TEST_CHROMIUM')
const path = chromiumPath

/** All tests in this file share one browser. */
const test = suite<{ browser?: Browser }>('the IndexedDB storage')
test.before({ timeoutMs: 300_000 }, async (context) => {
  context.browser = await launchChromium(path)
})
test.after(({ browser }) => browser?.close())

addConformanceTests(test)
test('the matrix lists no browser storage other than IndexedDB', () =>
  assert.equal(listStores('Chromium'), ['memory', 'indexeddb']))
testDamaged(test)
testFailures(test)
