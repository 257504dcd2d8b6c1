import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import { type Call, fakeUpstream, json, never, type Respond } from '../../pipeline/support/upstream.ts'
import { getApiKey, openWorld } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'
import { getBytes, jpeg, png } from './images.ts'
import { imageVendors, openImages, SAMPLE } from './vendors.ts'

const test = suite('images from a job or a URL')

const { model, makes } = imageVendors.bfl
const POLL = 'https://api.eu2.bfl.ai/v1/get_result?id=j'
const ready = (sample = SAMPLE) => json({ id: 'j', status: 'Ready', result: { sample } })
const isPoll = ({ url }: Call) => url.pathname === '/v1/get_result'
const isSample = ({ url }: Call) => url.href === SAMPLE

test('an image job is polled at the URL that the vendor returned, with the API key', async () => {
  const { send, upstream } = await openImages()
  const response = await send(model, {})
  assert.is(response.status, 200)
  const polls = upstream.calls.filter(isPoll)
  assert.equal(
    polls.map(({ url, init, headers }) => [url.href, init.method, headers.get('x-key')]),
    [
      [POLL, 'GET', getApiKey('bfl')],
      [POLL, 'GET', getApiKey('bfl')],
    ],
  )
})

test("a job's image is downloaded without the key, and only if the client wants bytes", async () => {
  const { send, upstream } = await openImages()
  await send(model, {})
  const [sample] = upstream.calls.filter(isSample)
  assert.not.match(JSON.stringify([...(sample?.headers ?? [])]), /secret/)
  const response = await send(model, { response_format: 'url' })
  assert.equal(((await response.json()) as { data: unknown[] }).data, [{ url: SAMPLE }])
  assert.is(upstream.calls.filter(isSample).length, 1)
})

test('an image costs the amount that the vendor reports', async () => {
  const { send, api } = await openImages({ usage: true })
  await send(model, {})
  const { requests } = await api.usage.requests({})
  assert.equal([requests[0]?.costUsd, requests[0]?.costSource, requests[0]?.units], [0.03, 'reported', { image: 1 }])
})

const ends: Record<string, { status: string; code: number; requests: string[] }> = {
  'is rejected by a content filter': { status: 'Request Moderated', code: 400, requests: ['bfl'] },
  'returns a rejected image': { status: 'Content Moderated', code: 400, requests: ['bfl'] },
  fails: { status: 'Error', code: 502, requests: ['bfl'] },
  'is not found': { status: 'Task not found', code: 502, requests: ['bfl'] },
}
for (const [label, { status, code }] of Object.entries(ends))
  test(`a job that ${label} isn't started again, and returns ${code}`, async () => {
    const { send, upstream } = await openImages({
      combos: { pool: { models: [model, 'openai/gpt-image-2'], kind: 'image' } },
      respond: (call) => (isPoll(call) ? json({ id: 'j', status, result: null }) : undefined),
    })
    const response = await send('pool', {})
    assert.is(response.status, code, await response.text())
    assert.equal(upstream.calls.filter(({ init }) => init.method === 'POST').length, 1)
  })

test('a job with an unknown state or an unreadable response counts as still running', async () => {
  const polls: Respond[] = [
    () => json({ id: 'j', status: 'Queued' }),
    () => json({ detail: 'busy' }, 429),
    () => json({}, 502),
    () => Promise.reject(new TypeError('fetch failed')),
    () => new Response('<html>'),
    () => ready(),
  ]
  let index = 0
  const { send } = await openImages({
    respond: (call) => (isPoll(call) ? (polls[index++] ?? (() => ready()))(call, index) : undefined),
  })
  assert.is((await send(model, {})).status, 200)
  assert.is(index, 6)
})

