import Anthropic from '@anthropic-ai/sdk'
import type { Gateway } from '../../src/gateway.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { wireFormats } from '../../src/types/unions.ts'
import { assert, suite } from '../support/suite.ts'
import { chatResponse } from './support/responses.ts'
import { streamCatalog, streamRequests } from './support/streams.ts'
import { fakeUpstream, json, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('repeated message_start events in a Messages stream')

const start = (usage: JsonObject = { input_tokens: 7, output_tokens: 1 }, id = 'm1'): JsonObject => ({
  type: 'message_start',
  message: {
    ...{ id, type: 'message', role: 'assistant', model: 'c', content: [] },
    ...{ stop_reason: null, stop_sequence: null, usage },
  },
})
const begin = (index: number, content_block: JsonObject = { type: 'text', text: '' }) => ({
  type: 'content_block_start',
  index,
  content_block,
})
const add = (index: number, delta: JsonObject) => ({ type: 'content_block_delta', index, delta })
const createTextDelta = (index: number, text: string) => add(index, { type: 'text_delta', text })
const end = (index: number) => ({ type: 'content_block_stop', index })
const text = (index: number, text: string) => [begin(index), createTextDelta(index, text), end(index)]
const call = (index: number) => [
  begin(index, { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }),
  add(index, { type: 'input_json_delta', partial_json: '{"a":1}' }),
  end(index),
]
const finish = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
]

/** A provider's events, and the text and calls of the single message that the client should get. */
const table: Record<string, [events: JsonObject[], text: string, calls?: number]> = {
  'directly after the first': [[start(), start(), ...text(0, 'Hello'), ...call(1), ...finish], 'Hello', 1],
  'after the first and a ping': [[start(), { type: 'ping' }, start(), ...text(0, 'Hello'), ...finish], 'Hello'],
  'of another message, after the end of the first one': [
    [start(), ...text(0, 'Hello'), ...finish, start(), ...text(0, 'again'), ...finish],
    'Hello',
  ],
  'of another message, after the stop reason of the first one': [
    [start(), ...text(0, 'Hello'), ...finish.slice(0, 1), start(), ...text(0, 'again'), ...finish],
    'Hello',
  ],
}

/** A provider's events with a restart, and the text before the restart. */
const cutTable: Record<string, [events: JsonObject[], text: string]> = {
  'between two blocks': [[start(), ...text(0, 'Hel'), start(), ...text(1, 'lo'), ...finish], 'Hel'],
  'between two blocks, with indices from 0 again': [
    [start(), ...text(0, 'Hel'), start(), ...text(0, 'lo'), ...call(1), ...finish],
    'Hel',
  ],
  'within an open block': [
    [start(), begin(0), createTextDelta(0, 'Hel'), start(), createTextDelta(0, 'lo'), end(0), ...finish],
    'Hel',
  ],
  'within an open block, with another id': [
    [start(), begin(0), createTextDelta(0, 'Hel'), start({}, 'm2'), ...text(0, 'lo'), ...finish],
    'Hel',
  ],
  'right before the end': [[start(), ...text(0, 'Hello'), start(), ...finish], 'Hello'],
  'in an open call': [
    [
      start(),
      ...text(0, 'Hel'),
      ...call(1).slice(0, 1),
      add(1, { type: 'input_json_delta', partial_json: '{"a":' }),
    ].concat([start({}, 'm2'), ...call(0), ...finish]),
    'Hel',
  ],
}

const writeEvents = (events: readonly JsonObject[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)

/** Ways to split a stream into chunks. */
const cuts: Record<string, (events: string[]) => string[]> = {
  'one event per chunk': (events) => events,
  'all in one chunk': (events) => [events.join('')],
  'one character per chunk': (events) => [...events.join('')],
}

/** Creates Anthropic's stream helper for a stream from the gateway. */
function getHelper(gateway: Gateway) {
  const client = new Anthropic({
    ...{ apiKey: 'k', baseURL: 'http://gateway', maxRetries: 0 },
    fetch: (input, init) => gateway.fetch(new Request(input, init)),
  })
  return client.messages.stream({
    model: 'claude/c',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'a' }],
  })
}

