import { evictOldest } from '../../lib/maps.ts'
import type { StoredSettings } from '../../records/stored-settings.ts'
import type { PipelineContext } from '../context.ts'
import type { Group } from '../routing/group.ts'
import { applyRules, mergeRules } from '../routing/request-rules.ts'
import type { Health } from '../routing/target-health.ts'

/** A context with rules applied, and the values that it was derived from. */
interface RuledContext {
  gateway: PipelineContext
  settings: StoredSettings
  combo: Group | undefined
  context: PipelineContext
}

/** Maximum number of cached contexts, because renamed and deleted combos leave entries behind. */
const MAX_CONTEXTS = 1_000

/** Creates a function that applies rules. If there are none, it returns the gateway's own context. */
export function createRuleApplier(health: Health): PipelineContext['withRules'] {
  const contextsByRules = new Map<string, RuledContext>()

  return (gateway, settings, combo) => {
    if (!settings.rules && !combo) return gateway
    const key = combo?.name ?? ''
    const last = contextsByRules.get(key)
    if (last && last.gateway === gateway && last.settings === settings && last.combo === combo) return last.context
    const rules = mergeRules(gateway.limits, settings.rules, combo?.rules)
    const options = { ...rules.health, combo: combo?.rules?.health && combo.name }
    const context = { ...gateway, limits: applyRules(gateway.limits, rules), health: health.withSettings(options) }
    if (!last) evictOldest(contextsByRules, MAX_CONTEXTS)
    contextsByRules.set(key, { gateway, settings, combo, context })
    return context
  }
}