test('an image job that never ends is abandoned after five minutes', async () => {
  const { send, upstream, clock } = await openImages({
    respond: (call) => (isPoll(call) ? json({ status: 'Pending' }) : undefined),
  })
  const pending = send(model, {})
  for (let times = 0; times < 400; times++) await clock.advance(1_000)
  assert.is((await pending).status, 504)
  assert.ok(upstream.calls.length < 130)
})

const ADDRESSES = [
  'https://evil.test/v1/get_result?id=j',
  'http://api.bfl.ai/v1/get_result?id=j',
  'https://api.bfl.ai.evil.test/get_result',
  'https://evilbfl.ai/get_result',
  'https://api.bfl.ai:8443/get_result',
  'https://user:pass@api.bfl.ai/get_result',
  'https://169.254.169.254/latest/meta-data',
  'file:///etc/passwd',
  '//evil.test/x',
  'nonsense',
]
for (const address of ADDRESSES)
  test(`a job at ${address} isn't polled`, async () => {
    const { send, upstream } = await openImages({
      respond: ({ url }) => (url.href === makes ? json({ id: 'j', polling_url: address }) : undefined),
    })
    const response = await send(model, {})
    assert.is(response.status, 502, await response.text())
    assert.equal(
      upstream.calls.map(({ url }) => url.href),
      [makes],
    )
  })

test('a connection with its own base URL sends its key only to jobs at that URL', async () => {
  for (const [polling, key] of [
    ['https://proxy.test/v1/get_result', getApiKey('bfl')],
    ['https://api.us1.bfl.ai/v1/get_result', null],
  ] as const) {
    const upstream = fakeUpstream((call) => {
      if (isPoll(call)) return ready()
      if (isSample(call)) return new Response(getBytes(jpeg), { headers: { 'content-type': 'image/jpeg' } })
      return json({ id: 'j', polling_url: polling })
    })
    const { post, clock } = await openWorld({
      fetch: upstream,
      catalog: defaultCatalog,
      connections: [{ provider: 'bfl', providerSpecificData: { baseUrl: 'https://proxy.test/v1' } }],
    })
    const pending = post('/v1/images/generations', { model, prompt: 'a walk' })
    for (let times = 0; times < 40; times++) await clock.advance(times < 20 ? 0 : 500)
    assert.is((await pending).status, 200)
    assert.is(upstream.calls.find(isPoll)?.headers.get('x-key') ?? null, key)
  }
})

const PICTURES = [
  'http://delivery.bfl.ai/sample.png',
  'https://127.0.0.1/sample.png',
  'https://localhost/sample.png',
  'https://10.0.0.1/x.png',
  'https://[::1]/x.png',
  'https://metadata.google.internal/x',
  'https://a:b@cdn.test/x.png',
]
for (const address of PICTURES)
  test(`an image at ${address} isn't downloaded, and the client gets its URL with a warning`, async () => {
    const { send, upstream } = await openImages({ respond: (call) => (isPoll(call) ? ready(address) : undefined) })
    const response = await send(model, {})
    assert.is(response.status, 200)
    assert.match(response.headers.get('x-signalbox-warning') ?? '', /dropped:answer\.b64_json/)
    assert.equal(((await response.json()) as { data: unknown[] }).data, [{ url: address }])
    assert.equal(
      upstream.calls.filter((call) => call.url.href !== makes && !isPoll(call)),
      [],
    )
  })

test("an image over the size limit isn't read", async () => {
  const { send } = await openImages({
    limits: { maxImageBytes: 1_000 },
    respond: (call) =>
      isSample(call) ? new Response(new Uint8Array(2_000), { headers: { 'content-type': 'image/png' } }) : undefined,
  })
  const response = await send(model, {})
  assert.equal(((await response.json()) as { data: unknown[] }).data, [{ url: SAMPLE }])
})

