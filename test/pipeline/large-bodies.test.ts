import { type ClientRequest, request } from 'node:http'
import { toNodeHandler } from '../../adapters/mount/node.ts'
import { createLab } from '../mount/node/lab.ts'
import { bytesHeld } from '../support/garbage.ts'
import { assert, suite } from '../support/suite.ts'
import { chatEvents } from './support/answers.ts'
import { rawUpstream } from './support/raw.ts'
import { openWorld } from './support/world.ts'

const lab = createLab()
const test = suite('large request bodies')
test.after(lab.close)

const STREAMS = 8
const BODY_BYTES = 4 * 1024 * 1024

/** A provider that begins its answer and then thinks. */
const thinking = rawUpstream(() => {
  const events = chatEvents()
    .slice(0, 2)
    .map((event) => Buffer.from(event))
  return {
    next: () => (events.length > 0 ? Promise.resolve(events.shift()) : new Promise(() => {})),
    cancel() {},
  }
})

/** Resolves when the first bytes of the answer are there; the stream stays open. No listener may close over the body: it would keep it. */
function openStream(url: string, body: Buffer): Promise<void> {
  const asking = request(url, { method: 'POST', headers: { 'content-type': 'application/json' }, agent: false })
  asking.on('error', () => {}) // when the lab closes
  const opened = firstBytes(asking)
  asking.end(body)
  return opened
}

const firstBytes = (asking: ClientRequest): Promise<void> =>
  new Promise((resolve, reject) => {
    asking.on('response', (answer) => {
      answer.on('error', () => {})
      answer.once('data', () => (answer.statusCode === 200 ? resolve() : reject(new Error(String(answer.statusCode)))))
    })
  })

test('large request bodies are not kept for as long as a stream that is passed through', async () => {
  const world = await openWorld({ fetch: thinking })
  const { url } = await lab.listen(toNodeHandler(world.gateway))
  const ask = (content: string) =>
    openStream(
      `${url}/v1/chat/completions`,
      Buffer.from(JSON.stringify({ model: 'one/m', stream: true, messages: [{ role: 'user', content }] })),
    )
  await ask('to load what is loaded with the first')
  const before = await bytesHeld()
  for (let stream = 0; stream < STREAMS; stream++) await ask(String(stream).repeat(BODY_BYTES))
  const held = (await bytesHeld()) - before
  assert.ok(held < (STREAMS * BODY_BYTES) / 4, `${STREAMS} streams hold ${(held / BODY_BYTES).toFixed(1)} bodies`)
})
