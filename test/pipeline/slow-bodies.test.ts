import { assert, suite } from '../support/suite.ts'
import { chatResponse } from './support/responses.ts'
import { fakeUpstream, getBody, json } from './support/upstream.ts'
import { openWorld, token } from './support/world.ts'

const test = suite('stalled request bodies')

const createStalled = (headers: Record<string, string> = {}) =>
  ({
    method: 'POST',
    body: getBody(['{"model":"one/m",'], 'hang'),
    duplex: 'half',
    headers: { 'content-type': 'application/json', ...headers },
  }) as RequestInit

const errors: Record<string, (body: Record<string, Record<string, unknown>>) => unknown> = {
  '/v1/chat/completions': ({ error }) => error?.message,
  '/v1/responses': ({ error }) => error?.message,
  '/v1/messages': ({ type, error }) => type !== undefined && error?.message,
  '/v1beta/models/one%2Fm:generateContent': ({ error }) => error?.code === 408 && error.message,
  '/api/combos': ({ error }) => error,
}

for (const [path, getMessage] of Object.entries(errors)) {
  for (const length of [{}, { 'content-length': '500' }] as Record<string, string>[]) {
    test(`a stalled request body gets a 408 after five minutes (${path}, ${length['content-length'] ? 'with' : 'without'} a content length)`, async () => {
      const upstream = fakeUpstream(() => json(chatResponse()))
      const world = await openWorld({ fetch: upstream })
      let response: Response | undefined
      const init = createStalled({ ...length, ...(path.startsWith('/api') && { authorization: `Bearer ${token}` }) })
      const pending = world.gateway.fetch(new Request(`http://gateway${path}`, init)).then((reply) => {
        response = reply
      })
      await world.clock.advance(299_999)
      assert.is(response, undefined)
      await world.clock.advance(1)
      await pending
      assert.is(response?.status, 408)
      assert.is(response?.headers.get('connection'), 'close')
      assert.match(String(getMessage(await response?.json())), /did not arrive within 300 s/)
      assert.equal([upstream.calls.length, world.clock.pending(), world.recorded.errors], [0, 0, []])
    })
  }
}

test('a stalled request body gets a 408 after the configured time', async () => {
  const world = await openWorld({ fetch: fakeUpstream(() => json(chatResponse())), limits: { bodyTimeoutMs: 1_500 } })
  const pending = world.gateway.fetch(new Request('http://gateway/v1/chat/completions', createStalled()))
  await world.clock.advance(1_500)
  assert.match((await (await pending).json()).error.message, /within 1\.5 s/)
})

test("a request body's timer stops when the body completes, is too large, or the client disconnects", async () => {
  const world = await openWorld({ fetch: fakeUpstream(() => json(chatResponse())), limits: { maxBodyBytes: 1_000 } })
  assert.is((await world.chat({ messages: [] })).status, 200)
  assert.is((await world.chat({ messages: ['x'.repeat(1_000)] })).status, 413)
  const controller = new AbortController()
  const request = new Request('http://gateway/v1/chat/completions', { ...createStalled(), signal: controller.signal })
  const pending = world.gateway.fetch(request)
  await world.clock.advance(10)
  controller.abort()
  assert.is((await pending).status, 499)
  assert.is(world.clock.pending(), 0)
})
