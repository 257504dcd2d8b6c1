import { isObject, type JsonObject } from '../../lib/json.ts'
import { entryOf } from '../../lib/maps.ts'
import { attemptsOf, isNone, isNothing, listOf, numberOf, objectOf, textOf, words } from './given.ts'
import { type Prefixes, planConnection } from './nine-router-connections.ts'
import { entriesOf, type ImportPlan, type PlannedEntry, type PlannedValue } from './plan.ts'

/* The data of 9router: `db.json`, an export of its dashboard, or the same tables of `data.sqlite`. */

const SECTIONS = {
  providerNodes: 'list',
  providerConnections: 'list',
  combos: 'list',
  modelAliases: 'object',
  customModels: 'list',
  pricing: 'object',
  apiKeys: 'list',
  settings: 'object',
} as const

/** Plans what the data of 9router are here. Throws a problem when they are none. */
export function planNineRouter(data: unknown, plan: ImportPlan): void {
  if (!isObject(data) || !['providerConnections', 'combos', 'settings', 'apiKeys'].some((name) => name in data))
    isNone('the data of 9router', 'They have "providerConnections" and "combos".')
  plan.leavesMistyped('', data, SECTIONS)
  const nodes = new Map(listOf(data.providerNodes).map((node) => [textOf(objectOf(node).id) ?? '', objectOf(node)]))
  const prefixes: Prefixes = new Map()
  const connections = listOf(data.providerConnections).map(objectOf)
  const byPriority = connections.toSorted(
    (one, other) => (numberOf(one.priority) ?? 999) - (numberOf(other.priority) ?? 999),
  )
  for (const connection of byPriority)
    planConnection(connection, nodes.get(textOf(connection.provider) ?? ''), { prefixes, plan })
  const settings = objectOf(data.settings)
  const aliases = new Map(
    Object.entries(objectOf(data.modelAliases)).map(([alias, model]) => [alias, modelNamed(model)]),
  )
  const names: RouterNames = { prefixes, aliases, combos: new Map(), plan }
  planCombos(listOf(data.combos).map(objectOf), settings, { names, plan })
  for (const [alias, model] of aliases) {
    const target = translated(model, names)
    const place = `modelAliases.${alias}`
    if (alias.includes('/')) plan.leaves(place, 'A name with a slash is of a provider there, too.')
    else if (target === undefined) plan.leaves(place, `"${model ?? ''}" leads to no connection that could be made`)
    else if (plan.combos.has(alias)) plan.leaves(place, 'A combo has the name, and comes first.')
    else if (target !== alias) {
      plan.alias(place, alias, target)
      plan.maps(place, `alias ${alias} of ${target}`)
    }
  }
  const vendor = VENDORS.find(([, provider]) => prefixes.has(provider))?.[1]
  if (vendor !== undefined)
    plan.leaves(
      'models without a provider',
      `9router asks their vendors for names that begin with claude-, gemini- or gpt-: here clients ask for ${prefixes.get(vendor)?.prefix}/<model>.`,
    )
  planModels(data, names, plan)
  planKeys(listOf(data.apiKeys).map(objectOf), settings, plan)
  plan.leavesRest('settings', settings, { done: READ_SETTINGS, reasons: SETTING_REASONS })
  plan.leavesRest('', data, { done: Object.keys(SECTIONS), reasons: REST })
}

/** What the names of 9router's models are made of. */
interface RouterNames {
  prefixes: Prefixes
  aliases: ReadonlyMap<string, string | undefined>
  /** The combos here by the names that they have there. */
  combos: Map<string, string>
  plan: ImportPlan
}

/** The model of an entry or an alias, which is a text, or an object in newer versions. */
function modelNamed(given: unknown): string | undefined {
  const { provider, model } = objectOf(given)
  const name = textOf(model)
  return textOf(given) ?? (textOf(provider) !== undefined && name !== undefined ? `${textOf(provider)}/${name}` : name)
}

