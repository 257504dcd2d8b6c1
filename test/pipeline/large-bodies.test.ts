import { type ClientRequest, request } from 'node:http'
import { toNodeHandler } from '../../adapters/mount/node.ts'
import { createLab } from '../mount/node/lab.ts'
import { bytesHeld } from '../support/garbage.ts'
import { assert, suite } from '../support/suite.ts'
import { rawUpstream } from './support/raw.ts'
import { chatEvents, messageEvents } from './support/responses.ts'
import { openWorld } from './support/world.ts'

const lab = createLab()
const test = suite('large request bodies')
test.after(lab.close)

const STREAMS = 8
const BODY_BYTES = 4 * 1024 * 1024

/** Opens providers that start a response and then stall. */
const thinking = rawUpstream(({ url }) => {
  const events = (url.startsWith('http://claude.test') ? messageEvents() : chatEvents())
    .slice(0, -2)
    .map((event) => Buffer.from(event))
  return {
    next: () => (events.length > 0 ? Promise.resolve(events.shift()) : new Promise(() => {})),
    cancel() {},
  }
})

/** Resolves when the first bytes arrive, and leaves the stream open. No listener may close over the body, because that would keep it in memory. */
function openStream(url: string, body: Buffer): Promise<void> {
  const asking = request(url, { method: 'POST', headers: { 'content-type': 'application/json' }, agent: false })
  asking.on('error', () => {}) // the test environment closes it
  const opened = readFirstBytes(asking)
  asking.end(body)
  return opened
}

const readFirstBytes = (asking: ClientRequest): Promise<void> =>
  new Promise((resolve, reject) => {
    asking.on('response', (response) => {
      response.on('error', () => {})
      response.once('data', () =>
        response.statusCode === 200 ? resolve() : reject(new Error(String(response.statusCode))),
      )
    })
  })

const chat = (model: string) => (content: string) => ({
  path: '/v1/chat/completions',
  body: { model, stream: true, messages: [{ role: 'user', content }] },
})

const clients: Record<string, (content: string) => { path: string; body: object }> = {
  'for a passed-through request': chat('one/m'),
  'for a translated Chat Completions client': chat('claude/c'),
  'for a translated Messages client': (content) => ({
    path: '/v1/messages',
    body: { model: 'one/m', max_tokens: 9, stream: true, messages: [{ role: 'user', content }] },
  }),
  'for a translated Responses client': (input) => ({
    path: '/v1/responses',
    body: { model: 'one/m', stream: true, store: false, input },
  }),
  'for a translated Gemini client': (text) => ({
    path: '/v1beta/models/one/m:streamGenerateContent?alt=sse',
    body: { contents: [{ role: 'user', parts: [{ text }] }] },
  }),
}

for (const [client, getRequest] of Object.entries(clients))
  test(`large request bodies aren't kept in memory during a stream ${client}`, async () => {
    const world = await openWorld({ fetch: thinking })
    const { url } = await lab.listen(toNodeHandler(world.gateway))
    const send = (content: string) => {
      const { path, body } = getRequest(content)
      return openStream(url + path, Buffer.from(JSON.stringify(body))).catch((error: unknown) => {
        throw new AggregateError([error, ...world.recorded.errors], 'a stream did not open')
      })
    }
    await send('to load what is loaded with the first')
    const before = await bytesHeld()
    for (let stream = 0; stream < STREAMS; stream++) await send(String(stream).repeat(BODY_BYTES))
    const held = (await bytesHeld()) - before
    assert.ok(
      held < (STREAMS * BODY_BYTES) / 4,
      `${STREAMS} streams hold ${(held / BODY_BYTES).toFixed(1)} bodies in memory`,
    )
  })
