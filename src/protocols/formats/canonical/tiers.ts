import { isObject, type JsonObject } from '../../../lib/json.ts'

/**
 * Returns the name of a tier, a speed, or a region that costs more than the model's regular price, in lowercase. Vendors write it with and without a
 * prefix, in any case, and in objects: `priority`, `SERVICE_TIER_PRIORITY`, `{ type: "priority" }`. Unknown names count as more expensive.
 */
export function findPremiumTier(tier: unknown, depth = 0): string | undefined {
  if (typeof tier === 'object' && tier !== null) {
    const nestedValues = depth < MAX_DEPTH ? Object.values(tier) : []
    return nestedValues.map((value) => findPremiumTier(value, depth + 1)).find((name) => name !== undefined)
  }
  if (typeof tier !== 'string') return tier ? String(tier) : undefined // Google also accepts its enums as numbers, where 0 means unspecified
  const name = tier.trim().replace(TIER_PREFIX_PATTERN, '')
  return STANDARD_TIER_PATTERN.test(name) ? undefined : name.toLowerCase()
}

/** No vendor nests a tier deeper than this, but responses may be nested up to 10,000 levels deep (lib/json.ts). */
const MAX_DEPTH = 4

const TIER_PREFIX_PATTERN = /^(?:.*(?:tier|type|speed|geo|latency)[_. -]+)/i

/** `on_demand` means the regular price at Groq and Vertex AI; `global` and `not_available` mean the regular price at Anthropic. */
const STANDARD_TIER_PATTERN =
  /^(?:(?:default|standard|auto|flex|batch)(?:[_-].*)?|on[_-]?demand(?:[_-]flex)?|.*unspecified|global|not_available|none|off|normal|)$/i

/**
 * Reads the service tier from the object with the usage. Returns a tier that costs more than the regular price, or `flex`. Returns no field
 * otherwise.
 */
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
