import type { JsonObject } from '../../../src/lib/json.ts'
import type { WireFormat } from '../../../src/types.ts'
import { block, geminiChunk, messageEnd, messageStart, responseEnd } from './responses.ts'
import { delta } from './support.ts'

type Events = (JsonObject | '[DONE]')[]

const call = (fields: JsonObject) => delta({ tool_calls: [fields] })
const fn = (name: string | undefined, args: unknown) => ({
  function: { ...(name !== undefined && { name }), arguments: args },
})
const end = delta({}, 'tool_calls')
const first = delta({ role: 'assistant', content: null })
const responseCall = (fields: JsonObject) => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'f',
  ...fields,
})

type Received = [name: string, args: unknown][]
const two: Received = [
  ['f', { x: 1 }],
  ['g', { y: 2 }],
]

/** Provider responses, and the calls that every client receives. */
export const callCases: Readonly<
  Record<string, [from: WireFormat, events: Events, calls: Received, finish?: 'calls' | 'stop']>
> = {
  'one index for all calls': [
    'openai-chat',
    [
      first,
      call({ index: 0, id: 'call_a', type: 'function', ...fn('f', '{"x":1}') }),
      call({ index: 0, id: 'call_b', type: 'function', ...fn('g', '{"y":2}') }),
      end,
    ],
    two,
  ],
  'no index': [
    'openai-chat',
    [
      first,
      call({ id: 'a', ...fn('f', '{"x"') }),
      call(fn(undefined, ':1}')),
      call({ id: 'b', ...fn('g', '{"y":2}') }),
      end,
    ],
    two,
  ],
  'indices from 1': [
    'openai-chat',
    [
      first,
      call({ index: 1, id: 'a', ...fn('f', '{"x":1}') }),
      call({ index: 2, id: 'b', ...fn('g', '{"y":2}') }),
      end,
    ],
    two,
  ],
  'interleaved pieces': [
    'openai-chat',
    [
      first,
      call({ index: 0, id: 'a', ...fn('f', '') }),
      call({ index: 1, id: 'b', ...fn('g', '') }),
      call({ index: 0, ...fn(undefined, '{"x"') }),
      call({ index: 1, ...fn(undefined, '{"y"') }),
      call({ index: 0, ...fn(undefined, ':1}') }),
      call({ index: 1, ...fn(undefined, ':2}') }),
      end,
    ],
    two,
  ],
  'parallel Gemini calls, one part per chunk, without IDs': [
    'gemini',
    [
      geminiChunk([{ functionCall: { name: 'f', args: { x: 1 } } }]),
      geminiChunk([{ functionCall: { name: 'g', args: { y: 2 } } }]),
      geminiChunk([{ functionCall: { name: 'f', args: {} } }], 'STOP'),
    ],
    [...two, ['f', {}]],
  ],
  'no arguments, sent as one empty fragment': [
    'anthropic-messages',
    [
      messageStart(),
      ...block(
        0,
        { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
        { type: 'input_json_delta', partial_json: '' },
      ),
      ...messageEnd('tool_use'),
    ],
    [['f', {}]],
  ],
  'no arguments at all': ['openai-chat', [first, call({ index: 0, id: 'a', ...fn('f', '') }), end], [['f', {}]]],
  'a placeholder before the arguments': [
    'openai-chat',
    [first, call({ index: 0, id: 'a', ...fn('f', '{}') }), call({ index: 0, ...fn(undefined, '{"x":1}') }), end],
    [['f', { x: 1 }]],
  ],
  'only a placeholder': ['openai-chat', [first, call({ index: 0, id: 'a', ...fn('f', '{}') }), end], [['f', {}]]],
  'a placeholder in a block': [
    'anthropic-messages',
    [
      messageStart(),
      ...block(
        0,
        { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
        { type: 'input_json_delta', partial_json: '{}' },
        { type: 'input_json_delta', partial_json: '{"x":1}' },
      ),
      ...messageEnd('tool_use'),
    ],
    [['f', { x: 1 }]],
  ],
  'the finish reason "stop"': [
    'openai-chat',
    [first, call({ index: 0, id: 'a', ...fn('f', '{}') }), delta({}, 'stop')],
    [['f', {}]],
  ],
  'the finish reason "eos"': [
    'openai-chat',
    [first, call({ index: 0, id: 'a', ...fn('f', '{}') }), delta({}, 'eos')],
    [['f', {}]],
  ],
  'the finish reason for the end of a turn': [
    'anthropic-messages',
    [messageStart(), ...block(0, { type: 'tool_use', id: 't', name: 'f', input: {} }), ...messageEnd('end_turn')],
    [['f', {}]],
  ],
  'a response with only its end': [
    'openai-responses',
    [responseEnd([responseCall({ arguments: '{"x":1}' })])],
    [['f', { x: 1 }]],
  ],
  'arguments in a single fragment': [
    'openai-responses',
    [
      { type: 'response.output_item.added', output_index: 0, item: responseCall({ arguments: '' }) },
      { type: 'response.function_call_arguments.done', output_index: 0, item_id: 'fc_1', arguments: '{"x":1}' },
      { type: 'response.output_item.done', output_index: 0, item: responseCall({ arguments: '{"x":1}' }) },
      responseEnd([responseCall({ arguments: '{"x":1}' })]),
    ],
    [['f', { x: 1 }]],
  ],
  'item IDs that change within the stream': [
    'openai-responses',
    [
      { type: 'response.output_item.added', output_index: 0, item: responseCall({ id: 'a1', arguments: '' }) },
      { type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'a2', delta: '{"x"' },
      { type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'a3', delta: ':1}' },
      { type: 'response.output_item.done', output_index: 0, item: responseCall({ id: 'a4', arguments: '{"x":1}' }) },
      responseEnd([responseCall({ id: 'a5', arguments: '{"x":1}' })]),
    ],
    [['f', { x: 1 }]],
  ],
  'a call without a name': [
    'openai-chat',
    [first, delta({ content: 'a' }), call({ index: 0, id: 'a', ...fn('', '{}') }), end],
    [],
    'stop',
  ],
  'argument fragments with paths, without an end': [
    'gemini',
    [
      geminiChunk([{ functionCall: { name: 'f', willContinue: true } }]),
      geminiChunk([
        {
          functionCall: {
            partialArgs: [{ jsonPath: '$.a.b', stringValue: 'one ', willContinue: true }],
            willContinue: true,
          },
        },
      ]),
      geminiChunk([{ functionCall: { partialArgs: [{ jsonPath: '$.a.b', stringValue: 'two' }], willContinue: true } }]),
      geminiChunk([{ functionCall: { partialArgs: [{ jsonPath: '$.n[0]', numberValue: 3 }], willContinue: true } }]),
      geminiChunk([], 'STOP'),
    ],
    [['f', { a: { b: 'one two' }, n: [3] }]],
  ],
}
