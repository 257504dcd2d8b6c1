import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { chatEvents, chatResponse, type ErrorAnswer, messageEvents } from './support/responses.ts'
import { type End, fakeUpstream, getBody, json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('streamed responses with the wrong content type')

const messages = [{ role: 'user', content: 'Hi' }]

const labeled = (type: string | undefined, chunks: string[], end?: End) =>
  new Response(getBody(chunks, end), type === undefined ? {} : { headers: { 'content-type': type } })

async function open(respond: () => Response, limits = {}) {
  const upstream = fakeUpstream(({ provider }) => (provider === 'one' ? respond() : json(chatResponse('spare'))))
  const clock = fakeClock()
  return {
    upstream,
    clock,
    world: await openWorld({ fetch: upstream, clock, combos: { chain: ['one/m', 'two/m'] }, limits }),
  }
}

for (const type of ['application/json', 'application/x-ndjson', 'text/html; charset=utf-8']) {
  test(`events with the content type ${type} are read as a stream`, async () => {
    const { world } = await open(() => labeled(type, chatEvents('Hello there')))
    const response = await world.chat({ model: 'chain', messages, stream: true })
    assert.is(response.headers.get('x-signalbox-attempts'), 'one/m=200;via=chain:fallback')
    assert.is(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
    assert.is(await response.text(), chatEvents('Hello there').join(''))
    const translated = await world.messages({ model: 'chain', messages, stream: true })
    assert.match(await translated.text(), /"text":"Hello "/)
  })
}

test('mislabeled events are passed through as they arrive, even after whitespace or a comment', async () => {
  const start = ['\n', ' ', ': wait\n\n', ...chatEvents().slice(0, 2)]
  const { upstream, world } = await open(() => labeled('application/json', start, 'hang'))
  const response = await world.chat({ model: 'chain', messages, stream: true })
  const reader = response.body?.getReader()
  assert.match(new TextDecoder().decode((await reader?.read())?.value), 'Hello') // before the response has ended
  await reader?.cancel()
  assert.is(upstream.open, 0)
})

test('mislabeled events that start with an error or contain nothing fall back to the next target', async () => {
  for (const [events, attempt] of [
    [['data: {"error":{"message":"busy","code":503}}\n\n'], '503:server'],
    [['data: [DONE]\n\n'], '200:content'],
  ] as const) {
    const { world } = await open(() => labeled('application/json', [...events]))
    const response = await world.chat({ model: 'chain', messages, stream: true })
    assert.is(response.headers.get('x-signalbox-attempts'), `one/m=${attempt};via=chain:fallback, two/m=200`)
  }
})

test('a mislabeled stream has the same start timeout as any stream', async () => {
  const respond = () => labeled('application/json', [': wait\n\n'], 'hang')
  const { clock, world } = await open(respond, { headersTimeoutMs: 2_000, idleTimeoutMs: 5_000 })
  const pending = world.chat({ model: 'chain', messages, stream: true })
  await clock.advance(2_000)
  const response = await pending
  assert.is(response.headers.get('x-signalbox-attempts'), 'one/m=504:timeout;via=chain:fallback, two/m=200')
})

for (const type of [undefined, 'text/event-stream', 'text/plain']) {
  test(`a single response with ${type ? `the content type ${type}` : 'no content type'} is read as a stream`, async () => {
    const { world } = await open(() => labeled(type, [JSON.stringify(chatResponse('Hello'), null, 2)]))
    const response = await world.chat({ model: 'chain', messages, stream: true })
    assert.is(response.headers.get('x-signalbox-attempts'), 'one/m=200;via=chain:fallback')
    assert.match(await response.text(), /"content":"Hello".*data: \[DONE\]\n\n$/s)
  })

  test(`a JSON error with ${type ? `the content type ${type}` : 'no content type'} counts as the failure that it reports`, async () => {
    const recorded = { error: { message: 'n is odd', type: 'invalid_request_error', code: 400 } }
    const { world } = await open(() => labeled(type, [JSON.stringify(recorded)]))
    const response = await world.chat({ model: 'chain', messages, stream: true })
    assert.is(response.status, 400)
    assert.is(response.headers.get('x-signalbox-attempts'), 'one/m=400:client;via=chain:fallback')
    assert.is(((await response.json()) as ErrorAnswer).error.message, 'n is odd')
  })
}

test("a web page isn't a valid response, whatever the content type", async () => {
  for (const type of [undefined, 'text/html', 'application/json', 'text/event-stream']) {
    const { world } = await open(() => labeled(type, ['<html>', 'down']))
    const response = await world.chat({ model: 'chain', messages, stream: true })
    assert.is(response.headers.get('x-signalbox-attempts'), 'one/m=200:content;via=chain:fallback, two/m=200')
  }
})

test('mislabeled Messages streams are recognized by their events', async () => {
  const upstream = fakeUpstream(() => labeled('application/json', messageEvents('Hello')))
  const world = await openWorld({ fetch: upstream })
  const response = await world.messages({ messages, stream: true })
  assert.is(await response.text(), messageEvents('Hello').join(''))
})

test('a web page instead of a response is reported as a likely wrong base URL', async () => {
  const page = () => labeled('text/html', ['\n<!doctype html><title>Welcome</title>'])
  for (const stream of [false, true]) {
    const world = await openWorld({ fetch: fakeUpstream(page) })
    const response = await world.chat({ model: 'one/m', messages, stream })
    assert.is(response.status, 502)
    const { error }: ErrorAnswer = await response.json()
    assert.match(error.message, /"one" returned a web page\. Check the base URL of the connection\.$/)
  }
})

test('endless whitespace counts as a response that is too large', async () => {
  const blanks = Array.from({ length: 200 }, () => ' '.repeat(1_000))
  const { world } = await open(() => labeled('application/json', blanks, 'hang'), { maxResponseBytes: 100_000 })
  const response = await world.chat({ model: 'chain', messages, stream: true })
  assert.is(response.headers.get('x-signalbox-attempts'), 'one/m=200:content;via=chain:fallback, two/m=200')
  assert.match(world.recorded.attempts[0]?.message ?? '', /larger than 100000 bytes/)
})

test('events that follow a lot of whitespace, or a byte order mark, count as a stream', async () => {
  for (const start of ['\n'.repeat(3_000), '\uFEFF']) {
    const { world } = await open(() => labeled('application/json', [`${start}dat`, 'a: {}\n\n', ...chatEvents()]))
    const response = await world.chat({ model: 'chain', messages, stream: true })
    assert.is(response.headers.get('x-signalbox-attempts'), 'one/m=200;via=chain:fallback')
    assert.is(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  }
})
