import { isObject, type JsonObject } from '../../lib/json.ts'
import { getEntry } from '../../lib/maps.ts'
import {
  isEmpty,
  readNumber,
  readString,
  rejectFile,
  splitWords,
  toAttempts,
  toList,
  toObject,
  toTimeoutMs,
} from './field-values.ts'
import { ENTRY_PARAMS_NOTE } from './import-entry-params.ts'
import { type ImportPlan, type PlannedEntry, type PlannedValue, toComboModels } from './plan.ts'
import { type KnownNames, listVariables, planAccount, readKnownNames } from './portkey-accounts.ts'
import { listTestedModels, toConditions } from './portkey-conditions.ts'
import {
  countModels,
  GUARDRAILS_REASON,
  isBranch,
  type ModelTarget,
  planTarget,
  type StrategyTarget,
  TARGET_REASONS,
  type TargetNode,
  toSnakeCase,
  unwrapConfig,
} from './portkey-targets.ts'

/*
 * Imports Portkey's config object, as described at portkey.ai/docs/api-reference/config-object. Both spellings of its fields are supported: api_key
 * and apiKey.
 */

/** Signalbox's equivalents of Portkey's strategies. */
const STRATEGY_NAMES: Readonly<Record<string, string>> = {
  single: 'fallback',
  fallback: 'fallback',
  loadbalance: 'weighted',
  'load-balance': 'weighted',
  conditional: 'conditional',
}

const CONFIG_FIELDS = splitWords(
  'targets options provider virtual_key strategy retry cache request_timeout override_params',
)

/**
 * Plans the import of a Portkey config, or of a self-hosted gateway's `conf.json`. Throws a problem if `config` is neither. `model` is the model for
 * targets that use the request's model. `providers` contains `name=provider` for names in Portkey's own store.
 */
export function planPortkey(
  config: unknown,
  plan: ImportPlan,
  { model, providers = [] }: { model?: string | undefined; providers?: readonly string[] | undefined } = {},
): void {
  const normalized = toSnakeCase(unwrapConfig(config))
  const isHost = isObject(normalized) && Array.isArray(normalized.integrations)
  if (!isObject(normalized) || !(isHost || CONFIG_FIELDS.some((name) => name in normalized)))
    rejectFile('a Portkey config', 'A Portkey config has a "strategy" and "targets", or a "provider".')
  for (const name of listVariables(normalized)) plan.reserveVariable(name)
  const knownNames = readKnownNames(normalized, providers)
  planIntegrations(normalized, knownNames, plan)
  if (isHost && !('targets' in normalized || 'provider' in normalized)) {
    plan.reportOtherFields('', normalized, {
      known: ['integrations'],
      reasons: { ...TARGET_REASONS, plugins_enabled: GUARDRAILS_REASON, credentials: GUARDRAILS_REASON },
    })
    return
  }
  const root = planTarget(normalized, { place: '', model, inherited: {}, knownNames, plan })
  planCombo(isBranch(root) ? root : { ...root, targets: [root] }, 'portkey', plan)
}

/** Plans a self-hosted gateway's accounts. Its clients request their models as `@slug/model`. */
function planIntegrations(config: JsonObject, knownNames: KnownNames, plan: ImportPlan): void {
  for (const [index, integration] of toList(config.integrations).map(toObject).entries()) {
    const place = `integrations[${index}]`
    const name = readString(integration.slug)
    const account = planAccount({ provider: `@${name ?? ''}` }, place, { known: knownNames, plan })
    if (name === undefined || typeof account === 'string') {
      plan.reportUnmapped(place, name === undefined ? 'Has no slug.' : String(account))
      continue
    }
    const connection = plan.connection({ ...account, id: name })
    plan.reportMapped(`${place}: ${name}`, `connection ${connection}`)
    for (const model of toList(integration.models).map(toObject)) {
      const id = readString(model.slug)
      if (id === undefined || model.status === 'inactive') continue
      plan.planAlias(place, `@${name}/${id}`, plan.planModel(connection, id))
      plan.reportMapped(`${place}: @${name}/${id}`, `model ${plan.planModel(connection, id)}`)
    }
    plan.reportOtherFields(place, integration, {
      known: ['provider', 'slug', 'name', 'credentials', 'models'],
      reasons: { rate_limits: "Keys, groups, and the gateway can have limits; connections can't." },
    })
  }
}

