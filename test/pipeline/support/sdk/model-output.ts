import type { JsonObject } from '../../../../src/lib/json.ts'
import type { WireFormat } from '../../../../src/types.ts'
import type { ModelOutput } from './providers/provider.ts'
import { data, formatEvent } from './providers/provider.ts'

/** A model's output in a format-neutral form. */
export type Block =
  | { type: 'text' | 'refusal'; text: string; citations?: Cited[] }
  /** `redacted` is the data that Anthropic sends in place of the text. */
  | { type: 'reasoning'; text: string; signature: string; redacted?: string }
  | { type: 'call'; id: string; name: string; input: JsonObject }
  | { type: 'image'; data: string }

/** A web page, or a document in the request, identified by its index. */
type Cited = { url: string; title: string } | { document: number; quote: string }

export interface ModelResponse {
  blocks: Block[]
  finish?: 'stop' | 'length' | 'filter' | 'calls'
  /** Token counts. `input` includes `cached`, and `output` includes `reasoning`. */
  usage?: { input: number; output: number; cached: number; reasoning: number }
  /** Splits each text into event-sized pieces. Default: two. */
  split?: Split
}

type Split = (text: string) => string[]

const USAGE = { input: 100, output: 40, cached: 60, reasoning: 10 }

/** Returns a response as a provider of the given format sends it, both complete and as events. */
export const getOutput = (format: WireFormat, answered: ModelResponse): ModelOutput => writers[format](answered)

const halves: Split = (text) => [text.slice(0, 3), text.slice(3)].filter((piece) => piece !== '')
const getPages = (blocks: readonly Block[]) =>
  blocks.flatMap((block) => ('citations' in block ? (block.citations ?? []) : [])).filter((cited) => 'url' in cited)
const getText = (blocks: readonly Block[], type: Block['type']) =>
  blocks.map((block) => (block.type === type && 'text' in block ? block.text : '')).join('')

