import { isFile, parseForm } from '../../../src/lib/multipart.ts'
import type { Call } from '../../pipeline/support/upstream.ts'
import { never } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { getBytes, jpeg, png } from './images.ts'
import { imageVendors, openImages } from './vendors.ts'

const test = suite('image URLs for vendors that only accept bytes')

const ADDRESS = 'https://pictures.org/a.png?token=very-secret'
const isImage = ({ url }: Call) => url.hostname === 'pictures.org'

const served = (bytes: Uint8Array<ArrayBuffer> = getBytes(png), type = 'application/octet-stream') => ({
  respond: (call: Call) => (isImage(call) ? new Response(bytes, { headers: { 'content-type': type } }) : undefined),
})

for (const [name, sentBy] of [
  ['openai', (call: Call) => parseForm(call.init.body as Uint8Array, call.headers.get('content-type') ?? '')],
  ['google', (call: Call) => JSON.parse(call.body).contents[0].parts],
] as const)
  test(`${name} gets the bytes of an image that the client sends as a URL`, async () => {
    const { send, upstream } = await openImages(served())
    const response = await send(imageVendors[name].model, { image: [ADDRESS, ADDRESS] }, { path: 'edits' })
    assert.is(response.status, 200, await response.text())
    const [image, call, ...others] = upstream.calls
    assert.equal([image && isImage(image), call !== undefined, others.length], [true, true, 0])
    for (const header of ['authorization', 'x-goog-api-key', 'cookie']) assert.is(image?.headers.get(header), null)
    const sent = call ? sentBy(call) : []
    if (name === 'google')
      assert.equal(sent.slice(1), [
        { inlineData: { mimeType: 'image/png', data: png } },
        { inlineData: { mimeType: 'image/png', data: png } },
      ])
    else {
      const files = parseForm(call?.init.body as Uint8Array, call?.headers.get('content-type') ?? '').filter(isFile)
      assert.equal(
        files.map(({ name: field, type, bytes }) => [field, type, bytes.length]),
        Array(2).fill(['image[]', 'image/png', getBytes(png).length]),
      )
    }
  })

test('a vendor that accepts URLs gets them unchanged', async () => {
  const { send, upstream } = await openImages(served())
  await send(imageVendors.xai.model, { image: ADDRESS }, { path: 'edits' })
  assert.is(upstream.calls.filter(isImage).length, 0)
  assert.match(upstream.calls[0]?.body ?? '', /pictures\.org/)
})

test("a combo's next target reuses the image downloaded for the first target", async () => {
  const { send, upstream } = await openImages({
    ...served(getBytes(jpeg)),
    combos: { pair: { models: [imageVendors.openai.model, imageVendors.google.model], kind: 'image' } },
    respond: (call) =>
      isImage(call)
        ? new Response(getBytes(jpeg))
        : call.url.hostname === 'api.openai.com'
          ? new Response('{"error":{"message":"slow down"}}', { status: 429 })
          : undefined,
  })
  const response = await send('pair', { image: ADDRESS }, { path: 'edits' })
  assert.is(response.status, 200, await response.text())
  assert.is(upstream.calls.filter(isImage).length, 1)
  assert.match(upstream.calls.at(-1)?.body ?? '', /"mimeType":"image\/jpeg"/)
})

for (const [label, address, reply] of [
  ['is private', 'https://10.0.0.1/a.png', undefined],
  ['points to the local machine', 'https://localhost/a.png', undefined],
  ['contains a credential', 'https://a:b@pictures.org/a.png', undefined],
  ['does not return an image', ADDRESS, () => new Response('<html>', { headers: { 'content-type': 'image/png' } })],
  ['is not found', ADDRESS, () => new Response('no', { status: 404 })],
  [
    'redirects to a private URL',
    ADDRESS,
    () => new Response(null, { status: 302, headers: { location: 'https://192.168.0.1/' } }),
  ],
  [
    'redirects to an unencrypted URL',
    ADDRESS,
    () => new Response(null, { status: 302, headers: { location: 'http://pictures.org/' } }),
  ],
] as const)
  test(`an image whose URL ${label} is rejected without calling a vendor`, async () => {
    const { send, upstream, recorded } = await openImages({
      respond: (call) => (isImage(call) ? reply?.() : undefined),
    })
    for (const name of ['openai', 'google'] as const) {
      const response = await send(imageVendors[name].model, { image: address }, { path: 'edits' })
      const text = await response.text()
      assert.is(response.status, 400, text)
      assert.match(text, /\\"image\\"/)
      assert.not.match(text, /very-secret/)
    }
    assert.is(upstream.calls.filter((call) => !isImage(call)).length, 0)
    assert.equal(recorded.errors, [])
  })

test('a gateway without media downloads rejects image URLs', async () => {
  const { send, upstream } = await openImages({ ...served(), fetchMedia: false })
  const response = await send(imageVendors.openai.model, { image: ADDRESS }, { path: 'edits' })
  assert.equal([response.status, upstream.calls.length], [400, 0])
  assert.match(await response.text(), /Send the image itself/)
})

test('a client disconnect aborts an image download', async () => {
  const controller = new AbortController()
  const { send, upstream } = await openImages({
    respond(call) {
      if (!isImage(call)) return undefined
      queueMicrotask(() => controller.abort()) // immediate, because `send` advances the clock by minutes while it waits
      return never()
    },
  })
  const { status } = await send(
    imageVendors.openai.model,
    { image: ADDRESS },
    { path: 'edits', signal: controller.signal },
  )
  assert.equal([status, upstream.calls.length, upstream.open], [499, 1, 0])
})
