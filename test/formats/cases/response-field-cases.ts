import type { JsonObject } from '../../../src/lib/json.ts'
import type { WireFormat } from '../../../src/types.ts'
import { block, fullResponses, geminiChunk, messageStart, responseEnd } from './responses.ts'
import { delta } from './support.ts'

/** A response, complete and streamed. */
export interface Recorded {
  from: WireFormat
  response: JsonObject
  events: (JsonObject | '[DONE]')[]
}

/** Creates an Anthropic message. `stop` is its stop reason. */
export const message = (content: JsonObject[], stop: JsonObject = { stop_reason: 'end_turn' }): Recorded => ({
  from: 'anthropic-messages',
  response: { ...fullResponses['anthropic-messages'], ...stop, content },
  events: [
    messageStart(),
    ...content.flatMap((item, index) => block(index, item)),
    { type: 'message_delta', delta: { stop_sequence: null, ...stop }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ],
})

export const chat = (fields: JsonObject): Recorded => ({
  from: 'openai-chat',
  response: {
    ...fullResponses['openai-chat'],
    choices: [{ index: 0, message: { role: 'assistant', content: 'a', ...fields }, finish_reason: 'stop' }],
  },
  events: [delta({ role: 'assistant', content: 'a', ...fields }), delta({}, 'stop'), '[DONE]'],
})

export const response = (...items: JsonObject[]): Recorded => ({
  from: 'openai-responses',
  response: { ...fullResponses['openai-responses'], output: items },
  events: [
    { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } },
    ...items.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    responseEnd(items),
  ],
})

export const candidate = (parts: JsonObject[], fields: JsonObject = {}): Recorded => {
  const chunk = geminiChunk(parts, 'STOP')
  const candidates = [{ ...(chunk.candidates as JsonObject[])[0], ...fields }] // `geminiChunk` creates a candidate
  return { from: 'gemini', response: { ...fullResponses.gemini, candidates }, events: [{ candidates }] }
}

const text = (extra: JsonObject = {}) => ({ type: 'text', text: 'a', ...extra })
const createMessage = (annotations: JsonObject[]) => ({
  ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text: 'a', annotations }],
})

const web = { url: 'https://example.com/', title: 'T' }
const page = { type: 'page_location', cited_text: 'b', document_index: 0, document_title: 'T' }
const run = { type: 'server_tool_use', id: 's1', name: 'code_execution', input: { code: '1' } }
const ran = { type: 'code_execution_tool_result', tool_use_id: 's1', content: { type: 'code_execution_result' } }
const search = { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } }
const found = { type: 'web_search_tool_result', tool_use_id: 's1', content: [{ type: 'web_search_result', ...web }] }
const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} })
const inline = (mimeType: string) => ({ inlineData: { mimeType, data: 'AAAA' } })
const tokens = { logprobsResult: { chosenCandidates: [{ token: 'a', logProbability: -1 }] } }
const refusal = { stop_reason: 'refusal', stop_details: { type: 'refusal', category: null, explanation: 'No.' } }

type Dropped = Partial<Record<WireFormat, string[]>>

const forEveryone = (...names: string[]): Dropped => ({
  ...{ 'openai-chat': names, 'openai-responses': names, 'anthropic-messages': names, gemini: names },
})

/** A provider's response, and the content that warnings name because a client can't receive it. Other clients receive everything. */
export const lost: Readonly<Record<string, [recorded: Recorded, lost: Dropped]>> = {
  "the output of Anthropic's tools": [
    message([run, ran, text()]),
    forEveryone('server_tool_use', 'code_execution_tool_result'),
  ],
  'an unfinished search': [message([text(), search], { stop_reason: 'pause_turn' }), forEveryone('server_tool_use')],
  "the output of OpenAI's tools": [
    response({ type: 'code_interpreter_call', id: 'ci_1', code: '1', status: 'completed' }, createMessage([])),
    forEveryone('code_interpreter_call'),
  ],
  "the output of Google's tools": [
    candidate([{ executableCode: { code: '1' } }, { codeExecutionResult: { output: '1' } }, { text: 'a' }]),
    forEveryone('executableCode', 'codeExecutionResult'),
  ],
  "Mistral's references": [
    chat({ content: [text(), { type: 'reference', reference_ids: [1] }] }),
    forEveryone('reference'),
  ],
  'a file annotation': [
    chat({ annotations: [{ type: 'file', file: { hash: 'h', content: [] } }] }),
    forEveryone('annotations'),
  ],
  'a citation of something other than a page or a file': [
    response(createMessage([{ type: 'novel_citation', novel: 'x' }])),
    forEveryone('annotations'),
  ],
  'a source of an unknown type': [
    message([text({ citations: [{ type: 'novel_location' }] })]),
    forEveryone('citations'),
  ],
  'a transcript without its audio': [chat({ audio: { id: 'a1', data: '', transcript: 'b' } }), forEveryone('audio')],
  'sources without text': [
    candidate([{ functionCall: { name: 'f', args: {} } }], { groundingMetadata: { groundingChunks: [{ web: {} }] } }),
    forEveryone('groundingMetadata'),
  ],
  'output tokens without text': [
    candidate([{ functionCall: { name: 'f', args: {} } }], tokens),
    forEveryone('logprobsResult'),
  ],
  'text tokens': [candidate([{ text: 'a' }], tokens), {}],
  'reasoning tokens': [candidate([{ text: 'b', thought: true }], tokens), {}],
  'an image draft': [candidate([{ thought: true, ...inline('image/png') }, { text: 'a' }]), forEveryone('inlineData')],
  'a cited document page': [
    message([text({ citations: [{ ...page, start_page_number: 1, end_page_number: 2 }] })]),
    { 'openai-chat': ['citations'], 'openai-responses': ['citations'] },
  ],
  'a file': [
    response(createMessage([{ type: 'file_citation', file_id: 'file_1', filename: 'f.pdf', index: 0 }])),
    { 'openai-chat': ['citations'], 'anthropic-messages': ['citations'] },
  ],
  'a web page': [message([text({ citations: [{ type: 'web_search_result_location', cited_text: 'b', ...web }] })]), {}],
  'search results': [
    message([search, found, text()]),
    { 'openai-chat': ['web_search_results'], gemini: ['web_search_results'] },
  ],
  'an image': [candidate([{ text: 'a' }, inline('image/png')]), { 'anthropic-messages': ['image'] }],
  audio: [
    candidate([{ text: 'a' }, inline('audio/pcm')]),
    { 'anthropic-messages': ['audio'], 'openai-responses': ['audio'] },
  ],
  'which of several stop sequences ended the text': [
    message([text()], { stop_reason: 'stop_sequence', stop_sequence: 'x' }),
    { 'openai-chat': ['stop_sequence'], gemini: ['stop_sequence'] },
  ],
  'the reason for a refusal': [
    message([text()], refusal),
    { 'openai-chat': ['explanation'], 'openai-responses': ['explanation'] },
  ],
  'more calls than a legacy client supports': [
    message([use('c1'), use('c2')], { stop_reason: 'tool_use' }),
    { 'openai-chat': ['tool_calls'] },
  ],
  "OpenAI's shortest response": [chat({}), {}],
  "Anthropic's shortest response": [message([text()]), {}],
  "Google's shortest response": [candidate([{ text: 'a' }]), {}],
  'the shortest response': [response(createMessage([])), {}],
}
