import { encodeUtf8 } from '../../../src/lib/bytes.ts'
import { type FormPart, serializeForm } from '../../../src/lib/multipart.ts'
import { type End, fakeUpstream, getBody, json } from '../../pipeline/support/upstream.ts'
import { getApiKey, openWorld } from '../../pipeline/support/world.ts'
import { createRandom } from '../../support/random.ts'
import { assert, suite } from '../../support/suite.ts'
import { dataUrl, getBytes, jpeg, png, webp } from './images.ts'
import { imageVendors, openImages, vendorNames } from './vendors.ts'

const test = suite('images with malformed data')

const event = (type: string, extra: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...extra })}\n\n`
const STREAM = `${event('image_generation.partial_image', { b64_json: png, partial_image_index: 0 })}${event(
  'image_generation.completed',
  { b64_json: png, usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } },
)}`

/** Opens a gateway with two providers whose streams are set by the test. */
async function openStreaming() {
  let respond = () => new Response()
  const upstream = fakeUpstream(() => respond())
  const catalog = { one: { baseUrl: 'http://one.test/v1' }, openrouter: { baseUrl: 'http://openrouter.test/v1' } }
  const { post, recorded, clock } = await openWorld({ fetch: upstream, catalog, connections: ['one', 'openrouter'] })
  return async (chunks: string[], end: End, { provider = 'one' } = {}) => {
    respond = () => new Response(getBody(chunks, end), { headers: { 'content-type': 'text/event-stream' } })
    const response = await post('/v1/images/generations', { model: `${provider}/m`, prompt: 'a walk', stream: true })
    const text = await response.text()
    assert.equal([recorded.errors.length, upstream.open], [0, 0])
    await clock.advance(10 * 60_000) // until the target has recovered
    return text
  }
}

for (const provider of ['one', 'openrouter'])
  for (const end of ['close', 'error'] as const)
    test(`a truncated stream from ${provider} never ends normally (${end})`, async () => {
      const streamed = await openStreaming()
      const full = await streamed([STREAM], 'close', { provider })
      assert.match(full, /image_generation\.completed/)
      assert.not.match(full, /"error"/)
      const last = STREAM.trimEnd().length // at this length, only the trailing blank line is missing
      for (let index = 0; index < last; index += process.env.CI ? 1 : 4) {
        const text = await streamed([STREAM.slice(0, index)], end, { provider })
        assert.match(text, /"error"/, `${index}: ${text.slice(0, 200)}`)
      }
    })

test("a provider's error event becomes an error event for the client and exposes no key", async () => {
  const [partial = ''] = STREAM.split('event: image_generation.completed')
  const key = getApiKey('one')
  const failing = event('error', { error: { message: `bad key ${key}`, code: 'x' } })
  const streamed = await openStreaming()
  const text = await streamed([partial, failing], 'close')
  assert.match(text, /partial_image/)
  assert.match(text, /"error"/)
  assert.not.match(text, new RegExp(key))
  assert.not.match(text, /completed/)
})

const files: readonly FormPart[] = [
  { name: 'image', fileName: 'a.png', type: 'image/png', bytes: getBytes(png) },
  { name: 'image[]', fileName: 'b.jpg', type: 'image/jpeg', bytes: getBytes(jpeg) },
  { name: 'image', fileName: undefined, type: '', bytes: getBytes(webp) },
  { name: 'mask', fileName: 'm.png', type: 'image/png', bytes: getBytes(png) },
  { name: 'markup', fileName: 'k.png', type: 'image/png', bytes: getBytes(png) },
  { name: 'image', fileName: 'x.txt', type: 'text/plain', bytes: encodeUtf8('no picture') },
  { name: 'image', fileName: 'empty.png', type: 'image/png', bytes: new Uint8Array(0) },
  { name: 'other', fileName: 'o.bin', type: 'application/octet-stream', bytes: new Uint8Array([0, 255]) },
]
const values: readonly unknown[] = [
  ...[null, 0, -1, 1.5, 7, 1e9, '', 'x', 'auto', true, [], {}, [null], [[]], { url: 7 }, '1x1', '0x0', '99999x99999'],
  ...['16:9', '0:0', '1:9999', '4K', 'url', 'b64_json', dataUrl(png), dataUrl('%%%'), 'data:image/png;base64,A'],
  ...['http://evil.test/a.png', 'https://cdn.test/a.png', { image_url: { url: dataUrl(jpeg) } }, 'file:///etc/passwd'],
]
const names = [
  ...['prompt', 'n', 'size', 'aspect_ratio', 'resolution', 'response_format', 'stream', 'image', 'images', 'mask'],
  ...['markup', 'seed', 'quality', 'partial_images', 'output_format', 'moderation', 'input_references', 'more'],
]

const times = process.env.CI ? 3_000 : 200
test(`none of ${times} random image requests causes a gateway error`, async () => {
  const random = createRandom(11)
  const { gateway, recorded, clock } = await openImages()
  for (let index = 0; index < times; index++) {
    const model = imageVendors[vendorNames[random.below(vendorNames.length)] ?? 'openai'].model
    const body: Record<string, unknown> = { model, prompt: 'a walk' }
    for (let more = random.below(5); more > 0; more--)
      body[names[random.below(names.length)] ?? ''] = values[random.below(values.length)]
    const isForm = random.below(2) === 0
    const parts: FormPart[] = Object.entries(body).map(([name, value]) => ({ name, value: String(value) }))
    for (let more = random.below(4); more > 0; more--)
      parts.push(files[random.below(files.length)] ?? parts[0] ?? (assert.unreachable() as never))
    const form = serializeForm(parts)
    const request = isForm
      ? { body: form.bytes as Uint8Array<ArrayBuffer>, headers: { 'content-type': form.contentType } }
      : { body: JSON.stringify(body) }
    const path = isForm || random.below(2) === 0 ? 'edits' : 'generations'
    const pending = gateway.fetch(new Request(`http://gateway/v1/images/${path}`, { method: 'POST', ...request }))
    let isOver = false
    void pending.then(() => {
      isOver = true
    })
    for (let wait = 0; !isOver && wait < 400; wait++) await clock.advance(wait < 30 ? 0 : 1_000)
    const response = await pending
    const text = await response.text()
    assert.ok(response.status !== 500, `${JSON.stringify(body).slice(0, 300)} ${text}`)
  }
  assert.equal(recorded.errors, [])
})

