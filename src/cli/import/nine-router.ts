import { isObject, type JsonObject } from '../../lib/json.ts'
import {
  address,
  entriesOf,
  type ImportPlan,
  isNone,
  listOf,
  numberOf,
  objectOf,
  type PlannedAccount,
  type PlannedEntry,
  type PlannedValue,
  slug,
  textOf,
  variableName,
} from './plan.ts'

/* The data of 9router: `db.json`, an export of its dashboard, or the same tables of `data.sqlite`. */

/** The providers of 9router that take an API key and are here under another name. */
const PROVIDERS: Readonly<Record<string, string>> = {
  gemini: 'google',
  glm: 'zai',
  kimi: 'moonshot',
  perplexity: 'perplexity-agent',
  nvidia: 'nvidia-nim',
  qwen: 'alibaba',
  alicode: 'alibaba',
  hf: 'huggingface',
  or: 'openrouter',
  'vercel-ai-gateway': 'vercel',
  'voyage-ai': 'voyage',
  'jina-ai': 'jina',
  'brave-search': 'brave',
}
const SAME = `
  openai anthropic openrouter minimax deepseek groq xai mistral together fireworks cerebras cohere siliconflow nebius sambanova deepinfra
  huggingface novita ollama tavily exa serper firecrawl searxng voyage jina
`
  .trim()
  .split(/\s+/)

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
  /** Where each prefix of 9router's models leads. */
  const prefixes = new Map<string, string>()
  const connections = listOf(data.providerConnections).map(objectOf)
  const byPriority = connections.toSorted(
    (one, other) => (numberOf(one.priority) ?? 999) - (numberOf(other.priority) ?? 999),
  )
  for (const connection of byPriority)
    planConnection(connection, nodes.get(textOf(connection.provider) ?? ''), { prefixes, plan })
  const settings = objectOf(data.settings)
  planCombos(listOf(data.combos).map(objectOf), settings, { prefixes, plan })
  for (const [alias, model] of Object.entries(objectOf(data.modelAliases))) {
    const target = translated(textOf(model), prefixes, plan)
    if (target === undefined)
      plan.leaves(`modelAliases.${alias}`, `"${textOf(model) ?? ''}" leads to no connection that could be made`)
    else {
      plan.aliases.set(alias, target)
      plan.maps(`modelAliases.${alias}`, `alias ${alias} of ${target}`)
    }
  }
  planModels(data, prefixes, plan)
  planKeys(listOf(data.apiKeys).map(objectOf), settings, plan)
  plan.leavesRest('settings', settings, { done: READ_SETTINGS, reasons: SETTING_REASONS })
  const hidden = Object.keys(SECTIONS)
  for (const [name, value] of Object.entries(data))
    if (
      !hidden.includes(name) && isObject(value)
        ? Object.keys(value).length > 0
        : !hidden.includes(name) && listOf(value).length > 0
    )
      plan.leaves(name, REST[name] ?? 'has no counterpart')
}

