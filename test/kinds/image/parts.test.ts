import { isFile, parseForm } from '../../../src/lib/multipart.ts'
import { type Call, json } from '../../pipeline/support/upstream.ts'
import { getApiKey } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'
import { dataUrl, getBytes, jpeg, png } from './images.ts'
import { imageVendors, openImages, SAMPLE } from './vendors.ts'

const test = suite('masks, markup, and jobs of individual models')

const edits = { path: 'edits' } as const
const parseSent = (call: Call | undefined) => JSON.parse(call?.body ?? '{}')

test('a fill model gets the image and its mask as base64', async () => {
  const { send, upstream } = await openImages({
    respond: ({ url }) =>
      url.pathname === '/v1/flux-pro-1.0-fill'
        ? json({ id: 'j', polling_url: 'https://api.eu2.bfl.ai/v1/get_result?id=j', cost: 5 })
        : undefined,
  })
  const requestOptions = { image: dataUrl(png), mask: dataUrl(jpeg, 'image/jpeg'), size: '1024x1024' }
  const response = await send('bfl/flux-pro-1.0-fill', requestOptions, edits)
  assert.is(response.status, 200, await response.text())
  const { image, mask, input_image } = parseSent(upstream.calls[0])
  assert.equal([image, mask, input_image], [png, jpeg, undefined])
})

test('masks are rejected for models that change entire images, and markup for non-OpenAI models', async () => {
  const { send, upstream } = await openImages()
  for (const [model, member] of [
    ['bfl/flux-2-pro', 'mask'],
    ['bfl/flux-pro-1.0-fill', 'markup'],
    ['fireworks/accounts/fireworks/models/flux-kontext-pro', 'mask'],
    [imageVendors.google.model, 'markup'],
    [imageVendors.xai.model, 'markup'],
  ] as const) {
    const response = await send(model, { image: dataUrl(png), [member]: dataUrl(png) }, edits)
    assert.is(response.status, 400, model)
    assert.match(await response.text(), new RegExp(`\\\\"${member}\\\\"`), model)
  }
  assert.is(upstream.calls.length, 0)
})

test('markup and mask in JSON reach OpenAI as files', async () => {
  for (const member of ['markup', 'mask']) {
    const { send, upstream } = await openImages()
    const requestOptions = { image: dataUrl(png), [member]: dataUrl(jpeg, 'image/jpeg') }
    const response = await send(imageVendors.openai.model, requestOptions, edits)
    assert.is(response.status, 200, await response.text())
    const [call] = upstream.calls
    const parts = parseForm(call?.init.body as Uint8Array, call?.headers.get('content-type') ?? '')
    assert.equal(
      parts.filter(isFile).map(({ name, type, bytes }) => [name, type, bytes.length]),
      [
        ['image', 'image/png', getBytes(png).length],
        [member, 'image/jpeg', getBytes(jpeg).length],
      ],
    )
  }
})

const KONTEXT = 'accounts/fireworks/models/flux-kontext-pro'
const AT = `https://api.fireworks.ai/inference/v1/workflows/${KONTEXT}`

const samples: Record<string, string> = {
  'a URL': SAMPLE,
  'a data URL': dataUrl(jpeg, 'image/jpeg'),
  base64: jpeg,
}
for (const [label, sample] of Object.entries(samples))
  test(`a Kontext model at Fireworks runs a job that returns ${label}`, async () => {
    let polls = 0
    const { send, upstream, recorded } = await openImages({
      respond({ url }) {
        if (url.href === AT) return json({ request_id: 'r-1' })
        if (url.href !== `${AT}/get_result`) return undefined
        return json(++polls < 3 ? { id: 'r-1', status: 'Pending' } : { id: 'r-1', status: 'Ready', result: { sample } })
      },
    })
    const requestOptions = { image: dataUrl(png), output_format: 'jpeg', size: '1024x1024' }
    const response = await send(`fireworks/${KONTEXT}`, requestOptions, edits)
    const text = await response.text()
    assert.is(response.status, 200, text)
    assert.is(JSON.parse(text).data[0].b64_json, jpeg)
    const [first, second] = upstream.calls
    assert.equal(parseSent(first), {
      prompt: 'a walk',
      aspect_ratio: '1:1',
      output_format: 'jpeg',
      input_image: dataUrl(png),
    })
    const polled = new TextDecoder().decode(second?.init.body as Uint8Array)
    assert.equal([second?.init.method, JSON.parse(polled)], ['POST', { id: 'r-1' }])
    assert.is(second?.headers.get('authorization'), `Bearer ${getApiKey('fireworks')}`)
    assert.equal(recorded.usages[0]?.units, { image: 1 })
  })

test("a Kontext job that is rejected or fails isn't started again", async () => {
  for (const [status, code] of [
    ['Content Moderated', 400],
    ['Error', 502],
  ] as const) {
    const { send, upstream } = await openImages({
      combos: { pool: { models: [`fireworks/${KONTEXT}`, imageVendors.openai.model], kind: 'image' } },
      respond({ url }) {
        if (url.href === AT) return json({ request_id: 'r-1' })
        return url.href.startsWith(AT) ? json({ id: 'r-1', status }) : undefined
      },
    })
    const response = await send('pool', {})
    assert.is(response.status, code, await response.text())
    assert.ok(upstream.calls.every(({ url }) => url.host === 'api.fireworks.ai'))
  }
})

test('a Kontext model accepts only one image', async () => {
  const { send, upstream } = await openImages()
  const response = await send(`fireworks/${KONTEXT}`, { image: [dataUrl(png), dataUrl(png)] }, edits)
  assert.equal([response.status, upstream.calls.length], [400, 0])
})
