import { isObject, type JsonObject } from '../../lib/json.ts'
import { getEntry } from '../../lib/maps.ts'
import { defaultCatalog } from '../../protocols/providers/catalog.ts'
import type { CatalogModel, Price } from '../../types.ts'
import { isEmpty, readNumber, readString, splitWords, toList, toObject } from './field-values.ts'
import { readEntryParams } from './import-entry-params.ts'
import {
  ACCOUNT_PARAMS,
  isVertex,
  type LiteLlmModel,
  listAccountParams,
  listVariables,
  parseModelName,
  planAccount,
  reportDefaults,
  reportKeyFile,
  reportUnknownProvider,
} from './litellm-accounts.ts'
import type { ImportPlan, PlannedValue } from './plan.ts'

/** A deployment: one entry of `model_list`. */
export interface Deployment {
  place: string
  connection: string
  model: string
  /** Signalbox's name for the provider. */
  provider: string
  /** Whether the file or the catalog contains its price. */
  isPriced: boolean
  kind: string
  /** Whether the model is in the catalog. */
  isInCatalog: boolean
  /** Deployments with a lower order are tried first. Deployments without an order are tried last. */
  order: number | undefined
  /** The deployment's possible weights for `simple-shuffle`, in LiteLLM's order of precedence: `weight`, `rpm`, `tpm`. */
  weights: readonly (number | undefined)[]
  /** The timeout in seconds. */
  timeout: number | undefined
  streamTimeout: number | undefined
  baseModel: string | undefined
  /** The combo entry's `params`. */
  params: Readonly<Record<string, PlannedValue>> | undefined
}

/** Signalbox's kinds by LiteLLM's modes. Models with any other mode are chat models. */
const KIND_BY_MODE: Readonly<Record<string, string>> = {
  audio_speech: 'tts',
  audio_transcription: 'stt',
  embedding: 'embedding',
  image_generation: 'image',
  moderation: 'moderation',
  rerank: 'rerank',
}

/** The router settings that contain fallbacks. */
export const FALLBACK_SETTINGS = ['fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks'] as const

/** Kinds by model name, for models whose kind is in neither the file nor the catalog. LiteLLM itself determines the kind from each request. */
const NAMED_KINDS: readonly (readonly [pattern: RegExp, kind: string])[] = [
  [/rerank/i, 'rerank'],
  [/embed|(?:^|[/-])(?:bge|e5|gte)-/i, 'embedding'],
  [/whisper|transcribe/i, 'stt'],
  [/(?:^|[/-])tts(?:-|$)/i, 'tts'],
  [/dall-e|gpt-image|stable-diffusion|(?:^|[/-])flux/i, 'image'],
  [/moderation/i, 'moderation'],
]

/** Finds a model's kind: from the file, or else from the catalog, or else from its name. */
function findKind(info: JsonObject, { provider, model }: { provider: string; model: string }): string {
  const mode = readString(info.mode)
  if (mode !== undefined) return getEntry(KIND_BY_MODE, mode) ?? 'llm'
  const catalogModel = findCatalogModel(provider, model)
  const names = [model, readString(info.base_model) ?? '']
  if (catalogModel) return catalogModel.type ?? 'llm'
  return NAMED_KINDS.find(([pattern]) => names.some((name) => pattern.test(name)))?.[1] ?? 'llm'
}

const findCatalogModel = (provider: string, model: string): CatalogModel | undefined =>
  getEntry(defaultCatalog, provider)?.models?.find(({ id }) => id === model)

/** Clouds that serve a vendor's models at the vendor's prices, by LiteLLM's name for the cloud. */
const VENDOR_NAMES: Readonly<Record<string, string>> = { azure: 'openai', gemini: 'google', vertex_ai: 'google' }

/** Finds the catalog model with a deployment's price: its `base_model`, or, for a cloud, the vendor's model with the same name. */
function findPricedModel(
  info: JsonObject,
  { provider, model }: LiteLlmModel,
): { name: string; price: Price } | undefined {
  const base = readString(info.base_model)
  const pricedModel = base === undefined ? { provider, model } : parseModelName({ model: base })
  const vendor =
    getEntry(VENDOR_NAMES, pricedModel.provider ?? '') ?? (base === undefined ? '' : (pricedModel.provider ?? ''))
  const price = findCatalogModel(vendor, pricedModel.model)?.price
  return price && { name: `${vendor}/${pricedModel.model}`, price }
}