/** Plans a combo for a strategy, and for each nested strategy. Returns the combo's name. */
function planCombo(node: StrategyTarget, preferredName: string, plan: ImportPlan): string {
  const { place, fields, targets } = node
  const strategy = toObject(fields.strategy)
  const mode = readString(strategy.mode) ?? readString(fields.mode) ?? (targets.length > 1 ? 'fallback' : 'single')
  const name = plan.findFreeComboName(preferredName)
  plan.combos.set(name, {}) // reserves the name before nested combos choose theirs
  const from = place || 'the config'
  if (mode === 'single' && targets.length > 1)
    plan.reportUnmapped(`${from}: mode single`, 'Only the first target is used.')
  const used = mode === 'single' ? targets.slice(0, 1) : targets
  const entries = new Map<TargetNode, PlannedEntry>()
  for (const [index, target] of used.entries()) {
    const model = isBranch(target)
      ? planCombo(target, target.name ?? `${preferredName}-${index + 1}`, plan)
      : planModel(target, plan)
    if (model === undefined) continue
    const params = isBranch(target) ? undefined : target.params
    entries.set(target, { model, params })
    if (!isBranch(target) && target.place !== place && !isEmpty(target.fields.retry))
      plan.reportUnmapped(`${target.place}: retry`, 'Signalbox tries the next target instead of the same one again.')
  }
  const planned: readonly PlannedEntry[] = plan.limitEntries(
    from,
    mode === 'conditional'
      ? planConditions(strategy, { from, entries, plan })
      : [...entries].map(([{ weight }, entry]) => ({
          ...entry,
          weight: mode === 'loadbalance' ? (weight ?? 1) : undefined,
        })),
  )
  for (const [target, { model, params }] of entries) {
    const locationLabel = target.place || 'the config'
    if (!planned.some((entry) => entry.model === model && entry.params === params))
      plan.reportUnmapped(locationLabel, `Combo ${name} never uses this target. To use it, request ${model}.`)
    else if (params)
      plan.reportMapped(`${locationLabel}.override_params: ${Object.keys(params).join(', ')}`, ENTRY_PARAMS_NOTE)
  }
  const isSticky = mode !== 'conditional' && toObject(strategy.sticky).enabled === true
  const found = isSticky ? 'sticky' : getEntry(STRATEGY_NAMES, mode)
  if (found === undefined)
    plan.reportUnmapped(`${from}: strategy.mode`, `"${mode}" has no equivalent; "fallback" is used.`)
  if (isSticky)
    plan.reportUnmapped(
      `${from}: strategy.sticky`,
      'You can\'t choose how sessions are identified; see the strategy "sticky" in the docs.',
    )
  const kind = found ?? 'fallback'
  const size = [...entries.keys()].reduce((sum, target) => sum + countModels(target), 0)
  plan.combos.set(name, {
    models: toComboModels(planned),
    strategy: kind,
    ...planRules(node, used, { name, size, plan }),
  })
  const modelNames = planned.map(({ model }) => model).join(', ') || 'no entries yet'
  plan.reportMapped(`${from}: ${mode}`, `combo ${name} (${kind}): ${modelNames}`)
  const retry = toObject(fields.retry)
  if (strategy.on_status_codes !== undefined || retry.on_status_codes !== undefined)
    plan.reportUnmapped(
      `${from}: on_status_codes`,
      "You can't choose statuses. Signalbox tries the next target after every failure not caused by the request itself.",
    )
  return name
}

/** Plans a combo's rules: attempts, timeouts, and health. `size` is the number of models below it. */
function planRules(
  node: StrategyTarget,
  used: readonly TargetNode[],
  { name, size, plan }: { name: string; size: number; plan: ImportPlan },
): Record<string, PlannedValue> {
  const { place, fields } = node
  const from = place || 'the config'
  const { attempts: retries, count } = toObject(fields.retry)
  const attempts = readNumber(retries) ?? readNumber(count)
  const timeout = findTimeout(node, used, plan)
  const health = toHealth(toObject(toObject(fields.strategy).cb_config))
  if (attempts !== undefined)
    plan.reportMapped(
      `${from}: retry`,
      `maxAttempts of ${name}, which tries the next target instead of the same one again`,
    )
  if (health) plan.reportMapped(`${from}: cb_config`, `health of ${name}`)
  const rules = {
    ...(attempts !== undefined && { maxAttempts: toAttempts(size + attempts) }),
    ...(attempts === undefined && size > 3 && { maxAttempts: toAttempts(size) }),
    ...(timeout !== undefined && { timeouts: { headersMs: toTimeoutMs(timeout), totalMs: toTimeoutMs(timeout) } }),
    ...(health && { health }),
  }
  if (place !== '' && Object.keys(rules).length > 0)
    plan.reportUnmapped(
      from,
      `The attempts, timeouts, and health of ${name} apply to requests for this combo, not to requests for the combo that contains it.`,
    )
  return rules
}

