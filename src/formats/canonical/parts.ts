import type { Citation } from './citations.ts'
import type { MediaSource } from './media.ts'
import type { OpaqueState } from './state.ts'

/** A point up to which the provider is asked to cache. */
export interface CacheMark {
  ttl?: '5m' | '30m' | '1h' | '12h'
}

export interface TextPart {
  type: 'text'
  text: string
  cache?: CacheMark
  citations?: Citation[]
  /** OpenAI Responses: is it said on the way, or the answer? */
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
  /** The answer is to cite it. */
  citable?: boolean
  cache?: CacheMark
}

export interface AudioPart {
  type: 'audio'
  source: MediaSource
  transcript?: string
  /** What the model said before, under the id that it gave it. */
  id?: string
  /** Unix time in seconds. */
  expiresAt?: number
  cache?: CacheMark
}

export interface VideoPart {
  type: 'video'
  source: MediaSource
  fps?: number
  /** As Google writes durations: `1.5s`. */
  startOffset?: string
  endOffset?: string
}

/** A search result that the client found itself and gives to the model. */
export interface SearchResultPart {
  type: 'search-result'
  source: string
  title: string
  content: TextPart[]
  citable?: boolean
  cache?: CacheMark
}

/** The model's words when it refuses. */
export interface RefusalPart {
  type: 'refusal'
  text: string
}

/** What a model thinks. The text may be empty: then only the state counts. A part with neither is left out. */
export interface ReasoningPart {
  type: 'reasoning'
  text: string
  /** A summary that the provider made, not the thoughts themselves. */
  isSummary?: true
  state?: OpaqueState
}

export interface ToolCallPart {
  type: 'tool-call'
  id: string
  name: string
  /** JSON text as the model wrote it, perhaps empty or cut; for a free-form tool its input. See `argumentsOf`. */
  arguments: string
  isFreeForm?: true
  state?: OpaqueState
  cache?: CacheMark
}

/** A tool that ran at the provider, told in an answer or in history. */
export interface ServerToolPart {
  type: 'server-tool'
  tool: 'web-search'
  id: string
  query: string
  results: { url: string; title: string; text?: string }[]
}

export interface TokenLogprob {
  token: string
  logprob: number
  bytes?: number[] | null
  /** The likeliest tokens at this place. */
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
  | ImagePart
  | AudioPart
export type Part = UserPart | AssistantPart
