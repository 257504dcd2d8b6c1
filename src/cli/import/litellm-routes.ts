import { isObject, type JsonObject } from '../../lib/json.ts'
import { getEntry } from '../../lib/maps.ts'
import { defaultCatalog } from '../../protocols/providers/catalog.ts'
import { attemptsOf, isNothing, listOf, numberOf, objectOf, textOf } from './given-fields.ts'
import { ENTRY_PARAMS_WIN } from './import-entry-params.ts'
import { type Deployment, FALLBACKS } from './litellm-deployments.ts'
import { STRATEGIES, timeoutsOf } from './litellm-settings.ts'
import { entriesOf, type ImportPlan, type PlannedEntry, type PlannedValue } from './plan.ts'

/* Makes aliases and combos from the names of LiteLLM's models. */

/** Deployments whose `model_name` has a `*`. */
interface Wildcard {
  name: string
  deployment: Deployment
}

interface Routes {
  groups: ReadonlyMap<string, readonly Deployment[]>
  wildcards: readonly Wildcard[]
  /** The settings of the router, and those of the library that the router does not have. */
  router: JsonObject
  plan: ImportPlan
}

/** Plans a model or a combo for each `model_name`, its fallbacks, and the aliases of `model_group_alias`. */
export function planRoutes(routes: Routes): void {
  const { groups, router, plan } = routes
  for (const name of Object.keys(objectOf(router.model_group_alias))) plan.reserveName(name)
  const fallbacks = fallbacksOf(routes)
  const bases = new Map<string, string>()
  for (const [name, deployments] of groups)
    bases.set(name, baseOf(name, deployments, { router, hasMore: fallbacks.has(name), plan }))
  const baseNamed = (name: string) => bases.get(groupOf(name, routes) ?? name) ?? ofWildcard(name, routes)
  for (const [name, others] of fallbacks) planFallback(name, others, { routes, baseNamed })
  planAliases(routes, baseNamed)
  planWildcards(routes)
}

/** The `model_name` for a name: the name itself, or the `model_name` of which it is an alias; `undefined`: none. */
function groupOf(name: string, { groups, router }: Pick<Routes, 'groups' | 'router'>): string | undefined {
  if (groups.has(name)) return name
  const given = getEntry(objectOf(router.model_group_alias), name)
  const meant = textOf(given) ?? textOf(objectOf(given).model)
  return meant !== undefined && groups.has(meant) ? meant : undefined
}

/** The model for a name that matches a `model_name` with a `*`; of several that match, the longest counts. */
function ofWildcard(name: string, { wildcards, plan }: Pick<Routes, 'wildcards' | 'plan'>): string | undefined {
  const fits = ({ name: pattern }: Wildcard) => {
    const [before = '', after = ''] = pattern.split('*')
    const isLong = name.length >= before.length + after.length
    return isLong && name.startsWith(before) && name.endsWith(after) ? before.length : -1
  }
  const [found] = wildcards
    .filter((one) => one.name.includes('*') && fits(one) >= 0)
    .sort((one, other) => fits(other) - fits(one))
  if (!found) return undefined
  const { connection, model } = found.deployment
  const [before = '', after = ''] = found.name.split('*')
  const meant = name.slice(before.length, name.length - after.length)
  return plan.model(
    connection,
    model.replace('*', () => meant),
  )
}

