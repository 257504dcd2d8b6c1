import { isObject, type JsonObject } from '../../lib/json.ts'
import { getEntry } from '../../lib/maps.ts'
import {
  attemptsOf,
  isNone,
  isNothing,
  listOf,
  milliseconds,
  numberOf,
  objectOf,
  textOf,
  words,
} from './given-fields.ts'
import { ENTRY_PARAMS_WIN } from './import-entry-params.ts'
import { entriesOf, type ImportPlan, type PlannedEntry, type PlannedValue } from './plan.ts'
import { accountOf, type KnownNames, knownNames, variablesOf } from './portkey-accounts.ts'
import { conditionsOf, modelsAsked } from './portkey-conditions.ts'
import {
  GUARDRAILS,
  isBranch,
  type ModelTarget,
  nodeOf,
  ownConfig,
  REASONS,
  type StrategyTarget,
  sizeOf,
  type TargetNode,
  withSnakeCase,
} from './portkey-targets.ts'

/* Portkey's config object, as portkey.ai/docs/api-reference/config-object describes it; its members are taken in both spellings, api_key and apiKey. */

/** The strategies of Portkey. */
const STRATEGIES: Readonly<Record<string, string>> = {
  single: 'fallback',
  fallback: 'fallback',
  loadbalance: 'weighted',
  'load-balance': 'weighted',
  conditional: 'conditional',
}

const MEMBERS = words('targets options provider virtual_key strategy retry cache request_timeout override_params')

/**
 * Plans the import of a config of Portkey, or of the `conf.json` of a self-hosted gateway. Throws a problem when `config` is neither. `model`: the model
 * of targets that take that of the request. `providers`: `name=provider` for names in Portkey's own store.
 */
export function planPortkey(
  config: unknown,
  plan: ImportPlan,
  { model, providers = [] }: { model?: string | undefined; providers?: readonly string[] | undefined } = {},
): void {
  const given = withSnakeCase(ownConfig(config))
  const isHost = isObject(given) && Array.isArray(given.integrations)
  if (!isObject(given) || !(isHost || MEMBERS.some((name) => name in given)))
    isNone('a Portkey config', 'A Portkey config has a "strategy" and "targets", or a "provider".')
  for (const name of variablesOf(given)) plan.reserve(name)
  const known = knownNames(given, providers)
  planIntegrations(given, known, plan)
  if (isHost && !('targets' in given || 'provider' in given)) {
    plan.leavesRest('', given, {
      done: ['integrations'],
      reasons: { ...REASONS, plugins_enabled: GUARDRAILS, credentials: GUARDRAILS },
    })
    return
  }
  const root = nodeOf(given, { place: '', model, inherited: {}, known, plan })
  planCombo(isBranch(root) ? root : { ...root, targets: [root] }, 'portkey', plan)
}

/** Plans the accounts of a self-hosted gateway, whose models clients ask for as `@slug/model`. */
function planIntegrations(config: JsonObject, known: KnownNames, plan: ImportPlan): void {
  for (const [at, integration] of listOf(config.integrations).map(objectOf).entries()) {
    const place = `integrations[${at}]`
    const name = textOf(integration.slug)
    const account = accountOf({ provider: `@${name ?? ''}` }, place, { known, plan })
    if (name === undefined || typeof account === 'string') {
      plan.leaves(place, name === undefined ? 'Has no slug.' : String(account))
      continue
    }
    const connection = plan.connection({ ...account, id: name })
    plan.maps(`${place}: ${name}`, `connection ${connection}`)
    for (const model of listOf(integration.models).map(objectOf)) {
      const id = textOf(model.slug)
      if (id === undefined || model.status === 'inactive') continue
      plan.alias(place, `@${name}/${id}`, plan.model(connection, id))
      plan.maps(`${place}: @${name}/${id}`, `model ${plan.model(connection, id)}`)
    }
    plan.leavesRest(place, integration, {
      done: ['provider', 'slug', 'name', 'credentials', 'models'],
      reasons: { rate_limits: "Keys, groups, and the gateway can have limits; connections can't." },
    })
  }
}