/** Reads `model_list`. Returns the deployments by `model_name`, and separately the deployments with a `*` in their name. */
export function readDeployments(config: JsonObject, router: JsonObject, plan: ImportPlan) {
  const entries = addCredentials(config, plan)
  const hasFallbacks = createFallbackCheck(router)
  const seen = new Set<string>()
  for (const { entry } of entries) {
    for (const name of listVariables(toObject(entry.litellm_params))) plan.reserveVariable(name)
    const name = readString(entry.model_name)
    if (name === undefined) continue
    plan.reserveName(name, {
      isItself: !seen.has(name) && !hasFallbacks(name) && isPlain(name, toObject(entry.litellm_params)),
    })
    seen.add(name)
  }
  const groups = new Map<string, Deployment[]>()
  const wildcards: { name: string; deployment: Deployment }[] = []
  for (const { entry, place } of entries) {
    const name = readString(entry.model_name)
    if (name === undefined) {
      plan.reportUnmapped(place, 'Has no model_name.')
      continue
    }
    const deployment = planDeployment(entry, place, plan)
    if (!deployment) continue
    if (name.includes('*') || deployment.model.includes('*')) wildcards.push({ name, deployment })
    else if (groups.has(name)) groups.get(name)?.push(deployment)
    else groups.set(name, [deployment])
  }
  return { groups, wildcards }
}

/** Returns whether a name just refers to its model and needs neither an alias nor a combo. */
const isPlain = (name: string, params: JsonObject): boolean =>
  params.model === name && Object.keys(params).every((key) => PLAIN_PARAMS.includes(key) || LONG_PRICE.test(key))

/** Returns a function that checks whether a name has fallbacks. */
function createFallbackCheck(router: JsonObject): (name: string) => boolean {
  const fallbackNames = FALLBACK_SETTINGS.flatMap((list) =>
    toList(router[list]).flatMap((fallback) => Object.keys(toObject(fallback))),
  )
  const names = new Set(fallbackNames)
  return (name) => names.has(name) || names.has('*') || !isEmpty(router.default_fallbacks)
}

/**
 * Returns the entries of `model_list`, merged with the settings and with the credential that each entry names. An entry's own parameters take
 * precedence.
 */
function addCredentials(config: JsonObject, plan: ImportPlan): { entry: JsonObject; place: string }[] {
  const credentials = new Map(
    toList(config.credential_list).map((credential) => [
      readString(toObject(credential).credential_name) ?? '',
      toObject(toObject(credential).credential_values),
    ]),
  )
  const used = new Set(
    toList(config.model_list).map((entry) =>
      readString(toObject(toObject(entry).litellm_params).litellm_credential_name),
    ),
  )
  for (const name of credentials.keys())
    if (!used.has(name)) plan.reportUnmapped(`credential_list: ${name}`, 'No deployment in the file uses it.')
  const { vertex_project, vertex_location } = toObject(config.litellm_settings)
  const vertexDefaults = Object.fromEntries(
    Object.entries({ vertex_project, vertex_location }).filter(([, value]) => !isEmpty(value)),
  )
  return toList(config.model_list).map((item, index) => {
    const entry = toObject(item)
    const place = `model_list[${index}]`
    const clientName = readString(entry.model_name)
    if (clientName !== undefined) plan.setClientName(place, clientName)
    if (!isObject(entry.litellm_params)) return { entry, place }
    const { litellm_credential_name: credentialName, ...params } = entry.litellm_params
    const inherited = isVertex(params) ? vertexDefaults : {}
    const name = readString(credentialName)
    if (name === undefined) return { entry: { ...entry, litellm_params: { ...inherited, ...params } }, place }
    const found = credentials.get(name)
    if (found) plan.reportMapped(`${place}.litellm_params.litellm_credential_name`, `credential_list "${name}"`)
    else
      plan.reportUnmapped(
        `${place}.litellm_params.litellm_credential_name`,
        `"${name}" is not in credential_list. Credentials in LiteLLM's database are not imported.`,
      )
    return { entry: { ...entry, litellm_params: { ...inherited, ...found, ...params } }, place }
  })
}

