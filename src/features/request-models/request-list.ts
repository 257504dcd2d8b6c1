import { findParamsIndex } from '../../admin/combo-entry.ts'
import { CALL_OPTIONS, parseCallOptions, parseRequestModels } from '../../admin/request-models.ts'
import { gatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import { omitUndefined } from '../../protocols/formats/canonical/canonical-values.ts'
import type { PipelineContext, RequestSettings, RequestSettingsSource } from '../../request/context.ts'
import { requireOneModel } from '../../request/routing/combo-kinds.ts'
import type { Group, TargetOrder } from '../../request/routing/group.ts'
import { completeName, toGroup } from '../../request/routing/route-table.ts'
import type { SignalboxCallOptions } from '../../types/records/request-model-fields.ts'
import type { ComboModel, EntryParams, Kind, RequestModels } from '../../types.ts'
import type { GatewaySelection } from './gateway-options.ts'

const MODELS_HEADER = 'x-signalbox-models'

/**
 * Reads a request's model list and options from the `x-signalbox-models` header and, for AI SDK calls, from `providerOptions.signalbox`. A request
 * may use both. `gateway` adds its models and their order. Throws `INVALID_REQUEST` for a malformed field, `FORBIDDEN` if the settings don't allow
 * lists, and `MODEL_NOT_ALLOWED` if the key may not use one of the models.
 */
export function readRequestList(source: RequestSettingsSource, gateway: GatewaySelection | undefined): RequestSettings {
  const { call, exchange, settings } = source
  const { kind } = call.endpoint.operation
  const { params, timeoutMs, strict, session, user: _, reasoning, ...options } = readCallOptions(call)
  rejectForOtherKinds(kind, `"${CALL_OPTIONS}.`, { models: options.models, params, reasoning })
  const headers = new Map<string, string>()
  if (strict) headers.set('x-signalbox-strict', 'true') // `false` is the default and doesn't override the header
  if (session !== undefined) headers.set('x-signalbox-session', session)
  const baseSettings: RequestSettings = {
    exchange: {
      query: exchange.query,
      header: (name) => headers.get(name) ?? exchange.header(name),
      copyHeaders: (names, into) => exchange.copyHeaders(names, into), // headers set by options aren't sent to providers
    },
    ...(timeoutMs !== undefined && { timeout: { ms: timeoutMs, name: `${CALL_OPTIONS}.timeoutMs` } }),
  }
  const header = exchange.header(MODELS_HEADER)
  const usesOptions = params !== undefined || Object.keys(options).length > 0
  if (header === undefined && !usesOptions && !gateway) return baseSettings
  const name = usesOptions ? CALL_OPTIONS : header === undefined ? 'providerOptions.gateway' : MODELS_HEADER
  const isDisabled = settings.allowRequestModels === false
  if (isDisabled && (header !== undefined || usesOptions || gateway?.models.length))
    throw gatewayError('FORBIDDEN', {
      message: `Per-request model lists and options ("${name}") are disabled on this gateway. Request a model, an alias, or a combo, or ask the operator of this gateway to set "allowRequestModels" in the settings.`,
    })
  const headerModels = header === undefined ? undefined : parseRequestModels(header)
  rejectForOtherKinds(kind, `${MODELS_HEADER}: "`, { models: headerModels?.models })
  const requestedModels = options.models ?? headerModels?.models
  const models = [...(requestedModels ?? [call.model]), ...(gateway?.models ?? [])]
  const list = omitUndefined<RequestModels>({
    ...headerModels,
    ...options,
    models: params ? models.map((entry) => addEntryParams(params, entry)) : models,
    maxAttempts: getMin(headerModels?.maxAttempts, options.maxAttempts),
    timeouts: getMinTimeouts(headerModels?.timeouts, options.timeouts),
  })
  const ruledCombo = requestedModels ? undefined : source.table.findRuledCombo(call.model)
  const { limits } = source.context.withRules(source.context, settings, ruledCombo)
  return {
    ...baseSettings,
    list: createListGroup(list, { ...source, name, limits, arrangement: gateway?.arrangement }),
  }
}

/** Reads the gateway options from a call's body. Returns none if the call's format has no field for them. */
export function readCallOptions({
  endpoint,
  body: { providerOptions },
}: RequestSettingsSource['call']): SignalboxCallOptions {
  const rawOptions = endpoint.format === 'ai-sdk' && isObject(providerOptions) ? providerOptions.signalbox : undefined
  return rawOptions === undefined || rawOptions === null ? {} : parseCallOptions(rawOptions)
}

/** Rejects fields that only chat supports. `path` is the prefix of the fields' paths. */
export function rejectForOtherKinds(
  kind: Kind,
  path: string,
  { models = [], ...others }: { models: readonly ComboModel[] | undefined; params?: unknown; reasoning?: unknown },
): void {
  if (kind === 'llm') return
  const entryIndex = findParamsIndex(models)
  const field = entryIndex >= 0 ? `models[${entryIndex}].params` : Object.keys(omitUndefined(others))[0]
  if (field === undefined) return
  throw gatewayError('INVALID_REQUEST', {
    message: `${path}${field}" is only for chat. Remove it for models of kind "${kind}".`,
  })
}

/** Adds the list's parameters to an entry. The entry's own parameters take precedence. */
export const addEntryParams = (params: EntryParams, entry: ComboModel): ComboModel =>
  typeof entry === 'string' ? { model: entry, params } : { ...entry, params: { ...params, ...entry.params } }

/** Returns the smaller of two optional limits. */
const getMin = (a: number | undefined, b: number | undefined) =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)

