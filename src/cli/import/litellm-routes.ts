import { isObject, type JsonObject } from '../../lib/json.ts'
import { getEntry } from '../../lib/maps.ts'
import { defaultCatalog } from '../../protocols/providers/catalog.ts'
import { isEmpty, readNumber, readString, toAttempts, toList, toObject } from './field-values.ts'
import { ENTRY_PARAMS_NOTE } from './import-entry-params.ts'
import { type Deployment, FALLBACK_SETTINGS } from './litellm-deployments.ts'
import { STRATEGY_NAMES, toTimeouts } from './litellm-settings.ts'
import { type ImportPlan, type PlannedEntry, type PlannedValue, toComboModels } from './plan.ts'

/* Creates aliases and combos from the names of LiteLLM's models. */

/** Deployments with a `*` in their `model_name`. */
interface Wildcard {
  name: string
  deployment: Deployment
}

interface Routes {
  groups: ReadonlyMap<string, readonly Deployment[]>
  wildcards: readonly Wildcard[]
  /** The router's settings, and the library's settings that the router doesn't override. */
  router: JsonObject
  plan: ImportPlan
}

/** Plans a model or a combo for each `model_name`, for its fallbacks, and for the aliases in `model_group_alias`. */
export function planRoutes(routes: Routes): void {
  const { groups, router, plan } = routes
  for (const name of Object.keys(toObject(router.model_group_alias))) plan.reserveName(name)
  const fallbacks = listFallbacks(routes)
  const bases = new Map<string, string>()
  for (const [name, deployments] of groups)
    bases.set(name, planBase(name, deployments, { router, hasMore: fallbacks.has(name), plan }))
  const findBase = (name: string) => bases.get(findGroup(name, routes) ?? name) ?? matchWildcard(name, routes)
  for (const [name, others] of fallbacks) planFallback(name, others, { routes, findBase })
  planAliases(routes, findBase)
  planWildcards(routes)
}

/** Finds the `model_name` for a name: the name itself, or the name that it is an alias for. Returns `undefined` if there is none. */
function findGroup(name: string, { groups, router }: Pick<Routes, 'groups' | 'router'>): string | undefined {
  if (groups.has(name)) return name
  const alias = getEntry(toObject(router.model_group_alias), name)
  const targetName = readString(alias) ?? readString(toObject(alias).model)
  return targetName !== undefined && groups.has(targetName) ? targetName : undefined
}

/** Finds the model for a name that matches a `model_name` with a `*`. The longest match wins. */
function matchWildcard(name: string, { wildcards, plan }: Pick<Routes, 'wildcards' | 'plan'>): string | undefined {
  const scoreMatch = ({ name: pattern }: Wildcard) => {
    const [before = '', after = ''] = pattern.split('*')
    const isLong = name.length >= before.length + after.length
    return isLong && name.startsWith(before) && name.endsWith(after) ? before.length : -1
  }
  const [found] = wildcards
    .filter((wildcard) => wildcard.name.includes('*') && scoreMatch(wildcard) >= 0)
    .sort((a, b) => scoreMatch(b) - scoreMatch(a))
  if (!found) return undefined
  const { connection, model } = found.deployment
  const [before = '', after = ''] = found.name.split('*')
  const matchedPart = name.slice(before.length, name.length - after.length)
  return plan.planModel(
    connection,
    model.replace('*', () => matchedPart),
  )
}

