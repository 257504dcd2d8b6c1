import { isObject, type JsonObject } from '../../lib/json.ts'
import { getEntry } from '../../lib/maps.ts'
import { findProviderByUrl, getServerName, planBaseUrl } from './addresses.ts'
import { joinAccessKeys, SERVICE_ACCOUNT_DESCRIPTION } from './cloud-credentials.ts'
import { readString, splitWords } from './field-values.ts'
import { type ImportPlan, type PlannedAccount, type PlannedValue, Reference } from './plan.ts'
import { toKeyVariable, toSlug } from './plan-names.ts'

/* Reads the accounts of LiteLLM's deployments from the `litellm_params` fields that contain the provider, the URL, and the key. */

/** Signalbox's names for providers that LiteLLM calls something else. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = {
  azure_text: 'azure',
  black_forest_labs: 'bfl',
  cohere_chat: 'cohere',
  dashscope: 'alibaba',
  fireworks_ai: 'fireworks',
  gemini: 'google',
  jina_ai: 'jina',
  lm_studio: 'lmstudio',
  meta_llama: 'meta',
  nvidia_nim: 'nvidia-nim',
  ollama_chat: 'ollama',
  perplexity: 'perplexity-agent',
  'text-completion-openai': 'openai',
  together_ai: 'together',
  vercel_ai_gateway: 'vercel',
  vertex_ai: 'vertex',
  vertex_ai_beta: 'vertex',
  xiaomi_mimo: 'xiaomi',
}

/** Providers with the same name in LiteLLM and Signalbox. */
const SHARED_PROVIDER_NAMES = splitWords(`
  openai azure anthropic bedrock mistral deepseek xai groq openrouter cerebras cohere moonshot sambanova deepinfra huggingface nebius novita
  siliconflow baseten scaleway zai minimax voyage ollama stepfun elevenlabs deepgram
`)

/** The variables that LiteLLM reads if a deployment has no key, where they differ from `<PROVIDER>_API_KEY`. */
const KEY_VARIABLES: Readonly<Record<string, string>> = {
  google: 'GEMINI_API_KEY',
  together: 'TOGETHERAI_API_KEY',
  'perplexity-agent': 'PERPLEXITYAI_API_KEY',
  alibaba: 'DASHSCOPE_API_KEY',
  'nvidia-nim': 'NVIDIA_NIM_API_KEY',
  jina: 'JINA_AI_API_KEY',
  fireworks: 'FIREWORKS_AI_API_KEY',
  vercel: 'VERCEL_AI_GATEWAY_API_KEY',
}

const VERTEX_VARIABLE = 'VERTEX_CREDENTIALS'

/** LiteLLM's URLs for providers that aren't built into Signalbox. LiteLLM reads their keys from variables. */
const BASE_URLS: Readonly<Record<string, string>> = {
  chutes: 'https://llm.chutes.ai/v1',
  codestral: 'https://codestral.mistral.ai/v1',
  featherless_ai: 'https://api.featherless.ai/v1',
  github: 'https://models.inference.ai.azure.com',
  hyperbolic: 'https://api.hyperbolic.xyz/v1',
  lambda_ai: 'https://api.lambda.ai/v1',
  nscale: 'https://inference.api.nscale.com/v1',
  v0: 'https://api.v0.dev/v1',
  volcengine: 'https://ark.cn-beijing.volces.com/api/v3',
  wandb: 'https://api.inference.wandb.ai/v1',
}

/** The variables that LiteLLM reads if a deployment has no URL. */
const BASE_URL_VARIABLES: Readonly<Record<string, string>> = {
  azure: 'AZURE_API_BASE',
  azure_ai: 'AZURE_AI_API_BASE',
  databricks: 'DATABRICKS_API_BASE',
  hosted_vllm: 'HOSTED_VLLM_API_BASE',
  litellm_proxy: 'LITELLM_PROXY_API_BASE',
  lm_studio: 'LM_STUDIO_API_BASE',
}

/** Providers that aren't built into Signalbox and whose keys LiteLLM reads from variables. */
const PROVIDERS_WITH_KEYS = [...Object.keys(BASE_URLS), 'azure_ai', 'databricks']

/** LiteLLM's names for OpenAI-compatible servers. */
const OPENAI_COMPATIBLE_NAMES = [
  ...splitWords(
    'openai custom_openai openai_like text-completion-openai hosted_vllm vllm litellm_proxy llamafile xinference',
  ),
  ...splitWords('databricks docker_model_runner'),
  ...Object.keys(BASE_URLS),
]

