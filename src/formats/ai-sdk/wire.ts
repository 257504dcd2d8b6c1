import type { JsonObject } from '../../lib/json.ts'

/** A loss of a request, in the form in which the AI SDK shows it to its users. */
export type WireWarning = {
  type: 'unsupported'
  /** The path in the request. */
  feature: string
  details: string
}

/** State and facts under the gateway's own name. The AI SDK sends the metadata of a part back with the part, as `providerOptions`. */
export type WireMetadata = { providerMetadata?: { signalbox: JsonObject } }

/** A page, or a document of the request. */
export type WireSource = WireMetadata & { type: 'source'; id: string } & (
    | { sourceType: 'url'; url: string; title?: string }
    | ({ sourceType: 'document' } & WireDocument)
  )

/** A document of the request, as an answer cites it. */
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
  /** JSON. */
  input: string
  providerExecuted?: true
  /** The client has not offered the tool. */
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

/** Parts that are the same in a whole answer and in a stream. */
export type WireWholePart = WireSource | WireFile | WireToolCall | WireToolResult

export type WireContent =
  | ({ type: 'text'; text: string; citations?: WireCitation[] } & WireMetadata)
  | ({ type: 'reasoning'; text: string } & WireMetadata)
  | WireWholePart

export interface WireUsage {
  inputTokens: { total?: number; noCache?: number; cacheRead?: number; cacheWrite?: number }
  outputTokens: { total?: number; text?: number; reasoning?: number }
}

export interface WireFinish {
  unified: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other'
  /** The provider's own word. */
  raw?: string
}

interface WireResponse {
  id: string
  /** ISO 8601. */
  timestamp: string
  modelId: string
}

export type WireAnswer = {
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
  | WireWholePart
  | ({ type: 'finish'; usage: WireUsage; finishReason: WireFinish } & WireMetadata)
