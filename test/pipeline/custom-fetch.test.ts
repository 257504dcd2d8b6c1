import type { UpstreamCall, UpstreamFetch, UpstreamResponse } from '../../src/lib/exchange.ts'
import { assert, suite } from '../support/suite.ts'
import { getChunks } from './support/raw.ts'
import { chatResponse } from './support/responses.ts'
import { json } from './support/upstream.ts'
import { type Fetch, openWorld } from './support/world.ts'

const test = suite('custom fetch functions')

const combos = { chain: ['one/m', 'two/m'] }
const createChunks = () => getChunks([new TextEncoder().encode(JSON.stringify(chatResponse()))])

function rawFetch(respond: (call: UpstreamCall) => UpstreamResponse): UpstreamFetch {
  const raw = (call: UpstreamCall) => ({ response: Promise.resolve(respond(call)), cancel() {} })
  return Object.assign(async () => json(chatResponse()), { raw })
}

const createReply = (): UpstreamResponse => ({
  status: 200,
  header: (name) => (name === 'content-type' ? 'application/json' : undefined),
  headers: () => [['content-type', 'application/json']],
  body: createChunks(),
})

test('a custom fetch that throws synchronously fails only its attempt, and the next target is tried', async () => {
  const raw = (call: UpstreamCall) => {
    if (call.url.includes('one.test')) throw new TypeError('it cannot')
    return { response: Promise.resolve(createReply()), cancel() {} }
  }
  const world = await openWorld({ fetch: Object.assign(async () => json({}), { raw }), combos })
  const response = await world.chat({ model: 'chain' })
  assert.is(response.status, 200)
  assert.match(response.headers.get('x-signalbox-attempts') ?? '', /^one\/m=500:internal;?.*, two\/m=200$/)
  assert.is(world.recorded.attempts.length, 2)
  assert.match(String(world.recorded.errors[0]), 'it cannot')
})

test("a custom fetch that throws synchronously doesn't prevent later probes of its target", async () => {
  let calls = 0
  const raw = () => {
    calls++
    if (calls === 1) return { response: Promise.resolve({ ...createReply(), status: 401 }), cancel() {} }
    if (calls === 2) throw new TypeError('it cannot')
    return { response: Promise.resolve(createReply()), cancel() {} }
  }
  const world = await openWorld({ fetch: Object.assign(async () => json({}), { raw }), connections: ['one'] })
  assert.is((await world.chat({ model: 'one/m' })).status, 502)
  await world.clock.advance(86_400_000)
  assert.is((await world.chat({ model: 'one/m' })).status, 500)
  await world.clock.advance(86_400_000)
  assert.is((await world.chat({ model: 'one/m' })).status, 200)
})

test('a custom fetch can return a response directly instead of a promise', async () => {
  const fetch = (() => json(chatResponse())) as unknown as Fetch
  const world = await openWorld({ fetch })
  assert.is((await world.chat({ model: 'one/m' })).status, 200)
})

test('a custom fetch can return a custom response object', async () => {
  const world = await openWorld({ fetch: rawFetch(() => Object.freeze(createReply())) })
  assert.is((await world.chat({ model: 'one/m' })).status, 200)
})

test('a custom fetch that returns an object without a readable body counts as a provider failure', async () => {
  const headers = new Headers({ 'content-type': 'application/json', 'content-length': '9' })
  const fetch = (async () => ({ status: 200, headers, body: null })) as unknown as Fetch
  const world = await openWorld({ fetch })
  assert.is((await world.chat({ model: 'one/m' })).status, 502)
})

test('a custom fetch response over the size limit counts as a provider failure, whatever its declared length', async () => {
  const text = JSON.stringify({ ...chatResponse(), padding: 'x'.repeat(1_000) })
  for (const length of [undefined, String(text.length), '10']) {
    const headers = { 'content-type': 'application/json', ...(length && { 'content-length': length }) }
    const world = await openWorld({
      fetch: async () => new Response(text, { headers }),
      limits: { maxResponseBytes: 1_000 },
    })
    assert.is((await world.chat({ model: 'one/m' })).status, 502)
    assert.match(world.recorded.attempts[0]?.message ?? '', /larger than 1000 bytes/)
  }
})

test('a custom fetch can return a class instance whose headers need `this`', async () => {
  class Own {
    readonly status = 200
    readonly body = createChunks()
    readonly #headers = new Map([['content-type', 'application/json']])
    header(name: string) {
      return this.#headers.get(name)
    }
    headers() {
      return this.#headers
    }
  }
  const world = await openWorld({ fetch: rawFetch(() => new Own()) })
  assert.is((await world.chat({ model: 'one/m' })).status, 200)
})
