import type { Browser } from 'playwright-core'
import { skip, suite } from '../support/suite.ts'
import { chromiumPath, launchChromium } from './browser/chromium.ts'
import { addKeyPageTests } from './browser/dashboard/keys.ts'

/* Separate from the other dashboard tests, because creating 100,000 keys takes a third as long as all of them. */

if (!chromiumPath) skip('there is no Chromium: install it, or name it in SIGNALBOX_TEST_CHROMIUM')
const path = chromiumPath

const test = suite<{ browser?: Browser }>('dashboard keys in Chromium')
test.before({ timeoutMs: 300_000 }, async (context) => {
  context.browser = await launchChromium(path)
})
test.after(({ browser }) => browser?.close())

addKeyPageTests(test)