/** Returns the name for one `model_name`'s deployments: a model name for a single deployment, otherwise a combo name. */
function planBase(
  name: string,
  ownDeployments: readonly Deployment[],
  { router, hasMore, plan }: { router: JsonObject; hasMore: boolean; plan: ImportPlan },
): string {
  const [first] = ownDeployments
  if (!first) return name
  const place = `${first.place}${ownDeployments.length > 1 ? ` and ${ownDeployments.length - 1} more` : ''}: ${name}`
  const isEmbedding = ownDeployments.some(({ kind }) => kind === 'embedding')
  const isMixed = isEmbedding && new Set(ownDeployments.map(({ model, baseModel }) => baseModel ?? model)).size > 1
  if (isMixed)
    plan.reportUnmapped(
      name,
      'Its deployments have different models, and their embeddings must not be mixed. Only the first deployment is imported.',
    )
  const deployments = isMixed ? [first] : plan.limitEntries(name, ownDeployments)
  for (const { connection, model, kind, isInCatalog } of deployments)
    if (kind !== 'llm' && !isInCatalog) plan.customModels.set(plan.planModel(connection, model), { type: kind })
  const timeouts = hasMore ? undefined : mergeTimeouts(name, deployments, { all: deployments, plan })
  const model = plan.planModel(first.connection, first.model)
  if (deployments.length === 1 && !first.params && !timeouts) {
    plan.reportMapped(place, `model ${model}`)
    if (!hasMore && model !== name) plan.planAlias(place, name, model)
    return model
  }
  const strategyName = readString(router.routing_strategy) ?? 'simple-shuffle'
  const strategy = getEntry(STRATEGY_NAMES, strategyName) ?? 'weighted'
  const kind = first.kind === 'llm' ? {} : { kind: first.kind, ...(isEmbedding && { sameVectors: true }) }
  const combo = plan.findFreeComboName(hasMore ? `${name}-deployments` : name, { isMadeUp: hasMore })
  plan.combos.set(combo, {}) // reserves the name before nested combos choose theirs
  const tiers = groupByOrder(deployments)
  const isTiered = tiers.length > 1
  const entries = tiers.flatMap((tier): PlannedEntry[] => {
    // As in LiteLLM, the first deployment determines which field contains the weight. Other deployments without that field have no weight.
    const weightIndex =
      strategy === 'weighted' ? (tier[0]?.weights.findIndex((weight) => weight !== undefined) ?? -1) : -1
    const entries = tier.map(({ connection, model: id, weights, params }) => ({
      model: plan.planModel(connection, id),
      weight: weightIndex < 0 ? undefined : (weights[weightIndex] ?? 0),
      params,
    }))
    if (!isTiered) return entries
    if (entries.length === 1) return entries.map((entry) => ({ ...entry, weight: undefined })) // fallbacks are tried in order, so they have no weight
    const inner = plan.findFreeComboName(`${combo}-order-${tier[0]?.order ?? 'last'}`, { isMadeUp: true })
    plan.combos.set(inner, { models: toComboModels(entries), strategy, ...kind })
    plan.reportMapped(`${name}: order ${tier[0]?.order ?? 'none'}`, `combo ${inner} (${strategy})`)
    return [{ model: inner }]
  })
  const chosen = isTiered ? 'fallback' : strategy
  plan.combos.set(combo, {
    models: toComboModels(entries),
    strategy: chosen,
    ...kind,
    ...(isTiered && { maxAttempts: toAttempts(Math.max(3, deployments.length)) }),
    ...(timeouts && { timeouts }),
  })
  if (!hasMore && combo !== name) plan.planAlias(place, name, combo)
  plan.reportMapped(place, `combo ${combo} (${chosen}): ${entries.map((entry) => entry.model).join(', ')}`)
  for (const { place: at, params } of deployments)
    if (params) plan.reportMapped(`${at}: ${Object.keys(params).join(', ')}`, ENTRY_PARAMS_NOTE)
  return combo
}

/** Groups the deployments by `order`, lowest first. */
function groupByOrder(deployments: readonly Deployment[]): Deployment[][] {
  const tiers = new Map<number, Deployment[]>()
  for (const deployment of deployments) {
    const order = deployment.order ?? Number.POSITIVE_INFINITY
    tiers.set(order, [...(tiers.get(order) ?? []), deployment])
  }
  return [...tiers].sort(([one], [other]) => one - other).map(([, tier]) => tier)
}

/**
 * Returns a combo's timeouts: the longest among its deployments, if every one has a timeout. `deployments` are the deployments with the combo's name.
 */
function mergeTimeouts(
  name: string,
  deployments: readonly Deployment[],
  { all, plan }: { all: readonly Deployment[]; plan: ImportPlan },
): Record<string, PlannedValue> | undefined {
  const withTimeouts = deployments.filter(
    ({ timeout, streamTimeout }) => timeout !== undefined || streamTimeout !== undefined,
  )
  if (withTimeouts.length === 0) return undefined
  const findLongest = (times: readonly (number | undefined)[]) =>
    times.every((time) => time !== undefined) ? Math.max(...times) : undefined
  const found = toTimeouts(
    findLongest(all.map(({ timeout }) => timeout)),
    findLongest(all.map(({ streamTimeout }) => streamTimeout)),
  )
  for (const { place } of withTimeouts)
    if (found)
      plan.reportMapped(
        `${place}: timeout, stream_timeout`,
        `timeouts of ${name}, using the longest of its deployments because they apply to all of them`,
      )
    else
      plan.reportUnmapped(
        `${place}: timeout, stream_timeout`,
        'Set timeouts on combos or in the settings. They are the same for streaming and non-streaming requests.',
      )
  return found
}

