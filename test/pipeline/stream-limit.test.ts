import { wireFormats } from '../../src/types/unions.ts'
import type { WireFormat } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { streamCatalog, streamRequests } from './support/streams.ts'
import { fakeUpstream, json, never, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const MOST = 200_000
const limits = { maxStreamBytes: MOST }

const event = (data: { type?: string; [name: string]: unknown }) =>
  `${data.type ? `event: ${data.type}\n` : ''}data: ${JSON.stringify(data)}\n\n`
const place = { output_index: 0, content_index: 0, item_id: 'i' }

/** One text event in each format, and the events that precede the first one. */
const message: Record<WireFormat, { start?: string; event(text: string): string }> = {
  'openai-chat': { event: (content) => event({ id: 'c', choices: [{ index: 0, delta: { content } }] }) },
  'openai-responses': {
    start: event({ type: 'response.created', response: { id: 'r', output: [] } }),
    event: (delta) => event({ type: 'response.output_text.delta', ...place, delta }),
  },
  'anthropic-messages': {
    start:
      event({ type: 'message_start', message: { id: 'm', content: [] } }) +
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    event: (text) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  },
  gemini: { event: (text) => event({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] } }] }) },
}

const test = suite('the stream size limit')

for (const provider of wireFormats)
  for (const client of wireFormats)
    test(`an endless stream ends with an error (${provider} provider, ${client} client)`, async () => {
      const upstream = fakeUpstream(() => sse(endless(provider, 'x'.repeat(1_000))))
      const world = await openWorld({ fetch: upstream, catalog: streamCatalog, connections: [provider], limits })
      const text = await (await world.post(...streamRequests[client](`${provider}/m`))).text()
      assert.match(text, /more than 200000 bytes of text/)
      assert.match(text, /"(?:error|code)":/)
      assert.not.match(text, /\[DONE\]|message_stop|response\.completed|STOP/)
      assert.ok(text.length > MOST, `${text.length} characters`)
      assert.ok(upstream.pulled < 2 * MOST, `${upstream.pulled} bytes`)
      assert.is(upstream.open, 0)
      assert.is(world.recorded.requests[0]?.status, 502)
    })

for (const provider of wireFormats)
  for (const client of wireFormats)
    test(`the stream size limit counts only text, not the events around it (${provider} provider, ${client} client)`, async () => {
      const { start = '', event } = message[provider]
      const events = Array.from({ length: 3_000 }, () => event('ab'))
      assert.ok(events.join('').length > MOST)
      const upstream = fakeUpstream(() => sse([start, ...events]))
      const world = await openWorld({ fetch: upstream, catalog: streamCatalog, connections: [provider], limits })
      const text = await (await world.post(...streamRequests[client](`${provider}/m`))).text()
      assert.not.match(text, /bytes of text/)
      assert.is(text.match(/"ab"/g)?.length, 3_000)
    })

test('the stream size limit counts the bytes of content that a translation buffers', async () => {
  const piece = event({ id: 'c', choices: [{ index: 0, delta: { audio: { data: 'A'.repeat(1_000) } } }] })
  function* sounds() {
    yield message['openai-chat'].event('a')
    for (;;) yield piece
  }
  const upstream = fakeUpstream(() => sse(sounds()))
  const world = await openWorld({ fetch: upstream, catalog: streamCatalog, connections: ['openai-chat'], limits })
  const text = await (await world.post(...streamRequests.gemini('openai-chat/m'))).text()
  assert.match(text, /more than 200000 bytes of text/)
  assert.ok(upstream.pulled < 2 * MOST, `${upstream.pulled} bytes`)
})

const busy = suite('the concurrency limit')

for (const format of wireFormats)
  busy(`a request over the concurrency limit gets a 503 in the ${format} format without being read`, async () => {
    const upstream = fakeUpstream(() => never())
    const provider = 'openai-chat'
    const world = await openWorld({
      fetch: upstream,
      catalog: streamCatalog,
      connections: [provider],
      limits: { maxParallelRequests: 2 },
    })
    const controller = new AbortController()
    const [path, body] = streamRequests[format](`${provider}/m`)
    const waiting = [0, 1].map(() => world.post(path, body, { signal: controller.signal }))
    while (upstream.calls.length < 2) await world.clock.advance(1)
    let isRead = false
    const unread = new ReadableStream(
      {
        pull() {
          isRead = true
          return never()
        },
      },
      { highWaterMark: 0 },
    )
    const response = await world.post(
      path,
      unread as unknown as string,
      { body: unread, duplex: 'half' } as RequestInit,
    )
    assert.is(response.status, 503)
    assert.is(response.headers.get('retry-after'), '1')
    assert.is(response.headers.get('x-should-retry'), null)
    assert.match(await response.text(), /Too many concurrent requests/)
    assert.is(isRead, false)
    controller.abort()
    for (const item of waiting) assert.is((await item).status, 499)
    assert.equal(
      world.recorded.requests.map(({ status }) => status),
      [503, 499, 499],
    )
  })

busy('the concurrency limit admits the next request only after a stream has ended', async () => {
  const chunk = message['openai-chat'].event('a')
  const responses = [() => sse([chunk, 'data: [DONE]\n\n']), () => json({ choices: [{ message: { content: 'b' } }] })]
  const upstream = fakeUpstream((_, index) => responses[index - 1]?.() ?? json({}))
  const world = await openWorld({ fetch: upstream, limits: { maxParallelRequests: 1 } })
  const stream = await world.chat({ stream: true })
  assert.is((await world.chat({})).status, 503)
  await stream.text()
  assert.is((await world.chat({})).status, 200)
})

busy('the concurrency limit applies only to model requests', async () => {
  const upstream = fakeUpstream(() => never())
  const world = await openWorld({ fetch: upstream, limits: { maxParallelRequests: 1 } })
  const controller = new AbortController()
  const waiting = world.chat({}, { signal: controller.signal })
  while (upstream.calls.length < 1) await world.clock.advance(1)
  assert.is((await world.gateway.fetch(new Request('http://gateway/v1/models'))).status, 200)
  controller.abort()
  await waiting
})

function* endless(format: WireFormat, text: string) {
  const { start, event } = message[format]
  if (start) yield start
  for (;;) yield event(text)
}
