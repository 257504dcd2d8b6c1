import { HttpResponse, http } from 'msw'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { upstream } from '../support/upstream.ts'
import { getIds, getListing, type World } from './world.ts'

const test = suite('upstream model fetch: timeouts and size limits')

const connection = (name: string) => ({
  provider: `openai-compatible-${name}`,
  apiKey: 'secret',
  providerSpecificData: { prefix: name, baseUrl: `http://${name}.test` },
})
const never = () => new Promise<Response>(() => {})
const list = (...ids: string[]) => HttpResponse.json(ids.map((id) => ({ id })))

/** Creates a body that sends its chunks and then stalls. `closed` tells whether it was canceled. */
function stalling(...parts: string[]) {
  const state = { closed: false }
  const body = new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part))
    },
    cancel() {
      state.closed = true
    },
  })
  return { state, body }
}

test('an upstream that sends no headers times out after 5 s, and its call is canceled', async () => {
  const clock = fakeClock()
  const recorded: unknown[] = []
  const fetch = upstream(http.get('http://slow.test/models', never))
  const listed = getIds({ connections: [connection('slow')], combos: [{ name: 'team' }] }, ['llm'], {
    clock,
    fetch,
    onError: (error) => recorded.push(error),
  })
  let settled = false
  void listed.then(() => {
    settled = true
  })
  await clock.untilPending()
  await clock.advance(4_999)
  assert.is(settled, false)
  assert.is(fetch.requests[0]?.signal.aborted, false)
  await clock.advance(1)
  assert.equal(await listed, ['team'])
  assert.is(fetch.requests[0]?.signal.aborted, true)
  assert.match(String(recorded[0]), /did not respond in time/)
  assert.is(clock.pending(), 0)
})

test("an upstream lookup's timeout covers headers and body", async () => {
  const clock = fakeClock()
  const { state, body } = stalling('[{"id":"m"},')
  const respond = async () => {
    await clock.sleep(3_000)
    return new HttpResponse(body)
  }
  const fetch = upstream(http.get('http://slow.test/models', respond))
  const listed = getIds({ connections: [connection('slow')] }, ['llm'], { clock, fetch })
  await clock.untilPending(2)
  await clock.advance(3_000)
  assert.is(state.closed, false)
  await clock.advance(2_000)
  assert.equal(await listed, [])
  assert.is(state.closed, true)
})

test("a fetch that ignores its signal doesn't delay the listing", async () => {
  const clock = fakeClock()
  const listed = getIds({ connections: [connection('deaf')] }, ['llm'], { clock, fetch: never })
  await clock.untilPending()
  await clock.advance(5_000)
  assert.equal(await listed, [])
})

test('upstreams are queried concurrently, so a slow one delays the listing only by its timeout', async () => {
  const clock = fakeClock()
  const names = ['a', 'b', 'c', 'd']
  const slow = (ms: number, id: string) => async () => {
    await clock.sleep(ms)
    return list(id)
  }
  const fetch = upstream(
    http.get('http://a.test/models', slow(4_000, 'one')),
    http.get('http://b.test/models', never),
    http.get('http://c.test/models', slow(4_999, 'three')),
    http.get('http://d.test/models', () => list('four')),
  )
  const startedAt = clock.now()
  const listed = getIds({ connections: names.map(connection) }, ['llm'], { clock, fetch })
  await clock.untilPending(5) // three timeouts and two handlers; the fourth upstream has responded
  assert.is(fetch.requests.length, 4)
  await clock.advance(5_000)
  assert.equal(await listed, ['a/one', 'c/three', 'd/four'])
  assert.is(clock.now() - startedAt, 5_000)
  assert.is(clock.pending(), 0)
})

test('a response that arrives in time leaves no timer behind', async () => {
  const clock = fakeClock()
  const fetch = upstream(http.get('http://a.test/models', () => list('one')))
  assert.equal(await getIds({ connections: [connection('a')] }, ['llm'], { clock, fetch }), ['a/one'])
  assert.is(clock.pending(), 0)
})

test('every listing queries the upstreams again', async () => {
  let models = ['one']
  const fetch = upstream(http.get('http://a.test/models', () => list(...models)))
  const listing = getListing({ connections: [connection('a')] })
  const idsNow = async () => (await listing.list(['llm'], fetch)).map((entry) => entry.id)
  assert.equal(await idsNow(), ['a/one'])
  models = ['two']
  assert.equal(await idsNow(), ['a/two'])
  assert.is(fetch.requests.length, 2)
})

test('an upstream is queried once for all kinds that its provider serves', async () => {
  const fetch = upstream(http.get('http://a.test/models', () => list('one', 'tts-1')))
  const world: World = { connections: [connection('a')] }
  assert.equal(await getIds(world, ['llm', 'image', 'tts'], { fetch }), ['a/one', 'a/tts-1'])
  assert.is(fetch.requests.length, 1)
  assert.equal(await getIds(world, ['tts'], { fetch }), [])
  assert.is(fetch.requests.length, 1)
})

test('a list over 4 MiB is cut off and treated as missing', async () => {
  let sent = 0
  const chunk = new TextEncoder().encode(' '.repeat(64 * 1024))
  const endless = new ReadableStream({
    pull(controller) {
      sent += chunk.length
      controller.enqueue(chunk)
    },
  })
  const recorded: unknown[] = []
  const fetch = upstream(http.get('http://big.test/models', () => new HttpResponse(endless)))
  assert.equal(
    await getIds({ connections: [connection('big')] }, ['llm'], { fetch, onError: (error) => recorded.push(error) }),
    [],
  )
  assert.is(recorded.length, 1)
  assert.ok(sent < 5 * 1024 * 1024, `${sent} bytes were read`)
})

test('a list that arrives in many chunks is complete', async () => {
  const models = Array.from({ length: 2_000 }, (_, index) => ({ id: `modèle-${index}` }))
  const bytes = new TextEncoder().encode(JSON.stringify({ data: models }))
  let i = 0
  const body = new ReadableStream({
    pull(controller) {
      if (i >= bytes.length) return controller.close()
      controller.enqueue(bytes.slice(i, i + 777))
      i += 777
    },
  })
  const fetch = upstream(http.get('http://a.test/models', () => new HttpResponse(body)))
  const listed = await getIds({ connections: [connection('a')] }, ['llm'], { fetch })
  assert.is(listed.length, 2_000)
  assert.is(listed.at(-1), 'a/modèle-1999')
})