const phases: Record<string, (call: Call) => boolean> = {
  'before the headers': ({ init }) => init.method === 'POST',
  'during a poll': isPoll,
  'during the download of the image': isSample,
}
for (const [phase, isMeant] of Object.entries(phases))
  test(`a client that disconnects ${phase} aborts the call`, async () => {
    const { gateway, upstream, clock, recorded } = await openImages({
      respond: (call) => {
        if (isMeant(call)) return never()
        return isPoll(call) ? ready() : undefined
      },
    })
    const controller = new AbortController()
    const body = JSON.stringify({ model, prompt: 'a walk' })
    const replying = gateway.fetch(
      new Request('http://gateway/v1/images/generations', { method: 'POST', body, signal: controller.signal }),
    )
    for (let times = 0; times < 40; times++) await clock.advance(times < 20 ? 0 : 250)
    assert.is(upstream.open, 1)
    controller.abort()
    assert.is((await replying).status, 499)
    assert.equal([upstream.open, clock.pending(), recorded.errors.length], [0, 0, 0])
  })

test('a client that disconnects between two polls ends the job', async () => {
  const { gateway, upstream, clock } = await openImages({
    respond: (call) => (isPoll(call) ? json({ status: 'Pending' }) : undefined),
  })
  const controller = new AbortController()
  const body = JSON.stringify({ model, prompt: 'a walk' })
  const replying = gateway.fetch(
    new Request('http://gateway/v1/images/generations', { method: 'POST', body, signal: controller.signal }),
  )
  for (let times = 0; times < 30; times++) await clock.advance(times < 20 ? 0 : 100)
  controller.abort()
  assert.is((await replying).status, 499)
  const calls = upstream.calls.length
  await clock.advance(60_000)
  assert.equal([upstream.calls.length, clock.pending()], [calls, 0])
})

test('the client gets two of three images if one of them failed', async () => {
  let index = 0
  const { send } = await openImages({
    respond: ({ url }) => (url.href === imageVendors.google.makes && ++index === 2 ? json({}, 500) : undefined),
  })
  const response = await send(imageVendors.google.model, { n: 3 })
  assert.is(response.status, 200)
  assert.is(
    ((await response.json()) as { data: Array<{ b64_json: string }> }).data.filter((item) => item.b64_json === png)
      .length,
    2,
  )
  assert.match(response.headers.get('x-signalbox-warning') ?? '', /dropped:answer\.images/)
})

test('a content filter that responds with a 200 fails the request without a fallback', async () => {
  const responses: Record<string, unknown> = {
    google: { candidates: [{ finishReason: 'IMAGE_SAFETY' }] },
    xai: { data: [{ url: '', respect_moderation: false }] },
    fireworks: { base64: [''], finishReason: 'CONTENT_FILTERED' },
  }
  for (const [name, reply] of Object.entries(responses)) {
    const { model } = imageVendors[name as 'google']
    const { send, upstream } = await openImages({
      combos: { pool: { models: [model, 'openai/gpt-image-2'], kind: 'image' } },
      respond: () => json(reply),
    })
    const response = await send('pool', {})
    assert.equal([response.status, upstream.calls.length], [400, 1], await response.text())
  }
})

test('a stream stays open during an image job, and ends with the image or the error', async () => {
  for (const [status, last] of [
    ['Ready', /event: image_generation\.completed\n.*"output_format":"jpeg"/],
    ['Request Moderated', /^data: \{"error":\{"message":"[^"]*(?:\\"bfl\\")?[^"]*content filter/m],
  ] as const) {
    let requestCount = 0
    const { send, upstream, clock } = await openImages({
      respond: (call) => {
        if (!isPoll(call)) return undefined
        return ++requestCount > 20 ? json({ status, result: { sample: SAMPLE } }) : json({ status: 'Pending' })
      },
    })
    const pending = send(model, { stream: true }).then((response) => response.text())
    for (let times = 0; times < 150; times++) await clock.advance(times < 30 ? 0 : 500)
    const text = await pending
    assert.match(text, /^: keep-alive\n\n/)
    assert.match(text, last)
    assert.equal([upstream.open, clock.pending()], [0, 0])
  }
})
