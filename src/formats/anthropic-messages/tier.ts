import { isObject } from '../../lib/json.ts'
import type { WireUsage } from './wire.ts'

/** The tier that an answer was served in, which its usage tells. */
export function parseTier(usage: unknown): string | undefined {
  const tier = isObject(usage) ? usage.service_tier : undefined
  if (typeof tier !== 'string') return undefined
  return tier === 'standard' ? 'default' : tier
}

/** The same for a client; null where it is none of Anthropic's. */
export function wireTier(tier: string | undefined): WireUsage['service_tier'] {
  if (tier === 'default') return 'standard'
  return tier === 'priority' || tier === 'batch' ? tier : null
}