/** Plans a deployment's connection. If that isn't possible, reports why and returns `undefined`. */
function planDeployment(entry: JsonObject, place: string, plan: ImportPlan): Deployment | undefined {
  plan.reportMistyped(`${place}.`, entry, { litellm_params: 'object', model_info: 'object' })
  const params = toObject(entry.litellm_params)
  const info = toObject(entry.model_info)
  const parsed = parseModelName(params)
  const { provider, model } = parsed
  const account = planAccount(params, parsed, plan)
  if (typeof account === 'string' || model === '') {
    plan.reportUnmapped(place, typeof account === 'string' ? account : `Has no model name after "${provider}/".`)
    return undefined
  }
  reportKeyFile(`${place}.litellm_params`, params, { account, plan })
  reportDefaults(`${place}.litellm_params`, params, plan)
  const connection = plan.connection(account)
  const kind = findKind(info, { provider: account.provider, model })
  const { price, names } = readPrice({ ...info, ...params }, kind)
  const isPricedHere = findCatalogModel(account.provider, model)?.price !== undefined
  const original = price || isPricedHere ? undefined : findPricedModel(info, parsed)
  if (price ?? original) plan.planPrice(connection, model, price ?? { ...original?.price })
  if (original) plan.reportMapped(`${place}: price`, `the catalog price of ${original.name}`)
  const set = readEntryParams(kind === 'llm' ? params : {})
  plan.reportOtherFields(`${place}.litellm_params`, params, {
    known: [...READ_PARAMS, ...listAccountParams(params, parsed, account.provider), ...set.names, ...names],
    reasons: PARAM_REASONS,
  })
  plan.reportOtherFields(place, entry, {
    known: ['model_name', 'litellm_params', 'model_info', 'weight'],
    reasons: PARAM_REASONS,
  })
  reportInfo(`${place}.model_info`, info, { known: names, plan })
  reportUnknownProvider(place, parsed, account, plan)
  const readWeightParam = (name: string) =>
    plan.readWeight(`${place}.litellm_params.${name}`, params[name]) ?? plan.readWeight(`${place}.${name}`, entry[name])
  return {
    place,
    connection,
    model,
    provider: account.provider,
    isPriced: price !== undefined || isPricedHere || original !== undefined,
    kind,
    isInCatalog: findCatalogModel(account.provider, model) !== undefined,
    order: readNumber(params.order),
    weights: [readWeightParam('weight'), readWeightParam('rpm'), readWeightParam('tpm')],
    timeout: readNumber(params.timeout),
    streamTimeout: readNumber(params.stream_timeout),
    baseModel: readString(info.base_model),
    params: set.params,
  }
}

/** LiteLLM's price fields, in USD per token, and Signalbox's equivalents, in USD per million tokens. */
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

/** LiteLLM's prices of other units, by the kinds that have such prices in Signalbox. Signalbox doesn't price chat by the second. */
const UNIT_PRICES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  image: { input_cost_per_image: 'image', output_cost_per_image: 'image' },
  stt: { input_cost_per_second: 'second', output_cost_per_second: 'second' },
  tts: { input_cost_per_character: 'character', output_cost_per_second: 'second' },
  rerank: { input_cost_per_query: 'search' },
}