/** The name for the deployments of one `model_name`: that of a model for one deployment, otherwise that of a combo. */
function baseOf(
  name: string,
  given: readonly Deployment[],
  { router, hasMore, plan }: { router: JsonObject; hasMore: boolean; plan: ImportPlan },
): string {
  const [first] = given
  if (!first) return name
  const place = `${first.place}${given.length > 1 ? ` and ${given.length - 1} more` : ''}: ${name}`
  const isEmbedding = given.some(({ kind }) => kind === 'embedding')
  const isMixed = isEmbedding && new Set(given.map(({ model, baseModel }) => baseModel ?? model)).size > 1
  if (isMixed)
    plan.leaves(
      name,
      'Its deployments have different models, and their embeddings must not be mixed. Only the first deployment is imported.',
    )
  const deployments = isMixed ? [first] : plan.entries(name, given)
  for (const { connection, model, kind, isInCatalog } of deployments)
    if (kind !== 'llm' && !isInCatalog) plan.customModels.set(plan.model(connection, model), { type: kind })
  const timeouts = hasMore ? undefined : sharedTimeouts(name, deployments, { all: deployments, plan })
  const model = plan.model(first.connection, first.model)
  if (deployments.length === 1 && !first.params && !timeouts) {
    plan.maps(place, `model ${model}`)
    if (!hasMore && model !== name) plan.alias(place, name, model)
    return model
  }
  const asked = textOf(router.routing_strategy) ?? 'simple-shuffle'
  const strategy = getEntry(STRATEGIES, asked) ?? 'weighted'
  const kind = first.kind === 'llm' ? {} : { kind: first.kind, ...(isEmbedding && { sameVectors: true }) }
  const combo = plan.comboName(hasMore ? `${name}-deployments` : name, { isMadeUp: hasMore })
  plan.combos.set(combo, {}) // reserves the name before the combos in this one get theirs
  const tiers = tiersOf(deployments)
  const isTiered = tiers.length > 1
  const entries = tiers.flatMap((tier): PlannedEntry[] => {
    // As in LiteLLM, the first deployment says which member is the share. Without that member, another one has no share.
    const by = strategy === 'weighted' ? (tier[0]?.shares.findIndex((share) => share !== undefined) ?? -1) : -1
    const own = tier.map(({ connection, model: id, shares, params }) => ({
      model: plan.model(connection, id),
      weight: by < 0 ? undefined : (shares[by] ?? 0),
      params,
    }))
    if (!isTiered) return own
    if (own.length === 1) return own.map((entry) => ({ ...entry, weight: undefined })) // entries of a fallback have none
    const inner = plan.comboName(`${combo}-order-${tier[0]?.order ?? 'last'}`, { isMadeUp: true })
    plan.combos.set(inner, { models: entriesOf(own), strategy, ...kind })
    plan.maps(`${name}: order ${tier[0]?.order ?? 'none'}`, `combo ${inner} (${strategy})`)
    return [{ model: inner }]
  })
  const chosen = isTiered ? 'fallback' : strategy
  plan.combos.set(combo, {
    models: entriesOf(entries),
    strategy: chosen,
    ...kind,
    ...(isTiered && { maxAttempts: attemptsOf(Math.max(3, deployments.length)) }),
    ...(timeouts && { timeouts }),
  })
  if (!hasMore && combo !== name) plan.alias(place, name, combo)
  plan.maps(place, `combo ${combo} (${chosen}): ${entries.map((entry) => entry.model).join(', ')}`)
  for (const { place: at, params } of deployments)
    if (params) plan.maps(`${at}: ${Object.keys(params).join(', ')}`, ENTRY_PARAMS_WIN)
  return combo
}

/** The deployments by their `order`: those that are tried first come first. */
function tiersOf(deployments: readonly Deployment[]): Deployment[][] {
  const tiers = new Map<number, Deployment[]>()
  for (const deployment of deployments) {
    const order = deployment.order ?? Number.POSITIVE_INFINITY
    tiers.set(order, [...(tiers.get(order) ?? []), deployment])
  }
  return [...tiers].sort(([one], [other]) => one - other).map(([, tier]) => tier)
}

/** The time-outs of a combo: the longest of all its deployments, if each has one. `own`: the deployments that have the combo's name. */
function sharedTimeouts(
  name: string,
  own: readonly Deployment[],
  { all, plan }: { all: readonly Deployment[]; plan: ImportPlan },
): Record<string, PlannedValue> | undefined {
  const given = own.filter(({ timeout, streamTimeout }) => timeout !== undefined || streamTimeout !== undefined)
  if (given.length === 0) return undefined
  const longest = (times: readonly (number | undefined)[]) =>
    times.every((time) => time !== undefined) ? Math.max(...times) : undefined
  const found = timeoutsOf(
    longest(all.map(({ timeout }) => timeout)),
    longest(all.map(({ streamTimeout }) => streamTimeout)),
  )
  for (const { place } of given)
    if (found)
      plan.maps(
        `${place}: timeout, stream_timeout`,
        `timeouts of ${name}, using the longest of its deployments because they apply to all of them`,
      )
    else
      plan.leaves(
        `${place}: timeout, stream_timeout`,
        'Set timeouts on combos or in the settings. They are the same for streaming and non-streaming requests.',
      )
  return found
}

