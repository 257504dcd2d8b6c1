import { evictOldest } from '../../lib/maps.ts'
import type { StoredSettings } from '../../records/stored-settings.ts'
import type { PipelineContext } from '../context.ts'
import type { Group } from '../routing/group.ts'
import { applyRules, mergeRules } from '../routing/request-rules.ts'
import type { Health } from '../routing/target-health.ts'

/** A context with rules applied, and the values that it was derived from. */
interface CachedContext {
  gatewayContext: PipelineContext
  settings: StoredSettings
  combo: Group | undefined
  context: PipelineContext
}

/** Maximum number of cached contexts, because renamed and deleted combos leave entries behind. */
const MAX_CONTEXTS = 1_000

/** Creates a function that applies rules. If there are none, it returns the gateway's own context. */
export function createRuleApplier(health: Health): PipelineContext['withRules'] {
  const contextsByRules = new Map<string, CachedContext>()

  return (gatewayContext, settings, combo) => {
    if (!settings.rules && !combo) return gatewayContext
    const key = combo?.name ?? ''
    const cached = contextsByRules.get(key)
    if (cached && cached.gatewayContext === gatewayContext && cached.settings === settings && cached.combo === combo)
      return cached.context
    const rules = mergeRules(gatewayContext.limits, settings.rules, combo?.rules)
    const options = { ...rules.health, combo: combo?.rules?.health && combo.name }
    const context = {
      ...gatewayContext,
      limits: applyRules(gatewayContext.limits, rules),
      health: health.withSettings(options),
    }
    if (!cached) evictOldest(contextsByRules, MAX_CONTEXTS)
    contextsByRules.set(key, { gatewayContext, settings, combo, context })
    return context
  }
}
