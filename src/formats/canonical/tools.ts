import type { JsonObject } from '../../lib/json.ts'
import type { CacheMark, OwnForm } from './parts.ts'

export interface FunctionTool {
  type: 'function'
  name: string
  description?: string
  /** JSON Schema of the input, keys in the client's order; absent: takes nothing. */
  schema?: JsonObject
  outputSchema?: JsonObject
  /** Absent: not given. Formats have different defaults, so writers send `false` where absence means true. */
  strict?: boolean
  cache?: CacheMark
  /** Of a tool that the client's vendor defines and the client runs: how that vendor declares it. */
  own?: OwnForm
}

/** A tool whose input is text. */
export interface FreeFormTool {
  type: 'free-form'
  name: string
  description?: string
  /** The grammar of its input. */
  grammar?: { syntax: 'lark' | 'regex'; definition: string }
}

/** A web search that runs at the provider. */
export interface WebSearchTool {
  type: 'web-search'
  contextSize?: 'low' | 'medium' | 'high'
  location?: { city?: string; region?: string; country?: string; timezone?: string }
  allowedDomains?: string[]
  blockedDomains?: string[]
  maxUses?: number
}

export type Tool = FunctionTool | FreeFormTool | WebSearchTool

export type ToolChoice =
  | { type: 'auto' | 'none' | 'required' }
  | { type: 'tool'; name: string }
  | { type: 'allowed'; mode: 'auto' | 'required'; names: string[] }
