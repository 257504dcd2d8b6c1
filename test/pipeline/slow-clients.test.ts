import { setImmediate } from 'node:timers/promises'
import { isCi } from '../support/ci.ts'
import { assert, suite } from '../support/suite.ts'
import { chatChunk, messageEvents } from './support/responses.ts'
import { fakeUpstream, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('slow-reading clients')

const MOST_BYTES = 64 * 1024
/** The number of slow clients, which is lower on developer machines. */
const SLOW = isCi ? 5_000 : 500

/** Opens a gateway with providers that never finish. `translated` makes the providers use another format than the client. */
async function openEndless({ translated }: { translated: boolean }) {
  const text = 'x'.repeat(1_000)
  const [start = '', ...extra] = messageEvents()
  const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }
  function* endless() {
    if (translated) yield* [start, ...extra.slice(0, 1)]
    for (;;)
      yield translated ? `event: content_block_delta\ndata: ${JSON.stringify(delta)}\n\n` : chatChunk({ content: text })
  }
  const upstream = fakeUpstream(() => sse(endless()))
  const world = await openWorld({ fetch: upstream, limits: { headersTimeoutMs: 1e9, idleTimeoutMs: 1e9 } })
  const send = async (signal: AbortSignal) => {
    const response = await world.chat({ model: translated ? 'claude/c' : 'one/m', stream: true }, { signal })
    assert.is(response.status, 200)
    return response
  }
  return { upstream, world, send }
}

/** Waits until no more data is pulled. */
async function waitUntilSettled(upstream: { pulled: number }): Promise<number> {
  for (let before = -1; before !== upstream.pulled; ) {
    before = upstream.pulled
    for (let turn = 0; turn < 5; turn++) await setImmediate()
  }
  return upstream.pulled
}

for (const translated of [false, true]) {
  const mode = translated ? 'translated' : 'passed through'

  test(`the gateway reads ahead at most 64 KiB for each of 500 clients that never read: ${mode}`, async () => {
    const { upstream, world, send } = await openEndless({ translated })
    const controller = new AbortController()
    await Promise.all(Array.from({ length: 500 }, () => send(controller.signal)))
    const pulled = await waitUntilSettled(upstream)
    assert.ok(pulled <= 500 * MOST_BYTES, `${pulled} bytes`)
    await world.clock.advance(100_000)
    assert.is(await waitUntilSettled(upstream), pulled)
    assert.is(upstream.open, 500)
    controller.abort()
    await waitUntilSettled(upstream)
    assert.is(upstream.open, 0)
  })
}

test(`${SLOW} slow streams are at most 64 KiB ahead of their clients`, async () => {
  const { upstream, send } = await openEndless({ translated: false })
  const controller = new AbortController()
  const readers = (await Promise.all(Array.from({ length: SLOW }, () => send(controller.signal)))).map(({ body }) =>
    body?.getReader(),
  )
  let read = 0
  for (let round = 0; round < 2; round++) {
    for (const reader of readers) read += (await reader?.read())?.value?.length ?? 0
    const ahead = (await waitUntilSettled(upstream)) - read
    assert.ok(ahead <= readers.length * MOST_BYTES, `${ahead} bytes ahead`)
  }
  controller.abort()
  await waitUntilSettled(upstream)
  assert.is(upstream.open, 0)
})
