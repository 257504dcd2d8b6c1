import { isObject, type JsonObject } from '../../lib/json.ts'
import { getEntry } from '../../lib/maps.ts'
import { attemptsOf, isNone, isNothing, listOf, numberOf, objectOf, textOf, words } from './given-fields.ts'
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

/** Plans the import of the data of 9router. Throws a problem when the data are not of 9router. */
export function planNineRouter(data: unknown, plan: ImportPlan): void {
  if (!isObject(data) || !['providerConnections', 'combos', 'settings', 'apiKeys'].some((name) => name in data))
    isNone('9router data', '9router data has "providerConnections" and "combos".')
  plan.leavesMistyped('', data, SECTIONS)
  const nodes = new Map(listOf(data.providerNodes).map((node) => [textOf(objectOf(node).id) ?? '', objectOf(node)]))
  const prefixes: Prefixes = new Map()
  const connections = listOf(data.providerConnections).map(objectOf)
  const byPriority = connections.toSorted(
    (one, other) => (numberOf(one.priority) ?? 999) - (numberOf(other.priority) ?? 999),
  )
  for (const connection of byPriority)
    planConnection(connection, nodes.get(textOf(connection.provider) ?? ''), { prefixes, plan })
  for (const [id, node] of nodes)
    if (!connections.some(({ provider }) => textOf(provider) === id))
      plan.leaves(`providerNodes: ${textOf(node.name) ?? id}`, 'No connection uses this server.')
  const settings = objectOf(data.settings)
  const aliases = new Map(
    Object.entries(objectOf(data.modelAliases)).map(([alias, model]) => [alias, modelNamed(model)]),
  )
  const names: RouterNames = { prefixes, aliases, combos: new Map(), plan }
  planCombos(listOf(data.combos).map(objectOf), settings, { names, plan })
  for (const [alias, model] of aliases) {
    const target = translated(model, names)
    const place = `modelAliases.${alias}`
    if (alias.includes('/')) plan.leaves(place, 'In 9router, a name with a slash starts with a provider.')
    else if (target === undefined) plan.leaves(place, `"${model ?? ''}" has no imported connection.`)
    else if (plan.combos.has(alias)) plan.leaves(place, 'A combo has the same name and takes precedence.')
    else if (target !== alias) {
      plan.alias(place, alias, target)
      plan.maps(place, `alias ${alias} for ${target}`)
    }
  }
  const vendor = VENDORS.find(([, provider]) => prefixes.has(provider))?.[1]
  if (vendor !== undefined)
    plan.leaves(
      'models without a provider',
      `9router infers the vendor from names that start with claude-, gemini-, or gpt-. With Signalbox, clients use ${prefixes.get(vendor)?.prefix}/<model>.`,
    )
  planModels(data, names, plan)
  planKeys(listOf(data.apiKeys).map(objectOf), settings, plan)
  plan.leavesRest('settings', settings, { done: READ_SETTINGS, reasons: SETTING_REASONS })
  plan.leavesRest('', data, { done: Object.keys(SECTIONS), reasons: REST })
}

/** What is needed to translate 9router's names of models. */
interface RouterNames {
  prefixes: Prefixes
  aliases: ReadonlyMap<string, string | undefined>
  /** Signalbox's names of the combos, by 9router's names. */
  combos: Map<string, string>
  plan: ImportPlan
}

/** The model of an entry or an alias, which is a text, or an object in newer versions. */
function modelNamed(given: unknown): string | undefined {
  const { provider, model } = objectOf(given)
  const name = textOf(model)
  return textOf(given) ?? (textOf(provider) !== undefined && name !== undefined ? `${textOf(provider)}/${name}` : name)
}

