import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { ADDRESS, catalog, connections, createRequest, geminiAnswer, image, media, PNG } from './support/media.ts'
import { chatResponse } from './support/responses.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('media downloads for a hedged attempt')

const P95 = 20

/** Opens a hedging combo with a target that accepts URLs and one that doesn't. The first one is slow while the media are downloaded. */
async function fetching() {
  const clock = fakeClock()
  let isWarm = false
  const plain = Promise.withResolvers<Response>()
  const images = Promise.withResolvers<Response>()
  const upstream = fakeUpstream(async ({ url }, index) => {
    if (url.hostname === 'google.test') return json(geminiAnswer)
    if (isWarm) return url.hostname === 'plain.test' ? plain.promise : images.promise
    await clock.sleep(index <= 2 ? P95 : 10)
    return json(chatResponse())
  })
  const combos = { pair: { models: ['plain/m', 'google/g'], hedge: true } }
  const world = await openWorld({ fetch: upstream, clock, combos, catalog, connections })
  const until = async (calls: number) => {
    while (upstream.calls.length < calls) await clock.advance(0)
  }
  for (let request = 1; request <= 25; request++) {
    const response = world.chat(createRequest('pair'))
    await until(request)
    await clock.advance(P95)
    await response
  }
  isWarm = true
  upstream.calls.length = 0
  const controller = new AbortController()
  const response = world.chat(createRequest('pair', image()), { signal: controller.signal })
  await until(1)
  await clock.advance(P95)
  await until(2)
  assert.is(upstream.calls[1]?.url.href, ADDRESS)
  return {
    ...{ upstream, world, clock, controller, response },
    respond: (status = 200) => plain.resolve(json(status === 200 ? chatResponse() : { error: {} }, status)),
    give: () => images.resolve(media(PNG, 'image/png')),
  }
}

test("the first attempt's response doesn't wait for the second attempt's downloads, and cancels them", async () => {
  const { upstream, clock, response, respond } = await fetching()
  respond()
  assert.is((await response).headers.get('x-signalbox-target'), 'plain/m')
  await (await response).text()
  await clock.advance(0)
  assert.is(upstream.open, 0)
  assert.equal(upstream.providers.slice(2), [])
  assert.is(clock.pending(), 0)
})

test('the second attempt starts after its media are downloaded', async () => {
  const { response, give, upstream, clock } = await fetching()
  give()
  assert.is((await response).headers.get('x-signalbox-target'), 'google/g')
  await clock.advance(0)
  assert.is(upstream.open, 0)
})

test("a first attempt that fails during the download doesn't stop the second attempt", async () => {
  const { response, give, respond } = await fetching()
  respond(500)
  give()
  assert.is((await response).headers.get('x-signalbox-target'), 'google/g')
})

test('a client disconnect during the downloads ends both attempts', async () => {
  const { response, controller, upstream, clock } = await fetching()
  controller.abort()
  assert.is((await response).status, 499)
  assert.is(upstream.open, 0)
  await clock.advance(0)
  assert.is(clock.pending(), 0)
})
