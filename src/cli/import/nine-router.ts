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
} from './field-values.ts'
import { type Prefixes, planConnection } from './nine-router-connections.ts'
import { type ImportPlan, type PlannedEntry, type PlannedValue, toComboModels } from './plan.ts'

/* Imports 9router's data: `db.json`, an export from its dashboard, or the same tables in `data.sqlite`. */

const SECTION_LABELS = {
  providerNodes: 'list',
  providerConnections: 'list',
  combos: 'list',
  modelAliases: 'object',
  customModels: 'list',
  pricing: 'object',
  apiKeys: 'list',
  settings: 'object',
} as const

/** Plans the import of 9router's data. Throws a problem if the data isn't from 9router. */
export function planNineRouter(data: unknown, plan: ImportPlan): void {
  if (!isObject(data) || !['providerConnections', 'combos', 'settings', 'apiKeys'].some((name) => name in data))
    rejectFile('9router data', '9router data has "providerConnections" and "combos".')
  plan.reportMistyped('', data, SECTION_LABELS)
  const nodes = new Map(toList(data.providerNodes).map((node) => [readString(toObject(node).id) ?? '', toObject(node)]))
  const prefixes: Prefixes = new Map()
  const connections = toList(data.providerConnections).map(toObject)
  const byPriority = connections.toSorted((a, b) => (readNumber(a.priority) ?? 999) - (readNumber(b.priority) ?? 999))
  for (const connection of byPriority)
    planConnection(connection, nodes.get(readString(connection.provider) ?? ''), { prefixes, plan })
  for (const [id, node] of nodes)
    if (!connections.some(({ provider }) => readString(provider) === id))
      plan.reportUnmapped(`providerNodes: ${readString(node.name) ?? id}`, 'No connection uses this server.')
  const settings = toObject(data.settings)
  const aliases = new Map(
    Object.entries(toObject(data.modelAliases)).map(([alias, model]) => [alias, readModelName(model)]),
  )
  const names: RouterNames = { prefixes, aliases, combos: new Map(), plan }
  planCombos(toList(data.combos).map(toObject), settings, { names, plan })
  for (const [alias, model] of aliases) {
    const target = translateModel(model, names)
    const place = `modelAliases.${alias}`
    if (alias.includes('/')) plan.reportUnmapped(place, 'In 9router, a name with a slash starts with a provider.')
    else if (target === undefined) plan.reportUnmapped(place, `"${model ?? ''}" has no imported connection.`)
    else if (plan.combos.has(alias)) plan.reportUnmapped(place, 'A combo has the same name and takes precedence.')
    else if (target !== alias) {
      plan.planAlias(place, alias, target)
      plan.reportMapped(place, `alias ${alias} for ${target}`)
    }
  }
  const vendor = PROVIDER_BY_PREFIX.find(([, provider]) => prefixes.has(provider))?.[1]
  if (vendor !== undefined)
    plan.reportUnmapped(
      'models without a provider',
      `9router infers the vendor from names that start with claude-, gemini-, or gpt-. With Signalbox, clients use ${prefixes.get(vendor)?.prefix}/<model>.`,
    )
  planModels(data, names, plan)
  planKeys(toList(data.apiKeys).map(toObject), settings, plan)
  plan.reportOtherFields('settings', settings, { known: SETTINGS_FIELDS, reasons: SETTING_REASONS })
  plan.reportOtherFields('', data, { known: Object.keys(SECTION_LABELS), reasons: SECTION_REASONS })
}

/** The data needed to translate 9router's model names. */
interface RouterNames {
  prefixes: Prefixes
  aliases: ReadonlyMap<string, string | undefined>
  /** Signalbox's combo names by 9router's combo names. */
  combos: Map<string, string>
  plan: ImportPlan
}

/** Returns the model that an entry or an alias names: as a string or, in newer versions, as an object. */
function readModelName(value: unknown): string | undefined {
  const { provider, model } = toObject(value)
  const name = readString(model)
  return (
    readString(value) ??
    (readString(provider) !== undefined && name !== undefined ? `${readString(provider)}/${name}` : name)
  )
}

