import * as estimates from '../../src/pricing/estimates.ts'
import { createStreamProgress, loadResponseReader } from '../../src/protocols/formats/format.ts'
import { operations } from '../../src/protocols/formats/model-operations.ts'
import { openaiChat } from '../../src/protocols/formats/openai-chat/chat-format.ts'
import { relayStream, type StreamEnd } from '../../src/request/codec/relay.ts'
import { assert, suite } from '../support/suite.ts'
import { getChunks } from './support/raw.ts'
import { chatEvents, chatResponse } from './support/responses.ts'
import { json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const reader = await loadResponseReader(openaiChat, operations.generate)

const test = suite('internal failures of the gateway')

test('an internal failure while reading a response is reported to onError once and causes a fallback', async () => {
  for (const stream of [false, true]) {
    const start = (controller: ReadableStreamDefaultController) => {
      controller.enqueue('no bytes')
      controller.close()
    }
    const createOddResponse = () => new Response(new ReadableStream({ start }))
    const fetch = async (url: unknown) =>
      String(url).includes('one.test') ? createOddResponse() : json(chatResponse())
    const world = await openWorld({ fetch, combos: { chain: ['one/m', 'two/m'] } })
    const response = await world.chat({ model: 'chain', stream })
    await response.text()
    assert.match(response.headers.get('x-signalbox-attempts') ?? '', /^one\/m=500:internal;.*, two\/m=200$/)
    assert.is(world.recorded.errors.length, 1)
    assert.match(String(world.recorded.errors[0]), 'TypeError')
    assert.equal((await world.api.health.list()).health, [])
  }
})

for (const [mode, path, recorded] of [
  ['translates', '/v1/messages', /event: error\ndata: [^\n]*Internal server error[^\n]*\n\n$/],
  ['passes through', '/v1/chat/completions', /data: \{"error":\{[^\n]*Internal server error[^\n]*\n\n$/],
] as const) {
  test(`an internal failure while the gateway ${mode} a stream is reported to onError, not counted against the target`, async () => {
    const chunks = [
      ...chatEvents()
        .slice(0, 3)
        .map((text) => new TextEncoder().encode(text)),
      'no bytes',
    ].values()
    const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(chunks.next().value)
    const createOddResponse = () => new Response(new ReadableStream({ pull }, { highWaterMark: 0 }))
    const world = await openWorld({ fetch: async () => createOddResponse() })
    const messages = [{ role: 'user', content: 'Hi' }]
    const response = await world.post(path, { model: 'one/m', max_tokens: 9, stream: true, messages })
    assert.match(await response.text(), recorded)
    assert.is(world.recorded.errors.length, 1)
    assert.match(String(world.recorded.errors[0]), 'TypeError')
    assert.equal([world.recorded.requests.at(-1)?.status, (await world.api.health.list()).health], [500, []])
  })
}

test('an internal failure at the end of a passed-through stream is reported, even after a disconnect', async () => {
  const observe = () => {
    throw new RangeError('too odd')
  }
  const committed = { head: [new TextEncoder().encode(chatEvents()[0])], state: { ...createStreamProgress(), observe } }
  for (const leaves of [false, true]) {
    const ends: StreamEnd[] = []
    const terms = {
      format: openaiChat,
      reader,
      secrets: [],
      maxStreamBytes: 1_000,
      knownKeys: async () => [],
      onEnd: (end: StreamEnd) => void ends.push(end),
      estimates,
    }
    const relayed = relayStream(getChunks([]), committed, terms)
    assert.is(await getText(relayed.next()), chatEvents()[0])
    if (leaves) relayed.cancel()
    else assert.match(await getText(relayed.next()), 'Internal server error')
    assert.is(await relayed.next(), undefined)
    assert.equal(
      [ends.length, ends[0]?.isCancelled, String(ends[0]?.internalError)],
      [1, leaves, 'RangeError: too odd'],
    )
  }
})

const getText = async (chunk: Promise<Uint8Array | undefined>) => new TextDecoder().decode(await chunk)
