import { assert, suite } from '../support/suite.ts'
import { ADDRESS, createRequest, getError, image, MIB, media, openMedia, PNG, png } from './support/media.ts'
import { getBody, never, type Respond } from './support/upstream.ts'

const test = suite('limits on media downloads')

test("an image whose declared length is too large isn't read", async () => {
  const { message, upstream } = await getError(() => media(PNG, 'image/png', { 'content-length': `${20 * MIB + 1}` }))
  assert.match(message, 'larger than 20 MiB')
  assert.is(upstream.pulled, 0)
})

test('reading an image stops if it turns out to be too large', async () => {
  let chunks = 0
  function* endless() {
    for (;;) {
      chunks++
      yield BLANK
    }
  }
  const { message } = await getError(() => media(getBody(endless()) as BodyInit, 'image/png'))
  assert.match(message, 'larger than 20 MiB')
  assert.ok(chunks <= 22, `${chunks} chunks`)
})

/** Yields 18 MiB. */
function* large() {
  yield PNG
  for (let chunks = 0; chunks < 18; chunks++) yield BLANK
}

const BLANK = new Uint8Array(MIB)

test('images whose total size is too large are rejected', async () => {
  const { world, upstream } = await openMedia(() => media(getBody(large()) as BodyInit, 'image/png'))
  const images = ['a', 'b', 'c'].map((name) => image(`https://images.example.com/${name}`))
  const response = await world.chat(createRequest('google/g', ...images))
  assert.is(response.status, 400)
  assert.match((await response.json()).error.message, 'the files together are larger than 50 MiB')
  assert.is(upstream.open, 0)
})

test('a media URL counts toward the total size each time it occurs', async () => {
  const { world, fetched } = await openMedia(() => media(getBody(large()) as BodyInit, 'image/png'))
  const response = await world.chat(createRequest('google/g', image(), image(), image()))
  assert.match((await response.json()).error.message, 'the files together are too large')
  assert.equal(fetched, [ADDRESS])
})

test('a request with more than 20 media URLs is rejected', async () => {
  const { world } = await openMedia(png)
  const images = (count: number) =>
    Array.from({ length: count }, (_, index) => image(`https://images.example.com/${index}.png`))
  assert.is((await world.chat(createRequest('google/g', ...images(20)))).status, 200)
  const { error } = await (await world.chat(createRequest('google/g', ...images(21)))).json()
  assert.is(error.param, 'messages[0].content[20]')
  assert.match(error.message, 'more than 20')
})

test('at most 4 media files are downloaded at a time', async () => {
  const responses: (() => void)[] = []
  let most = 0
  let open_ = 0
  const { world } = await openMedia(async () => {
    most = Math.max(most, ++open_)
    await new Promise<void>((resolve) => responses.push(resolve))
    open_--
    return media(PNG, 'image/png')
  })
  const images = Array.from({ length: 9 }, (_, index) => image(`https://images.example.com/${index}.png`))
  const response = world.chat(createRequest('google/g', ...images))
  for (let answered = 0; answered < 9; answered++) {
    while (responses.length === 0) await world.clock.advance(0)
    responses.shift()?.()
  }
  assert.is((await response).status, 200)
  assert.is(most, 4)
})

for (const [phase, files] of Object.entries<Respond>({
  headers: never,
  body: () => media(getBody([PNG], 'hang') as BodyInit, 'image/png'),
})) {
  test(`an image download without its ${phase} after 10 s is abandoned`, async () => {
    const { upstream, world } = await openMedia(files)
    const response = world.chat(createRequest('google/g', image()))
    while (upstream.calls.length === 0) await world.clock.advance(0)
    await world.clock.advance(9_999)
    assert.is(upstream.open, 1)
    await world.clock.advance(1)
    assert.match((await (await response).json()).error.message, 'it took longer than 10 s')
    assert.is(upstream.open, 0)
    assert.is(world.clock.pending(), 0)
  })

  test(`a client disconnect before the ${phase} aborts the download`, async () => {
    const { upstream, world } = await openMedia(files)
    const controller = new AbortController()
    const response = world.chat(createRequest('google/g', image()), { signal: controller.signal })
    while (upstream.calls.length === 0) await world.clock.advance(0)
    await world.clock.advance(0)
    controller.abort()
    assert.is(upstream.calls[0]?.signal.aborted, true, 'immediately')
    assert.is((await response).status, 499)
    assert.is(upstream.open, 0)
    assert.is(upstream.calls.length, 1)
    assert.is(world.clock.pending(), 0)
    assert.equal(world.recorded.errors, [])
  })

  test(`a client's timeout before the ${phase} aborts the download`, async () => {
    const { upstream, world } = await openMedia(files)
    const response = world.chat(createRequest('google/g', image()), { headers: { 'x-signalbox-timeout-ms': '500' } })
    while (upstream.calls.length === 0) await world.clock.advance(0)
    await world.clock.advance(500)
    assert.is((await response).status, 504)
    assert.is(upstream.open, 0)
    assert.is(world.clock.pending(), 0)
  })
}