function planConnection(
  given: JsonObject,
  node: JsonObject | undefined,
  { prefixes, plan }: { prefixes: Map<string, string>; plan: ImportPlan },
): void {
  const provider = textOf(given.provider) ?? ''
  const label = textOf(given.name) ?? textOf(given.id) ?? provider
  const place = `providerConnections: ${label} (${textOf(node?.name) ?? provider})`
  const specific = { ...node, ...objectOf(given.providerSpecificData) }
  const compatible = /^(openai|anthropic)-compatible/.exec(textOf(node?.type) ?? provider)?.[0]
  const known = PROVIDERS[provider] ?? (SAME.includes(provider) ? provider : undefined)
  const authType = textOf(given.authType) ?? 'oauth'
  const baseGiven = textOf(specific.baseUrl)
  const why =
    authType !== 'apikey' && authType !== 'api_key' && !compatible
      ? `signs in by ${authType === 'oauth' ? 'an account of a person' : authType}; connections here have API keys.`
      : !compatible && known === undefined
        ? `Signalbox has no provider "${provider}".`
        : compatible && baseGiven === undefined
          ? 'has no address'
          : undefined
  if (why !== undefined) {
    plan.leaves(place, why)
    return
  }
  const wish = slug(textOf(specific.prefix) ?? textOf(node?.name) ?? known ?? provider)
  const baseUrl = baseGiven === undefined ? undefined : address(plan, baseGiven, { wish })
  const secret = textOf(given.apiKey)
  const apiKey =
    secret === undefined ? undefined : plan.secret(secret, `${variableName(wish)}_API_KEY`, `the API key of ${label}`)
  const prefix = compatible ? (textOf(specific.prefix) ?? wish) : undefined
  const account: PlannedAccount = {
    provider: compatible ? `${compatible}-${wish}` : (known ?? provider),
    id: wish,
    apiKey,
    ...(prefix !== undefined && { prefix }),
    data: { baseUrl, ...(specific.apiType === 'responses' && { format: 'openai-responses' }) },
    more: {
      ...(textOf(given.name) !== undefined && { name: textOf(given.name) }),
      ...(given.isActive === false || given.isActive === 0 ? { isActive: false } : {}),
      ...(numberOf(given.priority) !== undefined && { priority: numberOf(given.priority) }),
    },
  }
  const id = plan.connection(account)
  plan.maps(place, `connection ${id}`)
  // Connections of one provider are used in turn there as here: the prefix names them all.
  for (const name of [provider, prefix, ...Object.keys(ALIASES).filter((alias) => ALIASES[alias] === provider)])
    if (name !== undefined && !prefixes.has(name)) prefixes.set(name, prefix ?? known ?? provider)
}

/** Short prefixes of 9router's models. */
const ALIASES: Readonly<Record<string, string>> = {
  ds: 'deepseek',
  glm: 'glm',
  kimi: 'kimi',
  or: 'openrouter',
  gemini: 'gemini',
  pplx: 'perplexity',
}

/** A model of 9router as it is called here; `undefined` when its provider is not here. */
function translated(
  model: string | undefined,
  prefixes: ReadonlyMap<string, string>,
  plan: ImportPlan,
): string | undefined {
  if (model === undefined) return undefined
  const slash = model.indexOf('/')
  if (slash < 1) return plan.combos.has(model) || plan.aliases.has(model) ? model : undefined
  const prefix = prefixes.get(model.slice(0, slash))
  return prefix === undefined ? undefined : `${prefix}${model.slice(slash)}`
}

function planCombos(
  combos: readonly JsonObject[],
  settings: JsonObject,
  { prefixes, plan }: { prefixes: ReadonlyMap<string, string>; plan: ImportPlan },
): void {
  for (const { name } of combos) if (textOf(name) !== undefined) plan.combos.set(textOf(name) ?? '', {}) // combos may name each other
  const done = new Set<string>()
  for (const [at, { name: given, kind, models }] of combos.entries()) {
    const wish = textOf(given)
    if (wish === undefined) {
      plan.leaves(`combos[${at}]`, 'has no name')
      continue
    }
    const name = done.has(wish) ? plan.comboName(wish) : wish
    done.add(name)
    if (name !== wish)
      plan.leaves(
        `combos[${at}]`,
        `"${wish}" is the name of a combo before it: it is ${name}, to which nothing leads yet.`,
      )
    const own = objectOf(objectOf(settings.comboStrategies)[wish])
    const strategy =
      textOf(own.fallbackStrategy) ?? textOf(own.strategy) ?? textOf(settings.comboStrategy) ?? 'fallback'
    const isRound = strategy === 'round-robin'
    const stickyLimit = numberOf(own.stickyRoundRobinLimit) ?? numberOf(settings.comboStickyRoundRobinLimit)
    const entries: PlannedEntry[] = []
    for (const model of listOf(models)) {
      const asked = textOf(model) ?? textOf(objectOf(model).model)
      const target = translated(asked, prefixes, plan)
      if (target === undefined)
        plan.leaves(`combo ${name}: ${asked ?? ''}`, 'leads to no connection that could be made')
      else entries.push({ model: target })
    }
    if (!isRound && strategy !== 'fallback')
      plan.leaves(`combo ${name}: ${strategy}`, 'has no counterpart; fallback is taken.')
    const many = entries.length > 3 && { maxAttempts: Math.min(100, entries.length) }
    plan.combos.set(name, {
      models: entriesOf(entries),
      strategy: isRound ? 'round-robin' : 'fallback',
      ...(isRound &&
        stickyLimit !== undefined &&
        stickyLimit >= 1 && { stickyLimit: Math.min(1_000, Math.round(stickyLimit)) }),
      ...(textOf(kind) !== undefined && textOf(kind) !== 'llm' && { kind: textOf(kind) }),
      ...many,
    })
    plan.maps(
      `combo ${name}`,
      `combo ${name}: ${entries.map(({ model }) => model).join(', ') || 'without an entry yet'}`,
    )
  }
}