/** Plans the combo of a name that falls back to others. */
function planFallback(
  name: string,
  others: readonly string[],
  { routes: { groups, router, plan }, baseNamed }: { routes: Routes; baseNamed: (name: string) => string | undefined },
): void {
  const all = [name, ...others]
  const deployments = all.flatMap((one) => groups.get(groupOf(one, { groups, router }) ?? one) ?? [])
  const timeouts = sharedTimeouts(name, groups.get(name) ?? [], { all: deployments, plan })
  const models = plan.entries(
    name,
    [...new Set(all.map(baseNamed))].filter((model) => model !== undefined),
  )
  const retries = numberOf(router.num_retries) ?? 0
  const combo = plan.comboName(name)
  const onContent = listOf(router.content_policy_fallbacks).some((one) => Object.hasOwn(objectOf(one), name))
  const kind = deployments[0]?.kind ?? 'llm'
  plan.combos.set(combo, {
    models,
    ...(kind !== 'llm' && { kind }),
    ...(onContent && { on: ['content'] }),
    maxAttempts: attemptsOf(Math.max(3, deployments.length + retries, models.length + retries)),
    ...(timeouts && { timeouts }),
  })
  plan.maps(`fallbacks of ${name}`, `combo ${combo}: ${models.join(', ')}`)
  if (onContent)
    plan.maps(
      `content_policy_fallbacks of ${name}`,
      `"on": ["content"] of combo ${combo}, which tries the next model when a content filter ends a response`,
    )
  if (combo !== name) plan.alias(`fallbacks of ${name}`, name, combo)
}

/** The fallbacks of each name in the order in which LiteLLM tries them, with the fallbacks of the fallbacks. */
function fallbacksOf(routes: Routes): Map<string, string[]> {
  const { groups, router, plan } = routes
  const direct = new Map<string, string[]>()
  const kindOf = (name: string) => groups.get(groupOf(name, routes) ?? name)?.[0]?.kind ?? 'llm'
  const isKnown = (name: string) => groupOf(name, routes) !== undefined || ofWildcard(name, routes) !== undefined
  const add = (name: string, others: readonly string[], place: string) => {
    if (kindOf(name) === 'embedding') {
      plan.leaves(
        `${place}: ${name}`,
        'Embeddings of different models must not be mixed, so this name gets no fallbacks.',
      )
      return
    }
    for (const other of others) {
      if (!isKnown(other)) plan.leaves(`${place}: ${name} to ${other}`, 'No deployment has this model_name.')
      else if (kindOf(other) !== kindOf(name))
        plan.leaves(`${place}: ${name} to ${other}`, 'The two models are of different kinds.')
      else if (other !== name) direct.set(name, [...new Set([...(direct.get(name) ?? []), other])])
    }
  }
  const forAll = (others: readonly string[], place: string) => {
    for (const name of groups.keys()) if (kindOf(name) === 'llm') add(name, others, place)
  }
  const names = (value: unknown, place: string): string[] => {
    if (!isNothing(value) && !Array.isArray(value)) plan.leaves(place, 'Must be a list; not imported.')
    return listOf(value).map((one) => {
      const name = textOf(one) ?? textOf(objectOf(one).model) ?? ''
      plan.leavesRest(`${place} to ${name}`, objectOf(one), { done: ['model'] })
      return name
    })
  }
  for (const list of FALLBACKS) {
    const all = listOf(router[list])
    if (!all.every(isObject))
      plan.leaves(list, 'Each entry must be an object such as { name: [others] }; other entries are not imported.')
    for (const [name, given] of all.flatMap((one) => Object.entries(objectOf(one)))) {
      const others = names(given, `${list}: ${name}`)
      if (name === '*') forAll(others, list)
      else if (isKnown(name)) add(name, others, list)
      else plan.leaves(`${list}: ${name}`, 'No deployment has this model_name.')
    }
  }
  forAll(names(listOf(router.default_fallbacks), 'default_fallbacks'), 'default_fallbacks')
  for (const list of FALLBACKS.slice(1))
    if (!isNothing(router[list]))
      plan.leaves(
        list,
        'These fallbacks become entries of the same combos, so they are also tried after other failures.',
      )
  const most = numberOf(router.max_fallbacks) ?? MAX_FALLBACKS
  return new Map([...direct.keys()].map((name) => [name, inTurn(name, direct, most)]))
}

