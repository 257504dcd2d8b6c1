import type { JsonObject } from '../../lib/json.ts'
import type { WireCitationParam, WireRedacted, WireThinking } from './wire.ts'

/* What the writer of requests produces; a test holds it against the types of Anthropic's own client. */

export type WireMarked = { cache_control?: { type: 'ephemeral'; ttl?: '5m' | '1h' } }

export type WireImageSource =
  | { type: 'base64'; media_type: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'; data: string }
  | { type: 'url'; url: string }
  | { type: 'file'; file_id: string }

export type WireDocumentSource =
  | { type: 'base64'; media_type: 'application/pdf'; data: string }
  | { type: 'text'; media_type: 'text/plain'; data: string }
  | { type: 'url'; url: string }
  | { type: 'file'; file_id: string }

export type WireTextParam = { type: 'text'; text: string; citations?: WireCitationParam[] } & WireMarked

/** What a user's message or a tool's result holds. */
export type WireUserBlock =
  | WireTextParam
  | ({ type: 'image'; source: WireImageSource } & WireMarked)
  | ({
      type: 'document'
      source: WireDocumentSource
      title?: string
      context?: string
      citations?: { enabled: true }
    } & WireMarked)
  | ({
      type: 'search_result'
      source: string
      title: string
      content: WireTextParam[]
      citations?: { enabled: true }
    } & WireMarked)

export type WireToolResult = {
  type: 'tool_result'
  tool_use_id: string
  content?: WireUserBlock[]
  is_error?: true
} & WireMarked

export type WireAssistantBlock =
  | WireTextParam
  | WireThinking
  | WireRedacted
  | ({ type: 'tool_use'; id: string; name: string; input: JsonObject } & WireMarked)

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
    } & WireMarked)
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
}

/** A request, but for its stream. */
export type WireRequest = {
  model: string
  max_tokens: number
  system?: WireTextParam[]
  messages: WireMessageParam[]
  tools?: WireTool[]
  tool_choice?: WireToolChoice
  thinking?: WireThinkingConfig
  output_config?: WireOutputConfig
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

/** A request for the count of its tokens. */
export type WireCountRequest = Pick<
  WireRequest,
  'model' | 'system' | 'messages' | 'tools' | 'tool_choice' | 'thinking' | 'output_config' | 'cache_control'
>
