import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { Effort, OptionName } from '../../../traits.ts'
import type { WireFormat } from '../../../types.ts'
import type { CacheBreakpoint, NativeValue } from './canonical-parts.ts'
import type { Tool, ToolChoice } from './canonical-tools.ts'
import type { Turn } from './canonical-turns.ts'

/** A model request in the canonical format: everything that clients can request in any format. Absent fields weren't set. */
export interface CanonicalRequest {
  model: string
  stream: boolean
  /** Whether the client wants the token usage in the stream. */
  streamUsage: boolean
  turns: Turn[]
  tools: Tool[]
  toolChoice?: ToolChoice
  /** The output format. Absent means free text. */
  output?: OutputFormat
  options: RequestOptions
  /** Vendor-specific fields to add to the body. */
  native?: NativeValue
  /** Set if the conversation should be compacted. */
  compact?: CompactionMode
  /** Data for writing the response in the client's format. No other code reads it. */
  client?: Readonly<Record<string, unknown>>
}

/** Removes the conversation, so a long stream doesn't keep it in memory. */
export const omitTurns = (request: CanonicalRequest): CanonicalRequest => ({ ...request, turns: [] })

/** Adds the request's vendor-specific fields for this format. Merges nested objects and lists. */
export function mergeVendorFields<Body extends object>(
  body: Body,
  { native }: CanonicalRequest,
  format: WireFormat,
): Body {
  if (native?.format !== format) return body
  const bodyFields = new Map<string, unknown>(Object.entries(body))
  const fields = Object.entries(native.value).map(([name, value]) => {
    const existing = bodyFields.get(name)
    if (Array.isArray(value) && Array.isArray(existing)) return [name, [...new Set([...existing, ...value])]]
    return [name, isObject(value) && isObject(existing) ? { ...existing, ...value } : value]
  })
  return { ...body, ...Object.fromEntries(fields) }
}

/** `now`: compact the conversation instead of responding. Otherwise, compact it before responding if it has more than `thresholdTokens` tokens. */
export type CompactionMode = 'now' | { thresholdTokens?: number }

export type OutputFormat =
  | { type: 'json' }
  | {
      type: 'json-schema'
      schema: JsonObject
      name?: string
      description?: string
      strict?: boolean
      /** Set if the response should follow the schema strictly on targets that can enforce the schema unchanged. */
      prefersStrict?: true
    }

/** A request's options, as listed by `OptionName`. */
export interface RequestOptions extends Partial<Record<OptionName, unknown>> {
  /** Requests with the same key share a prompt cache. */
  cacheKey?: string
  /** `auto`: Anthropic's breakpoint on the entire request. */
  cacheOptions?: { mode?: 'implicit' | 'explicit'; ttl?: string; auto?: CacheBreakpoint }
  /** How long OpenAI's models before GPT-5.6 cache a prompt: `in_memory` or `24h`. */
  cacheRetention?: string
  /** The number of candidates. Default: 1. */
  candidates?: number
  /** The client's own identifier for its user. */
  endUser?: string
  frequencyPenalty?: number
  labels?: Record<string, string>
  logitBias?: Record<string, number>
  /** How many of the most likely tokens to report at each position. 0: only the token itself. */
  logprobs?: number
  maxOutputTokens?: number
  modalities?: ('text' | 'audio' | 'image')[]
  moderation?: JsonObject
  parallelToolCalls?: boolean
  /** Text that most of the response will repeat. */
  prediction?: string
  presencePenalty?: number
  reasoning?: ReasoningOptions
  seed?: number
  serviceTier?: 'auto' | 'default' | 'flex' | 'scale' | 'priority' | 'fast'
  speech?: { voice: string | JsonObject; format?: string }
  stop?: string[]
  store?: boolean
  temperature?: number
  topK?: number
  topP?: number
  verbosity?: 'low' | 'medium' | 'high'
}

/** `prepareRequest` fills in a missing effort or budget, within the target's limits. */
export interface ReasoningOptions {
  effort?: Effort
  /** The reasoning budget in tokens. With `auto`, the model chooses. */
  budget?: number | 'auto'
  /** How to show reasoning. Absent if the client doesn't specify it. */
  show?: 'none' | 'summary' | 'full'
}