for (const [name, [events, expected, calls = 0]] of Object.entries(table)) {
  for (const [mode, cut] of Object.entries(cuts)) {
    test(`Anthropic's helper reads a single passed-through message despite a second start ${name} (${mode})`, async () => {
      const { gateway } = await openWorld({
        fetch: fakeUpstream(() => sse(cut(writeEvents(events)))),
        connections: ['claude'],
      })
      const stream = getHelper(gateway)
      const { content, stop_reason } = await stream.finalMessage()
      assert.is(content.map((block) => (block.type === 'text' ? block.text : '')).join(''), expected)
      assert.equal(
        content.flatMap((block) => (block.type === 'tool_use' ? [block.input] : [])),
        Array(calls).fill({ a: 1 }),
      )
      assert.is(stop_reason, 'end_turn')
    })

    test(`a Chat Completions client reads a single response despite a second start ${name} (${mode})`, async () => {
      const { chat } = await openWorld({
        fetch: fakeUpstream(() => sse(cut(writeEvents(events)))),
        connections: ['claude'],
      })
      const response = await chat({ model: 'claude/c', stream: true, messages: [{ role: 'user', content: 'a' }] })
      const chunks = [...(await response.text()).matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json))
      const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }: { delta: JsonObject }) => delta))
      assert.is(deltas.map(({ content }) => content ?? '').join(''), expected)
      assert.is(deltas.filter(({ role }) => role).length, 1)
      const started = deltas.flatMap(({ tool_calls }) => (tool_calls ?? []) as JsonObject[]).filter(({ id }) => id)
      assert.is(started.length, calls)
    })
  }
}