const writers: Readonly<Record<WireFormat, (answered: ModelResponse) => ModelOutput>> = {
  'openai-chat': ({ blocks, finish = 'stop', usage = USAGE, split = halves }) => {
    const head = { id: 'chatcmpl-1', created: 1_790_000_000, model: 'm' }
    const reason = { stop: 'stop', length: 'length', filter: 'content_filter', calls: 'tool_calls' }[finish]
    const [content, refusal] = [getText(blocks, 'text'), getText(blocks, 'refusal')]
    const calls = blocks.flatMap((block) =>
      block.type === 'call'
        ? [{ id: block.id, type: 'function', function: { name: block.name, arguments: JSON.stringify(block.input) } }]
        : [],
    )
    const annotations = getPages(blocks).map((page) => ({
      type: 'url_citation',
      url_citation: { ...page, start_index: 0, end_index: content.length },
    }))
    const modelOutput = {
      role: 'assistant',
      content: content || null,
      refusal: refusal || null,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(annotations.length > 0 && { annotations }),
    }
    const counts = {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
      prompt_tokens_details: { cached_tokens: usage.cached },
      completion_tokens_details: { reasoning_tokens: usage.reasoning },
    }
    const chunk = (choices: object[], extra: object = {}) =>
      data({ ...head, object: 'chat.completion.chunk', choices, ...extra })
    const delta = (extra: object, finish_reason: string | null = null) =>
      chunk([{ index: 0, delta: extra, finish_reason }])
    return {
      whole: {
        ...head,
        object: 'chat.completion',
        choices: [{ index: 0, logprobs: null, finish_reason: reason, message: modelOutput }],
        usage: counts,
      },
      events: [
        delta({ role: 'assistant', content: '' }),
        ...split(content).map((piece) => delta({ content: piece })),
        ...split(refusal).map((piece) => delta({ refusal: piece })),
        ...calls.flatMap((call, index) => [
          delta({ tool_calls: [{ index, ...call, function: { ...call.function, arguments: '' } }] }),
          ...split(call.function.arguments).map((piece) =>
            delta({ tool_calls: [{ index, function: { arguments: piece } }] }),
          ),
        ]),
        ...(annotations.length > 0 ? [delta({ annotations })] : []),
        delta({}, reason),
        chunk([], { usage: counts }),
        'data: [DONE]\n\n',
      ],
    }
  },

  'openai-responses': ({ blocks, finish = 'stop', usage = USAGE, split = halves }) => {
    const reason = finish === 'length' ? 'max_output_tokens' : finish === 'filter' ? 'content_filter' : undefined
    const output = blocks.flatMap((block, index): JsonObject[] => {
      const message = (part: object) => [
        { type: 'message', id: `msg_${index}`, role: 'assistant', status: 'completed', content: [part] },
      ]
      switch (block.type) {
        case 'text': {
          const annotations = getPages([block]).map((page) => ({
            type: 'url_citation',
            ...page,
            start_index: 0,
            end_index: block.text.length,
          }))
          return message({ type: 'output_text', text: block.text, logprobs: [], annotations })
        }
        case 'refusal':
          return message({ type: 'refusal', refusal: block.text })
        case 'reasoning': {
          const summary = block.text ? [{ type: 'summary_text', text: block.text }] : []
          return [{ type: 'reasoning', id: `rs_${index}`, summary, encrypted_content: block.signature }]
        }
        case 'call': {
          const { id, name, input } = block
          const call = { type: 'function_call', id: `fc_${index}`, call_id: id, name, status: 'completed' }
          return [{ ...call, arguments: JSON.stringify(input) }]
        }
        default:
          return []
      }
    })
    const response = (status: string, extra: object) => ({
      ...{ id: 'resp_1', object: 'response', created_at: 1_790_000_000, model: 'm', status, error: null },
      ...{ incomplete_details: null, output: [], parallel_tool_calls: true, tool_choice: 'auto', tools: [], ...extra },
    })
    const full = response(reason ? 'incomplete' : 'completed', {
      output,
      ...(reason && { incomplete_details: { reason } }),
      usage: {
        input_tokens: usage.input,
        input_tokens_details: { cached_tokens: usage.cached },
        output_tokens: usage.output,
        output_tokens_details: { reasoning_tokens: usage.reasoning },
        total_tokens: usage.input + usage.output,
      },
    })
    const events = [
      { type: 'response.created', response: response('in_progress', {}) },
      ...output.flatMap((item, output_index) => itemEvents(item, output_index, split)),
      { type: reason ? 'response.incomplete' : 'response.completed', response: full },
    ]
    return { whole: full, events: events.map((event, sequence_number) => formatEvent({ ...event, sequence_number })) }
  },

  'anthropic-messages': ({ blocks, finish = 'stop', usage = USAGE, split = halves }) => {
    const hasRefusal = blocks.some(({ type }) => type === 'refusal')
    const reasons = { stop: 'end_turn', length: 'max_tokens', filter: 'refusal', calls: 'tool_use' }
    const stop_reason = hasRefusal ? 'refusal' : reasons[finish]
    const content = blocks.flatMap((block): JsonObject[] => {
      switch (block.type) {
        case 'text':
        case 'refusal':
          return [
            { type: 'text', text: block.text, ...(block.citations && { citations: block.citations.map(getCitation) }) },
          ]
        case 'reasoning':
          return block.redacted === undefined
            ? [{ type: 'thinking', thinking: block.text, signature: block.signature }]
            : [{ type: 'redacted_thinking', data: block.redacted }]
        case 'call':
          return [{ type: 'tool_use', id: block.id, name: block.name, input: block.input }]
        default:
          return []
      }
    })
    const counts = {
      input_tokens: usage.input - usage.cached,
      cache_read_input_tokens: usage.cached,
      cache_creation_input_tokens: 0,
      output_tokens: usage.output,
    }
    const message = (extra: object) => ({
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null },
      ...{ stop_sequence: null, usage: counts, ...extra },
    })
    const events = [
      { type: 'message_start', message: message({ usage: { ...counts, output_tokens: 1 } }) },
      ...content.flatMap((block, index) => blockEvents(block, index, split)),
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: usage.output } },
      { type: 'message_stop' },
    ]
    return { whole: message({ content, stop_reason }), events: events.map(formatEvent) }
  },

  gemini: ({ blocks, finish = 'stop', usage = USAGE, split = halves }) => {
    const hasRefusal = blocks.some(({ type }) => type === 'refusal')
    const reasons = { stop: 'STOP', length: 'MAX_TOKENS', filter: 'SAFETY', calls: 'STOP' }
    const finishReason = hasRefusal ? 'PROHIBITED_CONTENT' : reasons[finish]
    const thought = blocks.find(({ type }) => type === 'reasoning')
    const signed = thought && blocks.find(({ type }) => type !== 'reasoning') // Gemini 3 signs the part after its reasoning
    const signature = thought?.type === 'reasoning' ? thought.signature : undefined
    const parts = blocks.map((block): JsonObject => {
      const mark = block === signed ? { thoughtSignature: signature } : {}
      switch (block.type) {
        case 'text':
        case 'refusal':
          return { text: block.text, ...mark }
        case 'reasoning':
          return { text: block.text, thought: true }
        case 'call':
          return { functionCall: { name: block.name, args: block.input }, ...mark }
        default:
          return { inlineData: { mimeType: 'image/png', data: block.data }, ...mark }
      }
    })
    const pages = getPages(blocks)
    const groundingMetadata = {
      webSearchQueries: ['q'],
      groundingChunks: pages.map(({ url, title }) => ({ web: { uri: url, title } })),
      groundingSupports: [
        { segment: { endIndex: 2, text: 'It' }, groundingChunkIndices: pages.map((_, index) => index) },
      ],
    }
    const respond = (some: JsonObject[], isLast: boolean) => ({
      candidates: [
        {
          content: { role: 'model', parts: some },
          index: 0,
          ...(isLast && { finishReason, ...(pages.length > 0 && { groundingMetadata }) }),
        },
      ],
      usageMetadata: {
        promptTokenCount: usage.input,
        cachedContentTokenCount: usage.cached,
        candidatesTokenCount: usage.output - usage.reasoning,
        thoughtsTokenCount: usage.reasoning,
        totalTokenCount: usage.input + usage.output,
      },
      modelVersion: 'm',
      responseId: 'r1',
    })
    const pieces = parts.flatMap((part): JsonObject[] => {
      const { text, thoughtSignature, ...rest } = part
      if (typeof text !== 'string') return [part]
      const last = thoughtSignature === undefined ? [] : [{ text: '', thoughtSignature }] // Google's form for a signature after text
      return [...split(text).map((piece) => ({ text: piece, ...rest })), ...last]
    })
    return {
      whole: respond(parts, true),
      events: pieces.map((part, index) => data(respond([part], index === pieces.length - 1))),
    }
  },
}

