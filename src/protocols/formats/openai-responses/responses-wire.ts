import type { JsonObject } from '../../../lib/json.ts'

/*
 * Types of the JSON that the gateway writes. A test compares them with the types of OpenAI's own client. `input_audio` is the only extension. Few
 * providers accept audio here.
 */

export interface WireBreakpoint {
  prompt_cache_breakpoint?: { mode: 'explicit'; ttl?: '30m' | '12h' }
}

type WireInputText = { type: 'input_text'; text: string } & WireBreakpoint

export type WireInputPart =
  | WireInputText
  | ({
      type: 'input_image'
      detail: 'auto' | 'low' | 'high' | 'original'
      image_url?: string
      file_id?: string
    } & WireBreakpoint)
  | ({
      type: 'input_file'
      file_data?: string
      file_url?: string
      file_id?: string
      filename?: string
    } & WireBreakpoint)
  | ({ type: 'input_audio'; input_audio: { data: string; format: 'wav' | 'mp3' } } & WireBreakpoint)

/** A part of an assistant message. It has no ID, because IDs only matter for stored messages. */
export type WireOutputPart =
  | { type: 'output_text'; text: string; annotations: WireAnnotation[] }
  | { type: 'refusal'; refusal: string }

type WirePhase = 'commentary' | 'final_answer'

export type WireInputItem =
  | { type: 'message'; role: 'user' | 'system' | 'developer'; content: string | WireInputPart[] }
  | { type: 'message'; role: 'assistant'; content: string | WireOutputPart[]; phase?: WirePhase }
  | WireReasoningInput
  | WireCompactionInput
  | { type: 'function_call'; call_id: string; name: string; arguments: string }
  | { type: 'custom_tool_call'; call_id: string; name: string; input: string }
  | { type: 'function_call_output' | 'custom_tool_call_output'; call_id: string; output: string | WireInputPart[] }

export type WireReasoningInput = {
  type: 'reasoning'
  id?: string
  summary: WireSummary[]
  content?: { type: 'reasoning_text'; text: string }[]
  encrypted_content?: string
}

type WireCompactionInput = { type: 'compaction'; id?: string; encrypted_content: string }

export type WireCompaction = { type: 'compaction'; id: string; encrypted_content: string }

interface WireSummary {
  type: 'summary_text'
  text: string
}

type WireSearch = { type: 'search'; query: string; sources: { type: 'url'; url: string }[] }

export type WireTool =
  | {
      type: 'function'
      name: string
      description?: string
      parameters: JsonObject
      strict?: boolean
      output_schema?: JsonObject
    }
  | { type: 'custom'; name: string; description?: string; format?: WireGrammar }
  | {
      type: 'web_search'
      search_context_size?: 'low' | 'medium' | 'high'
      user_location?: { type: 'approximate'; city?: string; region?: string; country?: string; timezone?: string }
      filters?: { allowed_domains?: string[]; blocked_domains?: string[] }
    }

interface WireGrammar {
  type: 'grammar'
  syntax: 'lark' | 'regex'
  definition: string
}

export type WireNamedTool =
  | { type: 'function' | 'custom'; name: string }
  | {
      type: 'shell' | 'apply_patch' | 'code_interpreter' | 'file_search' | 'image_generation'
    }

export type WireToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | WireNamedTool
  | { type: 'allowed_tools'; mode: 'auto' | 'required'; tools: WireNamedTool[] }

export type WireFormat =
  | { type: 'text' }
  | { type: 'json_object' }
  | { type: 'json_schema'; name: string; schema: JsonObject; description?: string; strict?: boolean }

export type WireAnnotation =
  | { type: 'url_citation'; url: string; title: string; start_index: number; end_index: number }
  | { type: 'file_citation'; file_id: string; filename: string; index: number }

export interface WireLogprob {
  token: string
  logprob: number
  bytes: number[]
  top_logprobs: { token: string; logprob: number; bytes: number[] }[]
}

type WireText = { type: 'output_text'; text: string; annotations: WireAnnotation[]; logprobs: WireLogprob[] }

export type WireContent = WireText | { type: 'refusal'; refusal: string }

export type WireItemStatus = 'in_progress' | 'completed' | 'incomplete'

export type WireMessage = {
  type: 'message'
  id: string
  status: WireItemStatus
  role: 'assistant'
  content: WireContent[]
  phase?: WirePhase
}

export type WireReasoning = { type: 'reasoning'; id: string; summary: WireSummary[]; encrypted_content?: string }

export type WireCall =
  | {
      type: 'function_call'
      id: string
      call_id: string
      name: string
      namespace?: string
      arguments: string
      status: WireItemStatus
    }
  | { type: 'custom_tool_call'; id: string; call_id: string; name: string; namespace?: string; input: string }

/** A call to an OpenAI-defined tool that the client runs. */
export type WireClientCall =
  | {
      type: 'shell_call'
      id: string
      call_id: string
      action: { commands: string[]; timeout_ms: number | null; max_output_length: number | null }
      environment: { type: 'local' }
      status: WireItemStatus
    }
  | {
      type: 'local_shell_call'
      id: string
      call_id: string
      action: {
        type: 'exec'
        command: string[]
        env: Record<string, string>
        timeout_ms?: number
        working_directory?: string
      }
      status: WireItemStatus
    }
  | {
      type: 'apply_patch_call'
      id: string
      call_id: string
      operation:
        | { type: 'create_file' | 'update_file'; path: string; diff: string }
        | { type: 'delete_file'; path: string }
      status: 'in_progress' | 'completed'
    }

export type WireOutputItem =
  | WireClientCall
  | WireMessage
  | WireReasoning
  | WireCompaction
  | WireCall
  | { type: 'web_search_call'; id: string; status: 'in_progress' | 'completed' | 'failed'; action: WireSearch }
  | { type: 'image_generation_call'; id: string; status: 'in_progress' | 'completed'; result: string | null }

export type WireUsage = {
  input_tokens: number
  input_tokens_details: { cached_tokens: number; cache_write_tokens: number }
  output_tokens: number
  output_tokens_details: { reasoning_tokens: number }
  total_tokens: number
}

type WireStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed'

/** The response fields that describe the outcome. The other fields echo the request. */
export type WireOutcome = {
  status: WireStatus
  completed_at: number | null
  error: { code: string; message: string } | null
  incomplete_details: { reason: 'max_output_tokens' | 'content_filter' } | null
  output: WireOutputItem[]
  usage: WireUsage | null
}
