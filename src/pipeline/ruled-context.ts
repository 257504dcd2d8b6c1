import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import { makeRoom } from '../lib/make-room.ts'
import type { Group } from '../routing/group.ts'
import type { Health } from '../routing/health.ts'
import { effectiveRules, limitsUnder } from '../routing/request-rules.ts'
import type { RouteTable } from '../routing/table.ts'
import type { SettingsStore, StoredSettings } from '../store/settings.ts'
import type { PipelineContext } from './context.ts'

/** The context of the requests for one model name: that of the gateway, under the rules of the settings and of the combo of that name. */
export type ContextFor = (gateway: PipelineContext, model: string, table: RouteTable) => Awaitable<PipelineContext>

/** A context, and what it was made of. */
interface Ruled {
  gateway: PipelineContext
  settings: StoredSettings
  combo: Group | undefined
  context: PipelineContext
}

/** Combos are renamed, so the number of contexts that are kept is limited. */
const MAX_CONTEXTS = 1_000

/** Applies rules. Where none are set, the context is the gateway's own. Rejects with `STORAGE_FAILED` when the settings cannot be read. */
export function createRuling({
  settings,
  health,
}: {
  settings: Pick<SettingsStore, 'read'>
  health: Health
}): ContextFor {
  const known = new Map<string, Ruled>()

  function under(gateway: PipelineContext, settings: StoredSettings, combo: Group | undefined): PipelineContext {
    if (!settings.rules && !combo) return gateway
    const key = combo?.name ?? ''
    const last = known.get(key)
    if (last && last.gateway === gateway && last.settings === settings && last.combo === combo) return last.context
    const rules = effectiveRules(gateway.limits, settings.rules, combo?.rules)
    const terms = { ...rules.health, combo: combo?.rules?.health && combo.name }
    const context = { ...gateway, limits: limitsUnder(gateway.limits, rules), health: health.under(terms) }
    if (!last) makeRoom(known, MAX_CONTEXTS)
    known.set(key, { gateway, settings, combo, context })
    return context
  }

  return (gateway, model, table) => {
    const stored = settings.read()
    const combo = table.ruledCombo(model)
    return isPromise(stored) ? stored.then((read) => under(gateway, read, combo)) : under(gateway, stored, combo)
  }
}