/** Reports what to check if Signalbox doesn't have the provider and therefore calls its server in the OpenAI format. */
export function reportUnknownProvider(
  place: string,
  { provider }: LiteLlmModel,
  account: PlannedAccount,
  plan: ImportPlan,
): void {
  if (
    !account.provider.startsWith('openai-compatible-') ||
    provider === undefined ||
    OPENAI_COMPATIBLE_NAMES.includes(provider)
  )
    return
  plan.reportUnmapped(
    place,
    provider === 'azure_ai'
      ? 'Signalbox calls Azure AI models at <api_base>/chat/completions. Check that this URL belongs to your resource.'
      : `Signalbox has no provider "${provider}", so it uses the OpenAI format at <api_base>/chat/completions. Check that this works.`,
  )
}

/** Local servers that don't need a key. */
const KEYLESS_PROVIDERS = ['ollama', 'lmstudio']

/** The fields of `litellm_params` with a deployment's provider, URL, and key. */
export const ACCOUNT_PARAMS = splitWords(`
  custom_llm_provider api_key api_base base_url api_version azure_ad_token aws_access_key_id aws_secret_access_key aws_session_token
  aws_region_name vertex_project vertex_location vertex_credentials
`)

/** Lists the `ACCOUNT_PARAMS` that the deployment's account uses; it ignores the others. `provider` is Signalbox's name for the provider. */
export function listAccountParams(params: JsonObject, { region }: LiteLlmModel, provider: string): readonly string[] {
  const hasKey = readString(params.api_key) !== undefined
  const field = readString(params.api_base) === undefined ? 'base_url' : 'api_base'
  const paramsByProvider: Readonly<Record<string, readonly string[]>> = {
    azure: [field, 'api_version', hasKey ? 'api_key' : 'azure_ad_token'],
    bedrock: [
      ...(hasKey ? ['api_key'] : splitWords('aws_access_key_id aws_secret_access_key aws_session_token')),
      ...(region === undefined ? ['aws_region_name'] : []),
    ],
    vertex: splitWords('vertex_credentials vertex_project vertex_location'),
  }
  return ['custom_llm_provider', ...(getEntry(paramsByProvider, provider) ?? ['api_key', field])]
}

/** Reports variables' default values, as in `${NAME:-default}`, because they can be secrets. */
export function reportDefaults(place: string, params: JsonObject, plan: ImportPlan): void {
  for (const name of ACCOUNT_PARAMS) {
    const variable = /^\$\{([A-Za-z_]\w*):?-[^}]+\}$/.exec(readString(params[name]) ?? '')?.[1]
    if (variable !== undefined)
      plan.reportUnmapped(`${place}.${name}`, `The default value is not imported. Set ${variable}.`)
  }
}

/**
 * A deployment's model, split into the provider and the model name. The provider is the part before the first slash, or the vendor of a well-known
 * name.
 */
export interface LiteLlmModel {
  provider: string | undefined
  model: string
  /** The region in a Bedrock model's name. */
  region?: string | undefined
}

/** Splits a deployment's model name into provider and model, as LiteLLM does. */
export function parseModelName(params: JsonObject): LiteLlmModel {
  const fullName = readString(params.model) ?? ''
  const custom = readString(params.custom_llm_provider)
  const slash = fullName.indexOf('/')
  const first = fullName.slice(0, Math.max(slash, 0))
  if (custom) return removeRoute(custom, first === custom ? fullName.slice(slash + 1) : fullName)
  if (slash > 0) return removeRoute(first, fullName.slice(slash + 1))
  if (/^(?:gpt-|o\d|chatgpt-|text-embedding-|omni-moderation|dall-e|whisper|tts-)/.test(fullName))
    return { provider: 'openai', model: fullName }
  if (/^claude-/.test(fullName)) return { provider: 'anthropic', model: fullName }
  if (/^(?:[a-z]{2,6}\.)?(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek)\./.test(fullName))
    return { provider: 'bedrock', model: fullName }
  if (/^gemini-/.test(fullName)) return { provider: 'vertex_ai', model: fullName }
  if (/^(?:command|embed-|rerank-)/.test(fullName)) return { provider: 'cohere', model: fullName }
  return { provider: params.api_base === undefined ? undefined : 'openai', model: fullName }
}

/** Parts between provider and model in LiteLLM's names. They select one of the provider's APIs. */
const ROUTE_PATTERNS: Readonly<Record<string, RegExp>> = {
  azure: /^(?:responses|o_series|gpt5_series)\//,
  bedrock: /^(?:converse|converse_like|invoke)\//,
  openai: /^(?:responses|chat\/completions)\//,
}

function removeRoute(provider: string, model: string): LiteLlmModel {
  const route = getEntry(ROUTE_PATTERNS, provider)
  const found = route ? model.replace(route, '') : model
  const region = provider === 'bedrock' ? /^([a-z]{2}(?:-[a-z]+)+-\d)\/./.exec(found)?.[1] : undefined
  return { provider, model: region === undefined ? found : found.slice(region.length + 1), region }
}

