import type { Browser } from 'playwright-core'
import { skip, suite } from '../support/suite.ts'
import { chromiumPath, launchChromium } from './browser/chromium.ts'
import { everybodyCanUseIt } from './browser/dashboard/accessibility.ts'
import { attackersWriteText } from './browser/dashboard/attacks.ts'
import { attentionIsDrawn } from './browser/dashboard/attention.ts'
import { twoPeopleChange } from './browser/dashboard/conflicts.ts'
import { figuresAreShown } from './browser/dashboard/figures.ts'
import { hiddenTabsRest } from './browser/dashboard/hidden.ts'
import { whatRunsIsSeen } from './browser/dashboard/live.ts'
import { mediaIsMade } from './browser/dashboard/media.ts'
import { worksAnywhere } from './browser/dashboard/places.ts'
import { modelsAreAsked } from './browser/dashboard/playground.ts'
import { looksAsItDid } from './browser/dashboard/screenshots.ts'
import { operatorWorks } from './browser/dashboard/tasks.ts'

if (!chromiumPath) skip('there is no Chromium: install it, or name it in SIGNALBOX_TEST_CHROMIUM')
const path = chromiumPath

const test = suite<{ browser?: Browser }>('the dashboard in Chromium')
test.before({ timeoutMs: 300_000 }, async (context) => {
  context.browser = await launchChromium(path)
})
test.after(({ browser }) => browser?.close())

operatorWorks(test)
figuresAreShown(test)
attentionIsDrawn(test)
modelsAreAsked(test)
mediaIsMade(test)
twoPeopleChange(test)
whatRunsIsSeen(test)
hiddenTabsRest(test)
everybodyCanUseIt(test)
attackersWriteText(test)
worksAnywhere(test)
looksAsItDid(test)
