import { writeFile } from 'node:fs/promises'
import { chromiumPath, launchChromium } from './browser/chromium.ts'
import { recordFailover } from './browser/dashboard/animation.ts'
import { PICTURES } from './browser/dashboard/screenshots.ts'

/* Records the failover animations from the latest dashboard build: node test/runtimes/take-animation.ts */

if (!chromiumPath) throw new Error('there is no Chromium: install it, or name it in SIGNALBOX_TEST_CHROMIUM')
const browser = await launchChromium(chromiumPath)
for (const scheme of ['light', 'dark'] as const) {
  const webp = await recordFailover(browser, scheme)
  await writeFile(new URL(`failover-${scheme}.webp`, PICTURES), webp)
  console.log(`failover-${scheme}.webp: ${webp.byteLength} bytes`)
}
await browser.close()