test('an image upload over its limit returns a 413 that names the option', async () => {
  const { send, upstream } = await openImages({ limits: { maxImageBytes: 2_000 } })
  const response = await send('openai/gpt-image-2', { image: dataUrl('A'.repeat(4_000)) }, { path: 'edits' })
  assert.is(response.status, 413)
  assert.match(await response.text(), /limits\.maxImageBytes/)
  assert.is(upstream.calls.length, 0)
})

test('the limit for images in JSON applies to their total bytes', async () => {
  const { send } = await openImages({ limits: { maxImageBytes: 3_000 } })
  const image = dataUrl(Buffer.concat([getBytes(png), Buffer.alloc(1_400)]).toString('base64'))
  const most = { image: [image], mask: image }
  assert.is((await send('openai/gpt-image-2', most, { path: 'edits' })).status, 200)
  for (const body of [
    { image: [image, image], mask: image },
    { image, images: [{ image_url: image }], markup: image },
  ])
    assert.is((await send('openai/gpt-image-2', body, { path: 'edits' })).status, 413)
})

test('the error for too many images or masks, or a mask with markup, names the field', async () => {
  const { send, upstream } = await openImages()
  const image = dataUrl(png)
  for (const [body, field] of [
    [{ image: Array(17).fill(image) }, 'image'],
    [{ image, mask: [image, image] }, 'mask'],
    [{ image, mask: image, markup: image }, 'markup'],
    [{ image: 'http://cdn.test/a.png' }, 'image'],
    [{ image: [image, 7] }, 'image[1]'],
    [{}, 'image'],
    [{ image, n: 0 }, 'n'],
    [{ image, size: 'big' }, 'size'],
    [{ image, resolution: '8K' }, 'resolution'],
    [{ image, size: '512x512', resolution: '4K' }, 'resolution'],
    [{ image, size: '1K', resolution: '4K' }, 'resolution'],
    [{ image, prompt: ' ' }, 'prompt'],
  ] as const) {
    const response = await send('openai/gpt-image-2', body, { path: 'edits' })
    const { error } = (await response.json()) as { error: { param: string; message: string } }
    assert.equal([response.status, error.param], [400, field], error.message)
  }
  assert.is(upstream.calls.length, 0)
})

test("a vendor's invalid base64 is returned unchanged", async () => {
  const { send } = await openImages({ respond: () => json({ data: [{ b64_json: '%%%' }] }) })
  const response = await send('xai/grok-imagine-image', {})
  assert.is(response.status, 200)
  assert.equal((await response.json()).data, [{ b64_json: '%%%' }])
})
