import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { serveNode } from '../../../../adapters/mount/node.ts'
import { memoryStorage } from '../../../../adapters/storage/memory.ts'
import { demoCatalog, withDemoRecords } from '../../../../src/cli/demo/demo-providers.ts'
import { writeHistory } from '../../../../src/cli/demo/history.ts'
import { withDemo } from '../../../../src/cli/demo/upstream.ts'
import { createGateway } from '../../../../src/gateway.ts'
import { builtDashboard } from '../../../dashboard/built.ts'
import { assert, type Suite } from '../../../support/suite.ts'
import { TOKEN } from './site.ts'
import { goTo, visit, waitUntilSettled } from './visit.ts'

/** The folder with the documentation's screenshots. */
export const PICTURES = new URL('../../../../src/features/dashboard/pictures/', import.meta.url)

/** The file with the width of a sample text in pixels, which identifies the font. */
export const FONT = new URL('font.json', PICTURES)

const NOW = Date.parse('2026-11-20T18:20:00Z')
const VIEWS = { overview: '#/', usage: '#/usage?days=7&by=key', keys: '#/keys', request: '' } as const

/** Takes screenshots of the views in light and dark mode, from a gateway with the demo data at a fixed time. */
export async function takePictures(
  browser: Browser,
  take: (name: string, page: Page) => Promise<void>,
  { width = 1120, height = 680 } = {},
): Promise<void> {
  const { dashboard } = await builtDashboard()
  const upstream = withDemo(() => Promise.reject(new Error('there is no network')))
  const clock = {
    now: () => NOW,
    sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
  }
  const silent = { warn() {}, error() {} }
  const storage = await withDemoRecords(
    memoryStorage(),
    silent,
    (own) => writeHistory({ storage: own, secret: undefined, upstream, now: NOW }),
    clock,
  )
  const gateway = createGateway({
    storage,
    clock,
    catalog: demoCatalog,
    fetch: upstream,
    logger: false,
    dashboard: dashboard(),
    management: { token: TOKEN },
  })
  const server = await serveNode(gateway, { port: 0, hostname: '127.0.0.1' })
  try {
    await gateway.api.settings.update({ requireApiKey: true })
    const { requests } = await gateway.api.usage.requests({ limit: 1_000 })
    const shown = requests.find(({ attempts, end }) => attempts.length > 1 && end === 'complete')
    for (const scheme of ['light', 'dark'] as const) {
      const { page, close } = await visit(browser, server.url, { scheme, width, path: '/admin/', now: NOW })
      await page.setViewportSize({ width, height })
      await waitUntilSettled(page)
      for (const [name, link] of Object.entries(VIEWS)) {
        await goTo(page, link || `#/requests/${shown?.id}`)
        await page.mouse.move(0, 0)
        await page.evaluate('document.activeElement?.blur()')
        await take(`${name}-${scheme}`, page)
      }
      await close()
    }
  } finally {
    await Promise.all([gateway.close({ graceMs: 0 }), server.close({ graceMs: 0 })])
  }
}

/** Measures the width of the sample text in the page's font, in pixels. */
export const fontWidth = (page: Page): Promise<number> =>
  page.evaluate(
    "(() => { const span = document.createElement('span'); span.textContent = 'Signalbox 0123456789 mmmWWWiii'; span.style.whiteSpace = 'nowrap'; document.body.append(span); const { width } = span.getBoundingClientRect(); span.remove(); return width })()",
  )

/** The script that decodes an image from a data URL on a page. */
const DRAWN = `async (src) => {
  const image = Object.assign(new Image(), { src })
  await image.decode()
  const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height })
  const context = canvas.getContext('2d')
  context.drawImage(image, 0, 0)
  return { canvas, pixels: context.getImageData(0, 0, image.width, image.height).data }
}`

/** Returns the page as WebP, which is half the size of PNG. `blank` is a page without a content security policy, which encodes the image. */
export async function getWebp(page: Page, blank: Page): Promise<Buffer> {
  const png = (await page.screenshot()).toString('base64')
  const url: string = await blank.evaluate(
    `(async () => (await (${DRAWN})('data:image/png;base64,${png}')).canvas.toDataURL('image/webp', 0.85))()`,
  )
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64')
}

/** Returns the share of pixels that differ, or 1 if the sizes differ. */
async function difference(blank: Page, item: Buffer, other: Buffer): Promise<number> {
  const [a, b] = [item, other].map((webp) => `'data:image/webp;base64,${webp.toString('base64')}'`)
  return blank.evaluate(`(async () => {
    const drawn = ${DRAWN}
    const [{ pixels: one }, { pixels: other }] = [await drawn(${a}), await drawn(${b})]
    if (one.length !== other.length) return 1
    const off = (at) => Math.abs(one[at] - other[at])
    let count = 0
    for (let at = 0; at < one.length; at += 4) if (off(at) + off(at + 1) + off(at + 2) > 60) count++
    return count / (one.length / 4)
  })()`)
}

/** Tests that the documentation's screenshots match the page. */
export function addScreenshotTests(test: Suite<{ browser?: Browser }>): void {
  test('the screenshots in the documentation match the current dashboard', { timeoutMs: 300_000 }, async ({
    browser,
  }) => {
    const { width } = JSON.parse(await readFile(FONT, 'utf8'))
    const blank = await (browser as Browser).newPage() // launched by `before`
    const found: string[] = []
    let isOtherFont = false
    await takePictures(browser as Browser, async (name, page) => {
      isOtherFont ||= Math.abs((await fontWidth(page)) - width) > 0.5
      if (isOtherFont) return
      const share = await difference(
        blank,
        await getWebp(page, blank),
        await readFile(new URL(`${name}.webp`, PICTURES)),
      )
      if (share > 0.01) found.push(`${name}: ${(share * 100).toFixed(1)} % of its pixels differ`)
    })
    await blank.close()
    if (isOtherFont) console.log('  the pictures are not compared: they were taken with other fonts')
    assert.equal(found, [], 'check the page, then retake them: node test/runtimes/take-screenshots.ts')
  })
}