/** Models that were added by hand, and prices that were set. */
function planModels(data: JsonObject, prefixes: ReadonlyMap<string, string>, plan: ImportPlan): void {
  for (const one of listOf(data.customModels).map(objectOf)) {
    const name = `${textOf(one.providerAlias) ?? ''}/${textOf(one.id) ?? ''}`
    const target = translated(name, prefixes, plan)
    if (target === undefined) plan.leaves(`customModels: ${name}`, 'is of no connection that could be made')
    else {
      const type = textOf(one.type)
      plan.customModels.set(target, type === undefined ? {} : { type })
      plan.maps(`customModels: ${name}`, `custom model ${target}`)
    }
  }
  for (const [provider, models] of Object.entries(objectOf(data.pricing))) {
    const known = PROVIDERS[provider] ?? provider
    const [connection] = plan.connectionsOf(known)
    for (const [model, given] of Object.entries(objectOf(models))) {
      const price = objectOf(given)
      const read: Record<string, PlannedValue | undefined> = {
        input: numberOf(price.input),
        output: numberOf(price.output),
        cacheRead: numberOf(price.cached),
        cacheWrite: numberOf(price.cache_creation),
      }
      if (connection === undefined)
        plan.leaves(`pricing.${provider}.${model}`, 'is of no connection that could be made')
      else for (const each of plan.connectionsOf(known)) plan.price(each, model, read)
    }
    if (connection !== undefined) plan.maps(`pricing.${provider}`, `prices of connection ${connection}`)
  }
}

function planKeys(keys: readonly JsonObject[], settings: JsonObject, plan: ImportPlan): void {
  if (settings.requireApiKey !== undefined) {
    plan.settings.requireApiKey = settings.requireApiKey === true
    plan.maps('settings.requireApiKey', `settings.requireApiKey ${settings.requireApiKey === true}`)
  }
  for (const [at, { name: given, isActive }] of keys.entries()) {
    const asked = textOf(given) ?? `key-${at + 1}`
    const name = plan.keyName(asked)
    if (name !== asked) plan.leaves(`apiKeys[${at}]`, `"${asked}" is the name of a key before it: it is ${name}.`)
    plan.keys.set(name, isActive === false || isActive === 0 ? { isActive: false } : {})
    plan.maps(`apiKeys: ${name}`, `key ${name}, with a new value`)
  }
  if (keys.length > 0)
    plan.leaves(
      'apiKeys',
      'Their values: keys here begin with sbx_. "signalbox keys list" shows the new ones, which clients need.',
    )
}

const READ_SETTINGS = ['requireApiKey', 'comboStrategy', 'comboStrategies', 'comboStickyRoundRobinLimit']
const SETTING_REASONS: Readonly<Record<string, string>> = {
  cloudEnabled: 'Its cloud is another one: see signalbox cloud.',
  password: 'The admin token takes the place of the password.',
  requireLogin: 'The admin token takes the place of the password.',
  stickyRoundRobinLimit: 'See signalbox providers update --strategy round-robin.',
  providerStrategies: 'See signalbox providers update --strategy round-robin.',
  outboundProxyUrl: 'Set HTTPS_PROXY by the platform.',
}
const REST: Readonly<Record<string, string>> = {
  proxyPools: 'Calls go to the providers directly.',
  mitmAlias: 'Signalbox takes over no traffic of other programs.',
  usageHistory: 'What was used before is not counted here.',
  keyGroups: 'Groups there say which connections may be used; groups here have models and limits.',
}
