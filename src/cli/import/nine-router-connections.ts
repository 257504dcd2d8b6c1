import type { JsonObject } from '../../lib/json.ts'
import { getEntry } from '../../lib/maps.ts'
import { definitions } from '../../protocols/providers/definitions.ts'
import { planBaseUrl } from './addresses.ts'
import { readNumber, readString, splitWords, toObject } from './field-values.ts'
import type { ImportPlan, PlannedAccount, PlannedValue } from './plan.ts'
import { toSlug, toVariableName } from './plan-names.ts'

/* Imports 9router's connections: accounts with API keys, and the user's own servers ("nodes"). */

/** Signalbox's names for API key providers that 9router calls something else. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = {
  gemini: 'google',
  glm: 'zai',
  kimi: 'moonshot',
  perplexity: 'perplexity-agent',
  nvidia: 'nvidia-nim',
  qwen: 'alibaba',
  hf: 'huggingface',
  or: 'openrouter',
  'ollama-local': 'ollama',
  'vercel-ai-gateway': 'vercel',
  'voyage-ai': 'voyage',
  'jina-ai': 'jina',
  'jina-reader': 'jina',
  'brave-search': 'brave',
  'xiaomi-mimo': 'xiaomi',
  'black-forest-labs': 'bfl',
}
const SHARED_PROVIDER_NAMES = [
  ...splitWords('openai anthropic openrouter minimax deepseek groq xai mistral together fireworks cerebras cohere'),
  ...splitWords(
    'siliconflow nebius sambanova deepinfra huggingface novita tavily exa serper firecrawl searxng voyage jina',
  ),
  ...splitWords('baseten scaleway elevenlabs deepgram azure vertex perplexity-agent'),
]

/** Providers that 9router calls at different URLs than Signalbox. The keys are for 9router's URLs. */
const DEFAULT_SERVERS: Readonly<Record<string, { baseUrl: string; format?: string }>> = {
  alicode: { baseUrl: 'https://coding.dashscope.aliyuncs.com/v1' },
  'alicode-intl': { baseUrl: 'https://coding-intl.dashscope.aliyuncs.com/v1' },
  byteplus: { baseUrl: 'https://ark.ap-southeast.bytepluses.com/api/coding/v3' },
  chutes: { baseUrl: 'https://llm.chutes.ai/v1' },
  'cloudflare-ai': { baseUrl: 'https://api.cloudflare.com/client/v4/accounts/{accountId}/ai/v1' },
  glm: { baseUrl: 'https://api.z.ai/api/anthropic/v1', format: 'anthropic-messages' },
  'glm-cn': { baseUrl: 'https://open.bigmodel.cn/api/coding/paas/v4' },
  hyperbolic: { baseUrl: 'https://api.hyperbolic.xyz/v1' },
  kimi: { baseUrl: 'https://api.moonshot.cn/v1' },
  'minimax-cn': { baseUrl: 'https://api.minimaxi.com/v1' },
  ollama: { baseUrl: 'https://ollama.com/v1' },
  'opencode-go': { baseUrl: 'https://opencode.ai/zen/go/v1' },
  venice: { baseUrl: 'https://api.venice.ai/api/v1' },
  'volcengine-ark': { baseUrl: 'https://ark.cn-beijing.volces.com/api/coding/v3' },
}

/** URLs that older versions of 9router used for providers. */
const OLD_SERVERS: Readonly<Record<string, string>> = {
  kimi: 'https://api.kimi.com/coding/v1',
  siliconflow: 'https://api.siliconflow.cn/v1',
}

/** 9router's short model prefixes, and the providers that they belong to. */
const PROVIDER_ALIASES: Readonly<Record<string, string>> = {
  ark: 'volcengine-ark',
  bfl: 'black-forest-labs',
  bpm: 'byteplus',
  cf: 'cloudflare-ai',
  ch: 'chutes',
  dg: 'deepgram',
  ds: 'deepseek',
  el: 'elevenlabs',
  hf: 'huggingface',
  hyp: 'hyperbolic',
  jina: 'jina-ai',
  mimo: 'xiaomi-mimo',
  ocg: 'opencode-go',
  or: 'openrouter',
  pplx: 'perplexity',
  samba: 'sambanova',
  scw: 'scaleway',
  vercel: 'vercel-ai-gateway',
  vx: 'vertex',
}

