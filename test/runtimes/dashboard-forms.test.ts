import type { Browser } from 'playwright-core'
import { skip, suite } from '../support/suite.ts'
import { chromiumPath, launchChromium } from './browser/chromium.ts'
import { recordsAreEdited } from './browser/dashboard/editing.ts'
import { policiesAreEdited } from './browser/dashboard/policy-fields.ts'
import { timesAreShown } from './browser/dashboard/ranges.ts'
import { codeIsReadOnly } from './browser/dashboard/read-only-records.ts'

if (!chromiumPath) skip('there is no Chromium: install it, or name it in SIGNALBOX_TEST_CHROMIUM')
const path = chromiumPath

const test = suite<{ browser?: Browser }>('dashboard forms and time ranges in Chromium')
test.before({ timeoutMs: 300_000 }, async (context) => {
  context.browser = await launchChromium(path)
})
test.after(({ browser }) => browser?.close())

timesAreShown(test)
recordsAreEdited(test)
codeIsReadOnly(test)
policiesAreEdited(test)