/** Converts Portkey's circuit breaker to a combo's health rules. */
function toHealth(config: JsonObject): Record<string, PlannedValue> | undefined {
  const percentage = readNumber(config.failure_threshold_percentage)
  const calls = readNumber(config.minimum_requests) ?? readNumber(config.failure_threshold)
  const cooldown = readNumber(config.cooldown_interval)
  const health = {
    ...(percentage !== undefined && percentage > 0 && { failureShare: Math.min(1, percentage / 100) }),
    ...(calls !== undefined && { minCalls: Math.min(10_000, Math.max(1, Math.round(calls))) }),
    ...(cooldown !== undefined && {
      cooldownMs: toTimeoutMs(cooldown),
      maxCooldownMs: Math.max(300_000, toTimeoutMs(cooldown)),
    }),
  }
  return Object.keys(health).length > 0 ? health : undefined
}

/**
 * Finds a strategy's timeout, in ms: its own, or else the longest of its targets' timeouts if every target has one, because the strategy's timeout
 * covers all of them.
 */
function findTimeout(
  { place, fields }: StrategyTarget,
  used: readonly TargetNode[],
  plan: ImportPlan,
): number | undefined {
  const from = place || 'the config'
  const requestTimeout = readNumber(fields.request_timeout)
  const shorter = used.filter(
    (target) => !isBranch(target) && target.place !== place && !isEmpty(target.fields.request_timeout),
  )
  const times = used.map((target) => readNumber(target.fields.request_timeout))
  const all =
    requestTimeout === undefined && times.length > 0 && times.every((time) => time !== undefined)
      ? Math.max(...times)
      : requestTimeout
  if (requestTimeout !== undefined) plan.reportMapped(`${from}: request_timeout`, 'timeouts of its combo')
  for (const target of shorter) {
    if (requestTimeout === undefined && all !== undefined)
      plan.reportMapped(
        `${target.place}: request_timeout`,
        'timeouts of the combo that contains it, using the longest of its targets',
      )
    else
      plan.reportUnmapped(
        `${target.place}: request_timeout`,
        'A timeout applies to all targets of a combo. Set one on each target, or one on the config.',
      )
  }
  return all
}

function planModel({ place, connection, model }: ModelTarget, plan: ImportPlan): string | undefined {
  if (connection === undefined) return undefined
  const locationLabel = place || 'the config'
  if (model === undefined) {
    plan.reportUnmapped(
      locationLabel,
      `Has no override_params.model and uses the model of the request. Run the import again with --model <name>, or request ${plan.getPrefix(connection)}/<model>.`,
    )
    return undefined
  }
  const name = plan.planModel(connection, model)
  plan.reportMapped(locationLabel, `model ${name}`)
  return name
}

/** Plans a conditional strategy's entries. Portkey uses the first matching condition. */
function planConditions(
  strategy: JsonObject,
  { from, entries, plan }: { from: string; entries: ReadonlyMap<TargetNode, PlannedEntry>; plan: ImportPlan },
): PlannedEntry[] {
  const findByName = (name: string | undefined) => [...entries].find(([target]) => target.name === name)?.[1]
  const planned: PlannedEntry[] = []
  for (const [index, condition] of toList(strategy.conditions).entries()) {
    const { query, then } = toObject(condition)
    const place = `${from}: conditions[${index}]`
    const entry = findByName(readString(then))
    const whens = toConditions(query)
    if (entry === undefined) plan.reportUnmapped(place, 'Has no imported target.')
    else if (whens === undefined)
      plan.reportUnmapped(
        place,
        'Signalbox supports only $eq and $in on metadata and params.model, combined with $and and $or.',
      )
    else for (const when of whens) planned.push({ ...entry, when })
  }
  if (planned.some(({ when }) => isObject(when) && 'metadata' in when))
    plan.reportUnmapped(
      `${from}: conditions on metadata`,
      'They check "metadata" in the request body. Clients must send it there instead of in x-portkey-metadata.',
    )
  for (const modelName of new Set(
    toList(strategy.conditions).flatMap((condition) => listTestedModels(toObject(condition).query)),
  )) {
    if (modelName.includes('/') || plan.combos.has(modelName)) continue
    plan.planAlias(`${from}: params.model ${modelName}`, modelName, 'portkey') // clients request this name, and Portkey applies the config to it
    plan.reportMapped(`${from}: params.model ${modelName}`, `alias ${modelName} for portkey`)
  }
  const defaultName = readString(strategy.default)
  const other = findByName(defaultName)
  if (other !== undefined) planned.push(other)
  else
    plan.reportUnmapped(
      `${from}: default`,
      defaultName === undefined
        ? 'The config has no default, so requests that match no condition are rejected.'
        : 'Has no imported target.',
    )
  return planned
}