/** Plans the combo for a name with fallbacks. */
function planFallback(
  name: string,
  others: readonly string[],
  { routes: { groups, router, plan }, findBase }: { routes: Routes; findBase: (name: string) => string | undefined },
): void {
  const all = [name, ...others]
  const deployments = all.flatMap((name) => groups.get(findGroup(name, { groups, router }) ?? name) ?? [])
  const timeouts = mergeTimeouts(name, groups.get(name) ?? [], { all: deployments, plan })
  const models = plan.limitEntries(
    name,
    [...new Set(all.map(findBase))].filter((model) => model !== undefined),
  )
  const retries = readNumber(router.num_retries) ?? 0
  const combo = plan.findFreeComboName(name)
  const onContent = toList(router.content_policy_fallbacks).some((content_policy_fallback) =>
    Object.hasOwn(toObject(content_policy_fallback), name),
  )
  const kind = deployments[0]?.kind ?? 'llm'
  plan.combos.set(combo, {
    models,
    ...(kind !== 'llm' && { kind }),
    ...(onContent && { on: ['content'] }),
    maxAttempts: toAttempts(Math.max(3, deployments.length + retries, models.length + retries)),
    ...(timeouts && { timeouts }),
  })
  plan.reportMapped(`fallbacks of ${name}`, `combo ${combo}: ${models.join(', ')}`)
  if (onContent)
    plan.reportMapped(
      `content_policy_fallbacks of ${name}`,
      `"on": ["content"] of combo ${combo}, which tries the next model when a content filter ends a response`,
    )
  if (combo !== name) plan.planAlias(`fallbacks of ${name}`, name, combo)
}

/** Lists each name's fallbacks in LiteLLM's order, including nested fallbacks. */
function listFallbacks(routes: Routes): Map<string, string[]> {
  const { groups, router, plan } = routes
  const direct = new Map<string, string[]>()
  const getKind = (name: string) => groups.get(findGroup(name, routes) ?? name)?.[0]?.kind ?? 'llm'
  const isKnown = (name: string) => findGroup(name, routes) !== undefined || matchWildcard(name, routes) !== undefined
  const add = (name: string, others: readonly string[], place: string) => {
    if (getKind(name) === 'embedding') {
      plan.reportUnmapped(
        `${place}: ${name}`,
        'Embeddings of different models must not be mixed, so this name gets no fallbacks.',
      )
      return
    }
    for (const other of others) {
      if (!isKnown(other)) plan.reportUnmapped(`${place}: ${name} to ${other}`, 'No deployment has this model_name.')
      else if (getKind(other) !== getKind(name))
        plan.reportUnmapped(`${place}: ${name} to ${other}`, 'The two models are of different kinds.')
      else if (other !== name) direct.set(name, [...new Set([...(direct.get(name) ?? []), other])])
    }
  }
  const addToAll = (others: readonly string[], place: string) => {
    for (const name of groups.keys()) if (getKind(name) === 'llm') add(name, others, place)
  }
  const readNames = (value: unknown, place: string): string[] => {
    if (!isEmpty(value) && !Array.isArray(value)) plan.reportUnmapped(place, 'Must be a list; not imported.')
    return toList(value).map((item) => {
      const name = readString(item) ?? readString(toObject(item).model) ?? ''
      plan.reportOtherFields(`${place} to ${name}`, toObject(item), { known: ['model'] })
      return name
    })
  }
  for (const list of FALLBACK_SETTINGS) {
    const all = toList(router[list])
    if (!all.every(isObject))
      plan.reportUnmapped(
        list,
        'Each entry must be an object such as { name: [others] }; other entries are not imported.',
      )
    for (const [name, value] of all.flatMap((item) => Object.entries(toObject(item)))) {
      const others = readNames(value, `${list}: ${name}`)
      if (name === '*') addToAll(others, list)
      else if (isKnown(name)) add(name, others, list)
      else plan.reportUnmapped(`${list}: ${name}`, 'No deployment has this model_name.')
    }
  }
  addToAll(readNames(toList(router.default_fallbacks), 'default_fallbacks'), 'default_fallbacks')
  for (const list of FALLBACK_SETTINGS.slice(1))
    if (!isEmpty(router[list]))
      plan.reportUnmapped(
        list,
        'These fallbacks become entries of the same combos, so they are also tried after other failures.',
      )
  const most = readNumber(router.max_fallbacks) ?? MAX_FALLBACKS
  return new Map([...direct.keys()].map((name) => [name, orderFallbacks(name, direct, most)]))
}

