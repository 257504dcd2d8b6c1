import type { JsonObject } from '../../lib/json.ts'

/*
 * What the writers of this format produce; a test holds it against the types of Anthropic's own client. Type aliases, so that they are
 * JSON objects too.
 */

/** What an answer's block says of who called a tool: always the model itself. */
export type WireCaller = { type: 'direct' }

type DocumentCitation = { cited_text: string; document_index: number; document_title: string | null }

/** Citations in a request; those of an answer say the file's id besides. */
export type WireCitationParam =
  | (DocumentCitation & { type: 'char_location'; start_char_index: number; end_char_index: number })
  | (DocumentCitation & { type: 'page_location'; start_page_number: number; end_page_number: number })
  | (DocumentCitation & { type: 'content_block_location'; start_block_index: number; end_block_index: number })

export type WireCitation = (WireCitationParam & { file_id: string | null }) | WireWebCitation

export type WireWebCitation = {
  type: 'web_search_result_location'
  cited_text: string
  encrypted_index: string
  title: string
  url: string
}

export type WireThinking = { type: 'thinking'; thinking: string; signature: string }
export type WireRedacted = { type: 'redacted_thinking'; data: string }
/** A text that cites nothing has no `citations` in a whole answer, as Anthropic leaves them out: AI SDK 5 and 6 refuse null there. */
export type WireText = { type: 'text'; text: string; citations?: WireCitation[] }
/** A text as it starts in a stream: its citations come later. */
export type WireTextStart = { type: 'text'; text: ''; citations: null }
export type WireToolUse = { type: 'tool_use'; id: string; name: string; input: JsonObject; caller: WireCaller }
export type WireSearch = {
  type: 'server_tool_use'
  id: string
  name: 'web_search'
  input: { query?: string }
  caller: WireCaller
}
export type WireSearchResults = {
  type: 'web_search_tool_result'
  tool_use_id: string
  content:
    | { type: 'web_search_result'; url: string; title: string; encrypted_content: string; page_age: null }[]
    | { type: 'web_search_tool_result_error'; error_code: WireSearchError }
  caller: WireCaller
}

export type WireSearchError =
  | 'invalid_tool_input'
  | 'unavailable'
  | 'max_uses_exceeded'
  | 'too_many_requests'
  | 'query_too_long'
  | 'request_too_large'

/** A block of an answer. */
export type WireBlock = WireText | WireThinking | WireRedacted | WireToolUse | WireSearch | WireSearchResults

/** A block as it starts in a stream. */
export type WireBlockStart = WireTextStart | Exclude<WireBlock, WireText>

export type WireStopReason =
  | 'end_turn'
  | 'max_tokens'
  | 'stop_sequence'
  | 'tool_use'
  | 'pause_turn'
  | 'refusal'
  | 'model_context_window_exceeded'

/** How an answer ended, in a message and in the last delta of its stream. */
export type WireStop = {
  stop_reason: WireStopReason
  stop_sequence: string | null
  stop_details: { type: 'refusal'; category: null; explanation: string | null } | null
}

export type WireCounts = {
  input_tokens: number
  cache_creation_input_tokens: number
  cache_read_input_tokens: number
  output_tokens: number
  output_tokens_details: { thinking_tokens: number } | null
  server_tool_use: null
}

/** Counts of the input that stay as the start of the stream had them. */
export type WireUnknownCounts = Omit<WireCounts, UnknownCount> & { [K in UnknownCount]: null }
type UnknownCount = 'input_tokens' | 'cache_creation_input_tokens' | 'cache_read_input_tokens'

export type WireUsage = WireCounts & {
  cache_creation: null
  inference_geo: null
  service_tier: 'standard' | 'priority' | 'batch' | null
  speed: null
}

/** An answer. Fields that are null are always there in the vendor's own, and its clients' types rely on them. */
export type WireMessage = {
  id: string
  type: 'message'
  role: 'assistant'
  model: string
  content: WireBlock[]
  container: null
  diagnostics: null
  usage: WireUsage
} & (WireStop | WireStart)

/** What an answer has where its end will be. */
export type WireStart = { stop_reason: null; stop_sequence: null; stop_details: null }

export type WireDelta =
  | { type: 'text_delta'; text: string }
  | { type: 'citations_delta'; citation: WireCitation }
  | { type: 'thinking_delta'; thinking: string }
  | { type: 'signature_delta'; signature: string }
  | { type: 'input_json_delta'; partial_json: string }

/** An event of a stream. */
export type WireEvent =
  | { type: 'message_start'; message: Omit<WireMessage, 'content'> & { content: never[] } }
  | { type: 'content_block_start'; index: number; content_block: WireBlockStart }
  | { type: 'content_block_delta'; index: number; delta: WireDelta }
  | { type: 'content_block_stop'; index: number }
  | { type: 'message_delta'; delta: WireStop & { container: null }; usage: WireCounts | WireUnknownCounts }
  | { type: 'message_stop' }
