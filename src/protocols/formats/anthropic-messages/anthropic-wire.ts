import type { JsonObject } from '../../../lib/json.ts'

/*
 * Types of the JSON that the gateway writes. A test compares them with the types of Anthropic's own client. They are type aliases so that they are
 * assignable to JSON objects.
 */

/** Who called a tool: always the model itself. */
type WireCaller = { type: 'direct' }

type DocumentCitation = { cited_text: string; document_index: number; document_title: string | null }

/** A citation in a request. A citation in a response also has a file ID. */
export type WireCitationParam =
  | (DocumentCitation & { type: 'char_location'; start_char_index: number; end_char_index: number })
  | (DocumentCitation & { type: 'page_location'; start_page_number: number; end_page_number: number })
  | (DocumentCitation & { type: 'content_block_location'; start_block_index: number; end_block_index: number })

export type WireCitation = (WireCitationParam & { file_id: string | null }) | WireWebCitation

type WireWebCitation = {
  type: 'web_search_result_location'
  cited_text: string
  encrypted_index: string
  title: string
  url: string
}

export type WireThinking = { type: 'thinking'; thinking: string; signature: string }
export type WireRedacted = { type: 'redacted_thinking'; data: string }
/** Text. As in Anthropic's own responses, empty `citations` are omitted, because AI SDK 5 and 6 reject null citations. */
export type WireText = { type: 'text'; text: string; citations?: WireCitation[] }
/** The start of a text part in a stream. Its citations follow. */
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

type WireSearchError =
  | 'invalid_tool_input'
  | 'unavailable'
  | 'max_uses_exceeded'
  | 'too_many_requests'
  | 'query_too_long'
  | 'request_too_large'

export type WireBlock = WireText | WireThinking | WireRedacted | WireToolUse | WireSearch | WireSearchResults

/** The start of a block in a stream. */
export type WireBlockStart = WireTextStart | Exclude<WireBlock, WireText>

export type WireStopReason =
  | 'end_turn'
  | 'max_tokens'
  | 'stop_sequence'
  | 'tool_use'
  | 'pause_turn'
  | 'refusal'
  | 'model_context_window_exceeded'

/** How a response ended, in a message and in the last delta of its stream. */
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

/** Input counts that are null, so the counts from the start of the stream stay valid. */
type WireUnknownCounts = Omit<WireCounts, UnknownCount> & { [K in UnknownCount]: null }
type UnknownCount = 'input_tokens' | 'cache_creation_input_tokens' | 'cache_read_input_tokens'

export type WireUsage = WireCounts & {
  cache_creation: null
  inference_geo: null
  service_tier: 'standard' | 'priority' | 'batch' | null
  speed: null
}

/** A response. Some fields are always null, because Anthropic's clients expect them. */
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

/** The stop fields of a response that is still in progress. */
type WireStart = { stop_reason: null; stop_sequence: null; stop_details: null }

export type WireDelta =
  | { type: 'text_delta'; text: string }
  | { type: 'citations_delta'; citation: WireCitation }
  | { type: 'thinking_delta'; thinking: string }
  | { type: 'signature_delta'; signature: string }
  | { type: 'input_json_delta'; partial_json: string }

export type WireEvent =
  | { type: 'message_start'; message: Omit<WireMessage, 'content'> & { content: never[] } }
  | { type: 'content_block_start'; index: number; content_block: WireBlockStart }
  | { type: 'content_block_delta'; index: number; delta: WireDelta }
  | { type: 'content_block_stop'; index: number }
  | { type: 'message_delta'; delta: WireStop & { container: null }; usage: WireCounts | WireUnknownCounts }
  | { type: 'message_stop' }

export type WireCacheable = { cache_control?: { type: 'ephemeral'; ttl?: '5m' | '1h' } }

export type WireImageSource =
  | { type: 'base64'; media_type: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'; data: string }
  | { type: 'url'; url: string }
  | { type: 'file'; file_id: string }

export type WireDocumentSource =
  | { type: 'base64'; media_type: 'application/pdf'; data: string }
  | { type: 'text'; media_type: 'text/plain'; data: string }
  | { type: 'url'; url: string }
  | { type: 'file'; file_id: string }

export type WireTextParam = { type: 'text'; text: string; citations?: WireCitationParam[] } & WireCacheable

/** A block of a user message or tool result. */
export type WireUserBlock =
  | WireTextParam
  | ({ type: 'image'; source: WireImageSource } & WireCacheable)
  | ({
      type: 'document'
      source: WireDocumentSource
      title?: string
      context?: string
      citations?: { enabled: true }
    } & WireCacheable)
  | ({
      type: 'search_result'
      source: string
      title: string
      content: WireTextParam[]
      citations?: { enabled: true }
    } & WireCacheable)

export type WireToolResult = {
  type: 'tool_result'
  tool_use_id: string
  content?: WireUserBlock[]
  is_error?: true
} & WireCacheable

export type WireAssistantBlock =
  | WireTextParam
  | WireThinking
  | WireRedacted
  | ({ type: 'tool_use'; id: string; name: string; input: JsonObject } & WireCacheable)

export type WireMessageParam =
  | { role: 'user'; content: (WireUserBlock | WireToolResult)[] }
  | { role: 'assistant'; content: WireAssistantBlock[] }
  | { role: 'system'; content: WireTextParam[] }

export type WireTool =
  | ({
      name: string
      description?: string
      input_schema: { type: 'object'; [keyword: string]: unknown }
      strict?: true
      input_examples?: JsonObject[]
    } & WireCacheable)
  | {
      type: 'web_search_20250305'
      name: 'web_search'
      max_uses?: number
      allowed_domains?: string[]
      blocked_domains?: string[]
      user_location?: { type: 'approximate'; city?: string; region?: string; country?: string; timezone?: string }
    }

export type WireToolChoice =
  | { type: 'auto' | 'any'; disable_parallel_tool_use?: true }
  | { type: 'tool'; name: string; disable_parallel_tool_use?: true }
  | { type: 'none' }

export type WireThinkingConfig =
  | { type: 'disabled' | 'between_tools' }
  | {
      type: 'adaptive'
      display?: 'summarized' | 'omitted'
      block_binding?: { prefix_mismatch_behavior: 'drop_block' }
    }
  | { type: 'enabled'; budget_tokens: number; display?: 'summarized' | 'omitted' }

export type WireOutputConfig = {
  effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max'
  format?: { type: 'json_schema'; schema: JsonObject }
  task_budget?: JsonObject
}

/** A request, without the `stream` field. */
export type WireRequest = {
  model: string
  max_tokens: number
  system?: WireTextParam[]
  messages: WireMessageParam[]
  tools?: WireTool[]
  tool_choice?: WireToolChoice
  thinking?: WireThinkingConfig
  output_config?: WireOutputConfig
  context_management?: { edits: JsonObject[] }
  temperature?: number
  top_p?: number
  top_k?: number
  stop_sequences?: string[]
  metadata?: { user_id: string }
  service_tier?: 'auto' | 'standard_only'
  speed?: 'fast'
  cache_control?: { type: 'ephemeral'; ttl?: '5m' | '1h' }
  stream?: true
}

export type WireCountRequest = Pick<
  WireRequest,
  'model' | 'system' | 'messages' | 'tools' | 'tool_choice' | 'thinking' | 'output_config' | 'cache_control'
>