function getMinTimeouts(a: RequestModels['timeouts'], b: RequestModels['timeouts']): RequestModels['timeouts'] {
  if (!a || !b) return a ?? b
  return omitUndefined({
    headersMs: getMin(a.headersMs, b.headersMs),
    idleMs: getMin(a.idleMs, b.idleMs),
    totalMs: getMin(a.totalMs, b.totalMs),
  })
}

interface RequestListOptions extends Pick<RequestSettingsSource, 'call' | 'table'> {
  log: Pick<RequestSettingsSource['log'], 'nameRules'>
  name: string
  arrangement?: TargetOrder | undefined
  /** The limits that would apply without a list. */
  limits: PipelineContext['limits']
}

/**
 * Converts the list to a group with this name. The group shares no state with combos. A session that has moved to another entry stays on that entry
 * as long as it sends the same list.
 */
export function createListGroup(
  list: RequestModels,
  { name, limits, arrangement, call, table, log }: RequestListOptions,
): Group {
  const { kind } = call.endpoint.operation
  const { strategy = 'fallback', maxAttempts: _, timeouts: __, ...listFields } = list
  const time = new Date(0).toISOString()
  const group = {
    ...toGroup({ ...listFields, id: '', name, kind, strategy, createdAt: time, updatedAt: time }),
    label: 'list',
    revision: JSON.stringify(list),
    rules: createListRules(list, limits),
  }
  const usedNames = { has: (model: string) => table.combos.has(model) || table.aliases.has(model) }
  const entries = group.entries.map((entry) => ({ ...entry, name: completeName(entry.name, group, usedNames) }))
  for (const { name: model } of entries) {
    for (const rule of log.nameRules) {
      const rejection = rule(model, table)
      if (rejection) throw rejection
    }
  }
  const arrangedGroup = { ...group, entries, ...(arrangement && { arrangement }) }
  if (kind === 'embedding') requireOneModel(arrangedGroup, table)
  return arrangedGroup
}

/** Creates a list's rules. They can only be stricter than the rules that would apply without them. */
function createListRules(
  { maxAttempts, timeouts = {} }: RequestModels,
  limits: PipelineContext['limits'],
): Group['rules'] {
  const { headersMs, idleMs, totalMs } = timeouts
  const limitTo = (value: number | undefined, limit: number) => Math.min(value ?? limit, limit)
  return {
    maxAttempts: limitTo(maxAttempts, limits.maxAttempts),
    timeouts: {
      headersMs: limitTo(headersMs, limits.headersTimeoutMs),
      idleMs: limitTo(idleMs, limits.idleTimeoutMs),
      totalMs: limitTo(totalMs, limits.totalTimeoutMs),
    },
  }
}