/** Translates a model name. Returns `undefined` if no connection to its provider was imported. */
function translateModel(model: string | undefined, names: RouterNames): string | undefined {
  const { aliases, combos } = names
  if (model === undefined) return undefined
  const slash = model.indexOf('/')
  if (slash > 0) {
    return resolveModelName(model.slice(0, slash), model.slice(slash + 1), names)
  }
  const target = aliases.get(model)
  if (combos.has(model)) return combos.get(model)
  if (target !== undefined) return target.includes('/') && translateModel(target, names) ? model : undefined
  const vendor = PROVIDER_BY_PREFIX.find(([beginning]) => beginning.test(model))?.[1]
  return vendor === undefined ? undefined : resolveModelName(vendor, model, names)
}

function resolveModelName(name: string, model: string, { prefixes, plan }: RouterNames): string | undefined {
  const found = prefixes.get(name)
  if (found) plan.markUsed(found.provider, model)
  return found && `${found.prefix}/${model}`
}

/** The providers that 9router uses for model names without a provider. */
const PROVIDER_BY_PREFIX: readonly (readonly [beginning: RegExp, provider: string])[] = [
  [/^claude-/i, 'anthropic'],
  [/^gemini-/i, 'gemini'],
  [/^(?:gpt-|o\d)/i, 'openai'],
]

function planCombos(
  combos: readonly JsonObject[],
  settings: JsonObject,
  { names, plan }: { names: RouterNames; plan: ImportPlan },
): void {
  const planned = combos.map((combo, index) => {
    const preferredName = readString(combo.name)
    if (preferredName === undefined) {
      plan.reportUnmapped(`combos[${index}]`, 'Has no name.')
      return undefined
    }
    const name = plan.findFreeComboName(preferredName)
    plan.combos.set(name, {}) // reserves the name, because combos can refer to each other
    if (!names.combos.has(preferredName)) {
      names.combos.set(preferredName, name)
      if (name !== preferredName && !preferredName.includes('/'))
        plan.planAlias(`combos[${index}]`, preferredName, name)
    } else
      plan.reportUnmapped(
        `combos[${index}]`,
        `Another combo is already named "${preferredName}", so this one is named ${name}, and nothing uses it yet.`,
      )
    return { name, wish: preferredName, combo }
  })
  const fallbackNames = new Map<string, readonly string[]>()
  for (const { name, wish, combo } of planned.filter((item) => item !== undefined)) {
    const comboStrategy = toObject(getEntry(toObject(settings.comboStrategies), wish))
    const strategy =
      readString(comboStrategy.fallbackStrategy) ??
      readString(comboStrategy.strategy) ??
      readString(settings.comboStrategy) ??
      'fallback'
    const isRoundRobin = strategy === 'round-robin'
    const stickyLimit =
      readNumber(comboStrategy.stickyRoundRobinLimit) ?? readNumber(settings.comboStickyRoundRobinLimit)
    const kind = readString(combo.kind) ?? 'llm'
    const entries = readEntries(combo, { name, kind, modelsByCombo: fallbackNames, names, plan })
    fallbackNames.set(
      name,
      entries.map(({ model }) => model),
    )
    if (!isRoundRobin && strategy !== 'fallback')
      plan.reportUnmapped(`combo ${name}: ${strategy}`, 'has no equivalent; "fallback" is used.')
    plan.combos.set(name, {
      models: toComboModels(entries),
      strategy: isRoundRobin ? 'round-robin' : 'fallback',
      ...(isRoundRobin &&
        stickyLimit !== undefined &&
        stickyLimit >= 1 && { stickyLimit: Math.min(1_000, Math.round(stickyLimit)) }),
      ...(kind !== 'llm' && { kind }),
      ...(entries.length > 3 && { maxAttempts: toAttempts(entries.length) }),
    })
    plan.reportOtherFields(`combo ${name}`, combo, { known: COMBO_FIELDS })
    plan.reportMapped(
      `combo ${wish}`,
      `combo ${name}: ${entries.map(({ model }) => model).join(', ') || 'no entries yet'}`,
    )
  }
}