/** LiteLLM's default of "max_fallbacks": how many fallbacks of fallbacks it follows. */
const MAX_FALLBACKS = 5

/** The names that are tried after a name, in order: each fallback, followed by its own fallbacks. */
function inTurn(name: string, direct: ReadonlyMap<string, readonly string[]>, most: number): string[] {
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
    if (name === plan.model(connection, model))
      plan.maps(`${place}: ${name}`, `connection ${connection}, which serves every ${name}`)
    else {
      const [first, ...more] = planCatalogNames({ name, deployment }, routes)
      if (first !== undefined)
        plan.maps(
          `${place}: ${name}`,
          `aliases for the models in the catalog: ${first}${more.length > 0 ? ` and ${more.length} more` : ''}`,
        )
      plan.leaves(
        `${place}: ${name}`,
        `${first === undefined ? 'Names with * are' : 'Other names are'} not imported. Connection ${connection} serves every model as ${plan.model(connection, '<model>')}.`,
      )
    }
    if (params) plan.leaves(`${place}: ${Object.keys(params).join(', ')}`, 'Only combo entries have "params".')
  }
}

/** Makes aliases of the names with a `*` that the catalog has models for, and that mean nothing else. Returns the names. */
function planCatalogNames({ name, deployment }: Wildcard, routes: Routes): string[] {
  const { groups, router, plan } = routes
  const [before = '', after = ''] = deployment.model.split('*')
  const models = (getEntry(defaultCatalog, deployment.provider)?.models ?? []).map(({ id }) => id)
  const found: string[] = []
  for (const id of models) {
    if (id.length < before.length + after.length || !id.startsWith(before) || !id.endsWith(after)) continue
    const alias = name.replace('*', () => id.slice(before.length, id.length - after.length))
    const isTaken = groups.has(alias) || plan.combos.has(alias) || plan.aliases.has(alias) || hasAlias(router, alias)
    const target = plan.model(deployment.connection, id)
    if (isTaken || alias.includes('/') || ofWildcard(alias, routes) !== target) continue
    plan.alias(name, alias, target)
    found.push(alias)
  }
  return found
}

const hasAlias = (router: JsonObject, name: string) => Object.hasOwn(objectOf(router.model_group_alias), name)

function planAliases({ router, plan }: Routes, baseNamed: (name: string) => string | undefined): void {
  for (const [alias, value] of Object.entries(objectOf(router.model_group_alias))) {
    const group = textOf(value) ?? textOf(objectOf(value).model)
    const base = group === undefined ? undefined : baseNamed(group)
    const place = `model_group_alias.${alias}`
    if (group === undefined || base === undefined) {
      plan.leaves(place, 'No deployment has this model_name.')
      continue
    }
    if (objectOf(value).hidden === true) plan.leaves(`${place}.hidden`, 'Aliases are always listed, like models.')
    if (plan.combos.has(alias) || alias === group) continue // it has fallbacks of its own
    const target = plan.combos.has(group) ? group : (plan.aliases.get(group) ?? base)
    plan.alias(place, alias, target)
    plan.maps(place, `alias ${alias} for ${target}`)
  }
}
