import { isObject, type JsonObject } from '../../../lib/json.ts'

/**
 * Returns the name of a tier, a speed, or a region that costs more than the model's regular price, in lowercase. Vendors write it with and without a
 * prefix, in any case, and in objects: `priority`, `SERVICE_TIER_PRIORITY`, `{ type: "priority" }`. Names not known to be regular or cheaper count as
 * more expensive.
 */
export function findPremiumTier(tier: unknown, depth = 0): string | undefined {
  if (typeof tier === 'object' && tier !== null) {
    const inner = depth < MAX_DEPTH ? Object.values(tier) : []
    return inner.map((value) => findPremiumTier(value, depth + 1)).find((name) => name !== undefined)
  }
  if (typeof tier !== 'string') return tier ? String(tier) : undefined // Google also accepts its enums as numbers, where 0 means unspecified
  const name = tier.trim().replace(TIER_PREFIX_PATTERN, '')
  return STANDARD_PATTERN.test(name) ? undefined : name.toLowerCase()
}

/** No vendor nests a tier deeper than this, but responses may nest 10,000 levels (lib/json.ts). */
const MAX_DEPTH = 4

const TIER_PREFIX_PATTERN = /^(?:.*(?:tier|type|speed|geo|latency)[_. -]+)/i

/** `on_demand` is the regular price at Groq and Vertex AI; `global` and `not_available` are regular at Anthropic. */
const STANDARD_PATTERN =
  /^(?:(?:default|standard|auto|flex|batch)(?:[_-].*)?|on[_-]?demand(?:[_-]flex)?|.*unspecified|global|not_available|none|off|normal|)$/i

/** Reads which more expensive or cheaper tier served a response. Returns no field if that is unknown. `answer` is the object with the usage. */
export function readServedTier(response: JsonObject): { serviceTier?: string } {
  const { service_tier, serviceTier, performanceConfig, usage, usageMetadata } = response
  const tierNames = [service_tier, serviceTier, performanceConfig]
  if (isObject(usage)) tierNames.push(usage.service_tier, usage.serviceTier, usage.speed, usage.inference_geo)
  if (isObject(usageMetadata))
    tierNames.push(usageMetadata.serviceTier, usageMetadata.service_tier, usageMetadata.trafficType)
  for (const tier of tierNames) {
    const serviceTier = findPremiumTier(tier)
    if (serviceTier !== undefined) return { serviceTier }
  }
  return tierNames.some((tier) => typeof tier === 'string' && /flex$/i.test(tier)) ? { serviceTier: 'flex' } : {}
}
