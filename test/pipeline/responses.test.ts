import { assert, suite } from '../support/suite.ts'
import { chatEvents, chatResponse, messageEvents, messageResponse } from './support/responses.ts'
import { fakeUpstream, json, type Respond, sse } from './support/upstream.ts'
import { catalog, openWorld } from './support/world.ts'

const test = suite('Responses requests')

const kept = { baseUrl: 'http://kept.test/v1', format: 'openai-responses', models: [{ id: 'r' }] } as const

/** Providers that respond in their own format. The Responses provider's response isn't read. */
const each: Respond = ({ url, body }) => {
  const isMessages = url.pathname.endsWith('/messages')
  if (JSON.parse(body).stream) return sse(isMessages ? messageEvents() : chatEvents())
  return json(isMessages ? messageResponse() : chatResponse())
}

async function open() {
  const upstream = fakeUpstream(each)
  return {
    upstream,
    world: await openWorld({ fetch: upstream, catalog: { ...catalog, kept }, connections: ['one', 'claude', 'kept'] }),
  }
}

test('a Responses client can use Chat Completions and Messages providers', async () => {
  const { world } = await open()
  for (const model of ['one/m', 'claude/c']) {
    const response = await (await world.post('/v1/responses', { model, input: 'Hi' })).json()
    assert.is(response.object, 'response')
    assert.is(response.status, 'completed')
    const events = await (await world.post('/v1/responses', { model, input: 'Hi', stream: true })).text()
    assert.match(events, /^event: response\.created\n/)
    assert.match(events, /event: response\.completed\ndata: [^\n]*\n\n/)
  }
})

test('Responses fields that depend on stored state are rejected', async () => {
  const { upstream, world } = await open()
  for (const model of ['one/m', 'kept/r'])
    for (const [field, value] of Object.entries({ previous_response_id: 'x', conversation: 'x', background: true })) {
      const rejected = await world.post('/v1/responses', { model, input: 'Hi', [field]: value })
      const { error } = await rejected.json()
      assert.equal([rejected.status, error.param], [400, field])
      assert.match(error.message, new RegExp(`"${field}"`))
    }
  assert.is(upstream.calls.length, 0)
  await world.post('/v1/responses', { model: 'kept/r', input: 'Hi', previous_response_id: null, background: false })
  assert.is(upstream.calls.length, 1)
})

test('a Responses request passes through to a supporting vendor unless the connection sets another URL or format', async () => {
  const both = { ...catalog.one, baseUrl: 'http://both.test/v1', alsoSpeaks: ['openai-responses'] } as const
  const other = { provider: 'both', providerSpecificData: { baseUrl: 'http://own.test/v1' } }
  const recorded = { provider: 'both', providerSpecificData: { format: 'openai-chat' } } as const
  for (const [connection, url] of [
    ['both', 'http://both.test/v1/responses'],
    [other, 'http://own.test/v1/chat/completions'],
    [recorded, 'http://both.test/v1/chat/completions'],
  ] as const) {
    const upstream = fakeUpstream(each)
    const world = await openWorld({ fetch: upstream, catalog: { both }, connections: [connection] })
    await world.post('/v1/responses', { model: 'both/m', input: 'Hi', tools: [{ type: 'image_generation' }] })
    await world.post('/v1/responses', { model: 'both/m', input: 'Hi' })
    assert.is(upstream.calls.at(-1)?.url.href, url)
    assert.is(upstream.calls.length, url.endsWith('/responses') ? 2 : 1, "vendor tools can't be translated")
    await world.chat({ model: 'both/m' })
    assert.match(upstream.calls.at(-1)?.url.pathname ?? '', /\/chat\/completions$/)
  }
})
