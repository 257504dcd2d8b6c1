import type { WireFormat } from '../../../src/types.ts'

type Named = readonly [event: string | undefined, payload: object]

/** A stream of about a hundred events in each format, as the vendors send them, including IDs, token counts, and padding. */
export const longStreams: Readonly<Record<WireFormat, readonly Named[]>> = {
  'openai-chat': [
    chunk({ role: 'assistant', content: '', refusal: null }),
    ...createMessage(98, (content) => chunk({ content })),
    chunk({}, 'stop'),
  ],
  'openai-responses': responses(94),
  'anthropic-messages': messages(96),
  gemini: [...createMessage(99, (text) => candidate(text)), candidate('', { finishReason: 'STOP' })],
}

function createMessage(count: number, event: (text: string) => Named): Named[] {
  return Array.from({ length: count }, (_, index) => event(` also the word ${index}`))
}

function chunk(delta: object, finish_reason: string | null = null): Named {
  const about = {
    id: 'chatcmpl-C9lhRHFVbtCVLkd8mvQGRIdrJXPIl',
    object: 'chat.completion.chunk',
    created: 1_756_461_705,
  }
  const by = { model: 'gpt-4o-2024-08-06', service_tier: 'default', system_fingerprint: 'fp_80956533cb' }
  const choices = [{ index: 0, delta, logprobs: null, finish_reason }]
  return [undefined, { ...about, ...by, choices, usage: null, obfuscation: 'HDfnEH5vk' }]
}

function candidate(text: string, finish: object = {}): Named {
  const usageMetadata = {
    ...{ promptTokenCount: 8, candidatesTokenCount: 16, totalTokenCount: 52, thoughtsTokenCount: 28 },
    ...{ promptTokensDetails: [{ modality: 'TEXT', tokenCount: 8 }], serviceTier: 'standard' },
  }
  const candidates = [{ content: { parts: [{ text }], role: 'model' }, ...finish, index: 0 }]
  const about = { modelVersion: 'gemini-3-flash-preview', responseId: 'J3dHapyWENS3g8UPyrefuAE' }
  return [undefined, { candidates, usageMetadata, ...about }]
}

function messages(deltas: number): Named[] {
  const createEvent = (type: string, extra: object = {}): Named => [type, { type, ...extra }]
  const usage = { input_tokens: 12, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 }
  const message = {
    id: 'msg_01F5N8Zb6GRmnLt8VNVYoUTU',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [],
  }
  return [
    createEvent('message_start', { message: { ...message, stop_reason: null, stop_sequence: null, usage } }),
    createEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...createMessage(deltas, (text) =>
      createEvent('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    ),
    createEvent('content_block_stop', { index: 0 }),
    createEvent('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 15 },
    }),
    createEvent('message_stop'),
  ]
}

function responses(deltas: number): Named[] {
  let sequence_number = 0
  const createEvent = (type: string, extra: object): Named => [
    type,
    { type, sequence_number: sequence_number++, ...extra },
  ]
  const item_id = 'msg_0ecff685e411ca7b0069e063569c7c819bbc74c80d853802e6'
  const place = { item_id, output_index: 0, content_index: 0 }
  const started = {
    id: 'resp_0ecff685e411ca7b0069e06356',
    object: 'response',
    created_at: 1,
    model: 'gpt-5',
    output: [],
  }
  const text = Array.from({ length: deltas }, (_, index) => ` also the word ${index}`).join('')
  const part = { type: 'output_text', annotations: [], logprobs: [], text }
  const item = { id: item_id, type: 'message', status: 'completed', role: 'assistant', content: [part] }
  const usage = {
    ...{ input_tokens: 12, input_tokens_details: { cached_tokens: 0 }, output_tokens: 15, total_tokens: 27 },
    output_tokens_details: { reasoning_tokens: 0 },
  }
  return [
    createEvent('response.created', { response: { ...started, status: 'in_progress', usage: null } }),
    createEvent('response.in_progress', { response: { ...started, status: 'in_progress', usage: null } }),
    createEvent('response.output_item.added', {
      output_index: 0,
      item: { ...item, status: 'in_progress', content: [] },
    }),
    createEvent('response.content_part.added', { ...place, part: { ...part, text: '' } }),
    ...createMessage(deltas, (delta) =>
      createEvent('response.output_text.delta', { ...place, delta, logprobs: [], obfuscation: 'aKxVyUx6lzgDL5' }),
    ),
    createEvent('response.output_text.done', { ...place, text, logprobs: [] }),
    createEvent('response.content_part.done', { ...place, part }),
    createEvent('response.output_item.done', { output_index: 0, item }),
    createEvent('response.completed', { response: { ...started, status: 'completed', output: [item], usage } }),
  ]
}
