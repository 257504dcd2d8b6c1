import type { JsonObject } from '../../../lib/json.ts'

/* Types for the JSON of Converse requests (AWS SDK: `ConverseCommandInput`), with bytes in base64. Every block has exactly one of its fields. */

export type WireText = { text: string }
export type WireCachePoint = { cachePoint: { type: 'default'; ttl?: '5m' | '1h' } }
export type WireBytes = { bytes: string }
export type WireImage = { image: { format: string; source: WireBytes } }
export type WireVideo = { video: { format: string; source: WireBytes } }
export type WireDocument = {
  document: {
    format: string
    name: string
    source: WireBytes | WireText
    context?: string
    citations?: { enabled: true }
  }
}
type WireSearchResult = {
  searchResult: { source: string; title: string; content: WireText[]; citations: { enabled: boolean } }
}
export type WireMedium = WireText | WireImage | WireVideo | WireDocument | WireSearchResult
type WireToolResult = { toolResult: { toolUseId: string; content: WireMedium[]; status?: 'error' } }
type WireToolUse = { toolUse: { toolUseId: string; name: string; input: JsonObject } }
type WireReasoning = {
  reasoningContent: { reasoningText: { text: string; signature: string } } | { redactedContent: string }
}
export type WireBlock = WireMedium | WireToolResult | WireToolUse | WireReasoning | WireCachePoint
export type WireMessage = { role: 'user' | 'assistant'; content: WireBlock[] }

export type WireTool =
  | { toolSpec: { name: string; description?: string; inputSchema: { json: JsonObject }; strict?: true } }
  | WireCachePoint
export type WireToolChoice = { auto: JsonObject } | { any: JsonObject } | { tool: { name: string } }

export type WireRequest = {
  system?: (WireText | WireCachePoint)[]
  messages: WireMessage[]
  inferenceConfig?: { maxTokens?: number; temperature?: number; topP?: number; stopSequences?: string[] }
  toolConfig?: { tools: WireTool[]; toolChoice?: WireToolChoice }
  outputConfig?: {
    textFormat: {
      type: 'json_schema'
      structure: { jsonSchema: { schema: string; name?: string; description?: string } }
    }
  }
  serviceTier?: { type: 'default' | 'flex' | 'priority' }
  additionalModelRequestFields?: JsonObject
  additionalModelResponseFieldPaths?: string[]
}

export type WireCountRequest = {
  input: { converse: Pick<WireRequest, 'messages' | 'system' | 'toolConfig' | 'additionalModelRequestFields'> }
}
