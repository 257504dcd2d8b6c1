import { words } from '../../src/features/guards/guards.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { chatChunk } from '../pipeline/support/responses.ts'
import { assert, suite } from '../support/suite.ts'
import { findLeaks } from './find-leaks.ts'
import { type ClientName, openWorld, WORD } from './world.ts'

const test = suite('words split across stream chunks')

const guard = words({ name: 'w', words: [WORD] })
const event = (json: JsonObject) => `event: ${json.type}\ndata: ${JSON.stringify(json)}\n\n`
const data = (json: object) => `data: ${JSON.stringify(json)}\n\n`
const root = (field: object) => data({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...field })
const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [] }
const started = { type: 'message_start', message: { ...message, usage: { input_tokens: 1, output_tokens: 1 } } }
const startBlock = (index: number, text: string) =>
  event({ type: 'content_block_start', index, content_block: { type: 'text', text } })
const delta = (index: number, inner: object) => event({ type: 'content_block_delta', index, delta: inner })
const stopBlock = (index: number) => event({ type: 'content_block_stop', index })
const textDelta = (text: string) => ({ type: 'text_delta', text })
const response = { id: 'r', object: 'response', created_at: 1, model: 'm', output: [], status: 'in_progress' }

const chat = (...events: string[]) => ['openai-chat', [...events, chatChunk({}, 'stop'), 'data: [DONE]\n\n']] as const
const messages = (...events: string[]) =>
  [
    'anthropic-messages',
    [
      event(started),
      ...events,
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }),
      event({ type: 'message_stop' }),
    ],
  ] as const

const token = (text: string) => ({ content: [{ token: text, logprob: -1, bytes: null, top_logprobs: [] }] })
const outputText = (text: string) => ({ type: 'output_text', text, annotations: [] })
const responses = (...events: JsonObject[]) =>
  [
    'openai-responses',
    [
      event({ type: 'response.created', response }),
      ...events.map(event),
      event({ type: 'response.completed', response: { ...response, status: 'completed' } }),
    ],
  ] as const

const split: Record<string, readonly [ClientName, readonly string[]]> = {
  'an unknown field': chat(chatChunk({ x_text: 'SES' }), chatChunk({ x_text: 'AME' })),
  'an unknown field, letter by letter': chat(...[...WORD].map((letter) => chatChunk({ x_text: letter }))),
  'a field in an unknown object': chat(chatChunk({ x: { text: 'SES' } }), chatChunk({ x: { text: 'AME' } })),
  'a field in an unknown list': chat(chatChunk({ x: [{ text: 'SES' }] }), chatChunk({ x: [{ text: 'AME' }] })),
  'an unknown field in two events': chat(root({ x: 'SES', choices: [] }), root({ x: 'AME', choices: [] })),
  'log probability tokens in two events': chat(
    ...['SES', 'AME'].map((text) => root({ choices: [{ index: 0, delta: { content: '' }, logprobs: token(text) }] })),
  ),
  'two final copies': responses(
    ...['SES', 'AME'].map((text, at) => ({
      ...{ type: 'response.output_text.done', item_id: 'm', output_index: 0 },
      ...{ content_index: at, text },
    })),
  ),
  'two parts of a final copy': responses({
    ...{ type: 'response.output_item.done', output_index: 0 },
    item: { ...message, content: ['SES', 'AME'].map(outputText) },
  }),
  "events that aren't JSON": chat('data: SES\n\n', 'data: AME\n\n'),
  'an HTML tag with attributes': chat(...[...'SES<b class="x">AME'].map((content) => chatChunk({ content }))),
  'an HTML comment': chat(...[...'SES<!-- x -->AME'].map((content) => chatChunk({ content }))),
  'a long HTML entity': chat(...[...'SES&ZeroWidthSpace;AME'].map((content) => chatChunk({ content }))),
  'an unknown delta': messages(
    startBlock(0, ''),
    delta(0, { type: 'x_delta', x: 'SES' }),
    delta(0, { type: 'x_delta', x: 'AME' }),
    stopBlock(0),
  ),
  'two blocks': messages(
    ...['SES', 'AME'].flatMap((text, index) => [
      startBlock(index, ''),
      delta(index, textDelta(text)),
      stopBlock(index),
    ]),
  ),
  'the second and third of three blocks': messages(
    ...['x', 'SES', 'AME'].flatMap((text, at) => [startBlock(at, ''), delta(at, textDelta(text)), stopBlock(at)]),
  ),
  'two blocks without deltas': messages(
    ...['SES', 'AME'].flatMap((text, index) => [startBlock(index, text), stopBlock(index)]),
  ),
  'the start of a block and its delta': messages(startBlock(0, 'SES'), delta(0, textDelta('AME')), stopBlock(0)),
  'an unknown event': responses(...['SES', 'AME'].map((x) => ({ type: 'response.x', x }))),
  'parts with an unknown field': [
    'gemini',
    ['SES', 'AME'].map((x) => data({ candidates: [{ content: { role: 'model', parts: [{ x }] }, index: 0 }] })),
  ],
}

for (const [title, [client, events]] of Object.entries(split))
  test(`a word split across ${title} isn't delivered`, async () => {
    const { say } = await openWorld([guard], { format: client, events })
    const text = await (await say(client, 'Hi', { stream: true })).text()
    assert.equal(findLeaks(text, WORD), [], text)
    assert.not.match(text, 'AME')
  })

test("a string that is repeated in each event isn't joined", async () => {
  const repeated = [root({ x: 'echo', choices: [] }), root({ x: 'echo', choices: [] })]
  const { say } = await openWorld([words({ name: 'w', words: ['echoecho'] })], { events: chat(...repeated)[1] })
  assert.match(await (await say('openai-chat', 'Hi', { stream: true })).text(), '"finish_reason":"stop"')
})

test("separate argument values in a tool call aren't joined", async () => {
  const functionCall = { name: 'f', args: { a: 'SES', b: 'AME', c: 'Hi' } }
  const events = [data({ candidates: [{ content: { role: 'model', parts: [{ functionCall }] }, index: 0 }] })]
  const { say } = await openWorld([guard], { format: 'gemini', events })
  assert.match(await (await say('gemini', 'Hi', { stream: true })).text(), '"c":"Hi"')
})
