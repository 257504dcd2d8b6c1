import type { JsonObject } from '../../../lib/json.ts'

/** A part of the request that was dropped in translation. AI SDK users see it as a warning. */
export type WireWarning = {
  type: 'unsupported'
  /** The path in the request. */
  feature: string
  details: string
}

/** State and metadata under the gateway's own name. The AI SDK sends a part's metadata back as its `providerOptions`. */
export type WireMetadata = { providerMetadata?: { signalbox: JsonObject } }

/** A cited source: a web page or one of the request's documents. */
export type WireSource = WireMetadata & { type: 'source'; id: string } & (
    | { sourceType: 'url'; url: string; title?: string }
    | ({ sourceType: 'document' } & WireDocument)
  )

/** A document in the request that a response cites. */
export interface WireDocument {
  mediaType: string
  title: string
  filename?: string
}

export interface WireCitation {
  source: WireSource
  startIndex?: number
  endIndex?: number
  citedText?: string
}

export type WireFile = WireMetadata & {
  type: 'file'
  mediaType: string
  data: string | { type: 'data'; data: string } | { type: 'url'; url: string }
}

export type WireToolCall = WireMetadata & {
  type: 'tool-call'
  toolCallId: string
  toolName: string
  /** The tool's input as JSON. */
  input: string
  providerExecuted?: true
  /** Set if the client didn't offer the tool. */
  dynamic?: true
}

interface WireToolResult {
  type: 'tool-result'
  toolCallId: string
  toolName: string
  result: unknown
  isError?: true
  dynamic?: true
}

/** Parts that are identical in a complete response and in a stream. */
export type WireCompletePart = WireSource | WireFile | WireToolCall | WireToolResult

export type WireContent =
  | ({ type: 'text'; text: string; citations?: WireCitation[] } & WireMetadata)
  | ({ type: 'reasoning'; text: string } & WireMetadata)
  | WireCompletePart

export interface WireUsage {
  inputTokens: { total?: number; noCache?: number; cacheRead?: number; cacheWrite?: number }
  outputTokens: { total?: number; text?: number; reasoning?: number }
}

export interface WireFinish {
  unified: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other'
  /** The provider's own finish reason. */
  raw?: string
}

interface WireResponse {
  id: string
  /** ISO 8601. */
  timestamp: string
  modelId: string
}

export type WireResult = {
  content: WireContent[]
  finishReason: WireFinish
  usage: WireUsage
  warnings: WireWarning[]
  response: WireResponse
} & WireMetadata

export type WirePart =
  | { type: 'stream-start'; warnings: WireWarning[] }
  | ({ type: 'response-metadata' } & WireResponse)
  | ({ type: 'text-start' | 'reasoning-start' | 'reasoning-end'; id: string } & WireMetadata)
  | ({ type: 'text-end'; id: string; citations?: WireCitation[] } & WireMetadata)
  | { type: 'tool-input-start'; id: string; toolName: string; inputEncoding?: 'text' }
  | { type: 'tool-input-end'; id: string }
  | WireCompletePart
  | ({ type: 'finish'; usage: WireUsage; finishReason: WireFinish } & WireMetadata)
