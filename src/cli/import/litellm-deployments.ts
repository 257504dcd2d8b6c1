import { isObject, type JsonObject } from '../../lib/json.ts'
import { getEntry } from '../../lib/maps.ts'
import { defaultCatalog } from '../../protocols/providers/catalog.ts'
import type { CatalogModel, Price } from '../../types.ts'
import { isNothing, listOf, numberOf, objectOf, textOf, words } from './given-fields.ts'
import { entryParamsOf } from './import-entry-params.ts'
import {
  ACCOUNT_PARAMS,
  accountOf,
  accountParamsTaken,
  type GivenModel,
  isVertex,
  leaveDefaults,
  leaveKeyFile,
  leaveUnknown,
  namedModel,
  variablesOf,
} from './litellm-accounts.ts'
import type { ImportPlan, PlannedValue } from './plan.ts'

/** A deployment: one entry of `model_list`. */
export interface Deployment {
  place: string
  connection: string
  model: string
  /** Signalbox's name of the provider. */
  provider: string
  /** Does the file or the catalog say what it costs? */
  isPriced: boolean
  /** The kind of the model. */
  kind: string
  /** Is the model in the catalog? */
  isInCatalog: boolean
  /** Deployments with a lower order are tried first; those without an order last. */
  order: number | undefined
  /** What may be its share under `simple-shuffle`, in the order in which LiteLLM looks for one: `weight`, `rpm`, `tpm`. */
  shares: readonly (number | undefined)[]
  /** In seconds. */
  timeout: number | undefined
  streamTimeout: number | undefined
  baseModel: string | undefined
  /** The `params` that the deployment has as an entry of a combo. */
  params: Readonly<Record<string, PlannedValue>> | undefined
}

/** The kinds of models for the modes of LiteLLM. All other modes are chat. */
const KINDS: Readonly<Record<string, string>> = {
  audio_speech: 'tts',
  audio_transcription: 'stt',
  embedding: 'embedding',
  image_generation: 'image',
  moderation: 'moderation',
  rerank: 'rerank',
}

/** The settings of the router that say what names fall back to. */
export const FALLBACKS = ['fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks'] as const

/** The kinds that names suggest, for models whose kind is neither in the file nor in the catalog. LiteLLM itself takes the kind from each request. */
const NAMED_KINDS: readonly (readonly [pattern: RegExp, kind: string])[] = [
  [/rerank/i, 'rerank'],
  [/embed|(?:^|[/-])(?:bge|e5|gte)-/i, 'embedding'],
  [/whisper|transcribe/i, 'stt'],
  [/(?:^|[/-])tts(?:-|$)/i, 'tts'],
  [/dall-e|gpt-image|stable-diffusion|(?:^|[/-])flux/i, 'image'],
  [/moderation/i, 'moderation'],
]

/** The kind of a model: by the file, else by the catalog, else by its name. */
function kindOf(info: JsonObject, { provider, model }: { provider: string; model: string }): string {
  const mode = textOf(info.mode)
  if (mode !== undefined) return getEntry(KINDS, mode) ?? 'llm'
  const known = catalogModelOf(provider, model)
  const names = [model, textOf(info.base_model) ?? '']
  if (known) return known.type ?? 'llm'
  return NAMED_KINDS.find(([pattern]) => names.some((name) => pattern.test(name)))?.[1] ?? 'llm'
}

const catalogModelOf = (provider: string, model: string): CatalogModel | undefined =>
  getEntry(defaultCatalog, provider)?.models?.find(({ id }) => id === model)

/** The vendor whose models a cloud serves at the vendor's prices, by LiteLLM's names of clouds. */
const ORIGINALS: Readonly<Record<string, string>> = { azure: 'openai', gemini: 'google', vertex_ai: 'google' }

/** The catalog's model with the price of a deployment: its `base_model`, or else, at a cloud, the vendor's model of the same name. */
function originalOf(info: JsonObject, { provider, model }: GivenModel): { name: string; price: Price } | undefined {
  const base = textOf(info.base_model)
  const of = base === undefined ? { provider, model } : namedModel({ model: base })
  const vendor = getEntry(ORIGINALS, of.provider ?? '') ?? (base === undefined ? '' : (of.provider ?? ''))
  const price = catalogModelOf(vendor, of.model)?.price
  return price && { name: `${vendor}/${of.model}`, price }
}

