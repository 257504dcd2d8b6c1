import type { JsonObject } from '../../../lib/json.ts'
import type { WireFormat } from '../../../types.ts'
import type { MediaSource } from './canonical-media.ts'
import type { OpaqueState } from './canonical-state.ts'

/** A vendor's own JSON for a tool, a call, or a result, for targets with the same format that support it (`Traits.ownTools`). */
export interface NativeValue {
  format: WireFormat
  value: JsonObject
}

/** A cache breakpoint: the provider should cache the prompt up to here. */
export interface CacheBreakpoint {
  ttl?: '5m' | '30m' | '1h' | '12h'
}

export interface TextPart {
  type: 'text'
  text: string
  cache?: CacheBreakpoint
  citations?: Citation[]
  /** OpenAI Responses: whether this is a comment before the final answer, or the final answer itself. */
  phase?: 'commentary' | 'final_answer'
  logprobs?: TokenLogprob[]
  state?: OpaqueState
}

export interface ImagePart {
  type: 'image'
  source: MediaSource
  detail?: 'auto' | 'low' | 'high' | 'original'
  cache?: CacheBreakpoint
  state?: OpaqueState
}

export interface FilePart {
  type: 'file'
  source: MediaSource
  name?: string
  context?: string
  /** Whether the response may cite this part. */
  citable?: boolean
  cache?: CacheBreakpoint
}

export interface AudioPart {
  type: 'audio'
  source: MediaSource
  transcript?: string
  /** The provider's ID for audio in an earlier response. */
  id?: string
  /** Unix time in seconds. */
  expiresAt?: number
  cache?: CacheBreakpoint
}

export interface VideoPart {
  type: 'video'
  source: MediaSource
  fps?: number
  /** A duration in Google's format: `1.5s`. */
  startOffset?: string
  endOffset?: string
}

export interface SearchResultPart {
  type: 'search-result'
  source: string
  title: string
  content: TextPart[]
  citable?: boolean
  cache?: CacheBreakpoint
}

export interface RefusalPart {
  type: 'refusal'
  text: string
}

/** The model's reasoning. If the text is empty, only the state matters. A part with neither is dropped. */
export interface ReasoningPart {
  type: 'reasoning'
  text: string
  /** Set if the text is a summary by the provider. */
  isSummary?: true
  state?: OpaqueState
}

export interface ToolCallPart {
  type: 'tool-call'
  id: string
  name: string
  /** JSON as the model wrote it, possibly empty or truncated (see `parseArguments`). For a free-form tool, its input text. */
  arguments: string
  isFreeForm?: true
  state?: OpaqueState
  cache?: CacheBreakpoint
  native?: NativeValue
}

/** A provider-run tool, in a response or in the history. */
export interface ServerToolPart {
  type: 'server-tool'
  tool: 'web-search' | 'hosted'
  id: string
  query: string
  /** The provider's error code, if the tool failed. */
  error?: string
  results: { url: string; title: string; text?: string }[]
  /** The call, if it isn't a search. Only clients that declared a hosted tool receive it. */
  hosted?: HostedCall
}

/** A call to a vendor-run tool, in the vendor's format. */
export interface HostedCall {
  name: string
  input: JsonObject
  result: unknown
  isError?: true
}

/** Replaces the earlier conversation with the gateway's summary, or with one that OpenAI encrypted. */
export interface CompactionPart {
  type: 'compaction'
  /** The summary, or an empty string if it is encrypted. */
  text: string
  encrypted?: { data: string; id?: string }
}

export interface TokenLogprob {
  token: string
  logprob: number
  bytes?: number[] | null
  /** The most likely tokens at this position. */
  topLogprobs: { token: string; logprob: number; bytes?: number[] | null }[]
}

export type UserPart = TextPart | ImagePart | FilePart | AudioPart | VideoPart | SearchResultPart
export type ToolResultContent = TextPart | ImagePart | FilePart | AudioPart | VideoPart | SearchResultPart
export type AssistantPart =
  | TextPart
  | RefusalPart
  | ReasoningPart
  | ToolCallPart
  | ServerToolPart
  | CompactionPart
  | ImagePart
  | AudioPart
export type Part = UserPart | AssistantPart

/** A source that supports the model's text. */
export interface Citation {
  /** Absent if the source is a document in the request. */
  url?: string
  title?: string
  /** The text quoted from the source. */
  quote?: string
  /** The span of the text part that the source supports, in UTF-16 units. Absent means the entire part. */
  start?: number
  end?: number
  /** The cited document's index among the request's documents. */
  document?: number
  /** The position in the document: characters, pages (from 1), or blocks. The end is exclusive. */
  position?: { unit: 'character' | 'page' | 'block'; start: number; end: number }
  fileId?: string
}
