import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Storage } from '../../src/types.ts'
import { chatChunk, messageEvents } from '../pipeline/support/responses.ts'
import { fakeUpstream, never, sse } from '../pipeline/support/upstream.ts'
import { openWorld, type World, type WorldOptions } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('a key that is paused or deleted during a request')

/** Each client's request, and the event that reports a paused key in its format. */
const clients = {
  'OpenAI chat': {
    path: '/v1/chat/completions',
    body: { messages: [] },
    message: /"error":\{[^\n]*This API key is paused/,
  },
  'OpenAI responses': {
    path: '/v1/responses',
    body: { input: 'Hi' },
    message: /"type":"error"[^\n]*This API key is paused/,
  },
  'Anthropic messages': {
    path: '/v1/messages',
    body: { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
    message: /event: error\ndata: [^\n]*This API key is paused/,
  },
}

/** Opens a gateway whose providers start to respond but never finish, and starts one stream with a key. */
async function streaming(options: WorldOptions & { client?: keyof typeof clients; model?: string } = {}) {
  const upstream = fakeUpstream(({ provider }) =>
    provider === 'claude' ? sse(messageEvents().slice(0, 4), 'hang') : sse([chatChunk({ content: 'Once' })], 'hang'),
  )
  const world = await openWorld({ fetch: upstream, ...options })
  const { key, id } = await world.api.keys.create({ name: 'team' })
  const { path, body } = clients[options.client ?? 'OpenAI chat']
  const send = (credential?: string) =>
    world.post(
      path,
      { model: options.model ?? 'one/m', stream: true, ...body },
      credential === undefined ? {} : { headers: { 'x-api-key': credential } },
    )
  const response = await send(key)
  assert.is(response.status, 200)
  const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader()
  await reader.read()
  return { ...world, upstream, id, key, send, rest: rest(reader) }
}

async function rest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  let text = ''
  for (let part = await reader.read(); !part.done; part = await reader.read())
    text += new TextDecoder().decode(part.value)
  return text
}

/** Returns whether the stream has ended. */
const isOver = (stream: Promise<string>) => Promise.race([stream.then(() => true), runTurns().then(() => false)])

async function runTurns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
}

for (const [client, { message }] of Object.entries(clients))
  for (const model of ['one/m', 'claude/c'])
    test(`pausing a key ends its streams with an error event and cancels the provider calls (${client} client, ${model})`, async () => {
      const { api, id, rest, upstream, recorded } = await streaming({ client: client as keyof typeof clients, model }) // a key of `clients`
      await api.keys.update(id, { isActive: false })
      assert.match(await rest, message)
      assert.is(upstream.open, 0)
      assert.equal(
        recorded.requests.map(({ status }) => status),
        [403],
      )
      assert.equal((await api.health.list()).health, [])
    })

test('deleting a key ends its streams', async () => {
  const { api, id, rest, upstream } = await streaming()
  await api.keys.delete(id)
  assert.match(await rest, /This API key has been deleted/)
  assert.is(upstream.open, 0)
})

test("if its key is paused, a response that hasn't started fails with a 403", async () => {
  const upstream = fakeUpstream(never)
  const { api, chat } = await openWorld({ fetch: upstream })
  const { key, id } = await api.keys.create({ name: 'team' })
  const response = chat({}, { headers: { 'x-api-key': key } })
  while (upstream.open === 0) await runTurns()
  await api.keys.update(id, { isActive: false })
  assert.is((await response).status, 403)
  assert.is(upstream.open, 0)
})

test("pausing a key doesn't affect the streams of other keys or streams without a key", async () => {
  const { api, send, rest, upstream } = await streaming()
  const other = await api.keys.create({ name: 'other' })
  await send()
  await api.keys.update(other.id, { isActive: false })
  await api.keys.update(other.id, { isActive: true, name: 'renamed' })
  assert.not(await isOver(rest))
  assert.is(upstream.open, 2)
})

test('renaming a key ends no streams, and neither does pausing it if endRequestsOfPausedKeys is false', async () => {
  const renamed = await streaming()
  await renamed.api.keys.update(renamed.id, { name: 'renamed' })
  assert.not(await isOver(renamed.rest))
  const kept = await streaming({ endRequestsOfPausedKeys: false })
  await kept.api.keys.update(kept.id, { isActive: false })
  assert.not(await isOver(kept.rest))
  assert.is((await kept.send(kept.key)).status, 403)
})

/** Opens another gateway on the same storage. */
const openElsewhere = async (storage: Storage): Promise<World['api']> =>
  (await openWorld({ storage, connections: [] })).api

test('pausing a key on another gateway immediately ends its streams if the storage reports changes', async () => {
  const storage = memoryStorage()
  const { id, rest } = await streaming({ storage })
  await (await openElsewhere(storage)).keys.update(id, { isActive: false })
  assert.match(await rest, /This API key is paused/)
})

test("pausing a key on another gateway ends its streams within a second if the storage doesn't report changes", async () => {
  const { watch: _, ...storage } = memoryStorage()
  const { id, rest, clock } = await streaming({ storage })
  await (await openElsewhere(storage)).keys.update(id, { isActive: false })
  assert.not(await isOver(rest))
  await clock.advance(1_000)
  assert.match(await rest, /This API key is paused/)
})

test("a paused key's stream continues while the storage can't be read, then ends", async () => {
  const { watch: _, ...storage } = memoryStorage()
  let isUnavailable = false
  const get: Storage['get'] = async (key) => {
    if (isUnavailable) throw new Error('away')
    return storage.get(key)
  }
  const { id, rest, clock } = await streaming({ storage: { ...storage, get } })
  await (await openElsewhere(storage)).keys.update(id, { isActive: false })
  isUnavailable = true
  await clock.advance(3_000)
  assert.not(await isOver(rest))
  isUnavailable = false
  await clock.advance(1_000)
  assert.match(await rest, /This API key is paused/)
})

test('when a key expires, its streams continue, but new requests fail', async () => {
  const { api, id, clock, rest, send, key } = await streaming()
  await api.keys.update(id, { expiresAt: new Date(clock.now() + 1_000).toISOString() })
  await clock.advance(5_000)
  assert.not.ok(await isOver(rest))
  assert.is((await send(key)).status, 401)
  assert.not.ok(await isOver(rest))
})
