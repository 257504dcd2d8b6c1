import { formatScalar, isObject, type JsonObject } from '../../../lib/json.ts'
import { type Fields, readCacheBreakpoint } from '../canonical/canonical-fields.ts'
import type { CacheBreakpoint, ServerToolPart } from '../canonical/canonical-parts.ts'
import type { Finish, FinishReason, TokenUsage } from '../canonical/canonical-response.ts'
import { createHostedToolPart } from '../canonical/canonical-tools.ts'
import { omitUndefined, readStringOrEmpty } from '../canonical/canonical-values.ts'
import type { Warnings } from '../canonical/canonical-warnings.ts'
import type { ReaderContext, TargetContext } from '../translator.ts'
import type { WireCacheable, WireCounts, WireStop, WireStopReason, WireUsage } from './anthropic-wire.ts'

/** Maps a provider's `stop_reason` to finish reasons. Any other value is treated as a normal stop. */
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

/** Parses how a response ended, from the message or the last delta of its stream. Returns `undefined` if it hasn't ended. */
export function parseFinish({ stop_reason, stop_sequence, stop_details }: JsonObject): Finish | undefined {
  if (typeof stop_reason !== 'string' || stop_reason === '') return undefined
  const finish: Finish = { reason: finishReasons.get(stop_reason) ?? 'stop', raw: stop_reason }
  const explanation = isObject(stop_details) ? stop_details.explanation : undefined
  if (typeof stop_sequence === 'string') finish.stopSequence = stop_sequence
  if (typeof explanation === 'string') finish.explanation = explanation
  return finish
}

/** Writes how a response ended. A response with a refusal ends as `refusal`, even if the provider reported a normal stop. */
export function writeFinish({ reason, stopSequence, explanation }: Finish, hasRefusal: boolean): WireStop {
  const isRefusal = reason === 'content-filter' || (reason === 'stop' && hasRefusal)
  return {
    stop_reason: isRefusal ? 'refusal' : stopReasons[reason],
    stop_sequence: (reason === 'stop-sequence' && stopSequence) || null,
    stop_details: isRefusal ? { type: 'refusal', category: null, explanation: explanation ?? null } : null,
  }
}

/** Writes the counts in the last delta of a stream. Clients add up the three input counts. */
export function writeTokenCounts(usage: TokenUsage): WireCounts {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens } = usage
  const cacheReads = Math.min(cacheReadTokens, inputTokens)
  const cacheWrites = Math.min(cacheWriteTokens, inputTokens - cacheReads) // some providers also count cache reads as writes
  return {
    input_tokens: inputTokens - cacheReads - cacheWrites,
    cache_creation_input_tokens: cacheWrites,
    cache_read_input_tokens: cacheReads,
    output_tokens: outputTokens,
    output_tokens_details: reasoningTokens === undefined ? null : { thinking_tokens: reasoningTokens },
    server_tool_use: null,
  }
}

/** Writes a complete message's token counts. */
export function writeUsage(usage: TokenUsage, tier?: string): WireUsage {
  return {
    ...writeTokenCounts(usage),
    cache_creation: null,
    inference_geo: null,
    service_tier: writeTier(tier),
    speed: null,
  }
}

/** Parses a response's service tier from its usage. */
export function parseTier(usage: unknown): string | undefined {
  const tier = isObject(usage) ? usage.service_tier : undefined
  if (typeof tier !== 'string') return undefined
  return tier === 'standard' ? 'default' : tier
}

function writeTier(tier: string | undefined): WireUsage['service_tier'] {
  if (tier === 'default') return 'standard'
  return tier === 'priority' || tier === 'batch' ? tier : null
}

/** Parses the `cache_control` of a client's block. Only Anthropic's own API uses its `scope`. */
export const parseBreakpoint = (fields: Fields, warnings: Warnings): CacheBreakpoint | undefined =>
  readCacheBreakpoint(fields.fields('cache_control'), ['5m', '1h'], warnings)

/** Writes `cache_control` for a provider. An unsupported TTL becomes the longest one that Anthropic supports. */
export function writeBreakpoint(
  cache: CacheBreakpoint | undefined,
  { traits, warnings }: TargetContext,
): WireCacheable {
  if (!cache || traits.cacheBreakpoints !== 'cache_control') return {}
  const { ttl } = cache
  if (ttl === undefined) return { cache_control: { type: 'ephemeral' } }
  if (ttl !== '5m' && ttl !== '1h') warnings.recordChange(warnings.getPath(cache, 'cache', 'ttl'), 'replaced')
  return { cache_control: { type: 'ephemeral', ttl: ttl === '5m' ? ttl : '1h' } }
}

/** Calls to provider-run tools that have no results yet: their blocks, by ID. */
export type PendingCalls = Map<string, JsonObject>

/** Returns whether the client receives the call in a `server_tool_use` block. All clients receive searches. */
export const isReportedCall = (
  { name }: JsonObject,
  { hasHostedTools }: Pick<ReaderContext, 'hasHostedTools'>,
): boolean => name === 'web_search' || hasHostedTools === true

/**
 * Parses a provider-run tool's results. Returns `undefined` for other blocks, and for tools that the client doesn't see. A failed search has no
 * results. The pages' text is dropped, because only Anthropic can decrypt it.
 */
export function parseServerResult(
  block: JsonObject,
  pendingCalls: PendingCalls,
  { hasHostedTools }: Pick<ReaderContext, 'hasHostedTools'>,
): ServerToolPart | undefined {
  const isSearch = block.type === 'web_search_tool_result'
  if (!isSearch && !(hasHostedTools && formatScalar(block.type).endsWith('_tool_result'))) return undefined
  const id = readStringOrEmpty(block.tool_use_id)
  const { name, input } = pendingCalls.get(id) ?? {}
  pendingCalls.delete(id)
  if (!isSearch) {
    const isError = isObject(block.content) && 'error_code' in block.content
    const hostedCall = { name: readStringOrEmpty(name), input: isObject(input) ? input : {}, result: block.content }
    return createHostedToolPart(id, isError ? { ...hostedCall, isError } : hostedCall)
  }
  const pages = Array.isArray(block.content) ? block.content.filter(isObject) : []
  const results = pages.map(({ url, title }) => ({ url: readStringOrEmpty(url), title: readStringOrEmpty(title) }))
  const query = isObject(input) ? readStringOrEmpty(input.query) : ''
  const error = isObject(block.content) ? readStringOrEmpty(block.content.error_code) || 'unavailable' : undefined
  return omitUndefined<ServerToolPart>({
    ...{ type: 'server-tool', tool: 'web-search', id, query, results },
    error,
  })
}
