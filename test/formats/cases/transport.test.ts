import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { getBody, never, sse } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { fullResponses, output } from './responses.ts'
import { getEvents, openGateway, providerOf, request, send } from './support.ts'

const test = suite('cases: connections')

/** Creates a compressed response as `fetch` returns it: decoded bytes, but unchanged headers. */
const compressed = (body: ConstructorParameters<typeof Response>[0], type: string, status = 200) =>
  new Response(body, { status, headers: { 'content-type': type, 'content-encoding': 'gzip', 'content-length': '31' } })

for (const from of wireFormats) {
  test(`a compressed provider response reaches the client without content-encoding (${from})`, async () => {
    const model = `${providerOf[from]}/m`
    for (const client of wireFormats) {
      const text = JSON.stringify(fullResponses[from])
      const events = getEvents(from, output[from]('a'))
      const error = '{"error":{"message":"no such model","type":"not_found_error"}}'
      const responses = [
        await send({ client, model, respond: () => compressed(text, 'application/json') }),
        await send({ client, model, stream: true, respond: () => compressed(getBody(events), 'text/event-stream') }),
        await send({ client, model, respond: () => compressed(error, 'application/json', 404) }),
      ]
      for (const { response } of responses) {
        assert.is(response.headers.get('content-encoding'), null)
        assert.ok(
          [null, String((await response.clone().text()).length)].includes(response.headers.get('content-length')),
        )
      }
      assert.match((await responses[2]?.response.text()) ?? '', /no such model/)
    }
  })
}

const alive: Readonly<Record<WireFormat, RegExp>> = {
  'openai-chat': /^: /,
  'openai-responses': /^: /,
  'anthropic-messages': /^event: ping\ndata: \{"type": ?"ping"\}\n\n$/,
  gemini: /^\n+$/,
}

for (const client of wireFormats) {
  test(`keep-alives are sent while a provider is silent for 70 s (${client} client)`, async () => {
    const from = client === 'openai-chat' ? 'anthropic-messages' : 'openai-chat'
    const events = getEvents(from, output[from]('Hello', 'there'))
    const started = events.slice(0, events.findIndex((event) => event.includes('Hello')) + 1)
    const { world } = await openGateway(() => sse(started, 'hang'), { limits: { idleTimeoutMs: 100_000 } })
    const { body } = await request(world, { client, model: `${providerOf[from]}/m`, stream: true })
    const reader = body?.getReader()
    const decoder = new TextDecoder()
    let text = ''
    while (!text.includes('Hello')) text += decoder.decode((await reader?.read())?.value)
    for (let seconds = 15; seconds < 70; seconds += 15) {
      const next = reader?.read()
      await world.clock.advance(15_000)
      assert.match(decoder.decode((await next)?.value), alive[client])
    }
    await reader?.cancel()
  })
}

/** The phases of a call in which its client may disconnect. */
const phases = {
  'before the headers': { respond: never, stream: true },
  'before the first token': { respond: () => sse([': hm\n\n'], 'hang'), stream: true },
  'during the stream': {
    respond: () => sse(getEvents('anthropic-messages', output['anthropic-messages']('a')).slice(0, 3), 'hang'),
    stream: true,
  },
  'during a non-streaming response': {
    respond: () => new Response(getBody(['{'], 'hang'), { headers: { 'content-type': 'application/json' } }),
    stream: false,
  },
}

for (const [phase, { respond, stream }] of Object.entries(phases)) {
  for (const client of ['openai-chat', 'openai-responses', 'gemini'] as const) {
    test(`a client that disconnects ${phase} aborts the call without a fallback (${client} client)`, async () => {
      const { world, upstream } = await openGateway(respond, { combos: { chain: ['messages/m', 'chat/m'] } })
      const controller = new AbortController()
      const path =
        client === 'gemini'
          ? `/v1beta/models/chain:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
          : client === 'openai-chat'
            ? '/v1/chat/completions'
            : '/v1/responses'
      const body = {
        model: 'chain',
        stream,
        messages: [{ role: 'user', content: 'Hi' }],
        input: 'Hi',
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      }
      const sentRequest = world.post(path, body, { signal: controller.signal })
      while (upstream.calls.length === 0) await world.clock.advance(1)
      await world.clock.advance(1)
      controller.abort()
      await sentRequest.then((response) => response.text()).catch(() => {})
      await world.clock.advance(100)
      assert.is(upstream.open, 0)
      assert.equal(upstream.providers, ['messages'])
      assert.is(world.recorded.requests[0]?.status, 499)
      assert.ok(world.recorded.attempts.every(({ outcome }) => outcome === 'cancelled' || outcome === 'answered'))
    })
  }
}

test('provider pings reach clients of the same format', async () => {
  const events = getEvents('anthropic-messages', output['anthropic-messages']('a'))
  events.splice(3, 0, 'event: ping\ndata: {"type": "ping"}\n\n')
  const { response } = await send({
    client: 'anthropic-messages',
    model: 'messages/m',
    stream: true,
    respond: () => sse(events),
  })
  assert.is((await response.text()).match(/event: ping/g)?.length, 1)
})
