import { gatewayError } from '../errors.ts'
import { parseRequestModels } from '../management/request-models.ts'
import type { ListTerms, PipelineContext } from '../pipeline/context.ts'
import type { Group } from '../routing/group.ts'
import { requireOneModel } from '../routing/kinds.ts'
import { comboGroup, wholeName } from '../routing/route-table.ts'
import type { Kind, RequestModels } from '../types.ts'

/** The name of the header, and of the group that is made of it. */
const NAME = 'x-signalbox-models'

/**
 * The group that the header `x-signalbox-models` stands for, for one request. Throws `FORBIDDEN` where the settings allow no lists, with
 * `INVALID_REQUEST` when the header is malformed, and with `MODEL_NOT_ALLOWED` when the key may not use one of its names.
 */
export function listIn(header: string, { call, context, table, settings, log }: ListTerms): Group {
  if (settings.requestModels === false)
    throw gatewayError('FORBIDDEN', {
      message: `This gateway takes no lists of models ("${NAME}"): ask for a model, an alias or a combo. Its operator can set "requestModels" in the settings.`,
    })
  const list = parseRequestModels(header)
  const { kind } = call.endpoint.operation
  const withParams = list.models.findIndex((entry) => kind !== 'llm' && typeof entry === 'object' && entry.params)
  if (withParams >= 0)
    throw gatewayError('INVALID_REQUEST', {
      message: `${NAME}: "models[${withParams}].params" is for chat. Leave it out for models of the kind "${kind}".`,
    })
  const group = groupOf(list, { kind, context, settings })
  const taken = { has: (name: string) => table.combos.has(name) || table.aliases.has(name) }
  const entries = group.entries.map((entry) => ({ ...entry, name: wholeName(entry.name, group, taken) }))
  for (const { name } of entries) {
    const refusal = log.nameRule?.(name, table)
    if (refusal) throw refusal
  }
  const whole = { ...group, entries }
  if (kind === 'embedding') requireOneModel(whole, table)
  return whole
}

/** The list as a group. It shares no state with a combo; a session that has moved stays so where the same list is sent again. */
function groupOf(
  list: RequestModels,
  { kind, context, settings }: Pick<ListTerms, 'context' | 'settings'> & { kind: Kind },
): Group {
  const { strategy = 'fallback', maxAttempts: _, timeouts: __, ...given } = list
  const time = new Date(0).toISOString()
  return {
    ...comboGroup({ ...given, id: '', name: NAME, kind, strategy, createdAt: time, updatedAt: time }),
    label: 'list',
    edition: JSON.stringify(list),
    rules: rulesOf(list, context.underRules(context, settings, undefined).limits),
  }
}

/** The rules of a list, which can only be narrower than those that hold without. */
function rulesOf({ maxAttempts, timeouts = {} }: RequestModels, limits: PipelineContext['limits']): Group['rules'] {
  const { headersMs, idleMs, totalMs } = timeouts
  const least = (given: number | undefined, limit: number) => Math.min(given ?? limit, limit)
  return {
    maxAttempts: least(maxAttempts, limits.maxAttempts),
    timeouts: {
      headersMs: least(headersMs, limits.headersTimeoutMs),
      idleMs: least(idleMs, limits.silenceTimeoutMs),
      totalMs: least(totalMs, limits.totalTimeoutMs),
    },
  }
}