/** Plans a combo for a strategy, and for each strategy below it. Returns the name of the combo. */
function planCombo(node: StrategyTarget, wish: string, plan: ImportPlan): string {
  const { place, given, targets } = node
  const strategy = objectOf(given.strategy)
  const mode = textOf(strategy.mode) ?? textOf(given.mode) ?? (targets.length > 1 ? 'fallback' : 'single')
  const name = plan.comboName(wish)
  plan.combos.set(name, {}) // reserves the name before the combos in this one get theirs
  const from = place || 'the config'
  if (mode === 'single' && targets.length > 1) plan.leaves(`${from}: mode single`, 'Only the first target is used.')
  const used = mode === 'single' ? targets.slice(0, 1) : targets
  const entries = new Map<TargetNode, PlannedEntry>()
  for (const [at, target] of used.entries()) {
    const model = isBranch(target) ? planCombo(target, target.name ?? `${wish}-${at + 1}`, plan) : modelOf(target, plan)
    if (model === undefined) continue
    const params = isBranch(target) ? undefined : target.params
    entries.set(target, { model, params })
    if (!isBranch(target) && target.place !== place && !isNothing(target.given.retry))
      plan.leaves(`${target.place}: retry`, 'Signalbox tries the next target instead of the same one again.')
  }
  const planned: readonly PlannedEntry[] = plan.entries(
    from,
    mode === 'conditional'
      ? conditional(strategy, { from, entries, plan })
      : [...entries].map(([{ weight }, entry]) => ({
          ...entry,
          weight: mode === 'loadbalance' ? (weight ?? 1) : undefined,
        })),
  )
  for (const [target, { model, params }] of entries) {
    const shown = target.place || 'the config'
    if (!planned.some((entry) => entry.model === model && entry.params === params))
      plan.leaves(shown, `Combo ${name} never uses this target. To use it, request ${model}.`)
    else if (params) plan.maps(`${shown}.override_params: ${Object.keys(params).join(', ')}`, ENTRY_PARAMS_WIN)
  }
  const isSticky = mode !== 'conditional' && objectOf(strategy.sticky).enabled === true
  const found = isSticky ? 'sticky' : getEntry(STRATEGIES, mode)
  if (found === undefined) plan.leaves(`${from}: strategy.mode`, `"${mode}" has no equivalent; "fallback" is used.`)
  if (isSticky)
    plan.leaves(
      `${from}: strategy.sticky`,
      'You can\'t choose how sessions are identified; see the strategy "sticky" in the docs.',
    )
  const kind = found ?? 'fallback'
  const size = [...entries.keys()].reduce((sum, target) => sum + sizeOf(target), 0)
  plan.combos.set(name, { models: entriesOf(planned), strategy: kind, ...rulesOf(node, used, { name, size, plan }) })
  const shown = planned.map(({ model }) => model).join(', ') || 'no entries yet'
  plan.maps(`${from}: ${mode}`, `combo ${name} (${kind}): ${shown}`)
  const retry = objectOf(given.retry)
  if (strategy.on_status_codes !== undefined || retry.on_status_codes !== undefined)
    plan.leaves(
      `${from}: on_status_codes`,
      "You can't choose statuses. Signalbox tries the next target after every failure not caused by the request itself.",
    )
  return name
}

/** The rules of a combo: attempts, time-outs and health. `size`: the models below it. */
function rulesOf(
  node: StrategyTarget,
  used: readonly TargetNode[],
  { name, size, plan }: { name: string; size: number; plan: ImportPlan },
): Record<string, PlannedValue> {
  const { place, given } = node
  const from = place || 'the config'
  const { attempts: asked, count } = objectOf(given.retry)
  const attempts = numberOf(asked) ?? numberOf(count)
  const timeout = timeoutOf(node, used, plan)
  const health = healthOf(objectOf(objectOf(given.strategy).cb_config))
  if (attempts !== undefined)
    plan.maps(`${from}: retry`, `maxAttempts of ${name}, which tries the next target instead of the same one again`)
  if (health) plan.maps(`${from}: cb_config`, `health of ${name}`)
  const rules = {
    ...(attempts !== undefined && { maxAttempts: attemptsOf(size + attempts) }),
    ...(attempts === undefined && size > 3 && { maxAttempts: attemptsOf(size) }),
    ...(timeout !== undefined && { timeouts: { headersMs: milliseconds(timeout), totalMs: milliseconds(timeout) } }),
    ...(health && { health }),
  }
  if (place !== '' && Object.keys(rules).length > 0)
    plan.leaves(
      from,
      `The attempts, timeouts, and health of ${name} apply to requests for this combo, not to requests for the combo that contains it.`,
    )
  return rules
}

