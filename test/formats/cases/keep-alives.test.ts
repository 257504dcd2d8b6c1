import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json, sse } from '../../pipeline/support/upstream.ts'
import { fakeClock } from '../../support/clock.ts'
import { assert, suite } from '../../support/suite.ts'
import { clients } from '../support/clients.ts'
import { output } from './responses.ts'
import { getEvents, openGateway, providerOf, request } from './support.ts'

const test = suite('cases: providers that are silent before the response')

/** Matches the events that each client ignores. */
const sign: Readonly<Record<WireFormat, RegExp>> = {
  'openai-chat': /^: [^\n]*\n\n$/,
  'openai-responses': /^: [^\n]*\n\n$/,
  'anthropic-messages': /^event: ping\ndata: \{"type": ?"ping"\}\n\n$/,
  gemini: /^\n+$/,
}

/** Returns the client's stream if the provider only responds after 70 s. */
async function late(client: WireFormat, from: WireFormat, respond: () => Response) {
  const clock = fakeClock()
  const gateway = await openGateway(({ signal }) => clock.sleep(70_000, signal).then(respond), { clock })
  const input = request(gateway.world, { client, model: `${providerOf[from]}/m`, stream: true })
  while (gateway.upstream.calls.length === 0) await clock.advance(0)
  await clock.advance(15_000)
  const response = await input
  assert.is(response.status, 200)
  const reader = response.body?.getReader()
  if (!reader) throw new Error('there is no body')
  return { ...gateway, clock, reader, headers: response.headers }
}

const decoder = new TextDecoder()

for (const client of wireFormats) {
  const others = (['openai-chat', 'anthropic-messages'] as const).filter((from) => from !== client)
  for (const from of others) {
    test(`clients of a silent provider get keep-alives every 15 s, then the response (${from} provider, ${client} client)`, async () => {
      const { clock, reader, world, headers } = await late(client, from, () =>
        sse(getEvents(from, output[from]('Hello'))),
      )
      const isSign = async () => assert.match(decoder.decode((await reader.read()).value), sign[client])
      await isSign()
      for (let seconds = 30; seconds < 70; seconds += 15) {
        const next = isSign()
        await clock.advance(15_000)
        await next
      }
      await clock.advance(10_000)
      const rest = new ReadableStream({
        async pull(controller) {
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        },
      })
      const { text } = await clients[client](new Response(rest, { headers }))
      assert.is(text, 'Hello')
      assert.is(headers.get('content-type'), 'text/event-stream; charset=utf-8')
      assert.is(headers.get('x-signalbox-attempts'), `pending=${providerOf[from]}/m`)
      assert.is(world.recorded.requests[0]?.status, 200)
    })
  }

  test(`a silent provider's failure becomes an event (${client} client)`, async () => {
    const busy = () => json({ error: { message: 'Too busy', type: 'server_error' } }, 503)
    const { clock, reader, world } = await late(client, others[0] ?? 'openai-chat', busy)
    await reader.read()
    const next = reader.read()
    await clock.advance(60_000)
    let text = decoder.decode((await next).value)
    for (let read = await reader.read(); !read.done; read = await reader.read()) text += decoder.decode(read.value)
    assert.match(text, /^(?:event: error\n)?data: .*Too busy/m)
    assert.match(String(world.recorded.requests[0]?.status), /^(?:503|529)$/)
  })

  test(`the call to a silent provider is aborted as soon as the client disconnects (${client} client)`, async () => {
    const { reader, world, upstream, clock } = await late(client, others[0] ?? 'openai-chat', () => sse([]))
    await reader.read()
    await reader.cancel()
    await clock.advance(100)
    assert.equal([upstream.open, world.recorded.requests[0]?.status], [0, 499])
  })
}

test('a passthrough stream waits for a silent provider and returns its status', async () => {
  const clock = fakeClock()
  const busy = () => json({ error: { message: 'Too busy', type: 'server_error' } }, 503)
  const { world, upstream } = await openGateway(({ signal }) => clock.sleep(70_000, signal).then(busy), { clock })
  const input = request(world, { client: 'openai-chat', model: 'chat/m', stream: true })
  while (upstream.calls.length === 0) await clock.advance(0)
  await clock.advance(70_000)
  const { status, headers } = await input
  assert.equal([status, headers.get('x-signalbox-attempts')], [503, 'chat/m=503:server'])
})

test('the warning header lists dropped fields before a silent provider responds', async () => {
  const clock = fakeClock()
  const respond = () =>
    clock.sleep(20_000).then(() => sse(getEvents('anthropic-messages', output['anthropic-messages']('a'))))
  const { world, upstream } = await openGateway(respond, { clock })
  const input = request(world, { client: 'openai-chat', model: 'messages/m', stream: true, body: { seed: 7 } })
  while (upstream.calls.length === 0) await clock.advance(0)
  await clock.advance(15_000)
  const { headers, body } = await input
  assert.is(headers.get('x-signalbox-warning'), 'dropped:seed')
  await body?.cancel()
})

test('a JSON array stream stays valid JSON after keep-alives', async () => {
  const clock = fakeClock()
  const responses = [
    () => sse(getEvents('openai-chat', output['openai-chat']('Hello'))),
    () => json({ error: 'down' }, 500),
  ]
  const bodies: string[] = []
  for (const respond of responses) {
    const { world, upstream } = await openGateway(() => clock.sleep(20_000).then(respond), { clock })
    const body = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
    const input = world.post('/v1beta/models/chat/m:streamGenerateContent', body)
    while (upstream.calls.length === 0) await clock.advance(0)
    await clock.advance(20_000)
    bodies.push(await (await input).text())
  }
  const [recorded = '', failed = ''] = bodies
  assert.is(JSON.parse(recorded)[0].candidates[0].content.parts[0].text, 'Hello')
  assert.type(JSON.parse(failed)[0].error.message, 'string')
})