/** Returns a combo's entries. An embedding combo only keeps one model, because embeddings from different models can't be mixed. */
function readEntries(
  combo: JsonObject,
  {
    name,
    kind,
    modelsByCombo,
    names,
    plan,
  }: {
    name: string
    kind: string
    modelsByCombo: ReadonlyMap<string, readonly string[]>
    names: RouterNames
    plan: ImportPlan
  },
): readonly PlannedEntry[] {
  const reachesItself = (model: string): boolean =>
    model === name || (modelsByCombo.get(model) ?? []).some(reachesItself)
  const entries: PlannedEntry[] = []
  for (const model of toList(combo.models)) {
    const modelName = readModelName(model)
    const target = translateModel(modelName, names)
    if (target === undefined) plan.reportUnmapped(`combo ${name}: ${modelName ?? ''}`, 'Has no imported connection.')
    else if (reachesItself(target))
      plan.reportUnmapped(`combo ${name}: ${modelName ?? ''}`, 'Leads back to the combo itself.')
    else if (
      kind === 'embedding' &&
      entries.length > 0 &&
      removePrefix(target) !== removePrefix(entries[0]?.model ?? '')
    )
      plan.reportUnmapped(
        `combo ${name}: ${modelName ?? ''}`,
        'Embeddings of different models must not be mixed. Only the first model is imported.',
      )
    else entries.push({ model: target })
  }
  return plan.limitEntries(`combo ${name}`, entries)
}

const removePrefix = (target: string) => target.slice(target.indexOf('/') + 1)

function planModels(data: JsonObject, names: RouterNames, plan: ImportPlan): void {
  for (const customModel of toList(data.customModels).map(toObject)) {
    const name = `${readString(customModel.providerAlias) ?? ''}/${readString(customModel.id) ?? ''}`
    const target = readString(customModel.id) === undefined ? undefined : translateModel(name, names)
    if (target === undefined) plan.reportUnmapped(`customModels: ${name}`, 'Has no imported connection.')
    else {
      const type = readString(customModel.type)
      plan.customModels.set(target, type === undefined ? {} : { type })
      plan.reportMapped(`customModels: ${name}`, `custom model ${target}`)
    }
  }
  planPrices(toObject(data.pricing), names, plan)
}

/** Signalbox's price fields by 9router's. Both use USD per million tokens. */
const PRICE_NAMES: Readonly<Record<string, string>> = {
  input: 'input',
  output: 'output',
  cached: 'cacheRead',
  cache_creation: 'cacheWrite',
}
const PRICE_REASON = 'Not a valid price. Use a number of at least 0, in USD per million tokens.'
const PRICE_REASONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.keys(PRICE_NAMES).map((member) => [member, PRICE_REASON])),
  reasoning: 'Signalbox counts reasoning tokens as output, at the output price.',
}

function planPrices(pricing: JsonObject, names: RouterNames, plan: ImportPlan): void {
  for (const [name, models] of Object.entries(pricing)) {
    const place = `pricing.${name}`
    const connections = plan.listConnections(names.prefixes.get(name)?.provider ?? '')
    if (connections.length === 0) {
      plan.reportUnmapped(place, 'Has no imported connection.')
      continue
    }
    if (isEmpty(toObject(models))) plan.reportUnmapped(place, 'Has no prices.')
    let isPriced = false
    for (const [model, prices] of Object.entries(toObject(models))) {
      const { price, names } = readPrice(toObject(prices))
      if (isEmpty(toObject(prices))) plan.reportUnmapped(`${place}: ${model}`, 'Has no prices.')
      plan.reportOtherFields(`${place}: ${model}`, toObject(prices), { known: names, reasons: PRICE_REASONS })
      if (!price) continue
      isPriced = true
      for (const connection of connections) plan.planPrice(connection, model, price)
    }
    if (isPriced)
      plan.reportMapped(place, `prices of ${connections.map((connection) => `connection ${connection}`).join(', ')}`)
  }
}

/** Reads a model's price. Also returns the names of the price fields. */
function readPrice(prices: JsonObject): { price: PlannedValue | undefined; names: readonly string[] } {
  const found = Object.entries(PRICE_NAMES).flatMap(([member, unit]) => {
    const amount = readNumber(prices[member])
    return amount === undefined || amount < 0 ? [] : [{ member, unit, amount }]
  })
  const price = Object.fromEntries(found.map(({ unit, amount }) => [unit, amount]))
  return { price: found.length > 0 ? price : undefined, names: found.map(({ member }) => member) }
}

