import { isObject, type JsonObject } from '../../lib/json.ts'
import { getEntry } from '../../lib/maps.ts'
import { address, hostName, providerAt } from './addresses.ts'
import { accessKeys, SERVICE_ACCOUNT } from './cloud-credentials.ts'
import { textOf, words } from './given-fields.ts'
import { type ImportPlan, type PlannedAccount, type PlannedValue, Reference } from './plan.ts'
import { keyVariable, slug } from './plan-names.ts'

/* The accounts of LiteLLM's deployments, from the members of `litellm_params` that name the provider, the address and the key. */

/** Signalbox's names of providers that have another name in LiteLLM. */
const PROVIDERS: Readonly<Record<string, string>> = {
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

/** Providers that have the same name in LiteLLM and in Signalbox. */
const SAME = words(`
  openai azure anthropic bedrock mistral deepseek xai groq openrouter cerebras cohere moonshot sambanova deepinfra huggingface nebius novita
  siliconflow baseten scaleway zai minimax voyage ollama stepfun elevenlabs deepgram
`)

/** The variables that LiteLLM reads when a deployment has no key, where they are not `<PROVIDER>_API_KEY`. */
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

/** LiteLLM's addresses of providers that are not built into Signalbox. LiteLLM reads the keys of these from variables. */
const ADDRESSES: Readonly<Record<string, string>> = {
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

/** The variables that LiteLLM reads when a deployment has no address. */
const ADDRESS_VARIABLES: Readonly<Record<string, string>> = {
  azure: 'AZURE_API_BASE',
  azure_ai: 'AZURE_AI_API_BASE',
  databricks: 'DATABRICKS_API_BASE',
  hosted_vllm: 'HOSTED_VLLM_API_BASE',
  litellm_proxy: 'LITELLM_PROXY_API_BASE',
  lm_studio: 'LM_STUDIO_API_BASE',
}

/** Providers that are not built into Signalbox, and whose keys LiteLLM reads from variables. */
const KEYED = [...Object.keys(ADDRESSES), 'azure_ai', 'databricks']

/** Names of LiteLLM for servers of any kind that speak like OpenAI. */
const OPENAI_LIKE = [
  ...words(
    'openai custom_openai openai_like text-completion-openai hosted_vllm vllm litellm_proxy llamafile xinference',
  ),
  ...words('databricks docker_model_runner'),
  ...Object.keys(ADDRESSES),
]

/** Says what to check of a server whose provider Signalbox does not have, as it is asked like OpenAI. */
export function leaveUnknown(place: string, { provider }: GivenModel, account: PlannedAccount, plan: ImportPlan): void {
  if (!account.provider.startsWith('openai-compatible-') || provider === undefined || OPENAI_LIKE.includes(provider))
    return
  plan.leaves(
    place,
    provider === 'azure_ai'
      ? 'Signalbox calls Azure AI models at <api_base>/chat/completions. Check that this URL belongs to your resource.'
      : `Signalbox has no provider "${provider}", so it uses the OpenAI format at <api_base>/chat/completions. Check that this works.`,
  )
}

/** Local servers, which need no key. */
const KEYLESS = ['ollama', 'lmstudio']

/** The members of `litellm_params` that name the provider, the address and the key of a deployment. */
export const ACCOUNT_PARAMS = words(`
  custom_llm_provider api_key api_base base_url api_version azure_ad_token aws_access_key_id aws_secret_access_key aws_session_token
  aws_region_name vertex_project vertex_location vertex_credentials
`)

/**
 * The members among these of which the account of a deployment is made; the account has no place for the others. `provider`: Signalbox's name of it.
 */
export function accountParamsTaken(params: JsonObject, { region }: GivenModel, provider: string): readonly string[] {
  const hasKey = textOf(params.api_key) !== undefined
  const at = textOf(params.api_base) === undefined ? 'base_url' : 'api_base'
  const takenBy: Readonly<Record<string, readonly string[]>> = {
    azure: [at, 'api_version', hasKey ? 'api_key' : 'azure_ad_token'],
    bedrock: [
      ...(hasKey ? ['api_key'] : words('aws_access_key_id aws_secret_access_key aws_session_token')),
      ...(region === undefined ? ['aws_region_name'] : []),
    ],
    vertex: words('vertex_credentials vertex_project vertex_location'),
  }
  return ['custom_llm_provider', ...(getEntry(takenBy, provider) ?? ['api_key', at])]
}

/** Reports the defaults of variables, as in `${NAME:-default}`, which may be secrets. */
export function leaveDefaults(place: string, params: JsonObject, plan: ImportPlan): void {
  for (const name of ACCOUNT_PARAMS) {
    const variable = /^\$\{([A-Za-z_]\w*):?-[^}]+\}$/.exec(textOf(params[name]) ?? '')?.[1]
    if (variable !== undefined) plan.leaves(`${place}.${name}`, `The default value is not imported. Set ${variable}.`)
  }
}

/** The model that a deployment names: its provider (the part before the first slash, or the vendor of a well-known name) and the rest. */
export interface GivenModel {
  provider: string | undefined
  model: string
  /** The region in the name of a model of Bedrock. */
  region?: string | undefined
}

/** The provider and the model that a deployment names, as LiteLLM understands the name. */
export function namedModel(params: JsonObject): GivenModel {
  const whole = textOf(params.model) ?? ''
  const custom = textOf(params.custom_llm_provider)
  const slash = whole.indexOf('/')
  const first = whole.slice(0, Math.max(slash, 0))
  if (custom) return withoutRoute(custom, first === custom ? whole.slice(slash + 1) : whole)
  if (slash > 0) return withoutRoute(first, whole.slice(slash + 1))
  if (/^(?:gpt-|o\d|chatgpt-|text-embedding-|omni-moderation|dall-e|whisper|tts-)/.test(whole))
    return { provider: 'openai', model: whole }
  if (/^claude-/.test(whole)) return { provider: 'anthropic', model: whole }
  if (/^(?:[a-z]{2,6}\.)?(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek)\./.test(whole))
    return { provider: 'bedrock', model: whole }
  if (/^gemini-/.test(whole)) return { provider: 'vertex_ai', model: whole }
  if (/^(?:command|embed-|rerank-)/.test(whole)) return { provider: 'cohere', model: whole }
  return { provider: params.api_base === undefined ? undefined : 'openai', model: whole }
}

/** Parts of LiteLLM's names between the provider and the model, which choose one of the provider's APIs. */
const ROUTES: Readonly<Record<string, RegExp>> = {
  azure: /^(?:responses|o_series|gpt5_series)\//,
  bedrock: /^(?:converse|converse_like|invoke)\//,
  openai: /^(?:responses|chat\/completions)\//,
}

function withoutRoute(provider: string, model: string): GivenModel {
  const route = getEntry(ROUTES, provider)
  const found = route ? model.replace(route, '') : model
  const region = provider === 'bedrock' ? /^([a-z]{2}(?:-[a-z]+)+-\d)\/./.exec(found)?.[1] : undefined
  return { provider, model: region === undefined ? found : found.slice(region.length + 1), region }
}

/** The variables that LiteLLM reads for a deployment. */
export function variablesOf(params: JsonObject): string[] {
  const { provider = '' } = namedModel(params)
  const named = Object.values(params).flatMap((value) => environ(value) ?? [])
  if (isVertex(params)) return params.vertex_credentials === undefined ? [...named, VERTEX_VARIABLE] : named
  return params.api_key === undefined ? [...named, usualVariable(provider)] : named
}

/** Is a deployment at Vertex AI? */
export const isVertex = (params: JsonObject): boolean =>
  getEntry(PROVIDERS, namedModel(params).provider ?? '') === 'vertex'

function usualVariable(provider: string): string {
  const known = getEntry(PROVIDERS, provider) ?? provider
  return getEntry(KEY_VARIABLES, known) ?? keyVariable(known)
}

/** The account of a deployment, or why there is none. */
export function accountOf(params: JsonObject, named: GivenModel, plan: ImportPlan): PlannedAccount | string {
  const { provider } = named
  if (provider === undefined)
    return named.model === '*'
      ? 'Matches the models of all providers. Signalbox connects the providers whose keys are in the environment; see "Keys from the environment" in the docs.'
      : 'Has no provider. Write <provider>/<model> in the LiteLLM file first, or create the connection yourself.'
  if (provider === 'os.environ')
    return 'Reads its model from a variable. Write the model name into the file, and run the import again.'
  const given = textOf(params.api_base) ?? textOf(params.base_url) ?? getEntry(ADDRESSES, provider)
  const at = provider === 'openai' ? providerAt(given) : undefined
  const known = at ?? getEntry(PROVIDERS, provider) ?? (SAME.includes(provider) ? provider : undefined)
  const isOwnServer = known === undefined || (at === undefined && known === 'openai' && given !== undefined)
  const variable = given === undefined ? getEntry(ADDRESS_VARIABLES, provider) : environ(given)
  if (known === undefined && given === undefined && variable === undefined)
    return `Signalbox has no provider "${provider}", and the deployment has no api_base.`

  const ownName = () => (provider === 'openai' ? serverName(given) : slug(provider))
  const wish = isOwnServer ? ownName() : known
  const needsKey = isOwnServer ? KEYED.includes(provider) : !KEYLESS.includes(known)
  const apiKey =
    secretOf(params.api_key, `${wish}_API_KEY`, 'an API key', plan) ??
    (known === 'azure' ? secretOf(params.azure_ad_token, `${wish}_AD_TOKEN`, 'an Entra ID token', plan) : undefined) ??
    (needsKey ? plan.read(usualVariable(at ?? provider), 'an API key') : undefined)
  const base = (end = ''): PlannedValue | undefined => {
    if (variable !== undefined) return new Reference(['', end], plan.read(variable, 'a base URL').names)
    return given === undefined || at !== undefined ? undefined : address(plan, given, { wish, end })
  }

  if (isOwnServer) return { provider: `openai-compatible-${wish}`, id: wish, apiKey, data: { baseUrl: base() } }
  for (const [name, shape] of Object.entries(SHAPES)) {
    const value = textOf(params[name])
    if (value !== undefined && environ(value) === undefined && !shape.test(value))
      return `Has an invalid ${name}. Correct it in the file, and run the import again.`
  }
  if (known === 'azure') return azureAccount(params, { apiKey, given, base, plan })
  if (known === 'bedrock') return bedrockAccount(params, named, plan)
  if (known === 'vertex') return vertexAccount(params, plan)
  const end = known === 'anthropic' || known === 'ollama' ? '/v1' : ''
  return { provider: known, apiKey, data: { baseUrl: base(given === undefined ? '' : end) } }
}

/** The forms of the settings of clouds. A connection with a setting of another form is refused. */
const SHAPES: Readonly<Record<string, RegExp>> = {
  api_version: /^[\w.-]{1,40}$/,
  aws_region_name: /^[a-z0-9-]{2,40}$/,
  vertex_location: /^[a-z0-9-]{2,40}$/,
  vertex_project: /^[a-z0-9][a-z0-9.:-]{0,62}$/,
}

/** A name for the server at an address, made from the name of its host, or of the variable that holds the address. */
function serverName(given: string | undefined): string {
  const name = environ(given)
    ?.toLowerCase()
    .replace(/_(?:api_)?(?:base_?url|base|url|endpoint|host)$/, '')
  return name === undefined ? hostName(given) : slug(name)
}

function azureAccount(
  params: JsonObject,
  {
    apiKey,
    given,
    base,
    plan,
  }: {
    apiKey: Reference | undefined
    given: string | undefined
    base: () => PlannedValue | undefined
    plan: ImportPlan
  },
): PlannedAccount {
  const resource = /^https:\/\/([A-Za-z0-9][\w-]*)\.openai\.azure\.com\/?$/.exec(given ?? '')?.[1]
  const apiVersion = referenceOr(params.api_version, 'an Azure API version', plan)
  return { provider: 'azure', apiKey, data: { ...(resource ? { resource } : { baseUrl: base() }), apiVersion } }
}

/** The account of a deployment at Bedrock: with its Bedrock key if it has one, else with access keys of AWS. */
function bedrockAccount(params: JsonObject, { region }: GivenModel, plan: ImportPlan): PlannedAccount {
  const given = (name: string, holds: string) => secretOf(params[name], name, holds, plan)
  return {
    provider: 'bedrock',
    apiKey: secretOf(params.api_key, 'BEDROCK_API_KEY', 'a Bedrock API key', plan) ?? accessKeys(given, plan),
    data: {
      region:
        region ??
        referenceOr(params.aws_region_name, 'an AWS region', plan) ??
        plan.read('AWS_REGION', 'an AWS region'),
    },
  }
}

function vertexAccount(params: JsonObject, plan: ImportPlan): PlannedAccount {
  const given = params.vertex_credentials
  const key = isKeyFile(given)
    ? plan.variableFor(given.trim(), VERTEX_VARIABLE, SERVICE_ACCOUNT)
    : secretOf(given, VERTEX_VARIABLE, SERVICE_ACCOUNT, plan)
  return {
    provider: 'vertex',
    apiKey: key ?? plan.read(VERTEX_VARIABLE, SERVICE_ACCOUNT),
    data: {
      project: referenceOr(params.vertex_project, 'a Google Cloud project', plan),
      region: referenceOr(params.vertex_location, 'a Google Cloud region', plan),
    },
  }
}

/** Has a deployment the path of a key file in place of the key? */
const isKeyFile = (value: unknown): value is string =>
  textOf(value) !== undefined && environ(value) === undefined && !String(value).trim().startsWith('{')

/** Says that the key file of a deployment is not read, and which variable takes its content. */
export function leaveKeyFile(
  place: string,
  params: JsonObject,
  { account, plan }: { account: PlannedAccount; plan: ImportPlan },
): void {
  const [name] = account.apiKey?.names ?? []
  if (account.provider !== 'vertex' || !isKeyFile(params.vertex_credentials)) return
  plan.leaves(`${place}.vertex_credentials`, `The key file is not read. Put its contents into the variable ${name}.`)
}

/** The name of the variable in `os.environ/NAME`, or in `${NAME}` and `$NAME` of files that a shell fills in before LiteLLM reads them. */
function environ(value: unknown): string | undefined {
  const found = /^(?:os\.environ\/([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)(?::?-[^}]*)?\}|\$([A-Z_][A-Z0-9_]*))$/.exec(
    textOf(value) ?? '',
  )
  return found?.[1] ?? found?.[2] ?? found?.[3]
}

/** The text, or the variable that it names. Not for secrets. */
function referenceOr(value: unknown, holds: string, plan: ImportPlan): PlannedValue | undefined {
  const name = environ(value)
  return name === undefined ? textOf(value) : plan.read(name, holds)
}

function secretOf(value: unknown, wish: string, holds: string, plan: ImportPlan): Reference | undefined {
  const name = environ(value)
  if (name !== undefined) return plan.read(name, holds)
  const given = isObject(value) ? JSON.stringify(value) : textOf(value)
  return given === undefined ? undefined : plan.secret(given, wish, holds)
}
