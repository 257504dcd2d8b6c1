import type { JsonObject } from '../../../lib/json.ts'

/*
 * Types of the JSON that the gateway writes. A test compares them with the types of OpenAI's own client. OpenAI's clients ignore the fields that
 * OpenAI's API lacks: `reasoning_content`, `reasoning_details`, `images`, and `cache_control`.
 */

interface CacheControl {
  type: 'ephemeral'
  ttl?: string
}

export interface WireBreakpoints {
  cache_control?: CacheControl
  prompt_cache_breakpoint?: { mode: 'explicit'; ttl?: '30m' | '12h' }
}

export interface WireTextPart extends WireBreakpoints {
  type: 'text'
  text: string
}

export type WireUserPart =
  | WireTextPart
  | ({ type: 'image_url'; image_url: { url: string; detail?: 'auto' | 'low' | 'high' | 'original' } } & WireBreakpoints)
  | ({ type: 'input_audio'; input_audio: { data: string; format: 'wav' | 'mp3' } } & WireBreakpoints)
  | WireVideoPart
  | ({ type: 'file'; file: { file_data?: string; filename?: string; file_id?: string } } & WireBreakpoints)

/** An OpenRouter extension. */
export interface WireVideoPart {
  type: 'video_url'
  video_url: { url: string }
}

export type WireSystemMessage = { role: 'system' | 'developer'; content: string | WireTextPart[]; name?: string }

type WireUserMessage = { role: 'user'; content: string | WireUserPart[]; name?: string }

export type WireToolMessage = { role: 'tool'; tool_call_id: string; content: string | WireTextPart[] }

/** Mistral puts reasoning in the content. */
interface WireThinking {
  type: 'thinking'
  thinking: { type: 'text'; text: string }[]
}

export type WireAssistantMessage = {
  role: 'assistant'
  content: string | null | (WireThinking | WireTextPart)[]
  refusal?: string
  name?: string
  audio?: { id: string }
  images?: WireImage[]
  tool_calls?: WireToolCall[]
  reasoning_content?: string
  reasoning?: string
  reasoning_details?: JsonObject[]
}

export type WireMessage = WireSystemMessage | WireUserMessage | WireToolMessage | WireAssistantMessage

export type WireToolCall =
  | { id: string; type: 'function'; function: { name: string; arguments: string }; extra_content?: JsonObject }
  | { id: string; type: 'custom'; custom: { name: string; input: string } }

export type WireResponseMessage = {
  role: 'assistant'
  content: string | null
  refusal: string | null
  annotations: WireAnnotation[]
  tool_calls?: WireToolCall[]
  function_call?: { name: string; arguments: string }
  audio?: { id: string; data: string; expires_at: number; transcript: string }
  images?: WireImage[]
  reasoning_content?: string
  reasoning_details?: WireDetail[]
}

export interface WireAnnotation {
  type: 'url_citation'
  url_citation: { url: string; title: string; start_index: number; end_index: number }
}

export interface WireImage {
  type: 'image_url'
  image_url: { url: string }
}

/** An entry of OpenRouter's `reasoning_details`, which clients echo. */
export interface WireDetail {
  type: 'reasoning.text' | 'reasoning.summary' | 'reasoning.encrypted'
  text?: string
  summary?: string
  signature?: string
  data?: string
  id?: string
  /** The reasoning's index among the turn's parts. */
  index: number
  format: string
}

export type WireFinish = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call'

export interface WireLogprob {
  token: string
  logprob: number
  bytes: number[] | null
  top_logprobs: { token: string; logprob: number; bytes: number[] | null }[]
}

export type WireUsage = {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  prompt_tokens_details: { cached_tokens: number; cache_write_tokens?: number }
  completion_tokens_details: { reasoning_tokens: number }
}

export type WireResponse = {
  id: string
  object: 'chat.completion'
  created: number
  model: string
  choices: {
    index: number
    message: WireResponseMessage
    finish_reason: WireFinish
    logprobs: { content: WireLogprob[] | null; refusal: null } | null
  }[]
  usage?: WireUsage
}

/** The `delta` of a choice in a chunk. */
export type WireDelta = {
  role?: 'assistant'
  content?: string
  refusal?: string
  tool_calls?: ({ index: number } & Partial<WireToolCall>)[]
  function_call?: { name?: string; arguments?: string }
  audio?: NonNullable<WireResponseMessage['audio']>
  annotations?: WireAnnotation[]
  images?: WireImage[]
  reasoning_content?: string
  reasoning_details?: WireDetail[]
}

export type WireTool =
  | ({
      type: 'function'
      function: { name: string; description?: string; parameters: JsonObject; strict?: boolean }
    } & WireBreakpoints)
  | { type: 'custom'; custom: { name: string; description?: string; format?: WireGrammar } }

interface WireGrammar {
  type: 'grammar'
  grammar: { syntax: 'lark' | 'regex'; definition: string }
}

type WireNamedTool = { type: 'function'; function: { name: string } } | { type: 'custom'; custom: { name: string } }

export type WireToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | WireNamedTool
  | { type: 'allowed_tools'; allowed_tools: { mode: 'auto' | 'required'; tools: WireNamedTool[] } }