/** Signalbox's prefix and provider, by 9router's model prefix. */
export type Prefixes = Map<string, { prefix: string; provider: string }>

/** Plans a connection. `node` is the user's own server, if the connection has one. */
export function planConnection(
  record: JsonObject,
  node: JsonObject | undefined,
  { prefixes, plan }: { prefixes: Prefixes; plan: ImportPlan },
): void {
  const provider = readString(record.provider) ?? ''
  const label = readString(record.name) ?? readString(record.id) ?? provider
  const place = `providerConnections: ${label} (${readString(node?.name) ?? provider})`
  const providerData = { ...node, ...toObject(record.providerSpecificData) }
  const compatibleFormat = /^(openai|anthropic)-compatible/.exec(readString(node?.type) ?? provider)?.[0]
  const knownServer = compatibleFormat ? undefined : getEntry(DEFAULT_SERVERS, provider)
  const builtIn = compatibleFormat
    ? undefined
    : (getEntry(PROVIDER_NAMES, provider) ?? (SHARED_PROVIDER_NAMES.includes(provider) ? provider : undefined))
  const authType = readString(record.authType) ?? 'oauth'
  const account = readString(providerData.accountId)
  const defaultUrl = knownServer?.baseUrl.replace('{accountId}', () => encodeURIComponent(account ?? ''))
  const baseUrlField = readString(providerData.baseUrl) ?? defaultUrl
  const findProblem = (): string | undefined => {
    if (!['apikey', 'api_key'].includes(authType) && !compatibleFormat)
      return `Signs in with ${authType === 'oauth' ? 'a personal account' : authType}. Signalbox connections only support API keys.`
    if (compatibleFormat) return baseUrlField === undefined ? 'Has no base URL.' : undefined
    if (builtIn === undefined && knownServer === undefined) return `Signalbox has no provider "${provider}".`
    if (knownServer?.baseUrl.includes('{accountId}') && account === undefined)
      return 'Has no accountId, which its URL needs.'
    if (builtIn === 'azure' && readString(providerData.azureEndpoint) === undefined && baseUrlField === undefined)
      return 'Has no azureEndpoint, so the Azure resource is unknown.'
    return undefined
  }
  const rejection = findProblem()
  if (rejection !== undefined) {
    plan.reportUnmapped(place, rejection)
    return
  }

  const preferredName = toSlug(readString(providerData.prefix) ?? readString(node?.name) ?? builtIn ?? provider)
  const secret = readString(record.apiKey)
  const apiKey =
    secret === undefined
      ? undefined
      : plan.addSecret(secret, `${toVariableName(preferredName)}_API_KEY`, `the API key of ${label}`)
  const isLocal = builtIn === 'ollama' && knownServer === undefined
  const data = {
    ...(baseUrlField !== undefined && {
      baseUrl: planBaseUrl(plan, baseUrlField, { wish: preferredName, end: isLocal ? '/v1' : '' }),
    }),
    ...(knownServer?.format !== undefined && { format: knownServer.format }),
    ...(providerData.apiType === 'responses' && { format: 'openai-responses' }),
    ...readCloudSettings(builtIn, providerData, { place, wish: preferredName, plan }),
  }
  const compatibleProvider = compatibleFormat ?? 'openai-compatible'
  const isSelfHosted = builtIn === undefined
  // Clients name models by 9router's provider ID. If Signalbox doesn't have that name, it is kept as the prefix.
  const providerId = builtIn === undefined || listNames(builtIn).includes(provider) ? builtIn : provider
  const prefix = providerId ?? plan.findFreePrefix(preferredName, prefixes.get(provider)?.prefix)
  const planned: PlannedAccount = {
    provider: isSelfHosted ? `${compatibleProvider}-${prefix}` : builtIn,
    id: builtIn ?? prefix,
    apiKey,
    prefix,
    data,
    more: {
      ...(readString(record.name) !== undefined && { name: readString(record.name)?.slice(0, 200) }),
      ...(record.isActive === false || record.isActive === 0 ? { isActive: false } : {}),
      ...(readNumber(record.priority) !== undefined && { priority: readNumber(record.priority) }),
    },
  }
  const id = plan.connection(planned)
  plan.reportMapped(
    place,
    `connection ${id}${defaultUrl !== undefined && baseUrlField === defaultUrl ? ` at ${defaultUrl}, as in 9router` : ''}`,
  )
  const oldUrl = getEntry(OLD_SERVERS, provider)
  if (oldUrl !== undefined)
    plan.reportUnmapped(
      place,
      `Older versions of 9router call ${oldUrl}. If the key belongs to that server, set it as "baseUrl" of the connection.`,
    )
  const { defaultModel, globalPriority } = record
  const otherFields = { defaultModel, globalPriority, ...toObject(record.providerSpecificData) }
  plan.reportOtherFields(place, otherFields, { known: READ_FIELDS, reasons: FIELD_REASONS })
  // Both 9router and Signalbox distribute requests over all of a provider's connections, so they share one prefix.
  const short = Object.keys(PROVIDER_ALIASES).filter((alias) => PROVIDER_ALIASES[alias] === provider)
  for (const name of [provider, readString(providerData.prefix), ...short])
    if (name !== undefined && !prefixes.has(name)) prefixes.set(name, { prefix, provider: planned.provider })
}

