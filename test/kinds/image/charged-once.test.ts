import { fakeUpstream, getBody, json, never, type Respond } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { fakeClock } from '../../support/clock.ts'
import { assert, suite } from '../../support/suite.ts'
import { png } from './images.ts'

const test = suite('images are charged only once')

const good = () => json({ created: 1, data: [{ b64_json: png }] })
const reset = (code: string) => () => Promise.reject(Object.assign(new TypeError('fetch failed'), { cause: { code } }))
const createRejection = (status: number, headers: Record<string, string> = {}) =>
  json({ error: { message: 'no', type: 'x' } }, status, headers)

/** Failures for which the vendor may have charged. */
const ambiguous: Record<string, Respond> = {
  'a 500': () => createRejection(500),
  'a 502': () => createRejection(502),
  'a 503 without retry-after': () => createRejection(503),
  'a 504': () => createRejection(504),
  'a connection reset': reset('ECONNRESET'),
  'a truncated response': () =>
    new Response(getBody(['{"data":['], 'error'), { headers: { 'content-type': 'application/json' } }),
  'incomplete JSON': () => new Response('{"data":[', { headers: { 'content-type': 'application/json' } }),
  'a timeout before the headers': never,
  'a 200 with an error': () => json({ error: { message: 'The generation failed.', type: 'server_error' } }),
}

/** Failures without a charge. */
const certain: Record<string, Respond> = {
  'a refused connection': reset('ECONNREFUSED'),
  'an unknown host': reset('ENOTFOUND'),
  'a connection timeout': reset('UND_ERR_CONNECT_TIMEOUT'),
  'a 429': () => createRejection(429),
  'a 503 with retry-after': () => createRejection(503, { 'retry-after': '30' }),
  'a 401': () => createRejection(401),
  'a 402': () => createRejection(402),
  'a 403': () => createRejection(403),
  'a 404': () => createRejection(404),
  'a response without images': () => json({ created: 1, data: [] }),
}

async function send(first: Respond, combo: object, body: object = {}) {
  const upstream = fakeUpstream((call, index) => (call.provider === 'one' ? first(call, index) : good()))
  const { post, clock } = await openWorld({
    fetch: upstream,
    connections: ['one', 'two'],
    combos: { pool: { models: ['one/a', 'two/b'], kind: 'image', ...combo } },
  })
  const pending = post('/v1/images/generations', { model: 'pool', prompt: 'a walk', ...body })
  let isOver = false
  const over = pending.finally(() => {
    isOver = true
  })
  for (let times = 0; !isOver && times < 60; times++) await clock.advance(times < 20 ? 0 : 10_000)
  const response = await over
  return { status: response.status, providers: upstream.providers, text: await response.text() }
}

for (const stream of [false, true]) {
  const mode = stream ? ', streamed' : ''
  for (const [label, first] of Object.entries(ambiguous)) {
    test(`no other target is tried after ${label}${mode}`, async () => {
      const { providers, text } = await send(first, {}, { stream })
      assert.equal(providers, ['one'], text)
      assert.match(text, /"error"/)
    })

    test(`another target is tried after ${label} if the combo allows it${mode}`, async () => {
      const { status, providers, text } = await send(first, { retryAmbiguous: true }, { stream })
      assert.equal([status, providers], [200, ['one', 'two']], text)
    })
  }

  for (const [label, first] of Object.entries(certain))
    test(`the next target is tried after ${label}${mode}`, async () => {
      const { status, providers, text } = await send(first, {}, { stream })
      assert.equal([status, providers], [200, ['one', 'two']], text)
    })
}

test('a 400 ends the request even if the combo retries ambiguous failures', async () => {
  const respondFiltered = () => json({ error: { message: 'safety', code: 'moderation_blocked' } }, 400)
  const { status, providers } = await send(respondFiltered, { retryAmbiguous: true })
  assert.equal([status, providers], [400, ['one']])
})

test("a slow image request isn't hedged", async () => {
  const clock = fakeClock()
  let isSlow = false
  const upstream = fakeUpstream(async () => {
    if (isSlow) return never()
    await clock.sleep(20)
    return good()
  })
  const { post } = await openWorld({
    fetch: upstream,
    clock,
    connections: ['one', 'two'],
    combos: { pool: { models: ['one/a', 'two/b'], kind: 'image', hedge: true } },
  })
  const send = async (init: object = {}) => {
    const response = post('/v1/images/generations', { model: 'pool', prompt: 'a walk' }, init)
    while (upstream.open === 0) await clock.advance(0)
    await clock.advance(20)
    return response
  }
  for (let times = 0; times < 30; times++) await send()
  isSlow = true
  const controller = new AbortController()
  const slow = send({ signal: controller.signal })
  while (upstream.open === 0) await clock.advance(0)
  await clock.advance(30_000)
  assert.equal(new Set(upstream.providers), new Set(['one']))
  controller.abort()
  assert.is((await slow).status, 499)
})
