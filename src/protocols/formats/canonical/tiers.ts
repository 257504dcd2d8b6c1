import { isObject, type JsonObject } from '../../../lib/json.ts'

/**
 * Returns whether a tier, a speed, or a region costs more than the model's regular price, judged by its name. Vendors write it with and without a
 * prefix, in any case, and in objects: `priority`, `SERVICE_TIER_PRIORITY`, `{ type: "priority" }`. Names not known to be regular or cheaper count as
 * more expensive.
 */
export function isPremiumTier(tier: unknown, depth = 0): boolean {
  if (isObject(tier)) return depth < MAX_DEPTH && Object.values(tier).some((inner) => isPremiumTier(inner, depth + 1))
  if (typeof tier === 'string')
    return !STANDARD_TIERS.has(tier) && !STANDARD_PATTERN.test(tier.trim().replace(PREFIX, ''))
  return Boolean(tier) // Google also accepts the numbers of its enums, where 0 is unspecified
}

/** No vendor nests a tier deeper than this, but responses may nest 10,000 levels (lib/json.ts). */
const MAX_DEPTH = 4

const STANDARD_TIERS: ReadonlySet<string> = new Set(['default', 'standard', 'auto', 'flex', 'batch'])
const PREFIX = /^(?:.*(?:tier|type|speed|geo|latency)[_. -]+)/i

/** `on_demand` is the regular price at Groq and Vertex AI; `global` and `not_available` are regular at Anthropic. */
const STANDARD_PATTERN =
  /^(?:(?:default|standard|auto|flex|batch)(?:[_-].*)?|on[_-]?demand(?:[_-]flex)?|.*unspecified|global|not_available|none|off|normal|)$/i

/** Reads whether a more expensive tier served a response. Returns no field if that is unknown. `answer`: the object with the usage. */
export function readServedTier(answer: JsonObject): { isPremium?: true } {
  const { service_tier, serviceTier, performanceConfig, usage, usageMetadata } = answer
  const named = [service_tier, serviceTier, performanceConfig]
  if (isObject(usage)) named.push(usage.service_tier, usage.serviceTier, usage.speed, usage.inference_geo)
  if (isObject(usageMetadata))
    named.push(usageMetadata.serviceTier, usageMetadata.service_tier, usageMetadata.trafficType)
  return named.some((tier) => isPremiumTier(tier)) ? { isPremium: true } : {}
}
