import type { Browser, Page } from 'playwright-core'
import { assert, type Suite } from '../../../support/suite.ts'
import { serveDashboard } from './site.ts'
import { goTo, visit } from './visit.ts'

/** A red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

/** Creates 0.1 s of silence, as WAV. */
function silence(): Uint8Array<ArrayBuffer> {
  const samples = 800
  const view = new DataView(new ArrayBuffer(44 + samples))
  const text = (index: number, word: string) => new Uint8Array(view.buffer).set(new TextEncoder().encode(word), index)
  text(0, 'RIFF')
  view.setUint32(4, 36 + samples, true)
  text(8, 'WAVEfmt ')
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, 8_000, true)
  view.setUint32(28, 8_000, true)
  view.setUint16(32, 1, true)
  view.setUint16(34, 8, true)
  text(36, 'data')
  view.setUint32(40, samples, true)
  new Uint8Array(view.buffer).fill(128, 44)
  return new Uint8Array(view.buffer)
}

/** The number of audio bytes that the provider received. */
let received = 0

const media: typeof fetch = async (input, init) => {
  const request = new Request(input, init)
  const { pathname } = new URL(request.url)
  if (pathname.endsWith('/images/generations')) return Response.json({ created: 1, data: [{ b64_json: PNG }] })
  if (pathname.endsWith('/audio/speech')) return new Response(silence(), { headers: { 'content-type': 'audio/wav' } })
  if (pathname.endsWith('/audio/transcriptions')) {
    const file = (await request.formData()).get('file')
    received = file instanceof File ? file.size : 0
    return Response.json({ text: 'Hello <b>there</b>' })
  }
  if (pathname.endsWith('/moderations'))
    return Response.json({
      id: 'm',
      model: 'omni-moderation-latest',
      results: [{ flagged: false, categories: {}, category_scores: {} }],
    })
  return Response.json({ error: { message: `nothing is at ${pathname}` } }, { status: 404 })
}

/** Waits until an expression is true. Playwright's `waitForFunction` would violate the page's content security policy. */
async function until(page: Page, expression: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await page.evaluate(expression)) return
    await page.waitForTimeout(50)
  }
  assert.unreachable(`never: ${expression}`)
}

/** Tests non-chat models in the playground. */
export function addMediaTests(test: Suite<{ browser?: Browser }>): void {
  test('the playground shows images, plays speech, and transcribes files under a strict CSP', async ({ browser }) => {
    const server = await serveDashboard({ fetch: media })
    await server.gateway.api.connections.create({ provider: 'openai', name: 'OpenAI', apiKey: 'sk-0123456789abcdef' })
    const { page, faults, close } = await visit(browser as Browser, server.url) // launched by `before`
    await goTo(page, '#/playground')
    const send = async (format: string, model: string) => {
      await page.getByLabel('API format').selectOption(format)
      await page.getByLabel('Model, combo, or alias').fill(model)
      await page.getByRole('button', { name: 'Send', exact: true }).click()
    }
    await send('images', 'openai/gpt-image-1')
    const image = page.getByRole('img', { name: 'Output of the model' })
    await image.waitFor()
    await until(page, "document.querySelector('main img').naturalWidth === 1")
    await page.getByText(/^Finished in/).waitFor()

    await send('speech', 'openai/gpt-4o-mini-tts')
    await until(page, "document.querySelector('audio')?.readyState > 0")
    assert.match((await page.locator('audio').getAttribute('src')) ?? '', /^blob:/)
    assert.is(await image.count(), 0, 'the image of the previous request')

    await send('transcription', 'openai/whisper-1')
    await page.getByText('Choose a file first.').waitFor()
    const file = silence()
    await page
      .getByLabel('Audio to transcribe')
      .setInputFiles({ name: 'a.wav', mimeType: 'audio/wav', buffer: Buffer.from(file) })
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await until(page, "document.querySelector('textarea[readonly]')?.value === 'Hello <b>there</b>'")
    assert.is(received, file.byteLength)
    assert.is(await page.locator('audio').count(), 0)

    await send('moderation', 'openai/omni-moderation-latest')
    await until(page, "[...document.querySelectorAll('textarea[readonly]')].at(-1)?.value.includes('flagged')")
    assert.equal(faults, [])
    await close()
    await server.close()
  })
}
