import Anthropic from '@anthropic-ai/sdk'
import type { JsonObject } from '../../src/lib/json.ts'
import { assert, suite } from '../support/suite.ts'
import { fakeUpstream, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('a second message_start in a stream of Messages')

const start = (usage: JsonObject = { input_tokens: 7, output_tokens: 1 }): JsonObject => ({
  type: 'message_start',
  message: {
    ...{ id: 'm1', type: 'message', role: 'assistant', model: 'c', content: [] },
    ...{ stop_reason: null, stop_sequence: null, usage },
  },
})
const begin = (index: number, content_block: JsonObject = { type: 'text', text: '' }) => ({
  type: 'content_block_start',
  index,
  content_block,
})
const add = (index: number, delta: JsonObject) => ({ type: 'content_block_delta', index, delta })
const say = (index: number, text: string) => add(index, { type: 'text_delta', text })
const end = (index: number) => ({ type: 'content_block_stop', index })
const text = (index: number, words: string) => [begin(index), say(index, words), end(index)]
const call = (index: number) => [
  begin(index, { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }),
  add(index, { type: 'input_json_delta', partial_json: '{"a":1}' }),
  end(index),
]
const finish = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
]

/** The events of a provider, and the text and the calls of the one message that the client is to read. */
const table: Record<string, [events: JsonObject[], text: string, calls?: number]> = {
  'directly after the first': [[start(), start(), ...text(0, 'Hello'), ...finish], 'Hello'],
  'between two blocks': [[start(), ...text(0, 'Hel'), start(), ...text(1, 'lo'), ...finish], 'Hello'],
  'between two blocks, with indices from 0 again': [
    [start(), ...text(0, 'Hel'), start(), ...text(0, 'lo'), ...call(1), ...finish],
    'Hello',
    1,
  ],
  'within an open block': [[start(), begin(0), say(0, 'Hel'), start(), say(0, 'lo'), end(0), ...finish], 'Hello'],
  'within an open block, with indices from 0 again': [
    [start(), begin(0), say(0, 'Hel'), start(), ...text(0, 'lo'), ...finish],
    'Hello',
  ],
  'before the end': [[start(), ...text(0, 'Hello'), start(), ...finish], 'Hello'],
  'of another message, after the end of the first': [
    [start(), ...text(0, 'Hello'), ...finish, start(), ...text(0, 'again'), ...finish],
    'Hello',
  ],
}

const written = (events: readonly JsonObject[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)

/** Ways in which the bytes of a stream may come. */
const cuts: Record<string, (events: string[]) => string[]> = {
  'an event a chunk': (events) => events,
  'all at once': (events) => [events.join('')],
  'a character a chunk': (events) => [...events.join('')],
}

for (const [name, [events, expected, calls = 0]] of Object.entries(table)) {
  for (const [how, cut] of Object.entries(cuts)) {
    test(`${name}, ${how}: Anthropic’s helper reads one message that is passed through`, async () => {
      const { gateway } = await openWorld({
        fetch: fakeUpstream(() => sse(cut(written(events)))),
        connections: ['claude'],
      })
      const client = new Anthropic({
        ...{ apiKey: 'k', baseURL: 'http://gateway', maxRetries: 0 },
        fetch: (input, init) => gateway.fetch(new Request(input, init)),
      })
      const stream = client.messages.stream({
        model: 'claude/c',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'a' }],
      })
      const { content, stop_reason } = await stream.finalMessage()
      assert.is(content.map((block) => (block.type === 'text' ? block.text : '')).join(''), expected)
      assert.equal(
        content.flatMap((block) => (block.type === 'tool_use' ? [block.input] : [])),
        Array(calls).fill({ a: 1 }),
      )
      assert.is(stop_reason, 'end_turn')
    })

    test(`${name}, ${how}: a client of Chat Completions reads one answer`, async () => {
      const { chat } = await openWorld({
        fetch: fakeUpstream(() => sse(cut(written(events)))),
        connections: ['claude'],
      })
      const response = await chat({ model: 'claude/c', stream: true, messages: [{ role: 'user', content: 'a' }] })
      const chunks = [...(await response.text()).matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json))
      const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }: { delta: JsonObject }) => delta))
      assert.is(deltas.map(({ content }) => content ?? '').join(''), expected)
      assert.is(deltas.filter(({ role }) => role).length, 1)
      const begun = deltas.flatMap(({ tool_calls }) => (tool_calls ?? []) as JsonObject[]).filter(({ id }) => id)
      assert.is(begun.length, calls)
    })
  }
}

test('the tokens of the second message_start are counted', async () => {
  const events = [start({ input_tokens: 0, output_tokens: 0 }), start(), ...text(0, 'Hello'), ...finish]
  const { messages, told } = await openWorld({
    fetch: fakeUpstream(() => sse(written(events))),
    connections: ['claude'],
  })
  await (await messages({ stream: true })).text()
  assert.equal([told.usages[0]?.inputTokens, told.usages[0]?.outputTokens], [7, 5])
})

test('a stream with one start is passed on byte for byte', async () => {
  const events = written([start(), ...text(0, 'message_start"'), ...call(1), ...finish]).join('')
  const { messages } = await openWorld({ fetch: fakeUpstream(() => sse(events)), connections: ['claude'] })
  assert.is(await (await messages({ stream: true })).text(), events)
})
