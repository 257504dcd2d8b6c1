import type { JsonObject } from '../../lib/json.ts'
import type { Effort, OptionName } from '../../traits.ts'
import type { CacheMark } from './parts.ts'
import type { Tool, ToolChoice } from './tools.ts'
import type { Turn } from './turns.ts'

/** One model request in no format: what every client can ask and every provider can be asked. Absent fields were not said. */
export interface CanonicalRequest {
  model: string
  stream: boolean
  /** The client wants the tokens counted in the stream. */
  streamUsage: boolean
  turns: Turn[]
  tools: Tool[]
  toolChoice?: ToolChoice
  /** Absent: free text. */
  output?: OutputFormat
  options: RequestOptions
  /** What the client's own format wants to know again when it writes the answer; nobody else looks into it. */
  client?: Readonly<Record<string, unknown>>
}

export type OutputFormat =
  | { type: 'json' }
  | { type: 'json-schema'; schema: JsonObject; name?: string; description?: string; strict?: boolean }

/** What a client may say besides; `OptionName` names each of them. */
export interface RequestOptions extends Partial<Record<OptionName, unknown>> {
  /** The prefix of the prompt shares its cache with others of the same key. */
  cacheKey?: string
  /** `auto`: Anthropic's mark on the request as a whole. */
  cacheOptions?: { mode?: 'implicit' | 'explicit'; ttl?: string; auto?: CacheMark }
  /** How many answers; absent and 1 are the same. */
  candidates?: number
  /** The client's own name for its user. */
  endUser?: string
  frequencyPenalty?: number
  labels?: Record<string, string>
  logitBias?: Record<string, number>
  /** How many of the likeliest tokens to tell at each place; 0: only the token's own. */
  logprobs?: number
  maxOutputTokens?: number
  modalities?: ('text' | 'audio' | 'image')[]
  moderation?: JsonObject
  parallelToolCalls?: boolean
  /** Text that the answer will largely repeat. */
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

/** `prepareRequest` completes whichever of effort and budget is missing, within what the target takes. */
export interface ReasoningOptions {
  effort?: Effort
  /** Tokens; `auto` leaves it to the model. */
  budget?: number | 'auto'
  /** May the client read the thoughts? Absent: not said. */
  show?: 'none' | 'summary' | 'full'
}
