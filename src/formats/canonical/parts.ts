import type { JsonObject } from '../../lib/json.ts'
import type { WireFormat } from '../../types.ts'
import type { Citation } from './citations.ts'
import type { MediaSource } from './media.ts'
import type { OpaqueState } from './state.ts'

/** What a vendor has a form of its own for, in that form, for targets of the same format that know it (`Traits.ownTools`). */
export interface OwnForm {
  format: WireFormat
  value: JsonObject
}

/** A mark up to which the provider is to cache the prompt. */
export interface CacheMark {
  ttl?: '5m' | '30m' | '1h' | '12h'
}

export interface TextPart {
  type: 'text'
  text: string
  cache?: CacheMark
  citations?: Citation[]
  /** OpenAI Responses: is it a comment before the answer, or the answer? */
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
  /** Is the answer to cite it? */
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

/** A thought of the model. With an empty text only the state counts; a part with neither is left out. */
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
  /** The JSON text of the model, possibly empty or cut; for a free-form tool its input. See `argumentsOf`. */
  arguments: string
  isFreeForm?: true
  state?: OpaqueState
  cache?: CacheMark
  own?: OwnForm
}

/** A tool that ran at the provider, in an answer or in the history. */
export interface ServerToolPart {
  type: 'server-tool'
  tool: 'web-search'
  id: string
  query: string
  /** Why it failed, in the provider's word. */
  error?: string
  results: { url: string; title: string; text?: string }[]
}

/** What stands for the conversation before it: the gateway's own summary, or what OpenAI has encrypted. */
export interface CompactionPart {
  type: 'compaction'
  /** Empty when it is encrypted. */
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