/** A circuit breaker of Portkey as the health of a combo. */
function healthOf(given: JsonObject): Record<string, PlannedValue> | undefined {
  const percentage = numberOf(given.failure_threshold_percentage)
  const calls = numberOf(given.minimum_requests) ?? numberOf(given.failure_threshold)
  const cooldown = numberOf(given.cooldown_interval)
  const health = {
    ...(percentage !== undefined && percentage > 0 && { failureShare: Math.min(1, percentage / 100) }),
    ...(calls !== undefined && { minCalls: Math.min(10_000, Math.max(1, Math.round(calls))) }),
    ...(cooldown !== undefined && {
      cooldownMs: milliseconds(cooldown),
      maxCooldownMs: Math.max(300_000, milliseconds(cooldown)),
    }),
  }
  return Object.keys(health).length > 0 ? health : undefined
}

/** The time-out of a strategy, in ms: its own, or else the longest of its targets, if each has one, as it applies to all of them. */
function timeoutOf(
  { place, given }: StrategyTarget,
  used: readonly TargetNode[],
  plan: ImportPlan,
): number | undefined {
  const from = place || 'the config'
  const own = numberOf(given.request_timeout)
  const shorter = used.filter(
    (target) => !isBranch(target) && target.place !== place && !isNothing(target.given.request_timeout),
  )
  const times = used.map((target) => numberOf(target.given.request_timeout))
  const all =
    own === undefined && times.length > 0 && times.every((time) => time !== undefined) ? Math.max(...times) : own
  if (own !== undefined) plan.maps(`${from}: request_timeout`, 'timeouts of its combo')
  for (const target of shorter) {
    if (own === undefined && all !== undefined)
      plan.maps(
        `${target.place}: request_timeout`,
        'timeouts of the combo that contains it, using the longest of its targets',
      )
    else
      plan.leaves(
        `${target.place}: request_timeout`,
        'A timeout applies to all targets of a combo. Set one on each target, or one on the config.',
      )
  }
  return all
}

function modelOf({ place, connection, model }: ModelTarget, plan: ImportPlan): string | undefined {
  if (connection === undefined) return undefined
  const shown = place || 'the config'
  if (model === undefined) {
    plan.leaves(
      shown,
      `Has no override_params.model and uses the model of the request. Run the import again with --model <name>, or request ${plan.prefixOf(connection)}/<model>.`,
    )
    return undefined
  }
  const name = plan.model(connection, model)
  plan.maps(shown, `model ${name}`)
  return name
}

/** The entries of a conditional strategy: Portkey takes the first condition that holds. */
function conditional(
  strategy: JsonObject,
  { from, entries, plan }: { from: string; entries: ReadonlyMap<TargetNode, PlannedEntry>; plan: ImportPlan },
): PlannedEntry[] {
  const named = (name: string | undefined) => [...entries].find(([target]) => target.name === name)?.[1]
  const planned: PlannedEntry[] = []
  for (const [at, condition] of listOf(strategy.conditions).entries()) {
    const { query, then } = objectOf(condition)
    const place = `${from}: conditions[${at}]`
    const entry = named(textOf(then))
    const whens = conditionsOf(query)
    if (entry === undefined) plan.leaves(place, 'Has no imported target.')
    else if (whens === undefined)
      plan.leaves(
        place,
        'Signalbox supports only $eq and $in on metadata and params.model, combined with $and and $or.',
      )
    else for (const when of whens) planned.push({ ...entry, when })
  }
  if (planned.some(({ when }) => isObject(when) && 'metadata' in when))
    plan.leaves(
      `${from}: conditions on metadata`,
      'They check "metadata" in the request body. Clients must send it there instead of in x-portkey-metadata.',
    )
  for (const asked of new Set(listOf(strategy.conditions).flatMap((one) => modelsAsked(objectOf(one).query)))) {
    if (asked.includes('/') || plan.combos.has(asked)) continue
    plan.alias(`${from}: params.model ${asked}`, asked, 'portkey') // clients ask for it, and Portkey sends them to the config
    plan.maps(`${from}: params.model ${asked}`, `alias ${asked} for portkey`)
  }
  const asked = textOf(strategy.default)
  const other = named(asked)
  if (other !== undefined) planned.push(other)
  else
    plan.leaves(
      `${from}: default`,
      asked === undefined
        ? 'The config has no default, so requests that match no condition are rejected.'
        : 'Has no imported target.',
    )
  return planned
}
