import type { JsonObject } from '../../../src/lib/json.ts'
import type { WireFormat } from '../../../src/types.ts'
import { delta } from './support.ts'

type Events = (JsonObject | '[DONE]')[]

/** Creates a text stream with one event per fragment, as a provider of each format sends it, with 7 input and 5 output tokens. */
export const output: Readonly<Record<WireFormat, (...pieces: string[]) => Events>> = {
  'openai-chat': (...pieces) => [
    delta({ role: 'assistant', content: '' }),
    ...pieces.map((content) => delta({ content })),
    delta({}, 'stop'),
    { id: 'c1', choices: [], usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 } },
    '[DONE]',
  ],
  'anthropic-messages': (...pieces) => [
    messageStart(),
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...pieces.map((text) => blockDelta(0, { type: 'text_delta', text })),
    { type: 'content_block_stop', index: 0 },
    ...messageEnd('end_turn'),
  ],
  'openai-responses': (...pieces) => {
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
    const text = pieces.join('')
    const part = { type: 'output_text', text, annotations: [] }
    const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [part] }
    return [
      { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
      { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
      ...pieces.map((extra) => ({ type: 'response.output_text.delta', ...place, delta: extra })),
      { type: 'response.output_text.done', ...place, text },
      { type: 'response.content_part.done', ...place, part },
      { type: 'response.output_item.done', output_index: 0, item },
      responseEnd([item]),
    ]
  },
  gemini: (...pieces) => [
    ...pieces.map((text) => geminiChunk([{ text }])),
    { ...geminiChunk([], 'STOP'), usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 5 } },
  ],
}

export const messageStart = (usage: JsonObject = { input_tokens: 7, output_tokens: 1 }): JsonObject => ({
  type: 'message_start',
  message: {
    ...{ id: 'm1', type: 'message', role: 'assistant', model: 'm', content: [] },
    ...{ stop_reason: null, stop_sequence: null, usage },
  },
})

const blockDelta = (index: number, fields: JsonObject): JsonObject => ({
  type: 'content_block_delta',
  index,
  delta: fields,
})

/** Creates a block from its start, deltas, and stop. */
export const block = (index: number, start: JsonObject, ...deltas: JsonObject[]): JsonObject[] => [
  { type: 'content_block_start', index, content_block: start },
  ...deltas.map((fields) => blockDelta(index, fields)),
  { type: 'content_block_stop', index },
]

export const messageEnd = (stop_reason: string): JsonObject[] => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
]

export const responseEnd = (output: readonly JsonObject[], status = 'completed'): JsonObject => ({
  type: `response.${status}`,
  response: {
    ...{ id: 'resp_1', object: 'response', status, model: 'm', output },
    usage: { input_tokens: 7, output_tokens: 5, total_tokens: 12 },
  },
})

export const geminiChunk = (parts: readonly JsonObject[], finishReason?: string): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason && { finishReason }) }],
})

/** The shortest complete response in each format. */
export const fullResponses: Readonly<Record<WireFormat, JsonObject>> = {
  'openai-chat': {
    ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'm' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
  },
  'openai-responses': {
    ...{ id: 'resp_1', object: 'response', status: 'completed', model: 'm' },
    output: [
      {
        ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
        content: [{ type: 'output_text', text: 'a', annotations: [] }],
      },
    ],
    usage: { input_tokens: 7, output_tokens: 5, total_tokens: 12 },
  },
  'anthropic-messages': {
    ...{ id: 'm1', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'a' }] },
    ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 7, output_tokens: 5 } },
  },
  gemini: {
    candidates: [{ content: { role: 'model', parts: [{ text: 'a' }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 12 },
  },
}
