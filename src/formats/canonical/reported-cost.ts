import { isObject, type JsonObject } from '../../lib/json.ts'

/**
 * What a provider's `usage` says that it charges, in US dollars: `cost` at OpenRouter, `cost.total_cost` at Perplexity, `cost_in_usd_ticks` at
 * xAI, `estimated_cost` at DeepInfra; no member where it says nothing. With a key of one's own, OpenRouter's `cost` is its fee alone.
 */
export function reportedCost(usage: JsonObject): { costUsd?: number } {
  const { cost, cost_in_usd_ticks: ticks, estimated_cost: estimated, is_byok: isOwnKey, cost_details: details } = usage
  const ofTicks = typeof ticks === 'number' ? ticks / TICKS_PER_USD : undefined
  if (isAmount(ofTicks)) return { costUsd: ofTicks }
  if (isObject(cost)) {
    const { total_cost: total, currency = 'USD' } = cost
    return isAmount(total) && currency === 'USD' ? { costUsd: total } : {}
  }
  if (!isAmount(cost)) return isAmount(estimated) ? { costUsd: estimated } : {}
  const upstream = isOwnKey === true && isObject(details) ? details.upstream_inference_cost : 0
  return { costUsd: cost + (isAmount(upstream) ? upstream : 0) }
}

const TICKS_PER_USD = 10_000_000_000

/** In US dollars: what no call costs; a provider that reports more has made a mistake. */
const TOO_MUCH = 1_000_000

const isAmount = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value < TOO_MUCH
