import type { ProviderFormat, WireFormat } from '../../../src/types.ts'
import { eventFrame } from '../../formats/support/event-stream.ts'

/* The same response as a stream in every format: the model says that it is looking, and calls a tool to look at the sky. */

/** The client's view of the response. */
export const looked = {
  text: 'I look.',
  reasoning: '',
  calls: [{ name: 'look', args: { at: 'sky' } }],
  finish: 'calls',
  inputTokens: 10,
  outputTokens: 5,
} as const

const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`
const event = (value: { type: string; [name: string]: unknown }) => `event: ${value.type}\n${data(value)}`

const chunk = (choices: object[], extra: object = {}) =>
  data({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm-1', choices, ...extra })
const delta = (content: object, finish_reason: string | null = null) =>
  chunk([{ index: 0, delta: content, finish_reason }])
const toolCall = (content: object) => delta({ tool_calls: [{ index: 0, ...content }] })

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm-1', content: [], stop_reason: null }
const block = (index: number, extra: object, type = 'content_block_start') => event({ type, index, ...extra })

const candidate = (parts: object[], extra: object = {}) =>
  data({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...extra }],
    modelVersion: 'm-1',
    responseId: 'r1',
  })

const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm-1', output: [], status: 'in_progress' }
const words = { type: 'output_text', text: 'I look.', annotations: [] }
const output = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [words] }
const called = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'look', status: 'completed' }
const args = '{"at":"sky"}'

/** The response in the stream's last event. */
export const wholeResponse = {
  ...response,
  status: 'completed',
  output: [output, { ...called, arguments: args }],
  usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
}

/** The same response without streaming. */
export const wholeLooking: Readonly<Record<WireFormat, object>> = {
  'openai-chat': {
    ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'm-1' },
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: args } }],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  },
  'openai-responses': wholeResponse,
  'anthropic-messages': {
    ...message,
    content: [
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'sky' } },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 10, output_tokens: 5 },
  },
  gemini: {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [{ text: 'I look.' }, { functionCall: { name: 'look', args: { at: 'sky' } } }],
        },
        finishReason: 'STOP',
        index: 0,
      },
    ],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    modelVersion: 'm-1',
  },
}

/** The stream, one element per event. */
export const readHeaders: Readonly<Record<ProviderFormat, readonly (string | Uint8Array)[]>> = {
  'openai-chat': [
    delta({ role: 'assistant', content: '' }),
    delta({ content: 'I ' }),
    delta({ content: 'look.' }),
    toolCall({ id: 'call_1', type: 'function', function: { name: 'look', arguments: '' } }),
    toolCall({ function: { arguments: '{"at":' } }),
    toolCall({ function: { arguments: '"sky"}' } }),
    delta({}, 'tool_calls'),
    chunk([], { usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }),
    'data: [DONE]\n\n',
  ],
  'openai-responses': [
    event({ type: 'response.created', response }),
    event({ type: 'response.output_item.added', output_index: 0, item: { ...output, content: [] } }),
    event({ type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'msg_1', delta: 'I ' }),
    event({ type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'msg_1', delta: 'look.' }),
    event({ type: 'response.output_item.done', output_index: 0, item: output }),
    event({ type: 'response.output_item.added', output_index: 1, item: { ...called, arguments: '' } }),
    event({ type: 'response.function_call_arguments.delta', output_index: 1, item_id: 'fc_1', delta: args }),
    event({ type: 'response.output_item.done', output_index: 1, item: { ...called, arguments: args } }),
    event({ type: 'response.completed', response: wholeResponse }),
  ],
  'anthropic-messages': [
    event({ type: 'message_start', message: { ...message, usage: { input_tokens: 10, output_tokens: 1 } } }),
    block(0, { content_block: { type: 'text', text: '' } }),
    block(0, { delta: { type: 'text_delta', text: 'I ' } }, 'content_block_delta'),
    event({ type: 'ping' }),
    block(0, { delta: { type: 'text_delta', text: 'look.' } }, 'content_block_delta'),
    block(0, {}, 'content_block_stop'),
    block(1, { content_block: { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} } }),
    block(1, { delta: { type: 'input_json_delta', partial_json: args } }, 'content_block_delta'),
    block(1, {}, 'content_block_stop'),
    event({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } }),
    event({ type: 'message_stop' }),
  ],
  gemini: [
    candidate([{ text: 'I ' }]),
    candidate([{ text: 'look.' }]),
    data({
      candidates: [
        {
          content: { parts: [{ functionCall: { name: 'look', args: { at: 'sky' } } }] },
          finishReason: 'STOP',
          index: 0,
        },
      ],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      modelVersion: 'm-1',
    }),
  ],
  'bedrock-converse': [
    eventFrame('messageStart', { role: 'assistant' }),
    eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'I look.' } }),
    eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
    eventFrame('contentBlockStart', {
      contentBlockIndex: 1,
      start: { toolUse: { toolUseId: 'tooluse_1', name: 'look' } },
    }),
    eventFrame('contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: args } } }),
    eventFrame('contentBlockStop', { contentBlockIndex: 1 }),
    eventFrame('messageStop', { stopReason: 'tool_use' }),
    eventFrame('metadata', { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } }),
  ],
}