/** Lists the variables that LiteLLM reads for a deployment. */
export function listVariables(params: JsonObject): string[] {
  const { provider = '' } = parseModelName(params)
  const variableNames = Object.values(params).flatMap((value) => parseVariable(value) ?? [])
  if (isVertex(params))
    return params.vertex_credentials === undefined ? [...variableNames, VERTEX_VARIABLE] : variableNames
  return params.api_key === undefined ? [...variableNames, getKeyVariable(provider)] : variableNames
}

/** Returns whether a deployment is on Vertex AI. */
export const isVertex = (params: JsonObject): boolean =>
  getEntry(PROVIDER_NAMES, parseModelName(params).provider ?? '') === 'vertex'

function getKeyVariable(provider: string): string {
  const mappedProvider = getEntry(PROVIDER_NAMES, provider) ?? provider
  return getEntry(KEY_VARIABLES, mappedProvider) ?? toKeyVariable(mappedProvider)
}

/** Plans a deployment's account, or returns why it can't have one. */
export function planAccount(params: JsonObject, model: LiteLlmModel, plan: ImportPlan): PlannedAccount | string {
  const { provider } = model
  if (provider === undefined)
    return model.model === '*'
      ? 'Matches the models of all providers. Signalbox connects the providers whose keys are in the environment; see "Keys from the environment" in the docs.'
      : 'Has no provider. Write <provider>/<model> in the LiteLLM file first, or create the connection yourself.'
  if (provider === 'os.environ')
    return 'Reads its model from a variable. Write the model name into the file, and run the import again.'
  const baseUrl = readString(params.api_base) ?? readString(params.base_url) ?? getEntry(BASE_URLS, provider)
  const urlProvider = provider === 'openai' ? findProviderByUrl(baseUrl) : undefined
  const mappedProvider =
    urlProvider ??
    getEntry(PROVIDER_NAMES, provider) ??
    (SHARED_PROVIDER_NAMES.includes(provider) ? provider : undefined)
  const isSelfHosted =
    mappedProvider === undefined || (urlProvider === undefined && mappedProvider === 'openai' && baseUrl !== undefined)
  const variable = baseUrl === undefined ? getEntry(BASE_URL_VARIABLES, provider) : parseVariable(baseUrl)
  if (mappedProvider === undefined && baseUrl === undefined && variable === undefined)
    return `Signalbox has no provider "${provider}", and the deployment has no api_base.`

  const nameSelfHostedServer = () => (provider === 'openai' ? nameServer(baseUrl) : toSlug(provider))
  const preferredName = isSelfHosted ? nameSelfHostedServer() : mappedProvider
  const needsKey = isSelfHosted ? PROVIDERS_WITH_KEYS.includes(provider) : !KEYLESS_PROVIDERS.includes(mappedProvider)
  const apiKey =
    readSecret(params.api_key, `${preferredName}_API_KEY`, 'an API key', plan) ??
    (mappedProvider === 'azure'
      ? readSecret(params.azure_ad_token, `${preferredName}_AD_TOKEN`, 'an Entra ID token', plan)
      : undefined) ??
    (needsKey ? plan.readVariable(getKeyVariable(urlProvider ?? provider), 'an API key') : undefined)
  const planUrl = (end = ''): PlannedValue | undefined => {
    if (variable !== undefined) return new Reference(['', end], plan.readVariable(variable, 'a base URL').names)
    return baseUrl === undefined || urlProvider !== undefined
      ? undefined
      : planBaseUrl(plan, baseUrl, { wish: preferredName, end })
  }

  if (isSelfHosted)
    return { provider: `openai-compatible-${preferredName}`, id: preferredName, apiKey, data: { baseUrl: planUrl() } }
  for (const [name, shape] of Object.entries(SETTING_PATTERNS)) {
    const value = readString(params[name])
    if (value !== undefined && parseVariable(value) === undefined && !shape.test(value))
      return `Has an invalid ${name}. Correct it in the file, and run the import again.`
  }
  if (mappedProvider === 'azure')
    return planAzureAccount(params, { apiKey, configuredUrl: baseUrl, base: planUrl, plan })
  if (mappedProvider === 'bedrock') return planBedrockAccount(params, model, plan)
  if (mappedProvider === 'vertex') return planVertexAccount(params, plan)
  const end = mappedProvider === 'anthropic' || mappedProvider === 'ollama' ? '/v1' : ''
  return { provider: mappedProvider, apiKey, data: { baseUrl: planUrl(baseUrl === undefined ? '' : end) } }
}

