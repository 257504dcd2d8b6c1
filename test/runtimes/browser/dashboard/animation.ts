import type { Browser, Page } from 'playwright-core'
import { serveNode } from '../../../../adapters/mount/node.ts'
import { memoryStorage } from '../../../../adapters/storage/memory.ts'
import { DEMO, demoCatalog, withDemoRecords } from '../../../../src/cli/demo/demo-providers.ts'
import { withDemo } from '../../../../src/cli/demo/upstream.ts'
import { createGateway } from '../../../../src/gateway.ts'
import { builtDashboard } from '../../../dashboard/built.ts'
import { TOKEN } from './site.ts'
import { visit, waitUntilSettled } from './visit.ts'

/** A screenshot of the page, and how long it is shown. */
interface Frame {
  png: string
  ms: number
}

const SIZE = { width: 1120, height: 640 }
/** How many times the animation plays before it stops on its last frame. */
const LOOPS = 2

/** Records a failover in the playground as an animated WebP: the first target fails, and the second one streams its response. */
export async function recordFailover(browser: Browser, scheme: 'light' | 'dark'): Promise<Buffer> {
  const { dashboard } = await builtDashboard()
  const silent = { warn() {}, error() {} }
  const gateway = createGateway({
    storage: await withDemoRecords(memoryStorage(), silent, async () => {}),
    catalog: demoCatalog,
    fetch: withDemo(() => Promise.reject(new Error('there is no network'))),
    logger: false,
    dashboard: dashboard(),
    management: { token: TOKEN },
  })
  const server = await serveNode(gateway, { port: 0, hostname: '127.0.0.1' })
  try {
    const { page, close } = await visit(browser, `${server.url}`, { scheme, width: SIZE.width, path: '/admin/' })
    await page.setViewportSize(SIZE)
    await waitUntilSettled(page)
    const frames = await play(page)
    await close()
    const blank = await browser.newPage()
    const webp = await encode(blank, frames)
    await blank.close()
    return webp
  } finally {
    await Promise.all([gateway.close({ graceMs: 0 }), server.close({ graceMs: 0 })])
  }
}

async function play(page: Page): Promise<Frame[]> {
  const frames: Frame[] = []
  const take = async (ms: number) => frames.push({ png: (await page.screenshot()).toString('base64'), ms })
  await page.evaluate("location.hash = '#/playground'")
  await waitUntilSettled(page)
  await page.getByLabel('Request body').fill('{ "stream": true, "messages": [{ "role": "user", "content": "Hello" }] }')
  await page.evaluate("for (const area of document.querySelectorAll('textarea')) area.style.height = '3.5rem'")
  const model = page.getByLabel('Model, combo, or alias')
  await model.focus()
  for (const letter of DEMO) {
    await take(150)
    await model.press(letter)
  }
  await model.press('Escape') // closes the model list
  await take(600)
  await page.getByRole('button', { name: 'Send' }).click()
  const read = () =>
    page.evaluate("document.querySelector('main').innerText + document.querySelectorAll('textarea')[1]?.value")
  await page.evaluate(
    "new MutationObserver(() => { for (const area of document.querySelectorAll('textarea:read-only')) area.style.height = '10rem' }).observe(document.body, { subtree: true, childList: true })",
  )
  for (let shown: unknown; !(await page.getByText('Finished in').isVisible()); ) {
    const text = await read()
    if (text !== shown) await take(90)
    shown = text
  }
  await page.evaluate('scrollTo(0, document.body.scrollHeight)')
  await take(2_000)
  await page.locator('main a[href*="#/requests/"]').click()
  await waitUntilSettled(page)
  await page.mouse.move(0, 0)
  await page.evaluate('document.activeElement?.blur()')
  await take(3_500)
  return frames
}

/** Runs on a page. Crops each frame to what differs from the previous one, and encodes it as WebP. */
const ENCODE = `async (frames) => {
  const canvas = Object.assign(document.createElement('canvas'), { width: ${SIZE.width}, height: ${SIZE.height} })
  const context = canvas.getContext('2d', { willReadFrequently: true })
  const cut = document.createElement('canvas')
  let former
  const parts = []
  for (const { png, ms } of frames) {
    const image = Object.assign(new Image(), { src: 'data:image/png;base64,' + png })
    await image.decode()
    context.drawImage(image, 0, 0)
    const pixels = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer)
    let [left, top, right, bottom] = former ? [canvas.width, canvas.height, -1, -1] : [0, 0, canvas.width - 1, canvas.height - 1]
    if (former) for (let at = 0; at < pixels.length; at++) {
      if (pixels[at] === former[at]) continue
      const [x, y] = [at % canvas.width, Math.floor(at / canvas.width)]
      left = Math.min(left, x); right = Math.max(right, x); top = Math.min(top, y); bottom = Math.max(bottom, y)
    }
    former = pixels
    if (right < left) { if (parts.length) parts.at(-1).ms += ms; continue }
    left -= left % 2; top -= top % 2
    cut.width = right - left + 1; cut.height = bottom - top + 1
    cut.getContext('2d').drawImage(canvas, left, top, cut.width, cut.height, 0, 0, cut.width, cut.height)
    parts.push({ left, top, width: cut.width, height: cut.height, ms, webp: cut.toDataURL('image/webp', 0.8).split(',')[1] })
  }
  return parts
}`

/** Combines the frames into an animation: https://developers.google.com/speed/webp/docs/riff_container */
async function encode(blank: Page, frames: readonly Frame[]): Promise<Buffer> {
  const parts: Array<{ left: number; top: number; width: number; height: number; ms: number; webp: string }> =
    await blank.evaluate(`(${ENCODE})(${JSON.stringify(frames)})`)
  const header = Buffer.alloc(10)
  header[0] = 0b10 // sets the animation flag
  header.writeUIntLE(SIZE.width - 1, 4, 3)
  header.writeUIntLE(SIZE.height - 1, 7, 3)
  const animation = Buffer.from([0, 0, 0, 0, LOOPS, 0]) // background color and number of loops
  const content = [
    chunk('VP8X', header),
    chunk('ANIM', animation),
    ...parts.map((part) => {
      const place = Buffer.alloc(16)
      const figures = [part.left / 2, part.top / 2, part.width - 1, part.height - 1, part.ms]
      for (const [index, figure] of figures.entries()) place.writeUIntLE(figure, index * 3, 3)
      place[15] = 0b10 // overwrites the pixels below, and isn't disposed
      return chunk('ANMF', Buffer.concat([place, readPicture(Buffer.from(part.webp, 'base64'))]))
    }),
  ]
  return chunk('RIFF', Buffer.concat([Buffer.from('WEBP'), ...content]))
}

/** Returns the image chunk of a still WebP. */
function readPicture(webp: Buffer): Buffer {
  for (let index = 12; index < webp.length; ) {
    const size = webp.readUInt32LE(index + 4)
    const end = index + 8 + size + (size % 2)
    if (/^VP8[ L]$/.test(webp.toString('latin1', index, index + 4))) return webp.subarray(index, end)
    index = end
  }
  throw new Error('the WebP has no image chunk')
}

function chunk(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.write(name, 'latin1')
  head.writeUInt32LE(content.length, 4)
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)])
}
