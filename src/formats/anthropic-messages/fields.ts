import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Finish, FinishReason, TokenUsage } from '../canonical/answer.ts'
import type { Fields } from '../canonical/fields.ts'
import type { CacheMark, ServerToolPart } from '../canonical/parts.ts'
import { hostedPart } from '../canonical/tools.ts'
import { defined, textOrEmpty } from '../canonical/values.ts'
import type { Warnings } from '../canonical/warnings.ts'
import type { ReadContext, TargetContext } from '../translator.ts'
import type { WireCounts, WireMarked, WireStop, WireStopReason, WireUsage } from './wire.ts'

/** The finish reasons by a provider's `stop_reason`; any other one is a normal end. */
const finishReasons = new Map<string, FinishReason>(
  Object.entries({
    end_turn: 'stop',
    stop_sequence: 'stop-sequence',
    tool_use: 'tool-calls',
    max_tokens: 'length',
    model_context_window_exceeded: 'context-window',
    refusal: 'content-filter',
    pause_turn: 'pause',
  } satisfies Record<WireStopReason, FinishReason>),
)

/** The `stop_reason` for a client. */
const stopReasons: Readonly<Record<FinishReason, WireStopReason>> = {
  stop: 'end_turn',
  'stop-sequence': 'stop_sequence',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  'context-window': 'model_context_window_exceeded',
  'content-filter': 'refusal',
  pause: 'pause_turn',
  'malformed-call': 'end_turn',
}

/** Parses how an answer ended, from a message or from the last delta of its stream; `undefined` while it has not ended. */
export function parseStop({ stop_reason, stop_sequence, stop_details }: JsonObject): Finish | undefined {
  if (typeof stop_reason !== 'string' || stop_reason === '') return undefined
  const finish: Finish = { reason: finishReasons.get(stop_reason) ?? 'stop', raw: stop_reason }
  const explanation = isObject(stop_details) ? stop_details.explanation : undefined
  if (typeof stop_sequence === 'string') finish.stopSequence = stop_sequence
  if (typeof explanation === 'string') finish.explanation = explanation
  return finish
}

/** Writes how an answer ended. An answer that contains a refusal is refused, even if the provider has reported a normal end. */
export function wireStop({ reason, stopSequence, explanation }: Finish, hasRefusal: boolean): WireStop {
  const isRefusal = reason === 'content-filter' || (reason === 'stop' && hasRefusal)
  return {
    stop_reason: isRefusal ? 'refusal' : stopReasons[reason],
    stop_sequence: (reason === 'stop-sequence' && stopSequence) || null,
    stop_details: isRefusal ? { type: 'refusal', category: null, explanation: explanation ?? null } : null,
  }
}

/** Writes the counts in the last delta of a stream; clients add up the three counts of the input. */
export function wireCounts(usage: TokenUsage): WireCounts {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens } = usage
  const read = Math.min(cacheReadTokens, inputTokens)
  const written = Math.min(cacheWriteTokens, inputTokens - read) // some providers count cache reads as writes too
  return {
    input_tokens: inputTokens - read - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: outputTokens,
    output_tokens_details: reasoningTokens === undefined ? null : { thinking_tokens: reasoningTokens },
    server_tool_use: null,
  }
}

/** Writes the counts of a whole message. */
export function wireUsage(usage: TokenUsage, tier?: string): WireUsage {
  return {
    ...wireCounts(usage),
    cache_creation: null,
    inference_geo: null,
    service_tier: wireTier(tier),
    speed: null,
  }
}

/** Parses the service tier of an answer from its usage. */
export function parseTier(usage: unknown): string | undefined {
  const tier = isObject(usage) ? usage.service_tier : undefined
  if (typeof tier !== 'string') return undefined
  return tier === 'standard' ? 'default' : tier
}

/** Writes the service tier for a client; null for a tier that Anthropic does not have. */
function wireTier(tier: string | undefined): WireUsage['service_tier'] {
  if (tier === 'default') return 'standard'
  return tier === 'priority' || tier === 'batch' ? tier : null
}

/** Parses `cache_control` of a client's block. Its `scope` concerns Anthropic only. */
export function parseMark(fields: Fields, warnings: Warnings): CacheMark | undefined {
  const mark = fields.fields('cache_control')
  if (!mark) return undefined
  const ttl = mark.wordOrDrop('ttl', ['5m', '1h'])
  const cache: CacheMark = ttl ? { ttl } : {}
  warnings.place(cache, mark.at)
  return cache
}

/** Writes `cache_control` for a provider. A time that is longer than Anthropic allows becomes the longest allowed one. */
export function wireMark(cache: CacheMark | undefined, { traits, warnings }: TargetContext): WireMarked {
  if (!cache || traits.cacheMarks !== 'cache_control') return {}
  const { ttl } = cache
  if (ttl === undefined) return { cache_control: { type: 'ephemeral' } }
  if (ttl !== '5m' && ttl !== '1h') warnings.noteChanged(warnings.pathOf(cache, 'cache', 'ttl'), 'replaced')
  return { cache_control: { type: 'ephemeral', ttl: ttl === '5m' ? ttl : '1h' } }
}

/** The blocks of calls of tools that run at the provider, and have no results yet, by their id. */
export type RunningCalls = Map<string, JsonObject>

/** Does the client get the call of this block, `server_tool_use`? Searches are shown to all. */
export const isShown = ({ name }: JsonObject, { hasHosted }: Pick<ReadContext, 'hasHosted'>): boolean =>
  name === 'web_search' || hasHosted === true

/**
 * Parses the results of a tool that has run at the provider; `undefined` for other blocks, and for tools that the client does not see. A failed
 * search has no results. The text of the pages is encrypted for Anthropic.
 */
export function parseServerResult(
  block: JsonObject,
  running: RunningCalls,
  { hasHosted }: Pick<ReadContext, 'hasHosted'>,
): ServerToolPart | undefined {
  const isSearch = block.type === 'web_search_tool_result'
  if (!isSearch && !(hasHosted && String(block.type).endsWith('_tool_result'))) return undefined
  const id = textOrEmpty(block.tool_use_id)
  const { name, input } = running.get(id) ?? {}
  running.delete(id)
  if (!isSearch) {
    const isError = isObject(block.content) && 'error_code' in block.content
    const hosted = { name: textOrEmpty(name), input: isObject(input) ? input : {}, result: block.content }
    return hostedPart(id, isError ? { ...hosted, isError } : hosted)
  }
  const found = Array.isArray(block.content) ? block.content.filter(isObject) : []
  const results = found.map(({ url, title }) => ({ url: textOrEmpty(url), title: textOrEmpty(title) }))
  const query = isObject(input) ? textOrEmpty(input.query) : ''
  const error = isObject(block.content) ? textOrEmpty(block.content.error_code) || 'unavailable' : undefined
  return defined<ServerToolPart>({
    ...{ type: 'server-tool', tool: 'web-search', id, query, results },
    error,
  })
}
