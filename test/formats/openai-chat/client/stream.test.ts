import type { StreamEvent } from '../../../../src/protocols/formats/canonical/canonical-stream.ts'
import { chatTranslator } from '../../../../src/protocols/formats/openai-chat/chat-translator.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

const test = suite('writing a Chat Completions stream')

interface Written {
  chunks: { choices: { index: number; delta: object; finish_reason: string | null }[]; usage?: unknown }[]
  events: string[]
}

function write(events: readonly StreamEvent[], requested: { streamUsage?: boolean; client?: object } = {}): Written {
  const { write: context } = contexts(chatTranslator)
  const written: string[] = []
  const { client, ...rest } = requested
  const writer = chatTranslator.createWriter(context({ ...rest, ...(client && { client: { ...client } }) }), (event) =>
    written.push(event),
  )
  for (const event of events) writer.push(event)
  const chunks = written
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice('data: '.length)))
  return { events: written, chunks }
}

const deltas = (events: readonly StreamEvent[], requested?: { client?: object }) =>
  write(events, { streamUsage: false, ...requested }).chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta))

const start = (key: number, part: (StreamEvent & { type: 'part-start' })['part'], candidate = 0): StreamEvent => ({
  type: 'part-start',
  key,
  candidate,
  part,
})
const delta = (key: number, text: string): StreamEvent => ({ type: 'part-delta', key, text })
const close = (key: number): StreamEvent => ({ type: 'part-end', key })
const end = (...reasons: ('stop' | 'tool-calls' | 'length')[]): StreamEvent => ({
  type: 'end',
  finishes: reasons.map((reason) => ({ reason })),
  usage: { inputTokens: 3, outputTokens: 4 },
})
const text = { type: 'text', text: '' } as const
const call = (id: string) => ({ type: 'tool-call', id, name: 'f', arguments: '' }) as const
const output: StreamEvent[] = [{ type: 'start' }, start(0, text), delta(0, 'a"b'), close(0), end('stop')]

test('a stream contains the role, the text, the finish reason, the usage if requested, and `[DONE]`', () => {
  const { events, chunks } = write(output, { streamUsage: true })
  assert.equal(
    chunks.map(({ choices }) => choices.map((choice) => [choice.delta, choice.finish_reason])),
    [[[{ role: 'assistant', content: '' }, null]], [[{ content: 'a"b' }, null]], [[{}, 'stop']], []],
  )
  assert.equal(
    chunks.slice(0, 3).map(({ usage }) => usage),
    [null, null, null],
  )
  assert.is(Object(chunks[3]?.usage).total_tokens, 7)
  assert.is(events.at(-1), 'data: [DONE]\n\n')
  assert.ok(write(output, { streamUsage: false }).chunks.every((chunk) => !('usage' in chunk)))
})

test('each write is a complete event, and all events have the same ID, time, and model', () => {
  const { events, chunks } = write(output)
  assert.ok(events.every((event) => event.endsWith('\n\n') && event.indexOf('\n\n') === event.length - 2))
  const heads = new Set(chunks.map(({ choices: _, usage: __, ...head }) => JSON.stringify(head)))
  assert.equal([...heads], ['{"id":"chatcmpl-id1","object":"chat.completion.chunk","created":1700000000,"model":"m"}'])
})

test("a call's chunks contain its index, and only the first has the ID, type, and name", () => {
  const events = [
    start(0, call('a')),
    delta(0, '{"x"'),
    start(1, call('b')),
    delta(1, '{}'),
    delta(0, ':1}'),
    close(0),
    close(1),
  ]
  assert.equal(deltas([...events, end('tool-calls')]), [
    { role: 'assistant', content: '' },
    { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '{"x"' } }] },
    { tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'f', arguments: '' } }] },
    { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
    { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] },
    {},
  ])
})

test('a call without arguments gets an empty object', () => {
  const last = deltas([start(0, call('a')), close(0), end('tool-calls')]).at(-2)
  assert.equal(last, { tool_calls: [{ index: 0, function: { arguments: '{}' } }] })
})

test('free-form calls and legacy function_calls have their own fields', () => {
  const free = { type: 'tool-call', id: 'a', name: 'g', arguments: '', isFreeForm: true } as const
  assert.equal(deltas([start(0, free), delta(0, 'x'), close(0), end('tool-calls')]).slice(1, 3), [
    { tool_calls: [{ index: 0, id: 'a', type: 'custom', custom: { name: 'g', input: '' } }] },
    { tool_calls: [{ index: 0, custom: { input: 'x' } }] },
  ])
  const first = [start(0, call('a')), delta(0, '{}'), close(0)]
  const second = [start(1, call('b')), delta(1, '{"x":1}'), close(1)] // the legacy format allows only one call
  const old = write([...first, ...second, end('tool-calls')], { client: { functions: true } })
  assert.equal(
    old.chunks.flatMap(({ choices }) =>
      choices.map((choice) => Object(choice.delta).function_call ?? choice.finish_reason),
    ),
    [null, { name: 'f', arguments: '' }, { arguments: '{}' }, 'function_call'],
  )
})

test('reasoning is sent chunk by chunk, and once more in full at the end', () => {
  const state = { origin: { format: 'anthropic-messages', account: 'a' }, kind: 'signature', data: 's' } as const
  const events = [
    start(0, { type: 'reasoning', text: '' }),
    delta(0, 'h'),
    delta(0, 'm'),
    { type: 'part-state', key: 0, state } as const,
  ]
  assert.equal(deltas([...events, close(0), start(1, text), delta(1, 'a'), close(1), end('stop')]), [
    { role: 'assistant', content: '' },
    { reasoning_content: 'h' },
    { reasoning_content: 'm' },
    { content: 'a' },
    {
      reasoning_details: [
        {
          type: 'reasoning.text',
          text: 'hm',
          signature: 'signalbox-1:anthropic-messages:signature:a::s',
          index: 0,
          format: 'signalbox-v1',
        },
      ],
    },
    {},
  ])
})

test('each candidate has its own role, text, and finish reason', () => {
  const { chunks } = write([
    start(0, text),
    start(1, text, 1),
    delta(1, 'b'),
    delta(0, 'a'),
    close(0),
    close(1),
    end('stop', 'length'),
  ])
  const filterByIndex = (index: number) =>
    chunks.flatMap(({ choices }) => choices.filter((choice) => choice.index === index))
  assert.equal(
    filterByIndex(1).map(({ delta: output, finish_reason }) => [output, finish_reason]),
    [
      [{ role: 'assistant', content: '' }, null],
      [{ content: 'b' }, null],
      [{}, 'length'],
    ],
  )
  assert.is(filterByIndex(0).at(-1)?.finish_reason, 'stop')
})

test('an empty response still includes the assistant role', () => {
  assert.equal(deltas([{ type: 'start' }, end('stop')]), [{ role: 'assistant', content: '' }, {}])
})

test('an error ends the stream without `[DONE]`, even as the first event', () => {
  const error = { kind: 'context-overflow', status: 400, message: 'too long' } as const
  const { events } = write([start(0, text), delta(0, 'a'), { type: 'error', error }])
  assert.is(
    events.at(-1),
    'data: {"error":{"message":"too long","type":"invalid_request_error","param":null,"code":"context_length_exceeded"}}\n\n',
  )
  assert.is(write([{ type: 'error', error }]).events.length, 1)
})

test('Chat Completions keep-alives are comments', () => {
  const { write: context } = contexts(chatTranslator)
  assert.match(chatTranslator.createWriter(context(), () => {}).keepAlive(), /^: .*\n\n$/)
})
