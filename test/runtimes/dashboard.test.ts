import type { Browser } from 'playwright-core'
import { skip, suite } from '../support/suite.ts'
import { chromiumPath, launchChromium } from './browser/chromium.ts'
import { addAccessibilityTests } from './browser/dashboard/accessibility.ts'
import { addHostileTextTests } from './browser/dashboard/attacks.ts'
import { addOverviewWarningTests } from './browser/dashboard/attention.ts'
import { addConflictTests } from './browser/dashboard/conflicts.ts'
import { addFigureTests } from './browser/dashboard/figures.ts'
import { addHiddenTabTests } from './browser/dashboard/hidden.ts'
import { addLiveViewTests } from './browser/dashboard/live.ts'
import { addMediaTests } from './browser/dashboard/media.ts'
import { addBasePathTests } from './browser/dashboard/places.ts'
import { addPlaygroundTests } from './browser/dashboard/playground.ts'
import { addScreenshotTests } from './browser/dashboard/screenshots.ts'
import { addOperatorTaskTests } from './browser/dashboard/tasks.ts'

if (!chromiumPath) skip('there is no Chromium: install it, or name it in SIGNALBOX_TEST_CHROMIUM')
const path = chromiumPath

const test = suite<{ browser?: Browser }>('the dashboard in Chromium')
test.before({ timeoutMs: 300_000 }, async (context) => {
  context.browser = await launchChromium(path)
})
test.after(({ browser }) => browser?.close())

addOperatorTaskTests(test)
addFigureTests(test)
addOverviewWarningTests(test)
addPlaygroundTests(test)
addMediaTests(test)
addConflictTests(test)
addLiveViewTests(test)
addHiddenTabTests(test)
addAccessibilityTests(test)
addHostileTextTests(test)
addBasePathTests(test)
addScreenshotTests(test)