/** Reads `model_list`: the deployments by their `model_name`, and apart from these the deployments that have a `*` in a name. */
export function deploymentsOf(config: JsonObject, router: JsonObject, plan: ImportPlan) {
  const entries = withCredentials(config, plan)
  const fallsBack = whatFallsBack(router)
  const seen = new Set<string>()
  for (const { entry } of entries) {
    for (const name of variablesOf(objectOf(entry.litellm_params))) plan.reserve(name)
    const name = textOf(entry.model_name)
    if (name === undefined) continue
    plan.reserveName(name, {
      isItself: !seen.has(name) && !fallsBack(name) && isPlain(name, objectOf(entry.litellm_params)),
    })
    seen.add(name)
  }
  const groups = new Map<string, Deployment[]>()
  const wildcards: { name: string; deployment: Deployment }[] = []
  for (const { entry, place } of entries) {
    const name = textOf(entry.model_name)
    if (name === undefined) {
      plan.leaves(place, 'Has no model_name.')
      continue
    }
    const deployment = deploymentOf(entry, place, plan)
    if (!deployment) continue
    if (name.includes('*') || deployment.model.includes('*')) wildcards.push({ name, deployment })
    else if (groups.has(name)) groups.get(name)?.push(deployment)
    else groups.set(name, [deployment])
  }
  return { groups, wildcards }
}

/** Does a name stand for just its model, so that it needs neither an alias nor a combo? */
const isPlain = (name: string, params: JsonObject): boolean =>
  params.model === name && Object.keys(params).every((member) => PLAIN.includes(member) || LONG_PRICE.test(member))

/** Tells which names have fallbacks. */
function whatFallsBack(router: JsonObject): (name: string) => boolean {
  const named = FALLBACKS.flatMap((list) => listOf(router[list]).flatMap((one) => Object.keys(objectOf(one))))
  const names = new Set(named)
  return (name) => names.has(name) || names.has('*') || !isNothing(router.default_fallbacks)
}

/** The entries of `model_list`, each with the values of the credential that it names and those of the settings. Its own parameters win. */
function withCredentials(config: JsonObject, plan: ImportPlan): { entry: JsonObject; place: string }[] {
  const credentials = new Map(
    listOf(config.credential_list).map((one) => [
      textOf(objectOf(one).credential_name) ?? '',
      objectOf(objectOf(one).credential_values),
    ]),
  )
  const used = new Set(
    listOf(config.model_list).map((one) => textOf(objectOf(objectOf(one).litellm_params).litellm_credential_name)),
  )
  for (const name of credentials.keys())
    if (!used.has(name)) plan.leaves(`credential_list: ${name}`, 'No deployment in the file uses it.')
  const { vertex_project, vertex_location } = objectOf(config.litellm_settings)
  const ofAll = Object.fromEntries(
    Object.entries({ vertex_project, vertex_location }).filter(([, value]) => !isNothing(value)),
  )
  return listOf(config.model_list).map((one, at) => {
    const entry = objectOf(one)
    const place = `model_list[${at}]`
    const clientName = textOf(entry.model_name)
    if (clientName !== undefined) plan.setClientName(place, clientName)
    if (!isObject(entry.litellm_params)) return { entry, place }
    const { litellm_credential_name: given, ...own } = entry.litellm_params
    const ofVertex = isVertex(own) ? ofAll : {}
    const name = textOf(given)
    if (name === undefined) return { entry: { ...entry, litellm_params: { ...ofVertex, ...own } }, place }
    const found = credentials.get(name)
    if (found) plan.maps(`${place}.litellm_params.litellm_credential_name`, `credential_list "${name}"`)
    else
      plan.leaves(
        `${place}.litellm_params.litellm_credential_name`,
        `"${name}" is not in credential_list. Credentials in LiteLLM's database are not imported.`,
      )
    return { entry: { ...entry, litellm_params: { ...ofVertex, ...found, ...own } }, place }
  })
}

