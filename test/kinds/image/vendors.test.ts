import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import { fakeUpstream, json } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'
import { dataUrl, getBytes, png } from './images.ts'
import { getFields, imageVendors, openImages, type VendorName, vendorNames } from './vendors.ts'

const test = suite('images from each vendor')

interface Reply {
  created: number
  data: Array<{ b64_json?: string; url?: string }>
  size?: string
  output_format?: string
  usage?: { input_tokens: number; output_tokens: number }
}

for (const name of vendorNames) {
  const { model, makes, edits, ...vendor } = imageVendors[name]
  const key = 'key' in vendor ? vendor.key : 'authorization'

  test(`${name} generates an image in base64 with its size`, async () => {
    const { send, upstream, recorded } = await openImages()
    const response = await send(model, {})
    const body = (await response.json()) as Reply
    assert.is(response.status, 200, JSON.stringify(body))
    const [image] = body.data
    assert.ok(image?.b64_json && getBytes(image.b64_json).length > 20)
    if (name !== 'openai' && name !== 'azure') assert.equal([body.size, body.created > 0], ['1x1', true])
    const [call] = upstream.calls
    assert.is(call?.url.href, makes)
    assert.match(call?.headers.get(key) ?? '', /secret-of|Bearer/)
    assert.is(response.headers.get('x-signalbox-warning'), null)
    assert.equal([recorded.errors, upstream.open], [[], 0])
  })

  test(`${name} gets the size in its own format, with as many calls as needed`, async () => {
    const { send, upstream } = await openImages()
    const response = await send(model, { size: '1536x1024', n: 3 })
    assert.is(response.status, 200, await response.clone().text())
    assert.is(((await response.json()) as Reply).data.length, 3)
    const requested = upstream.calls.filter(({ url }) => url.href === makes)
    assert.is(requested.length, 'most' in vendor ? 3 : 1)
    const { n: _, ...sent } = getFields(requested[0])
    assert.equal(SIZES[name](sent), true, JSON.stringify(sent))
  })

  if (edits !== '')
    test(`${name} edits an image from a form or from JSON`, async () => {
      const { send, upstream, gateway, clock } = await openImages()
      const asJson = await send(model, { image: dataUrl(png) }, { path: 'edits' })
      assert.is(asJson.status, 200, await asJson.clone().text())
      assert.ok(((await asJson.json()) as Reply).data[0]?.b64_json)
      const form = new FormData()
      form.append('image', new File([getBytes(png)], 'walk.png', { type: 'image/png' }))
      form.append('model', model)
      form.append('prompt', 'a walk')
      form.append('n', '1')
      const pending = gateway.fetch(new Request('http://gateway/v1/images/edits', { method: 'POST', body: form }))
      for (let times = 0; times < 60; times++) await clock.advance(times < 40 ? 0 : 1_000)
      const asForm = await pending
      assert.is(asForm.status, 200, await asForm.clone().text())
      const sent = upstream.calls.filter(({ url }) => url.href === edits)
      assert.is(sent.length, 2)
    })

  test(`${name} returns at least one event for a streaming request`, async () => {
    const { send } = await openImages()
    const response = await send(model, { stream: true })
    const text = await response.text()
    assert.is(response.status, 200, text)
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
    assert.match(text, /^event: image_generation\.completed\ndata: \{"type":"image_generation\.completed"/m)
    assert.match(text, /"b64_json":"/)
  })

  test(`unsupported options cause warnings for ${name}, and errors in strict mode`, async () => {
    const { send, upstream } = await openImages()
    const body = { style: 'vivid', negative_prompt: 'rain', background: 'transparent', quality: 'high', seed: 7 }
    const response = await send(model, body)
    if (response.status === 200) {
      const lost = response.headers.get('x-signalbox-warning') ?? ''
      const sent = JSON.stringify(getFields(upstream.calls[0]))
      for (const field of Object.keys(body))
        assert.ok(lost.includes(`dropped:${field}`) || sent.includes(`"${field}"`), `${field}: ${lost} ${sent}`)
    } else assert.ok(name === 'openai' || name === 'azure', String(response.status))
    const strict = await send(model, body, { headers: { 'x-signalbox-strict': 'true' } })
    assert.is(strict.status, 400, await strict.text())
  })
}

test("a size over the vendor's maximum, or a conflicting ratio, causes a warning", async () => {
  const { send } = await openImages()
  for (const [model, body, lost] of [
    ['fireworks', { resolution: '4K' }, 'replaced:resolution'],
    ['fireworks', { size: '4096x4096' }, 'replaced:size'],
    ['fireworks', { size: '1024x1024' }, undefined],
    ['bfl', { resolution: '4K' }, 'replaced:resolution'],
    ['bfl', { resolution: '2K' }, undefined],
    ['together', { resolution: '4K', aspect_ratio: '16:9' }, 'replaced:resolution'],
    ['google', { size: '1024x1024', aspect_ratio: '16:9' }, 'dropped:aspect_ratio'],
    ['bfl', { size: '1024x1024', aspect_ratio: '16:9' }, 'dropped:aspect_ratio'],
    ['openrouter', { size: '1024x1024', aspect_ratio: '16:9' }, 'dropped:aspect_ratio'],
    ['openai', { size: '1024x1024', aspect_ratio: '16:9' }, 'dropped:aspect_ratio'],
    ['openai', { aspect_ratio: '16:9' }, undefined],
    ['xai', { size: '1536x1024', aspect_ratio: '3:2' }, undefined],
  ] as const) {
    const response = await send(imageVendors[model].model, body)
    const label = JSON.stringify([model, body])
    assert.is(response.status, 200, `${label} ${await response.text()}`)
    assert.is(response.headers.get('x-signalbox-warning') ?? undefined, lost, label)
  }
})

test('OpenAI models before gpt-image-2 use the closest of their three supported sizes', async () => {
  const { send, upstream } = await openImages()
  for (const [aspect_ratio, size, lost] of [
    ['1:1', '1024x1024', undefined],
    ['16:9', '1536x1024', 'replaced:aspect_ratio'],
    ['2:3', '1024x1536', undefined],
  ]) {
    const response = await send('openai/gpt-image-1.5', { aspect_ratio })
    assert.is(JSON.parse(upstream.calls.at(-1)?.body ?? '{}').size, size)
    assert.is(response.headers.get('x-signalbox-warning') ?? undefined, lost)
  }
})

/** Checks that the vendor received the size 1536x1024. */
const SIZES: Readonly<Record<VendorName, (sent: Record<string, unknown>) => boolean>> = {
  openai: ({ size }) => size === '1536x1024',
  azure: ({ size }) => size === '1536x1024',
  google: (sent) =>
    JSON.stringify(sent.generationConfig).includes('"imageConfig":{"aspectRatio":"3:2","imageSize":"1K"}'),
  vertex: (sent) =>
    JSON.stringify(sent.generationConfig).includes('"imageConfig":{"aspectRatio":"3:2","imageSize":"1K"}'),
  xai: ({ aspect_ratio: ratio, resolution }) => ratio === '3:2' && resolution === '1k',
  together: ({ width, height }) => width === 1_536 && height === 1_024,
  fireworks: ({ aspect_ratio: ratio }) => ratio === '3:2',
  openrouter: ({ size }) => size === '1536x1024',
  bfl: ({ width, height }) => width === 1_536 && height === 1_024,
}

test('a mask is never dropped', async () => {
  const { send, upstream } = await openImages()
  for (const name of vendorNames.filter((vendorName) => vendorName !== 'openai' && vendorName !== 'azure')) {
    const response = await send(
      imageVendors[name].model,
      { image: dataUrl(png), mask: dataUrl(png) },
      { path: 'edits' },
    )
    assert.is(response.status, 400, name)
    assert.match(await response.text(), /"mask"|"image"/)
  }
  assert.is(upstream.calls.length, 0)
  const response = await send('openai/gpt-image-2', { image: dataUrl(png), mask: dataUrl(png) }, { path: 'edits' })
  assert.is(response.status, 200)
  const { image, mask } = getFields(upstream.calls[0])
  assert.equal([image, mask], [getBytes(png).length, getBytes(png).length])
})

test('a form request selects the Azure deployment, just like a JSON request', async () => {
  const upstream = fakeUpstream(() => json({ data: [{ b64_json: png }] }))
  const { gateway, post } = await openWorld({
    fetch: upstream,
    catalog: defaultCatalog,
    connections: [{ provider: 'azure', providerSpecificData: { resource: 'res', deployment: 'mine' } }],
  })
  const form = new FormData()
  form.append('prompt', 'a walk')
  form.append('image', new File([getBytes(png)], 'walk.png', { type: 'image/png' }))
  form.append('model', 'azure/gpt-image-2')
  await gateway.fetch(new Request('http://gateway/v1/images/edits', { method: 'POST', body: form }))
  const callOptions = { model: 'azure/gpt-image-2', prompt: 'a walk' }
  await post('/v1/images/edits', { ...callOptions, image: dataUrl(png) })
  await post('/v1/images/generations', callOptions)
  assert.equal(
    upstream.calls.map((call) => [getFields(call).model, getFields(call).image]),
    [
      ['mine', getBytes(png).length],
      ['mine', getBytes(png).length],
      ['mine', undefined],
    ],
  )
})
