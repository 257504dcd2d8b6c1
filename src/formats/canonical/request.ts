import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Effort, OptionName } from '../../traits.ts'
import type { WireFormat } from '../../types.ts'
import type { CacheMark, OwnForm } from './parts.ts'
import type { Tool, ToolChoice } from './tools.ts'
import type { Turn } from './turns.ts'

/** One model request in the canonical form: all that clients of the formats can ask for. Absent fields were not given. */
export interface CanonicalRequest {
  model: string
  stream: boolean
  /** Does the client want the token usage in the stream? */
  streamUsage: boolean
  turns: Turn[]
  tools: Tool[]
  toolChoice?: ToolChoice
  /** Absent: free text. */
  output?: OutputFormat
  options: RequestOptions
  /** Members of the body that only the vendor of the target has, each beside those that are written. */
  own?: OwnForm
  /** Is the conversation to be compacted? */
  compact?: CompactionMode
  /** Data of the client's format for writing the answer; no other code reads it. */
  client?: Readonly<Record<string, unknown>>
}

/** The request without its conversation, which may be large, for objects that live as long as a stream. */
export const withoutTurns = (request: CanonicalRequest): CanonicalRequest => ({ ...request, turns: [] })

/** The body with the members that the request has for this format alone. What an inner object or list has joins what the body has in it. */
export function withOwn<Body extends object>(body: Body, { own }: CanonicalRequest, format: WireFormat): Body {
  if (own?.format !== format) return body
  const written = new Map<string, unknown>(Object.entries(body))
  const members = Object.entries(own.value).map(([name, value]) => {
    const other = written.get(name)
    if (Array.isArray(value) && Array.isArray(other)) return [name, [...new Set([...other, ...value])]]
    return [name, isObject(value) && isObject(other) ? { ...other, ...value } : value]
  })
  return { ...body, ...Object.fromEntries(members) }
}

/** `now`: compact the conversation instead of answering; else compact it before the answer if it has more tokens than `above`. */
export type CompactionMode = 'now' | { above?: number }

export type OutputFormat =
  | { type: 'json' }
  | {
      type: 'json-schema'
      schema: JsonObject
      name?: string
      description?: string
      strict?: boolean
      /** Is the answer to be held to the schema where the target can enforce it as it is? */
      prefersStrict?: true
    }

/** The options of a request; `OptionName` lists them. */
export interface RequestOptions extends Partial<Record<OptionName, unknown>> {
  /** Requests with the same key share the cache of their prompt's beginning. */
  cacheKey?: string
  /** `auto`: Anthropic's mark on the request as a whole. */
  cacheOptions?: { mode?: 'implicit' | 'explicit'; ttl?: string; auto?: CacheMark }
  /** The number of candidates; default 1. */
  candidates?: number
  /** The client's own name for its user. */
  endUser?: string
  frequencyPenalty?: number
  labels?: Record<string, string>
  logitBias?: Record<string, number>
  /** The number of most likely tokens to report at each position; 0: only the token itself. */
  logprobs?: number
  maxOutputTokens?: number
  modalities?: ('text' | 'audio' | 'image')[]
  moderation?: JsonObject
  parallelToolCalls?: boolean
  /** Text that the answer will mostly repeat. */
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

/** `prepareRequest` fills in effort or budget when one is missing, within what the target accepts. */
export interface ReasoningOptions {
  effort?: Effort
  /** Tokens; `auto` leaves it to the model. */
  budget?: number | 'auto'
  /** How reasoning is to be shown; absent: not given. */
  show?: 'none' | 'summary' | 'full'
}