const listNames = (provider: string): readonly string[] => {
  const { alias = provider, catalogAlias = provider } = definitions[provider] ?? {}
  return [provider, alias, catalogAlias]
}

/** Reads a cloud's settings. Reports settings in an invalid format instead of importing them, because connections would reject them. */
function readCloudSettings(
  provider: string | undefined,
  providerData: JsonObject,
  { place, wish, plan }: { place: string; wish: string; plan: ImportPlan },
): Readonly<Record<string, PlannedValue | undefined>> {
  const readMatching = (name: string, shape: RegExp): string | undefined => {
    const found = readString(providerData[name])
    if (found === undefined || shape.test(found)) return found
    plan.reportUnmapped(`${place}: ${name}`, 'Has an invalid value. Set it on the connection yourself.')
    return undefined
  }
  if (provider === 'azure') {
    const endpoint = readString(providerData.azureEndpoint)
    const resource = /^https:\/\/([A-Za-z0-9][\w-]*)\.openai\.azure\.com\/?$/.exec(endpoint ?? '')?.[1]
    return {
      ...(resource ? { resource } : endpoint !== undefined && { baseUrl: planBaseUrl(plan, endpoint, { wish }) }),
      apiVersion: readMatching('apiVersion', /^[\w.-]{1,40}$/),
      deployment: readMatching('deployment', /^[\w.-]{1,64}$/),
    }
  }
  if (provider === 'vertex')
    return {
      region: readMatching('region', /^[a-z0-9-]{2,40}$/),
      project: readMatching('projectId', /^[a-z0-9][a-z0-9.:-]{0,62}$/),
    }
  return {}
}

/** Fields of `providerSpecificData` that are imported, or that don't affect how a provider is called. */
const READ_FIELDS = splitWords(`
  prefix apiType baseUrl nodeName type name accountId azureEndpoint apiVersion deployment region projectId authMethod
`)
const PROXY_REASON = "Connections can't have a proxy. NODE_USE_ENV_PROXY=1 uses the proxies in the environment."
const HEADERS_REASON = "Connections can't add headers."
const FIELD_REASONS: Readonly<Record<string, string>> = {
  proxyPoolId: PROXY_REASON,
  connectionProxyEnabled: PROXY_REASON,
  connectionProxyUrl: PROXY_REASON,
  connectionNoProxy: PROXY_REASON,
  defaultModel: 'Clients set the model in each request.',
  globalPriority: 'Connection priorities apply within a provider. To order providers, use a combo.',
  enabledModels: 'Set "enabledModels" on the connection.',
  organization: HEADERS_REASON,
  customUserAgent: HEADERS_REASON,
}
