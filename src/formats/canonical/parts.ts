import type { JsonObject } from '../../lib/json.ts'
import type { WireFormat } from '../../types.ts'
import type { MediaSource } from './media.ts'
import type { OpaqueState } from './state.ts'

/** A vendor's own JSON of a tool, a call or a result, for targets of the same format that know it (`Traits.ownTools`). */
export interface OwnForm {
  format: WireFormat
  value: JsonObject
}

/** A mark: the provider is to cache the prompt up to here. */
export interface CacheMark {
  ttl?: '5m' | '30m' | '1h' | '12h'
}

export interface TextPart {
  type: 'text'
  text: string
  cache?: CacheMark
  citations?: Citation[]
  /** OpenAI Responses: a comment before the answer, or the answer itself. */
  phase?: 'commentary' | 'final_answer'
  logprobs?: TokenLogprob[]
  state?: OpaqueState
}

export interface ImagePart {
  type: 'image'
  source: MediaSource
  detail?: 'auto' | 'low' | 'high' | 'original'
  cache?: CacheMark
  state?: OpaqueState
}

/** A document, such as a PDF. */
export interface FilePart {
  type: 'file'
  source: MediaSource
  name?: string
  context?: string
  /** May the answer cite it? */
  citable?: boolean
  cache?: CacheMark
}

export interface AudioPart {
  type: 'audio'
  source: MediaSource
  transcript?: string
  /** Audio of an earlier answer, by the id that the provider gave it. */
  id?: string
  /** Unix time in seconds. */
  expiresAt?: number
  cache?: CacheMark
}

export interface VideoPart {
  type: 'video'
  source: MediaSource
  fps?: number
  /** A duration in Google's form: `1.5s`. */
  startOffset?: string
  endOffset?: string
}

/** A search result that the client supplies. */
export interface SearchResultPart {
  type: 'search-result'
  source: string
  title: string
  content: TextPart[]
  citable?: boolean
  cache?: CacheMark
}

/** The text of a refusal by the model. */
export interface RefusalPart {
  type: 'refusal'
  text: string
}

/** Reasoning of the model. With an empty text only the state counts; a part with neither is left out. */
export interface ReasoningPart {
  type: 'reasoning'
  text: string
  /** Is the text a summary by the provider? */
  isSummary?: true
  state?: OpaqueState
}

export interface ToolCallPart {
  type: 'tool-call'
  id: string
  name: string
  /** JSON as the model wrote it, possibly empty or truncated; for a free-form tool, its input. See `argumentsOf`. */
  arguments: string
  isFreeForm?: true
  state?: OpaqueState
  cache?: CacheMark
  own?: OwnForm
}

/** A tool that ran at the provider, in an answer or in the history. */
export interface ServerToolPart {
  type: 'server-tool'
  tool: 'web-search' | 'hosted'
  id: string
  query: string
  /** The provider's error code, if the tool failed. */
  error?: string
  results: { url: string; title: string; text?: string }[]
  /** What it is about if it is no search. Only clients that have declared a hosted tool get it. */
  hosted?: HostedCall
}

/** The call of a tool that ran at its vendor, in the vendor's words. */
export interface HostedCall {
  name: string
  input: JsonObject
  result: unknown
  isError?: true
}

/** Replaces the conversation before it: a summary by the gateway, or one that OpenAI has encrypted. */
export interface CompactionPart {
  type: 'compaction'
  /** The summary; empty when it is encrypted. */
  text: string
  encrypted?: { data: string; id?: string }
}

export interface TokenLogprob {
  token: string
  logprob: number
  bytes?: number[] | null
  /** The most likely tokens at this position. */
  top: { token: string; logprob: number; bytes?: number[] | null }[]
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

/** A source of a text of the model. */
export interface Citation {
  /** Absent when a document of the request is cited. */
  url?: string
  title?: string
  /** The quoted text of the source. */
  quote?: string
  /** The span of the text part that it supports, in UTF-16 units; absent: the whole part. */
  start?: number
  end?: number
  /** Index of the cited document among the documents of the request. */
  document?: number
  /** The place within the document: characters, pages (from 1) or blocks; the end is exclusive. */
  place?: { unit: 'character' | 'page' | 'block'; start: number; end: number }
  fileId?: string
}