function planKeys(keys: readonly JsonObject[], settings: JsonObject, plan: ImportPlan): void {
  if (settings.requireApiKey !== undefined) {
    plan.settings.requireApiKey = settings.requireApiKey === true
    plan.reportMapped('settings.requireApiKey', `settings.requireApiKey ${settings.requireApiKey === true}`)
  } else if (keys.length > 0)
    plan.reportUnmapped(
      'settings.requireApiKey',
      'Not set, and its default differs between 9router versions. To require keys, run: npx signalbox settings update --require-api-key',
    )
  for (const [index, key] of keys.entries()) {
    const { isActive } = key
    const requestedName = readString(key.name) ?? `key-${index + 1}`
    const name = plan.findFreeKeyName(requestedName)
    if (name !== requestedName)
      plan.reportUnmapped(
        `apiKeys[${index}]`,
        `Another key is already named "${requestedName}", so this one is named ${name}.`,
      )
    const ends = new Date(readString(key.expiresAt) ?? Number.NaN)
    const expiresAt = Number.isNaN(ends.getTime()) ? undefined : ends.toISOString()
    plan.keys.set(name, { ...((isActive === false || isActive === 0) && { isActive: false }), expiresAt })
    plan.reportMapped(
      `apiKeys: ${name}`,
      `key ${name}, with a new value${expiresAt === undefined ? '' : `, until ${expiresAt}`}`,
    )
    plan.reportOtherFields(`apiKeys: ${name}`, key, {
      known: [...KEY_FIELDS, ...(expiresAt === undefined ? [] : ['expiresAt'])],
      reasons: { groupId: 'Set a group or "models" on the key.', allowedModels: 'Set "models" on the key.' },
    })
  }
  if (keys.length > 0)
    plan.reportUnmapped(
      'apiKeys',
      'Values are not imported, because Signalbox keys start with sbx_. Clients need the new keys: npx signalbox keys list --json --values all',
    )
}

/** Key fields that don't restrict the key's use. */
const KEY_FIELDS = splitWords(
  'id key keyHash name isActive machineId createdAt updatedAt lastUsedAt planMonths deactivatedReason',
)
const COMBO_FIELDS = splitWords('id name kind models createdAt updatedAt')
const SETTINGS_FIELDS = ['requireApiKey', 'comboStrategy', 'comboStrategies', 'comboStickyRoundRobinLimit']
const CLOUD_REASON = "9router's cloud is a different service. For Signalbox cloud sync, run: npx signalbox cloud --help"
const LOGIN_REASON = 'Signalbox uses the admin token instead of logins.'
const TUNNEL_REASON = "Signalbox doesn't open tunnels. If you run one, add --allowed-host."
const PROXY_REASON = 'Start with NODE_USE_ENV_PROXY=1, and set HTTPS_PROXY, HTTP_PROXY, and NO_PROXY.'
const ROUND_ROBIN_REASON = 'Run: npx signalbox providers update <provider> --strategy round-robin'
const OBSERVABILITY_REASON = 'Start with --log json or --metrics.'
const PROMPTS_REASON = "Signalbox doesn't change prompts."
const SETTING_REASONS: Readonly<Record<string, string>> = {
  cloudEnabled: CLOUD_REASON,
  cloudUrl: CLOUD_REASON,
  password: LOGIN_REASON,
  requireLogin: LOGIN_REASON,
  authMode: LOGIN_REASON,
  oidcClientSecret: LOGIN_REASON,
  stickyRoundRobinLimit: ROUND_ROBIN_REASON,
  providerStrategies: ROUND_ROBIN_REASON,
  fallbackStrategy: ROUND_ROBIN_REASON,
  outboundProxyEnabled: PROXY_REASON,
  outboundProxyUrl: PROXY_REASON,
  outboundNoProxy: PROXY_REASON,
  tunnelEnabled: TUNNEL_REASON,
  tunnelUrl: TUNNEL_REASON,
  tailscaleEnabled: TUNNEL_REASON,
  enableObservability: OBSERVABILITY_REASON,
  observabilityEnabled: OBSERVABILITY_REASON,
  rtkEnabled: PROMPTS_REASON,
  cavemanEnabled: PROMPTS_REASON,
  headroomEnabled: PROMPTS_REASON,
  capacityAdapter: "Signalbox always skips targets that don't support an image or file in a request.",
}
const SECTION_REASONS: Readonly<Record<string, string>> = {
  proxyPools: PROXY_REASON,
  mitmAlias: "Signalbox doesn't intercept the traffic of other programs.",
  usageHistory: 'Past usage is not imported.',
  apiKeyLimits: 'Set "limits" on keys.',
  keyGroups: '9router groups list connections; Signalbox groups have models and limits.',
  disabledModels: 'Set "enabledModels" on connections, or "models" on keys and groups.',
}