/** Plans the connection of a deployment. Reports why, and returns `undefined`, when there can be none. */
function deploymentOf(entry: JsonObject, place: string, plan: ImportPlan): Deployment | undefined {
  plan.leavesMistyped(`${place}.`, entry, { litellm_params: 'object', model_info: 'object' })
  const params = objectOf(entry.litellm_params)
  const info = objectOf(entry.model_info)
  const named = namedModel(params)
  const { provider, model } = named
  const account = accountOf(params, named, plan)
  if (typeof account === 'string' || model === '') {
    plan.leaves(place, typeof account === 'string' ? account : `Has no model name after "${provider}/".`)
    return undefined
  }
  leaveKeyFile(`${place}.litellm_params`, params, { account, plan })
  leaveDefaults(`${place}.litellm_params`, params, plan)
  const connection = plan.connection(account)
  const kind = kindOf(info, { provider: account.provider, model })
  const { price, done } = priceOf({ ...info, ...params }, kind)
  const isPricedHere = catalogModelOf(account.provider, model)?.price !== undefined
  const original = price || isPricedHere ? undefined : originalOf(info, named)
  if (price ?? original) plan.price(connection, model, price ?? { ...original?.price })
  if (original) plan.maps(`${place}: price`, `the catalog price of ${original.name}`)
  const set = entryParamsOf(kind === 'llm' ? params : {})
  plan.leavesRest(`${place}.litellm_params`, params, {
    done: [...READ_PARAMS, ...accountParamsTaken(params, named, account.provider), ...set.done, ...done],
    reasons: PARAM_REASONS,
  })
  plan.leavesRest(place, entry, {
    done: ['model_name', 'litellm_params', 'model_info', 'weight'],
    reasons: PARAM_REASONS,
  })
  leaveInfo(`${place}.model_info`, info, { done, plan })
  leaveUnknown(place, named, account, plan)
  const share = (name: string) =>
    plan.share(`${place}.litellm_params.${name}`, params[name]) ?? plan.share(`${place}.${name}`, entry[name])
  return {
    place,
    connection,
    model,
    provider: account.provider,
    isPriced: price !== undefined || isPricedHere || original !== undefined,
    kind,
    isInCatalog: catalogModelOf(account.provider, model) !== undefined,
    order: numberOf(params.order),
    shares: [share('weight'), share('rpm'), share('tpm')],
    timeout: numberOf(params.timeout),
    streamTimeout: numberOf(params.stream_timeout),
    baseModel: textOf(info.base_model),
    params: set.params,
  }
}

/** The members of LiteLLM's prices, in dollars for one token, and those of Signalbox's, in dollars for a million tokens. */
const TOKEN_PRICES: Readonly<Record<string, string>> = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cacheRead',
  cache_creation_input_token_cost: 'cacheWrite',
  input_cost_per_audio_token: 'audioInput',
  output_cost_per_audio_token: 'audioOutput',
  input_cost_per_image_token: 'imageInput',
  output_cost_per_image_token: 'imageOutput',
}

/** LiteLLM's prices of other units, for the kinds of models that have them in Signalbox, which cannot price chat by seconds. */
const UNIT_PRICES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  image: { input_cost_per_image: 'image', output_cost_per_image: 'image' },
  stt: { input_cost_per_second: 'second', output_cost_per_second: 'second' },
  tts: { input_cost_per_character: 'character', output_cost_per_second: 'second' },
  rerank: { input_cost_per_query: 'search' },
}

/** The price of a deployment, in dollars, and the names of the members that it was made from. */
function priceOf(given: JsonObject, kind: string): { price: PlannedValue | undefined; done: readonly string[] } {
  const tokens = Object.entries(TOKEN_PRICES).map(([name, unit]) => ({ name, unit, factor: 1e6 }))
  const others = Object.entries(getEntry(UNIT_PRICES, kind) ?? {}).map(([name, unit]) => ({ name, unit, factor: 1 }))
  const ranges = rangesIn(given)
  const [first] = ranges
  const found = [...tokens, ...others].flatMap(({ name, unit, factor }) => {
    const cost = (first?.above === 0 && numberOf(first.prices[name])) || numberOf(given[name])
    return cost === undefined || cost < 0 ? [] : [{ name, unit, amount: Number((cost * factor).toPrecision(12)) }]
  })
  const tiers = found.length === 0 ? [] : ranges.length > 0 ? tiersOf(ranges) : readTiers(given)
  return {
    price:
      found.length > 0
        ? {
            ...Object.fromEntries(found.map(({ unit, amount }) => [unit, amount])),
            ...(tiers.length > 0 && { tiers: tiers.map(({ price }) => price) }),
          }
        : undefined,
    done: [
      ...found.map(({ name }) => name),
      ...tiers.flatMap(({ names }) => names),
      ...(found.length > 0 && ranges.length > 0 ? ['tiered_pricing'] : []),
    ],
  }
}

interface PricedRange {
  above: number
  prices: JsonObject
}

/** The ranges of `tiered_pricing` in their order: `[{ range: [0, 32000], input_cost_per_token: 1e-6 }]`. */
function rangesIn({ tiered_pricing: given }: JsonObject): PricedRange[] {
  const ranges = Array.isArray(given) ? given : []
  return ranges
    .flatMap((one: unknown): PricedRange[] => {
      const from: unknown = isObject(one) && Array.isArray(one.range) ? one.range[0] : undefined
      const above = numberOf(from)
      return isObject(one) && above !== undefined && above >= 0 ? [{ above: Math.floor(above), prices: one }] : []
    })
    .sort((one, other) => one.above - other.above)
}

const tiersOf = (ranges: readonly PricedRange[]) =>
  ranges.flatMap(({ above, prices }) => {
    const price: Record<string, number> = { above }
    for (const [name, unit] of Object.entries(TOKEN_PRICES)) {
      const cost = numberOf(prices[name])
      if (cost !== undefined && cost >= 0) price[unit] = Number((cost * 1e6).toPrecision(12))
    }
    return above > 0 && Object.keys(price).length > 1 ? [{ price, names: ['tiered_pricing'] }] : []
  })