const getCitation = (cited: Cited) =>
  'url' in cited
    ? { type: 'web_search_result_location', cited_text: 'q', encrypted_index: 'e', ...cited }
    : {
        ...{ type: 'page_location', cited_text: cited.quote, document_index: cited.document, document_title: null },
        ...{ start_page_number: 1, end_page_number: 2 },
      }

function blockEvents(block: JsonObject, index: number, split: Split): { type: string; [name: string]: unknown }[] {
  const start = (content_block: object) => ({ type: 'content_block_start', index, content_block })
  const delta = (value: object) => ({ type: 'content_block_delta', index, delta: value })
  const stop = { type: 'content_block_stop', index }
  const citations: unknown[] = Array.isArray(block.citations) ? block.citations : []
  switch (block.type) {
    case 'text':
      return [
        start({ type: 'text', text: '' }),
        ...split(String(block.text)).map((text) => delta({ type: 'text_delta', text })),
        ...citations.map((citation) => delta({ type: 'citations_delta', citation })),
        stop,
      ]
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        ...split(String(block.thinking)).map((thinking) => delta({ type: 'thinking_delta', thinking })),
        delta({ type: 'signature_delta', signature: block.signature }),
        stop,
      ]
    case 'tool_use':
      return [
        start({ ...block, input: {} }),
        ...split(JSON.stringify(block.input)).map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
        stop,
      ]
    default:
      return [start(block), stop]
  }
}

function itemEvents(item: JsonObject, output_index: number, split: Split): { type: string; [name: string]: unknown }[] {
  const at = { item_id: item.id, output_index }
  const createItemAdded = (extra: object) => ({
    type: 'response.output_item.added',
    output_index,
    item: { ...item, ...extra },
  })
  const done = { type: 'response.output_item.done', output_index, item }
  const event = (type: string, extra: object) => ({ type: `response.${type}`, ...at, ...extra })
  if (item.type === 'function_call') {
    const text = String(item.arguments)
    return [
      createItemAdded({ arguments: '', status: 'in_progress' }),
      ...split(text).map((delta) => event('function_call_arguments.delta', { delta })),
      event('function_call_arguments.done', { arguments: text }),
      done,
    ]
  }
  if (item.type === 'reasoning') {
    const summary = item.summary as { text: string }[] // as built above
    return [
      createItemAdded({ summary: [], encrypted_content: null }),
      ...summary.flatMap(({ text }, summary_index) => [
        event('reasoning_summary_part.added', { summary_index, part: { type: 'summary_text', text: '' } }),
        ...split(text).map((delta) => event('reasoning_summary_text.delta', { summary_index, delta })),
        event('reasoning_summary_text.done', { summary_index, text }),
        event('reasoning_summary_part.done', { summary_index, part: { type: 'summary_text', text } }),
      ]),
      done,
    ]
  }
  const [part] = item.content as JsonObject[] // as built above
  const isText = part?.type === 'output_text'
  const text = String(isText ? part?.text : part?.refusal)
  const annotations = isText && Array.isArray(part?.annotations) ? part.annotations : []
  const kind = isText ? 'output_text' : 'refusal'
  const empty = isText ? { ...part, text: '', annotations: [] } : { ...part, refusal: '' }
  const index = { content_index: 0 }
  return [
    createItemAdded({ content: [], status: 'in_progress' }),
    event('content_part.added', { ...index, part: empty }),
    ...split(text).map((delta) => event(`${kind}.delta`, { ...index, delta, logprobs: [] })),
    ...annotations.map((annotation, annotation_index) =>
      event('output_text.annotation.added', { ...index, annotation_index, annotation }),
    ),
    event(`${kind}.done`, { ...index, [isText ? 'text' : 'refusal']: text, logprobs: [] }),
    event('content_part.done', { ...index, part }),
    done,
  ]
}
