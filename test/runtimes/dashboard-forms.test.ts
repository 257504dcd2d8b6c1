import type { Browser } from 'playwright-core'
import { skip, suite } from '../support/suite.ts'
import { chromiumPath, launchChromium } from './browser/chromium.ts'
import { addEditingTests } from './browser/dashboard/editing.ts'
import { addPolicyFieldTests } from './browser/dashboard/policy-fields.ts'
import { addTimeRangeTests } from './browser/dashboard/ranges.ts'
import { addReadOnlyRecordTests } from './browser/dashboard/read-only-records.ts'

if (!chromiumPath) skip('there is no Chromium: install it, or name it in SIGNALBOX_TEST_CHROMIUM')
const path = chromiumPath

const test = suite<{ browser?: Browser }>('dashboard forms and time ranges in Chromium')
test.before({ timeoutMs: 300_000 }, async (context) => {
  context.browser = await launchChromium(path)
})
test.after(({ browser }) => browser?.close())

addTimeRangeTests(test)
addEditingTests(test)
addReadOnlyRecordTests(test)
addPolicyFieldTests(test)