/** A model of 9router as it is called here; `undefined` when its provider is not here. */
function translated(model: string | undefined, names: RouterNames): string | undefined {
  const { aliases, combos } = names
  if (model === undefined) return undefined
  const slash = model.indexOf('/')
  if (slash > 0) {
    return modelOf(model.slice(0, slash), model.slice(slash + 1), names)
  }
  const target = aliases.get(model)
  if (combos.has(model)) return combos.get(model)
  if (target !== undefined) return target.includes('/') && translated(target, names) ? model : undefined
  const vendor = VENDORS.find(([beginning]) => beginning.test(model))?.[1]
  return vendor === undefined ? undefined : modelOf(vendor, model, names)
}

function modelOf(name: string, model: string, { prefixes, plan }: RouterNames): string | undefined {
  const found = prefixes.get(name)
  if (found) plan.uses(found.provider, model)
  return found && `${found.prefix}/${model}`
}

/** The provider that 9router takes for a name without one. */
const VENDORS: readonly (readonly [beginning: RegExp, provider: string])[] = [
  [/^claude-/i, 'anthropic'],
  [/^gemini-/i, 'gemini'],
  [/^(?:gpt-|o\d)/i, 'openai'],
]

function planCombos(
  combos: readonly JsonObject[],
  settings: JsonObject,
  { names, plan }: { names: RouterNames; plan: ImportPlan },
): void {
  const planned = combos.map((combo, at) => {
    const wish = textOf(combo.name)
    if (wish === undefined) {
      plan.leaves(`combos[${at}]`, 'has no name')
      return undefined
    }
    const name = plan.comboName(wish)
    plan.combos.set(name, {}) // combos may name each other
    if (!names.combos.has(wish)) {
      names.combos.set(wish, name)
      if (name !== wish && !wish.includes('/')) plan.alias(`combos[${at}]`, wish, name)
    } else
      plan.leaves(
        `combos[${at}]`,
        `"${wish}" is the name of a combo before it: it is ${name}, to which nothing leads yet.`,
      )
    return { name, wish, combo }
  })
  const leads = new Map<string, readonly string[]>()
  for (const { name, wish, combo } of planned.filter((one) => one !== undefined)) {
    const own = objectOf(entryOf(objectOf(settings.comboStrategies), wish))
    const strategy =
      textOf(own.fallbackStrategy) ?? textOf(own.strategy) ?? textOf(settings.comboStrategy) ?? 'fallback'
    const isRound = strategy === 'round-robin'
    const stickyLimit = numberOf(own.stickyRoundRobinLimit) ?? numberOf(settings.comboStickyRoundRobinLimit)
    const kind = textOf(combo.kind) ?? 'llm'
    const entries = entriesIn(combo, { name, kind, leads, names, plan })
    leads.set(
      name,
      entries.map(({ model }) => model),
    )
    if (!isRound && strategy !== 'fallback')
      plan.leaves(`combo ${name}: ${strategy}`, 'has no counterpart; fallback is taken.')
    plan.combos.set(name, {
      models: entriesOf(entries),
      strategy: isRound ? 'round-robin' : 'fallback',
      ...(isRound &&
        stickyLimit !== undefined &&
        stickyLimit >= 1 && { stickyLimit: Math.min(1_000, Math.round(stickyLimit)) }),
      ...(kind !== 'llm' && { kind }),
      ...(entries.length > 3 && { maxAttempts: attemptsOf(entries.length) }),
    })
    plan.maps(
      `combo ${wish}`,
      `combo ${name}: ${entries.map(({ model }) => model).join(', ') || 'without an entry yet'}`,
    )
  }
}

