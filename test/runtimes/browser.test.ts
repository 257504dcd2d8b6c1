import type { Browser } from 'playwright-core'
import { skip, suite } from '../support/suite.ts'
import { chromiumPath, launchChromium } from './browser/chromium.ts'
import { guardHolds } from './browser/cross-site.ts'
import { addPageGuardTests } from './browser/page-guards.ts'
import { addUserSiteTests } from './browser/user-sites.ts'
import { addWorkerRequestTests } from './browser/worker-requests.ts'

if (!chromiumPath) skip('there is no Chromium: install it, or name it in SIGNALBOX_TEST_CHROMIUM')
const path = chromiumPath

/** All tests in this file share one browser. */
const test = suite<{ browser?: Browser }>('in Chromium')
test.before({ timeoutMs: 300_000 }, async (context) => {
  context.browser = await launchChromium(path)
})
test.after(({ browser }) => browser?.close())

addWorkerRequestTests(test)
guardHolds(test)
addPageGuardTests(test)
addUserSiteTests(test)