/** Reads a deployment's price in USD. Also returns the names of the price fields. */
function readPrice(params: JsonObject, kind: string): { price: PlannedValue | undefined; names: readonly string[] } {
  const tokens = Object.entries(TOKEN_PRICES).map(([name, unit]) => ({ name, unit, factor: 1e6 }))
  const others = Object.entries(getEntry(UNIT_PRICES, kind) ?? {}).map(([name, unit]) => ({ name, unit, factor: 1 }))
  const ranges = readRanges(params)
  const [first] = ranges
  const found = [...tokens, ...others].flatMap(({ name, unit, factor }) => {
    const cost = (first?.above === 0 && readNumber(first.prices[name])) || readNumber(params[name])
    return cost === undefined || cost < 0 ? [] : [{ name, unit, amount: Number((cost * factor).toPrecision(12)) }]
  })
  const tiers = found.length === 0 ? [] : ranges.length > 0 ? toTiers(ranges) : readTiers(params)
  return {
    price:
      found.length > 0
        ? {
            ...Object.fromEntries(found.map(({ unit, amount }) => [unit, amount])),
            ...(tiers.length > 0 && { tiers: tiers.map(({ price }) => price) }),
          }
        : undefined,
    names: [
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

/** Reads the ranges of `tiered_pricing`, in order: `[{ range: [0, 32000], input_cost_per_token: 1e-6 }]`. */
function readRanges({ tiered_pricing: tieredPricing }: JsonObject): PricedRange[] {
  const ranges = Array.isArray(tieredPricing) ? tieredPricing : []
  return ranges
    .flatMap((range: unknown): PricedRange[] => {
      const from: unknown = isObject(range) && Array.isArray(range.range) ? range.range[0] : undefined
      const threshold = readNumber(from)
      return isObject(range) && threshold !== undefined && threshold >= 0
        ? [{ above: Math.floor(threshold), prices: range }]
        : []
    })
    .sort((a, b) => a.above - b.above)
}

const toTiers = (ranges: readonly PricedRange[]) =>
  ranges.flatMap(({ above, prices }) => {
    const price: Record<string, number> = { above }
    for (const [name, unit] of Object.entries(TOKEN_PRICES)) {
      const cost = readNumber(prices[name])
      if (cost !== undefined && cost >= 0) price[unit] = Number((cost * 1e6).toPrecision(12))
    }
    return above > 0 && Object.keys(price).length > 1 ? [{ price, names: ['tiered_pricing'] }] : []
  })

/** Reads the prices for long requests, such as `input_cost_per_token_above_200k_tokens`, by threshold. */
function readTiers(params: JsonObject): { price: Record<string, number>; names: string[] }[] {
  const tiers = new Map<number, { price: Record<string, number>; names: string[] }>()
  for (const name in params) {
    const [, base = '', thousands] = LONG_PRICE.exec(name) ?? []
    const unit = getEntry(TOKEN_PRICES, base)
    const cost = readNumber(params[name])
    if (unit === undefined || cost === undefined || cost < 0) continue
    const threshold = Number(thousands) * 1_000
    const tier = tiers.get(threshold) ?? { price: { above: threshold }, names: [] }
    tier.price[unit] = Number((cost * 1e6).toPrecision(12))
    tier.names.push(name)
    tiers.set(threshold, tier)
  }
  return [...tiers.values()].sort((a, b) => (a.price.above ?? 0) - (b.price.above ?? 0))
}

const LONG_PRICE = /^(.+)_above_(\d{1,6})k_tokens$/

/** Reports the fields of `model_info` that aren't imported. Lists the model's capabilities in one line. */
function reportInfo(
  place: string,
  info: JsonObject,
  { known, plan }: { known: readonly string[]; plan: ImportPlan },
): void {
  const facts = Object.keys(info).filter((name) => FACT_PATTERN.test(name))
  if (facts.length > 0)
    plan.reportUnmapped(`${place}: ${facts.join(', ')}`, 'Signalbox takes model capabilities from its own catalog.')
  plan.reportOtherFields(place, info, {
    known: [...READ_INFO, ...known, ...facts],
    reasons: {
      access_groups: 'Set "models" on keys and groups; * in a name matches anything.',
      team_id: 'Set "models" on keys and groups; * in a name matches anything.',
    },
  })
}

const FACT_PATTERN = /^(?:supports_|max_|output_vector_size|litellm_provider|supported_|tool_use)/
const READ_INFO = splitWords('id db_model mode base_model description name')
const READ_PARAMS = splitWords('model weight order timeout stream_timeout')

const PLAIN_PARAMS = [...splitWords('model weight order rpm tpm'), ...Object.keys(TOKEN_PRICES), ...ACCOUNT_PARAMS]

const LIMIT_REASON = "Targets can't have limits. After a 429 from the provider, Signalbox tries the next target."
const BUDGET_REASON = "Keys, groups, and the gateway can have limits; targets can't."
const PRICE_REASON = 'Set this price in "prices" of the connection; see the docs on connections.'
const ACCESS_REASON = 'Connections only support keys. Put access keys into the variables.'
const BASE_URL_REASON = "Signalbox uses api_base or, without it, the cloud's URL for the region."
const ONE_KEY_REASON = 'A connection has one credential, and a different one is used.'

const PARAM_REASONS: Readonly<Record<string, string>> = {
  rpm: LIMIT_REASON,
  tpm: LIMIT_REASON,
  max_parallel_requests: BUDGET_REASON,
  max_budget: BUDGET_REASON,
  budget_duration: BUDGET_REASON,
  max_retries: 'Set attempts on combos or in the settings.',
  num_retries: 'Set attempts on combos or in the settings.',
  cooldown_time: 'Set cooldowns on combos or in the settings.',
  extra_headers: "Connections can't add headers.",
  headers: "Connections can't add headers.",
  extra_body: 'Connections can\'t add fields to requests. Use "params" on combo entries.',
  tags: 'Use "when" on combo entries, with conditions on request metadata and headers.',
  drop_params: "Signalbox always drops parameters a target doesn't support, and lists them in x-signalbox-warning.",
  api_key: `${ONE_KEY_REASON} You can put a Vertex AI API key into its variable instead.`,
  api_base: BASE_URL_REASON,
  base_url: BASE_URL_REASON,
  api_version: 'Only Azure connections have an API version.',
  aws_access_key_id: ONE_KEY_REASON,
  aws_secret_access_key: ONE_KEY_REASON,
  aws_session_token: ONE_KEY_REASON,
  aws_region_name: 'Signalbox uses the region in the Bedrock model name. Other providers have no region.',
  azure_ad_token: ONE_KEY_REASON,
  vertex_credentials: ONE_KEY_REASON,
  input_cost_per_second: PRICE_REASON,
  output_cost_per_second: PRICE_REASON,
  input_cost_per_image: PRICE_REASON,
  output_cost_per_image: PRICE_REASON,
  input_cost_per_character: PRICE_REASON,
  output_cost_per_character: PRICE_REASON,
  input_cost_per_pixel: PRICE_REASON,
  output_cost_per_pixel: PRICE_REASON,
  aws_role_name: ACCESS_REASON,
  aws_profile_name: ACCESS_REASON,
  aws_session_name: ACCESS_REASON,
  client_id: ACCESS_REASON,
  client_secret: ACCESS_REASON,
  tenant_id: ACCESS_REASON,
}