/** Signalbox's name of a model of 9router; `undefined` when no connection to its provider was imported. */
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
      plan.leaves(`combos[${at}]`, 'Has no name.')
      return undefined
    }
    const name = plan.comboName(wish)
    plan.combos.set(name, {}) // reserves the name, as combos may name each other
    if (!names.combos.has(wish)) {
      names.combos.set(wish, name)
      if (name !== wish && !wish.includes('/')) plan.alias(`combos[${at}]`, wish, name)
    } else
      plan.leaves(
        `combos[${at}]`,
        `Another combo is already named "${wish}", so this one is named ${name}, and nothing uses it yet.`,
      )
    return { name, wish, combo }
  })
  const leads = new Map<string, readonly string[]>()
  for (const { name, wish, combo } of planned.filter((one) => one !== undefined)) {
    const own = objectOf(getEntry(objectOf(settings.comboStrategies), wish))
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
      plan.leaves(`combo ${name}: ${strategy}`, 'has no equivalent; "fallback" is used.')
    plan.combos.set(name, {
      models: entriesOf(entries),
      strategy: isRound ? 'round-robin' : 'fallback',
      ...(isRound &&
        stickyLimit !== undefined &&
        stickyLimit >= 1 && { stickyLimit: Math.min(1_000, Math.round(stickyLimit)) }),
      ...(kind !== 'llm' && { kind }),
      ...(entries.length > 3 && { maxAttempts: attemptsOf(entries.length) }),
    })
    plan.leavesRest(`combo ${name}`, combo, { done: READ_COMBO })
    plan.maps(`combo ${wish}`, `combo ${name}: ${entries.map(({ model }) => model).join(', ') || 'no entries yet'}`)
  }
}

/** The entries of a combo. A combo of embeddings keeps one model, as the embeddings of different models must not be mixed. */
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
    if (target === undefined) plan.leaves(`combo ${name}: ${asked ?? ''}`, 'Has no imported connection.')
    else if (leadsBack(target)) plan.leaves(`combo ${name}: ${asked ?? ''}`, 'Leads back to the combo itself.')
    else if (kind === 'embedding' && entries.length > 0 && modelIn(target) !== modelIn(entries[0]?.model ?? ''))
      plan.leaves(
        `combo ${name}: ${asked ?? ''}`,
        'Embeddings of different models must not be mixed. Only the first model is imported.',
      )
    else entries.push({ model: target })
  }
  return plan.entries(`combo ${name}`, entries)
}

const modelIn = (target: string) => target.slice(target.indexOf('/') + 1)

/** Plans custom models and prices. */
function planModels(data: JsonObject, names: RouterNames, plan: ImportPlan): void {
  for (const one of listOf(data.customModels).map(objectOf)) {
    const name = `${textOf(one.providerAlias) ?? ''}/${textOf(one.id) ?? ''}`
    const target = textOf(one.id) === undefined ? undefined : translated(name, names)
    if (target === undefined) plan.leaves(`customModels: ${name}`, 'Has no imported connection.')
    else {
      const type = textOf(one.type)
      plan.customModels.set(target, type === undefined ? {} : { type })
      plan.maps(`customModels: ${name}`, `custom model ${target}`)
    }
  }
  planPrices(objectOf(data.pricing), names, plan)
}

/** Signalbox's members of a price by those of 9router. Both are in US dollars for a million tokens. */
const PRICES: Readonly<Record<string, string>> = {
  input: 'input',
  output: 'output',
  cached: 'cacheRead',
  cache_creation: 'cacheWrite',
}
const NO_PRICE = 'Not a valid price. Use a number of at least 0, in USD per million tokens.'
const PRICE_REASONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.keys(PRICES).map((member) => [member, NO_PRICE])),
  reasoning: 'Signalbox counts reasoning tokens as output, at the output price.',
}

