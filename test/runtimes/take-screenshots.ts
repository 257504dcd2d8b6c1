import { mkdir, writeFile } from 'node:fs/promises'
import { chromiumPath, launchChromium } from './browser/chromium.ts'
import { FONT, fontWidth, getWebp, PICTURES, takePictures } from './browser/dashboard/screenshots.ts'

/* Retakes the documentation's screenshots from the latest dashboard build: node test/runtimes/take-screenshots.ts [folder] [width] */

const [folder, width = '1120'] = process.argv.slice(2)
const place = folder === undefined ? PICTURES : new URL(`${folder.replace(/\/?$/, '/')}`, `file://${process.cwd()}/`)
if (!chromiumPath) throw new Error('there is no Chromium: install it, or name it in SIGNALBOX_TEST_CHROMIUM')
const browser = await launchChromium(chromiumPath)
await mkdir(place, { recursive: true })
const blank = await browser.newPage()
await takePictures(
  browser,
  async (name, page) => {
    const webp = await getWebp(page, blank)
    await writeFile(new URL(`${name}.webp`, place), webp)
    console.log(`${name}.webp: ${webp.byteLength} bytes`)
    if (folder === undefined) await writeFile(FONT, `${JSON.stringify({ width: await fontWidth(page) }, null, 2)}\n`)
  },
  { width: Number(width) },
)
await browser.close()