for (const [name, [events, expected]] of Object.entries(cutTable)) {
  for (const [mode, cut] of Object.entries(cuts)) {
    test(`a second start ${name} ends a passed-through stream with an error (${mode})`, async () => {
      const { messages, recorded } = await openWorld({
        fetch: fakeUpstream(() => sse(cut(writeEvents(events)))),
        connections: ['claude'],
      })
      const sent = await (await messages({ stream: true })).text()
      const read = [...sent.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
      assert.is(read.map(({ delta }) => delta?.text ?? '').join(''), expected)
      assert.equal(read.at(-1)?.error, {
        type: 'api_error',
        message: 'The provider restarted its response before it was complete.',
      })
      assert.equal(
        read.filter(({ type }) => ['message_start', 'message_delta', 'message_stop', 'error'].includes(type)).length,
        2,
      )
      assert.is(read.filter(({ type, index }) => type === 'content_block_stop' && index === 1).length, 0)
      assert.is(recorded.requests[0]?.status, 500)
    })

    test(`Anthropic's helper rejects a stream with a second start ${name} (${mode})`, async () => {
      const { gateway } = await openWorld({
        fetch: fakeUpstream(() => sse(cut(writeEvents(events)))),
        connections: ['claude'],
      })
      const stream = getHelper(gateway)
      const error = await stream.finalMessage().catch((error: unknown) => error)
      assert.match(String(error), /restarted its response/)
    })

    for (const format of wireFormats) {
      if (format === 'anthropic-messages') continue
      test(`a second start ${name} gives a ${format} client an error without an incomplete tool call (${mode})`, async () => {
        const world = await openWorld({
          fetch: fakeUpstream(() => sse(cut(writeEvents(events)))),
          catalog: streamCatalog,
          connections: ['anthropic-messages'],
        })
        const response = await world.post(...streamRequests[format]('anthropic-messages/m'))
        assert.is(response.status, 200)
        const recorded = await response.text()
        assert.match(recorded, /restarted its response/)
        assert.match(recorded, expected)
        assert.not.match(
          recorded,
          /"lo"|\[DONE\]|"finish_?reason":"(?!.*error)|response\.completed|arguments\.done|functionCall/i,
        )
      })
    }
  }
}

for (const [name, events] of Object.entries({
  'of another message, directly after the first': [start(), start({}, 'm2'), ...text(0, 'again'), ...finish],
  'after the start of an empty block': [start(), begin(0), start(), ...text(0, 'again'), ...finish],
}))
  test(`a second start ${name} falls back to the next target, because no content was sent`, async () => {
    const upstream = fakeUpstream(({ provider }) =>
      provider === 'claude' ? sse(writeEvents(events)) : json(chatResponse('two')),
    )
    const { messages, chat } = await openWorld({
      fetch: upstream,
      connections: ['claude', 'one'],
      combos: { both: ['claude/c', 'one/m'] },
    })
    for (const send of [messages, chat]) {
      const response = await send({ model: 'both', stream: true })
      assert.match(response.headers.get('x-signalbox-attempts') ?? '', /^claude\/c=502:network\S*, one\/m=200/)
      const recorded = await response.text()
      assert.match(recorded, /two/)
      assert.not.match(recorded, /again|error/)
    }
  })

test('a Responses stream that restarts before its first content falls back to the next target', async () => {
  const createStart = (id: string) => ({ type: 'response.created', response: { id, output: [] } })
  const events = [
    ...[
      createStart('r1'),
      { type: 'response.output_item.added', output_index: 0, item: { type: 'message', content: [] } },
    ],
    ...[createStart('r2'), { type: 'response.output_text.delta', output_index: 0, delta: 'again' }],
    { type: 'response.completed', response: { id: 'r2', status: 'completed', output: [] } },
  ]
  const upstream = fakeUpstream(({ provider }) =>
    provider === 'openai-responses' ? sse(writeEvents(events)) : json(chatResponse('two')),
  )
  const world = await openWorld({
    fetch: upstream,
    catalog: streamCatalog,
    connections: ['openai-responses', 'openai-chat'],
    combos: { both: ['openai-responses/m', 'openai-chat/m'] },
  })
  for (const format of wireFormats) {
    const response = await world.post(...streamRequests[format]('both'))
    assert.match(response.headers.get('x-signalbox-attempts') ?? '', /^openai-responses\/m=502:network/)
    assert.match(await response.text(), /two/)
  }
})

test("an unrequested stream that restarts isn't a valid response", async () => {
  const [events] = cutTable['in an open call'] ?? [[]]
  const upstream = fakeUpstream(({ provider }) =>
    provider === 'claude' ? sse(writeEvents(events)) : json(chatResponse('two')),
  )
  const { messages } = await openWorld({
    fetch: upstream,
    connections: ['claude', 'one'],
    combos: { both: ['claude/c', 'one/m'] },
  })
  const response = await messages({ model: 'both' })
  assert.match(response.headers.get('x-signalbox-attempts') ?? '', /^claude\/c=\d+:content\S*, one\/m=200/)
  assert.match(await response.text(), /two/)
})

test('the tokens that a second message_start reports are counted', async () => {
  const events = [start({ input_tokens: 0, output_tokens: 0 }), start(), ...text(0, 'Hello'), ...finish]
  const { messages, recorded } = await openWorld({
    fetch: fakeUpstream(() => sse(writeEvents(events))),
    connections: ['claude'],
  })
  await (await messages({ stream: true })).text()
  assert.equal([recorded.usages[0]?.inputTokens, recorded.usages[0]?.outputTokens], [7, 5])
})

test('a stream with a single start is passed through byte for byte', async () => {
  const events = writeEvents([start(), ...text(0, 'message_start"'), ...call(1), ...finish]).join('')
  const { messages } = await openWorld({ fetch: fakeUpstream(() => sse(events)), connections: ['claude'] })
  assert.is(await (await messages({ stream: true })).text(), events)
})
