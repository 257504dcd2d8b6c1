import type { JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { clients } from '../support/clients.ts'
import { messageStart, output } from './responses.ts'
import { delta, getData, getStream, providerOf, send } from './support.ts'

const test = suite('cases: how streams end')

const ends: Readonly<Record<WireFormat, RegExp>> = {
  'openai-chat': /\[DONE\]|"finish_reason":"/,
  'openai-responses': /response\.(?:completed|incomplete)/,
  'anthropic-messages': /message_stop|"stop_reason":"/,
  gemini: /"finishReason"/,
}

/** Returns the error that a client of each format receives in a stream. */
const errorIn: Readonly<Record<WireFormat, (events: JsonObject[]) => unknown>> = {
  'openai-chat': (events) => events.at(-1)?.error,
  'openai-responses': (events) => {
    const [result, failed] = events.slice(-2)
    return result?.type === 'error' && failed?.type === 'response.failed' ? result.error : undefined
  },
  'anthropic-messages': (events) => (events.at(-1)?.type === 'error' ? events.at(-1)?.error : undefined),
  gemini: (events) => events.at(-1)?.error,
}

for (const from of wireFormats) {
  for (const client of wireFormats) {
    test(`a truncated stream causes an error, never a normal end (${from} provider, ${client} client)`, async () => {
      const cut = output[from](...'a b c d e f g h'.split(/(?<= )/)).slice(0, 6)
      const respond = () => getStream(from, cut)
      const { response, world } = await send({ client, model: `${providerOf[from]}/m`, stream: true, respond })
      const text = await response.clone().text()
      assert.not.match(text, ends[client])
      assert.match(JSON.stringify(errorIn[client](await getData(response))), /before the response was complete/)
      assert.is(world.recorded.requests[0]?.status, 502)
    })
  }
}

for (const client of wireFormats) {
  test(`a stream with a finish reason but no end marker ends normally (${client} client)`, async () => {
    const respond = () => getStream('openai-chat', [delta({ role: 'assistant', content: 'a' }), delta({}, 'stop')])
    const { response } = await send({ client, model: 'chat/m', stream: true, respond })
    const { text, finish } = await clients[client](response)
    assert.equal([text, finish], ['a', 'stop'])
  })
}

test('an end marker without a finish reason closes open parts and completes the response', async () => {
  const respond = () =>
    getStream('openai-chat', [delta({ role: 'assistant', content: 'a' }), delta({ content: 'b' }), '[DONE]'])
  const { response } = await send({ client: 'openai-responses', model: 'chat/m', stream: true, respond })
  const events = await getData(response)
  const types = events.map(({ type }) => String(type).replace('response.', ''))
  assert.equal(types.slice(-4), ['output_text.done', 'content_part.done', 'output_item.done', 'completed'])
  assert.match(JSON.stringify(events.at(-1)), /"output":\[\{"type":"message".*"text":"ab"/)
  for (const client of ['anthropic-messages', 'gemini'] as const) {
    const other = await send({ client, model: 'chat/m', stream: true, respond })
    assert.is((await clients[client](other.response)).finish, 'stop', client)
  }
})

const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 }
const first = delta({ role: 'assistant', content: 'a' })
const counted: Record<string, (JsonObject | '[DONE]')[]> = {
  'after the finish reason': [first, delta({}, 'stop'), { choices: [], usage }, '[DONE]'],
  'with the finish reason': [first, { ...delta({}, 'stop'), usage }, '[DONE]'],
  'before the finish reason': [{ ...first, usage }, delta({}, 'stop'), '[DONE]'],
  'in every chunk': [
    { ...first, usage: { ...usage, completion_tokens: 1 } },
    { ...delta({}, 'stop'), usage },
  ],
}

for (const [location, events] of Object.entries(counted)) {
  test(`token counts that arrive ${location} are reported once, at the end`, async () => {
    const respond = () => getStream('openai-chat', events)
    const messages = await send({ client: 'anthropic-messages', model: 'chat/m', stream: true, respond })
    const deltas = (await getData(messages.response)).filter(({ type }) => type === 'message_delta')
    const [{ delta: end, usage: result } = {}] = deltas as { delta?: JsonObject; usage?: JsonObject }[]
    assert.equal([deltas.length, end?.stop_reason, result?.input_tokens, result?.output_tokens], [1, 'end_turn', 7, 5])
    const { world } = messages
    assert.equal(
      world.recorded.usages.map((each) => [each.inputTokens, each.outputTokens]),
      [[7, 5]],
    )
  })
}

test('a chat client gets token counts only on request, in one chunk without choices', async () => {
  for (const from of ['anthropic-messages', 'openai-responses', 'gemini'] as const) {
    const input = { client: 'openai-chat', model: `${providerOf[from]}/m`, stream: true } as const
    const respond = () => getStream(from, output[from]('a'))
    const silent = await send({ ...input, respond })
    assert.ok(
      (await getData(silent.response)).every((chunk) => !('usage' in chunk)),
      from,
    )
    assert.is(silent.world.recorded.usages[0]?.outputTokens, 5, from)
    const request = await send({ ...input, respond, body: { stream_options: { include_usage: true } } })
    const result = (await getData(request.response)).filter((chunk) => chunk.usage)
    assert.equal(
      result.map(({ choices }) => choices),
      [[]],
      from,
    )
  }
})

const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }

test("an error in a stream's first event triggers a fallback or returns its status", async () => {
  const respond = () => getStream('anthropic-messages', [overloaded])
  for (const client of wireFormats) {
    const { response } = await send({ client, model: 'messages/m', stream: true, respond })
    assert.ok([503, 529].includes(response.status), `${client} ${response.status}`)
    assert.match(await response.text(), /Overloaded/)
  }
  const { response, upstream } = await send({
    client: 'openai-chat',
    model: 'chain',
    stream: true,
    connections: ['messages', 'gemini'],
    combos: { chain: ['messages/m', 'gemini/m'] },
    respond: ({ provider }) => (provider === 'gemini' ? getStream('gemini', output.gemini('a')) : respond()),
  })
  assert.is((await clients['openai-chat'](response)).text, 'a')
  assert.equal(upstream.providers, ['messages', 'gemini'])
})

const words = [first, delta({ content: 'b' }), delta({ content: 'c' })]
const failed = { error: { code: 400, message: 'Provider returned error' } }

for (const client of wireFormats) {
  test(`a mid-stream error keeps its message, and no other target is tried (${client} client)`, async () => {
    const { response, upstream } = await send({
      client,
      model: 'chain',
      stream: true,
      connections: ['chat', 'messages'],
      combos: { chain: ['chat/m', 'messages/m'] },
      respond: () => getStream('openai-chat', [...words, failed, '[DONE]']),
    })
    const text = await response.clone().text()
    if (client !== 'openai-chat') assert.not.match(text, ends[client])
    assert.match(text, /Provider returned error/)
    if (client !== 'openai-chat') assert.ok(errorIn[client](await getData(response)), text)
    assert.equal(upstream.providers, ['chat'])
  })

  test(`an error in a 200 body triggers a fallback and returns a 502 (${client} client)`, async () => {
    const { response, upstream } = await send({
      client,
      model: 'chain',
      connections: ['chat', 'messages'],
      combos: { chain: ['chat/m', 'messages/m'] },
      respond: () => json({ error: { message: 'no luck', code: 502 } }),
    })
    assert.equal([response.status, upstream.providers], [502, ['chat', 'messages']])
    assert.match(await response.text(), /no luck/)
  })

  test(`a provider that fails mid-stream isn't replaced by another (${client} client)`, async () => {
    const { response, upstream } = await send({
      client,
      model: 'chain',
      stream: true,
      connections: ['chat', 'messages'],
      combos: { chain: ['chat/m', 'messages/m'] },
      respond: () => getStream('openai-chat', words),
    })
    assert.ok(errorIn[client](await getData(response)))
    assert.equal(upstream.providers, ['chat'])
  })
}

test('a message with an immediately repeated start is translated as a single message', async () => {
  const events = output['anthropic-messages']('a')
  const respond = () => getStream('anthropic-messages', [...events.slice(0, 1), ...events])
  for (const client of ['openai-chat', 'openai-responses', 'gemini'] as const) {
    const { response } = await send({ client, model: 'messages/m', stream: true, respond })
    const { text, finish } = await clients[client](response)
    assert.equal([text, finish], ['a', 'stop'], client)
  }
})

test('a message that restarts after its first block is translated as truncated', async () => {
  const events = output['anthropic-messages']('a')
  const respond = () => getStream('anthropic-messages', [...events.slice(0, 4), messageStart(), ...events.slice(4)])
  for (const client of ['openai-chat', 'openai-responses', 'gemini'] as const) {
    const { response } = await send({ client, model: 'messages/m', stream: true, respond })
    assert.ok(errorIn[client](await getData(response)), client)
  }
})