/** LiteLLM's default for "max_fallbacks": the number of fallback levels that it follows. */
const MAX_FALLBACKS = 5

/** Lists the names to try after a name, in order: each fallback, followed by its own fallbacks. */
function orderFallbacks(name: string, direct: ReadonlyMap<string, readonly string[]>, most: number): string[] {
  const found = new Set<string>()
  const walk = (one: string, depth: number) => {
    if (depth >= most) return
    for (const other of direct.get(one) ?? []) {
      if (other === name || found.has(other)) continue
      found.add(other)
      walk(other, depth + 1)
    }
  }
  walk(name, 0)
  return [...found]
}

function planWildcards(routes: Routes): void {
  const { wildcards, plan } = routes
  for (const { name, deployment } of wildcards) {
    const { place, connection, model, params } = deployment
    if (name === plan.planModel(connection, model))
      plan.reportMapped(`${place}: ${name}`, `connection ${connection}, which serves every ${name}`)
    else {
      const [first, ...more] = planCatalogNames({ name, deployment }, routes)
      if (first !== undefined)
        plan.reportMapped(
          `${place}: ${name}`,
          `aliases for the models in the catalog: ${first}${more.length > 0 ? ` and ${more.length} more` : ''}`,
        )
      plan.reportUnmapped(
        `${place}: ${name}`,
        `${first === undefined ? 'Names with * are' : 'Other names are'} not imported. Connection ${connection} serves every model as ${plan.planModel(connection, '<model>')}.`,
      )
    }
    if (params) plan.reportUnmapped(`${place}: ${Object.keys(params).join(', ')}`, 'Only combo entries have "params".')
  }
}

/** Creates aliases for the names with a `*` that match catalog models and have no other meaning. Returns the names. */
function planCatalogNames({ name, deployment }: Wildcard, routes: Routes): string[] {
  const { groups, router, plan } = routes
  const [before = '', after = ''] = deployment.model.split('*')
  const models = (getEntry(defaultCatalog, deployment.provider)?.models ?? []).map(({ id }) => id)
  const found: string[] = []
  for (const id of models) {
    if (id.length < before.length + after.length || !id.startsWith(before) || !id.endsWith(after)) continue
    const alias = name.replace('*', () => id.slice(before.length, id.length - after.length))
    const isTaken = groups.has(alias) || plan.combos.has(alias) || plan.aliases.has(alias) || hasAlias(router, alias)
    const target = plan.planModel(deployment.connection, id)
    if (isTaken || alias.includes('/') || matchWildcard(alias, routes) !== target) continue
    plan.planAlias(name, alias, target)
    found.push(alias)
  }
  return found
}

const hasAlias = (router: JsonObject, name: string) => Object.hasOwn(toObject(router.model_group_alias), name)

function planAliases({ router, plan }: Routes, findBase: (name: string) => string | undefined): void {
  for (const [alias, value] of Object.entries(toObject(router.model_group_alias))) {
    const group = readString(value) ?? readString(toObject(value).model)
    const base = group === undefined ? undefined : findBase(group)
    const place = `model_group_alias.${alias}`
    if (group === undefined || base === undefined) {
      plan.reportUnmapped(place, 'No deployment has this model_name.')
      continue
    }
    if (toObject(value).hidden === true)
      plan.reportUnmapped(`${place}.hidden`, 'Aliases are always listed, like models.')
    if (plan.combos.has(alias) || alias === group) continue // the alias's own fallbacks already made it a combo
    const target = plan.combos.has(group) ? group : (plan.aliases.get(group) ?? base)
    plan.planAlias(place, alias, target)
    plan.reportMapped(place, `alias ${alias} for ${target}`)
  }
}