/** The patterns that cloud settings must match. Connections reject settings that don't match. */
const SETTING_PATTERNS: Readonly<Record<string, RegExp>> = {
  api_version: /^[\w.-]{1,40}$/,
  aws_region_name: /^[a-z0-9-]{2,40}$/,
  vertex_location: /^[a-z0-9-]{2,40}$/,
  vertex_project: /^[a-z0-9][a-z0-9.:-]{0,62}$/,
}

/** Derives a server's name from the hostname in its URL, or from the variable that contains the URL. */
function nameServer(url: string | undefined): string {
  const name = parseVariable(url)
    ?.toLowerCase()
    .replace(/_(?:api_)?(?:base_?url|base|url|endpoint|host)$/, '')
  return name === undefined ? getServerName(url) : toSlug(name)
}

function planAzureAccount(
  params: JsonObject,
  {
    apiKey,
    configuredUrl,
    base,
    plan,
  }: {
    apiKey: Reference | undefined
    configuredUrl: string | undefined
    base: () => PlannedValue | undefined
    plan: ImportPlan
  },
): PlannedAccount {
  const resource = /^https:\/\/([A-Za-z0-9][\w-]*)\.openai\.azure\.com\/?$/.exec(configuredUrl ?? '')?.[1]
  const apiVersion = readSetting(params.api_version, 'an Azure API version', plan)
  return { provider: 'azure', apiKey, data: { ...(resource ? { resource } : { baseUrl: base() }), apiVersion } }
}

/** Plans a Bedrock deployment's account: with its Bedrock key if it has one, otherwise with AWS access keys. */
function planBedrockAccount(params: JsonObject, { region }: LiteLlmModel, plan: ImportPlan): PlannedAccount {
  const readParam = (name: string, holds: string) => readSecret(params[name], name, holds, plan)
  return {
    provider: 'bedrock',
    apiKey: readSecret(params.api_key, 'BEDROCK_API_KEY', 'a Bedrock API key', plan) ?? joinAccessKeys(readParam, plan),
    data: {
      region:
        region ??
        readSetting(params.aws_region_name, 'an AWS region', plan) ??
        plan.readVariable('AWS_REGION', 'an AWS region'),
    },
  }
}

function planVertexAccount(params: JsonObject, plan: ImportPlan): PlannedAccount {
  const credentials = params.vertex_credentials
  const key = isKeyFile(credentials)
    ? plan.addVariable(credentials.trim(), VERTEX_VARIABLE, SERVICE_ACCOUNT_DESCRIPTION)
    : readSecret(credentials, VERTEX_VARIABLE, SERVICE_ACCOUNT_DESCRIPTION, plan)
  return {
    provider: 'vertex',
    apiKey: key ?? plan.readVariable(VERTEX_VARIABLE, SERVICE_ACCOUNT_DESCRIPTION),
    data: {
      project: readSetting(params.vertex_project, 'a Google Cloud project', plan),
      region: readSetting(params.vertex_location, 'a Google Cloud region', plan),
    },
  }
}

/** Returns whether the value is a key file's path instead of the key itself. */
const isKeyFile = (value: unknown): value is string =>
  readString(value) !== undefined && parseVariable(value) === undefined && !String(value).trim().startsWith('{')

/** Reports that a deployment's key file isn't read, and which variable needs its contents. */
export function reportKeyFile(
  place: string,
  params: JsonObject,
  { account, plan }: { account: PlannedAccount; plan: ImportPlan },
): void {
  const [name] = account.apiKey?.names ?? []
  if (account.provider !== 'vertex' || !isKeyFile(params.vertex_credentials)) return
  plan.reportUnmapped(
    `${place}.vertex_credentials`,
    `The key file is not read. Put its contents into the variable ${name}.`,
  )
}

/** Returns the variable name in `os.environ/NAME`, or in `${NAME}` and `$NAME`, which a shell fills in before LiteLLM reads the file. */
function parseVariable(value: unknown): string | undefined {
  const found = /^(?:os\.environ\/([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)(?::?-[^}]*)?\}|\$([A-Z_][A-Z0-9_]*))$/.exec(
    readString(value) ?? '',
  )
  return found?.[1] ?? found?.[2] ?? found?.[3]
}

/** Returns the string, or a reference to the variable that it names. Don't use it for secrets. */
function readSetting(value: unknown, holds: string, plan: ImportPlan): PlannedValue | undefined {
  const name = parseVariable(value)
  return name === undefined ? readString(value) : plan.readVariable(name, holds)
}

function readSecret(value: unknown, preferredName: string, holds: string, plan: ImportPlan): Reference | undefined {
  const name = parseVariable(value)
  if (name !== undefined) return plan.readVariable(name, holds)
  const text = isObject(value) ? JSON.stringify(value) : readString(value)
  return text === undefined ? undefined : plan.addSecret(text, preferredName, holds)
}