/** The entries of a combo. One of embeddings keeps one model: those of others must not be mixed with them. */
function entriesIn(
  combo: JsonObject,
  {
    name,
    kind,
    leads,
    names,
    plan,
  }: {
    name: string
    kind: string
    leads: ReadonlyMap<string, readonly string[]>
    names: RouterNames
    plan: ImportPlan
  },
): readonly PlannedEntry[] {
  const leadsBack = (model: string): boolean => model === name || (leads.get(model) ?? []).some(leadsBack)
  const entries: PlannedEntry[] = []
  for (const one of listOf(combo.models)) {
    const asked = modelNamed(one)
    const target = translated(asked, names)
    if (target === undefined) plan.leaves(`combo ${name}: ${asked ?? ''}`, 'leads to no connection that could be made')
    else if (leadsBack(target)) plan.leaves(`combo ${name}: ${asked ?? ''}`, 'leads back to the combo itself')
    else if (kind === 'embedding' && entries.length > 0 && modelIn(target) !== modelIn(entries[0]?.model ?? ''))
      plan.leaves(
        `combo ${name}: ${asked ?? ''}`,
        'The embeddings of different models must not be mixed; the first one is taken.',
      )
    else entries.push({ model: target })
  }
  return plan.entries(`combo ${name}`, entries)
}

const modelIn = (target: string) => target.slice(target.indexOf('/') + 1)

/** Models that were added by hand, and prices that were set. */
function planModels(data: JsonObject, names: RouterNames, plan: ImportPlan): void {
  for (const one of listOf(data.customModels).map(objectOf)) {
    const name = `${textOf(one.providerAlias) ?? ''}/${textOf(one.id) ?? ''}`
    const target = textOf(one.id) === undefined ? undefined : translated(name, names)
    if (target === undefined) plan.leaves(`customModels: ${name}`, 'is of no connection that could be made')
    else {
      const type = textOf(one.type)
      plan.customModels.set(target, type === undefined ? {} : { type })
      plan.maps(`customModels: ${name}`, `custom model ${target}`)
    }
  }
  planPrices(objectOf(data.pricing), names, plan)
}

/** The prices of 9router, which are in US dollars for a million tokens as they are here. */
const PRICES: Readonly<Record<string, string>> = {
  input: 'input',
  output: 'output',
  cached: 'cacheRead',
  cache_creation: 'cacheWrite',
}
const NO_PRICE = 'is not a price: a number of 0 or more, in US dollars for a million tokens.'
const PRICE_REASONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.keys(PRICES).map((member) => [member, NO_PRICE])),
  reasoning: 'Tokens of reasoning are output here, and have its price.',
}

function planPrices(pricing: JsonObject, names: RouterNames, plan: ImportPlan): void {
  for (const [name, models] of Object.entries(pricing)) {
    const place = `pricing.${name}`
    const connections = plan.connectionsOf(names.prefixes.get(name)?.provider ?? '')
    if (connections.length === 0) {
      plan.leaves(place, 'is of no connection that could be made')
      continue
    }
    if (isNothing(objectOf(models))) plan.leaves(place, 'has no prices')
    let isPriced = false
    for (const [model, given] of Object.entries(objectOf(models))) {
      const { price, done } = priceOf(objectOf(given))
      if (isNothing(objectOf(given))) plan.leaves(`${place}: ${model}`, 'has no prices')
      plan.leavesRest(`${place}: ${model}`, objectOf(given), { done, reasons: PRICE_REASONS })
      if (!price) continue
      isPriced = true
      for (const connection of connections) plan.price(connection, model, price)
    }
    if (isPriced) plan.maps(place, `prices of ${connections.map((one) => `connection ${one}`).join(', ')}`)
  }
}

/** The price of a model, and the members that it was made of. */
function priceOf(given: JsonObject): { price: PlannedValue | undefined; done: readonly string[] } {
  const found = Object.entries(PRICES).flatMap(([member, unit]) => {
    const amount = numberOf(given[member])
    return amount === undefined || amount < 0 ? [] : [{ member, unit, amount }]
  })
  const price = Object.fromEntries(found.map(({ unit, amount }) => [unit, amount]))
  return { price: found.length > 0 ? price : undefined, done: found.map(({ member }) => member) }
}