/** Reads the prices of long requests, such as `input_cost_per_token_above_200k_tokens`, by threshold. */
function readTiers(given: JsonObject): { price: Record<string, number>; names: string[] }[] {
  const tiers = new Map<number, { price: Record<string, number>; names: string[] }>()
  for (const name in given) {
    const [, base = '', thousands] = LONG_PRICE.exec(name) ?? []
    const unit = getEntry(TOKEN_PRICES, base)
    const cost = numberOf(given[name])
    if (unit === undefined || cost === undefined || cost < 0) continue
    const above = Number(thousands) * 1_000
    const tier = tiers.get(above) ?? { price: { above }, names: [] }
    tier.price[unit] = Number((cost * 1e6).toPrecision(12))
    tier.names.push(name)
    tiers.set(above, tier)
  }
  return [...tiers.values()].sort((one, other) => (one.price.above ?? 0) - (other.price.above ?? 0))
}

const LONG_PRICE = /^(.+)_above_(\d{1,6})k_tokens$/

/** Reports the members of `model_info` that are left out: in one line those that say what the model can do. */
function leaveInfo(
  place: string,
  info: JsonObject,
  { done, plan }: { done: readonly string[]; plan: ImportPlan },
): void {
  const facts = Object.keys(info).filter((name) => FACTS.test(name))
  if (facts.length > 0)
    plan.leaves(`${place}: ${facts.join(', ')}`, 'Signalbox takes model capabilities from its own catalog.')
  plan.leavesRest(place, info, {
    done: [...READ_INFO, ...done, ...facts],
    reasons: {
      access_groups: 'Set "models" on keys and groups; * in a name matches anything.',
      team_id: 'Set "models" on keys and groups; * in a name matches anything.',
    },
  })
}

const FACTS = /^(?:supports_|max_|output_vector_size|litellm_provider|supported_|tool_use)/
const READ_INFO = words('id db_model mode base_model description name')
const READ_PARAMS = words('model weight order timeout stream_timeout')

const PLAIN = [...words('model weight order rpm tpm'), ...Object.keys(TOKEN_PRICES), ...ACCOUNT_PARAMS]

const NO_LIMIT = "Targets can't have limits. After a 429 from the provider, Signalbox tries the next target."
const BUDGET = "Keys, groups, and the gateway can have limits; targets can't."
const PRICES = 'Set this price in "prices" of the connection; see the docs on connections.'
const ACCESS = 'Connections only support keys. Put access keys into the variables.'
const ADDRESS = "Signalbox uses api_base or, without it, the cloud's URL for the region."
const ONE_KEY = 'A connection has one credential, and a different one is used.'

/** Why other members are left out. */
const PARAM_REASONS: Readonly<Record<string, string>> = {
  rpm: NO_LIMIT,
  tpm: NO_LIMIT,
  max_parallel_requests: BUDGET,
  max_budget: BUDGET,
  budget_duration: BUDGET,
  max_retries: 'Set attempts on combos or in the settings.',
  num_retries: 'Set attempts on combos or in the settings.',
  cooldown_time: 'Set cooldowns on combos or in the settings.',
  extra_headers: "Connections can't add headers.",
  headers: "Connections can't add headers.",
  extra_body: 'Connections can\'t add fields to requests. Use "params" on combo entries.',
  tags: 'Use "when" on combo entries, with conditions on request metadata and headers.',
  drop_params: "Signalbox always drops parameters a target doesn't support, and lists them in x-signalbox-warning.",
  api_key: `${ONE_KEY} You can put a Vertex AI API key into its variable instead.`,
  api_base: ADDRESS,
  base_url: ADDRESS,
  api_version: 'Only Azure connections have an API version.',
  aws_access_key_id: ONE_KEY,
  aws_secret_access_key: ONE_KEY,
  aws_session_token: ONE_KEY,
  aws_region_name: 'Signalbox uses the region in the Bedrock model name. Other providers have no region.',
  azure_ad_token: ONE_KEY,
  vertex_credentials: ONE_KEY,
  input_cost_per_second: PRICES,
  output_cost_per_second: PRICES,
  input_cost_per_image: PRICES,
  output_cost_per_image: PRICES,
  input_cost_per_character: PRICES,
  output_cost_per_character: PRICES,
  input_cost_per_pixel: PRICES,
  output_cost_per_pixel: PRICES,
  aws_role_name: ACCESS,
  aws_profile_name: ACCESS,
  aws_session_name: ACCESS,
  client_id: ACCESS,
  client_secret: ACCESS,
  tenant_id: ACCESS,
}