function planPrices(pricing: JsonObject, names: RouterNames, plan: ImportPlan): void {
  for (const [name, models] of Object.entries(pricing)) {
    const place = `pricing.${name}`
    const connections = plan.connectionsOf(names.prefixes.get(name)?.provider ?? '')
    if (connections.length === 0) {
      plan.leaves(place, 'Has no imported connection.')
      continue
    }
    if (isNothing(objectOf(models))) plan.leaves(place, 'Has no prices.')
    let isPriced = false
    for (const [model, given] of Object.entries(objectOf(models))) {
      const { price, done } = priceOf(objectOf(given))
      if (isNothing(objectOf(given))) plan.leaves(`${place}: ${model}`, 'Has no prices.')
      plan.leavesRest(`${place}: ${model}`, objectOf(given), { done, reasons: PRICE_REASONS })
      if (!price) continue
      isPriced = true
      for (const connection of connections) plan.price(connection, model, price)
    }
    if (isPriced) plan.maps(place, `prices of ${connections.map((one) => `connection ${one}`).join(', ')}`)
  }
}

/** The price of a model, and the names of the members that it was made from. */
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
      'Not set, and its default differs between 9router versions. To require keys, run: npx signalbox settings update --require-api-key',
    )
  for (const [at, key] of keys.entries()) {
    const { isActive } = key
    const asked = textOf(key.name) ?? `key-${at + 1}`
    const name = plan.keyName(asked)
    if (name !== asked)
      plan.leaves(`apiKeys[${at}]`, `Another key is already named "${asked}", so this one is named ${name}.`)
    const ends = new Date(textOf(key.expiresAt) ?? Number.NaN)
    const expiresAt = Number.isNaN(ends.getTime()) ? undefined : ends.toISOString()
    plan.keys.set(name, { ...((isActive === false || isActive === 0) && { isActive: false }), expiresAt })
    plan.maps(
      `apiKeys: ${name}`,
      `key ${name}, with a new value${expiresAt === undefined ? '' : `, until ${expiresAt}`}`,
    )
    plan.leavesRest(`apiKeys: ${name}`, key, {
      done: [...READ_KEY, ...(expiresAt === undefined ? [] : ['expiresAt'])],
      reasons: { groupId: 'Set a group or "models" on the key.', allowedModels: 'Set "models" on the key.' },
    })
  }
  if (keys.length > 0)
    plan.leaves(
      'apiKeys',
      'Values are not imported, because Signalbox keys start with sbx_. Clients need the new keys: npx signalbox keys list --json --values all',
    )
}

/** Members of a key that do not restrict it. */
const READ_KEY = words(
  'id key keyHash name isActive machineId createdAt updatedAt lastUsedAt planMonths deactivatedReason',
)
const READ_COMBO = words('id name kind models createdAt updatedAt')
const READ_SETTINGS = ['requireApiKey', 'comboStrategy', 'comboStrategies', 'comboStickyRoundRobinLimit']
const CLOUD = "9router's cloud is a different service. For Signalbox cloud sync, run: npx signalbox cloud --help"
const LOGIN = 'Signalbox uses the admin token instead of logins.'
const TUNNEL = "Signalbox doesn't open tunnels. If you run one, add --allowed-host."
const PROXY = 'Start with NODE_USE_ENV_PROXY=1, and set HTTPS_PROXY, HTTP_PROXY, and NO_PROXY.'
const SPREAD = 'Run: npx signalbox providers update <provider> --strategy round-robin'
const OBSERVE = 'Start with --log json or --metrics.'
const PROMPTS = "Signalbox doesn't change prompts."
const SETTING_REASONS: Readonly<Record<string, string>> = {
  cloudEnabled: CLOUD,
  cloudUrl: CLOUD,
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
  enableObservability: OBSERVE,
  observabilityEnabled: OBSERVE,
  rtkEnabled: PROMPTS,
  cavemanEnabled: PROMPTS,
  headroomEnabled: PROMPTS,
  capacityAdapter: "Signalbox always skips targets that don't support an image or file in a request.",
}
const REST: Readonly<Record<string, string>> = {
  proxyPools: PROXY,
  mitmAlias: "Signalbox doesn't intercept the traffic of other programs.",
  usageHistory: 'Past usage is not imported.',
  apiKeyLimits: 'Set "limits" on keys.',
  keyGroups: '9router groups list connections; Signalbox groups have models and limits.',
  disabledModels: 'Set "enabledModels" on connections, or "models" on keys and groups.',
}