function planKeys(keys: readonly JsonObject[], settings: JsonObject, plan: ImportPlan): void {
  if (settings.requireApiKey !== undefined) {
    plan.settings.requireApiKey = settings.requireApiKey === true
    plan.maps('settings.requireApiKey', `settings.requireApiKey ${settings.requireApiKey === true}`)
  } else if (keys.length > 0)
    plan.leaves(
      'settings.requireApiKey',
      'It is not set there, and versions differ: "npx signalbox settings update --require-api-key" asks for keys here.',
    )
  for (const [at, key] of keys.entries()) {
    const { isActive } = key
    const asked = textOf(key.name) ?? `key-${at + 1}`
    const name = plan.keyName(asked)
    if (name !== asked) plan.leaves(`apiKeys[${at}]`, `"${asked}" is the name of a key before it: it is ${name}.`)
    const ends = new Date(textOf(key.expiresAt) ?? Number.NaN)
    const expiresAt = Number.isNaN(ends.getTime()) ? undefined : ends.toISOString()
    plan.keys.set(name, { ...((isActive === false || isActive === 0) && { isActive: false }), expiresAt })
    plan.maps(
      `apiKeys: ${name}`,
      `key ${name}, with a new value${expiresAt === undefined ? '' : `, until ${expiresAt}`}`,
    )
    plan.leavesRest(`apiKeys: ${name}`, key, {
      done: [...READ_KEY, ...(expiresAt === undefined ? [] : ['expiresAt'])],
      reasons: { groupId: 'Give it a group, or "models".', allowedModels: 'Give it "models".' },
    })
  }
  if (keys.length > 0)
    plan.leaves(
      'apiKeys',
      'Their values: keys here begin with sbx_. "npx signalbox keys list --json" shows the new ones, which clients need.',
    )
}

/** What a key has that says nothing of what it may do. */
const READ_KEY = words(
  'id key keyHash name isActive machineId createdAt updatedAt lastUsedAt planMonths deactivatedReason',
)
const READ_SETTINGS = ['requireApiKey', 'comboStrategy', 'comboStrategies', 'comboStickyRoundRobinLimit']
const LOGIN = 'The admin token takes the place of logins.'
const TUNNEL = 'Signalbox opens no tunnels: see --allowed-host.'
const PROXY = 'Set HTTPS_PROXY by the platform.'
const SPREAD = 'See npx signalbox providers update --strategy round-robin.'
const PROMPTS = 'Signalbox changes no prompts.'
const SETTING_REASONS: Readonly<Record<string, string>> = {
  cloudEnabled: 'Its cloud is another one: see npx signalbox cloud.',
  cloudUrl: 'Its cloud is another one: see npx signalbox cloud.',
  password: LOGIN,
  requireLogin: LOGIN,
  authMode: LOGIN,
  oidcClientSecret: LOGIN,
  stickyRoundRobinLimit: SPREAD,
  providerStrategies: SPREAD,
  fallbackStrategy: SPREAD,
  outboundProxyEnabled: PROXY,
  outboundProxyUrl: PROXY,
  outboundNoProxy: PROXY,
  tunnelEnabled: TUNNEL,
  tunnelUrl: TUNNEL,
  tailscaleEnabled: TUNNEL,
  enableObservability: 'See observe: spans, metrics, one line a request.',
  rtkEnabled: PROMPTS,
  cavemanEnabled: PROMPTS,
  headroomEnabled: PROMPTS,
  capacityAdapter: 'A target that cannot take a picture or a file is passed over by itself.',
}
const REST: Readonly<Record<string, string>> = {
  proxyPools: 'Calls go to the providers directly.',
  mitmAlias: 'Signalbox takes over no traffic of other programs.',
  usageHistory: 'What was used before is not counted here.',
  apiKeyLimits: 'Give keys "limits".',
  keyGroups: 'Groups there say which connections may be used; groups here have models and limits.',
  disabledModels: 'Give connections "enabledModels", or keys and groups "models".',
}
