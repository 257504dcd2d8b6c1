import type { ClientFormat, WireFormat } from '../../src/types.ts'
import { message, response } from '../formats/cases/response-field-cases.ts'
import { getEvents, openGateway, providerOf, request } from '../formats/cases/support.ts'
import { assert, suite } from '../support/suite.ts'
import { clients } from './support/sdk/clients/clients.ts'
import { MODEL, openBefore } from './support/sdk/gateway.ts'
import { fakeUpstream, json, sse } from './support/upstream.ts'

const test = suite('dropped fields found after the response headers have been sent')

const COMMENT = ': x-signalbox-warning: dropped:answer.mcp_call\n'
const WARNINGS = ['dropped:answer.mcp_call']

const output = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] }

/** Responses that contain a block or item of a tool that no client has requested. */
const responses = {
  'anthropic-messages': message([{ type: 'mcp_call' }, { type: 'text', text: 'a' }]),
  'openai-responses': response({ type: 'mcp_call', id: 'm1' }, output),
}

const eventsFrom = (from: keyof typeof responses) => getEvents(from, responses[from].events)

/** Returns a provider with a different format than the client's. */
const otherThan = (client: ClientFormat): keyof typeof responses =>
  client === 'anthropic-messages' ? 'openai-responses' : 'anthropic-messages'

/** Matches the only event after the comment. */
const endings: [client: WireFormat, ending: RegExp][] = [
  ['openai-chat', /^data: \[DONE\]\n\n$/],
  ['openai-responses', /^event: response.completed\ndata: .*\n\n$/],
  ['anthropic-messages', /^event: message_stop\ndata: .*\n\n$/],
]

for (const [client, ending] of endings) {
  test(`fields dropped from a stream are reported in a separate comment right before the end (${client} client)`, async () => {
    const from = otherThan(client)
    const { world } = await openGateway(() => sse(eventsFrom(from)))
    const text = await (await request(world, { client, model: `${providerOf[from]}/m`, stream: true })).text()
    const [before = '', rest = '', ...extra] = text.split(COMMENT)
    assert.match(before, /\n\n$/)
    assert.match(rest, ending)
    assert.equal(extra, [])
    assert.equal(world.recorded.requests[0]?.warnings, WARNINGS)
  })

  test(`fields dropped from a stream that breaks off are reported before the error (${client} client)`, async () => {
    const from = otherThan(client)
    const { world } = await openGateway(() => sse(eventsFrom(from).slice(0, -2)))
    const text = await (await request(world, { client, model: `${providerOf[from]}/m`, stream: true })).text()
    assert.match(text.slice(text.indexOf(COMMENT)), /^: x-signalbox-warning: .*\n(event: error\n)?data: \{.*"error":/)
    assert.equal(world.recorded.requests[0]?.warnings, WARNINGS)
  })
}

test('fields dropped from a Gemini stream are reported only to hooks', async () => {
  const path = '/v1beta/models/messages%2Fm:streamGenerateContent'
  for (const query of ['?alt=sse', '']) {
    const { world } = await openGateway(() => sse(eventsFrom('anthropic-messages')))
    const requested = await world.post(path + query, { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] })
    const text = await requested.text()
    assert.match(text, '"text":"a"')
    assert.not.match(text, 'warning')
    if (query === '') JSON.parse(text)
    assert.equal(world.recorded.requests[0]?.warnings, WARNINGS)
  }
})

test('fields dropped from a stream are also reported in a header if the provider responded with JSON', async () => {
  const { world } = await openGateway(() => json(responses['anthropic-messages'].response))
  const recorded = await request(world, { client: 'openai-chat', model: 'messages/m', stream: true })
  assert.is(recorded.headers.get('x-signalbox-warning'), WARNINGS[0])
  assert.match(await recorded.text(), COMMENT)
  assert.equal(world.recorded.requests[0]?.warnings, WARNINGS)
})

test('fields dropped from an otherwise empty response are reported', async () => {
  const { response, events } = message([{ type: 'mcp_call' }])
  for (const output of [() => json(response), () => sse(getEvents('anthropic-messages', events))])
    for (const stream of [false, true]) {
      const { world } = await openGateway(output)
      const recorded = await request(world, { client: 'openai-chat', model: 'messages/m', stream })
      assert.is(recorded.status, 200)
      assert.is((await recorded.text()).includes(COMMENT), stream)
      assert.equal(world.recorded.requests[0]?.warnings, WARNINGS)
    }
})

test('no dropped fields are reported for a passed-through stream', async () => {
  const { world } = await openGateway(() => sse(eventsFrom('anthropic-messages')))
  const recorded = await request(world, { client: 'anthropic-messages', model: 'messages/m', stream: true })
  assert.is(await recorded.text(), eventsFrom('anthropic-messages').join(''))
  assert.not.ok('warnings' in (world.recorded.requests[0] ?? {}))
})

test('dropped-field warnings are limited to 100, with truncated names', async () => {
  const names = Array.from({ length: 1_000 }, (_, index) => ({ type: `${index} ${'x'.repeat(1_000)}` }))
  const { response } = message([...names, { type: 'text', text: 'a' }])
  const { world } = await openGateway(() => json(response))
  await request(world, { client: 'openai-chat', model: 'messages/m' })
  const warnings = world.recorded.requests[0]?.warnings ?? []
  assert.is(warnings.length, 100)
  for (const warning of warnings) assert.ok(warning.length < 120)
})

for (const [name, { create, format }] of Object.entries(clients))
  test(`SDKs ignore the comment with a stream's dropped fields (${name})`, async () => {
    const from = otherThan(format)
    const { world, fetch } = await openBefore(
      from,
      fakeUpstream(() => sse(eventsFrom(from))),
    )
    let received = ''
    const fetchAndListen: typeof fetch = async (...requested) => {
      const recorded = await fetch(...requested)
      received = await recorded.clone().text()
      return recorded
    }
    assert.is(await create(fetchAndListen).send(MODEL, { stream: true }), 'a')
    assert.is(received.includes(COMMENT), format !== 'gemini')
    assert.equal(world.recorded.requests[0]?.warnings, WARNINGS)
  })
