import { isObject, type JsonObject } from '../../lib/json.ts'
import { ENTRY_PARAMS_WIN, entryParamsOf } from './entry-params.ts'
import { PARAM_REASONS, READ_PARAMS } from './litellm-params.ts'
import { planSettings, STRATEGIES } from './litellm-settings.ts'
import {
  address,
  entriesOf,
  type ImportPlan,
  isNone,
  keyVariable,
  listOf,
  numberOf,
  objectOf,
  type PlannedAccount,
  type PlannedEntry,
  type PlannedValue,
  Reference,
  slug,
  textOf,
} from './plan.ts'

/* LiteLLM's config.yaml, as docs.litellm.ai/docs/proxy/config_settings describes it. */

/** A deployment: one entry of `model_list`. */
interface Deployment {
  place: string
  connection: string
  model: string
  /** Its share under `simple-shuffle`: `weight`, else `rpm`, else `tpm`. */
  weight: number | undefined
  mode: string | undefined
  baseModel: string | undefined
  /** What it sets for its requests, as an entry of a combo here. */
  params: Readonly<Record<string, PlannedValue>> | undefined
}

/** The providers of LiteLLM that are here under another name. */
const PROVIDERS: Readonly<Record<string, string>> = {
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
  together_ai: 'together',
  vercel_ai_gateway: 'vercel',
  vertex_ai: 'vertex',
}

/** Those that are called the same. */
const SAME = `
  openai azure anthropic bedrock mistral deepseek xai groq openrouter cerebras cohere moonshot sambanova deepinfra huggingface nebius novita
  siliconflow baseten scaleway zai minimax voyage ollama stepfun
`
  .trim()
  .split(/\s+/)

/** The variables that LiteLLM reads when a deployment has no key, where they are not `<PROVIDER>_API_KEY`. */
const KEY_VARIABLES: Readonly<Record<string, string>> = {
  google: 'GEMINI_API_KEY',
  together: 'TOGETHERAI_API_KEY',
  'perplexity-agent': 'PERPLEXITYAI_API_KEY',
  alibaba: 'DASHSCOPE_API_KEY',
  'nvidia-nim': 'NVIDIA_NIM_API_KEY',
  jina: 'JINA_AI_API_KEY',
}

/** What a deployment is for where its requests are chat; so they are where it does not say. */
const CHAT_MODES = ['chat', 'completion', 'responses']

/** Local servers, which need no key. */
const KEYLESS = ['ollama', 'lmstudio']

const SECTIONS = {
  model_list: 'list',
  litellm_settings: 'object',
  router_settings: 'object',
  general_settings: 'object',
} as const

/** Plans what a LiteLLM configuration is here. Throws a problem when it is none. */
export function planLiteLlm(config: unknown, plan: ImportPlan): void {
  if (!isObject(config) || !Object.keys(SECTIONS).some((name) => name in config))
    isNone('a configuration of LiteLLM', 'It has a "model_list".')
  plan.leavesMistyped('', config, SECTIONS)
  const groups = new Map<string, Deployment[]>()
  const wildcards: { name: string; deployment: Deployment }[] = []
  for (const entry of listOf(config.model_list)) for (const name of variablesOf(objectOf(entry))) plan.reserve(name)
  for (const [at, entry] of listOf(config.model_list).entries()) {
    const place = `model_list[${at}]`
    const name = textOf(objectOf(entry).model_name)
    const deployment = name === undefined ? undefined : deploymentOf(objectOf(entry), place, plan)
    if (name === undefined) plan.leaves(place, 'has no model_name')
    else if (!deployment) continue
    else if (name.includes('*') || deployment.model.includes('*')) wildcards.push({ name, deployment })
    else groups.set(name, [...(groups.get(name) ?? []), deployment])
  }
  const router = { ...objectOf(config.litellm_settings), ...objectOf(config.router_settings) }
  const bases = planGroups(groups, router, plan)
  planWildcards(wildcards, plan)
  planAliases(router, bases, plan)
  planSettings(config, router, plan)
  plan.leavesRest('', config, {
    done: Object.keys(SECTIONS),
    reasons: {
      environment_variables: 'Set the variables in the environment: the file of records holds none.',
      guardrails: 'Signalbox looks into no prompts.',
      mcp_servers: 'Signalbox serves no MCP.',
      finetune_settings: 'Fine-tuning and files go to the provider itself.',
      files_settings: 'Fine-tuning and files go to the provider itself.',
    },
  })
}

/** The variables that LiteLLM reads for a deployment. */
function variablesOf(entry: JsonObject): string[] {
  const params = objectOf(entry.litellm_params)
  const { provider = '' } = namedModel(params)
  const named = Object.values(params).flatMap((value) => environ(value) ?? [])
  return params.api_key === undefined ? [...named, usualVariable(provider)] : named
}

function usualVariable(provider: string): string {
  const known = PROVIDERS[provider] ?? provider
  return KEY_VARIABLES[known] ?? keyVariable(known)
}

/** The provider and the model that a deployment names, as LiteLLM takes it: the part before the first slash, or the vendor of a well-known name. */
function namedModel(params: JsonObject): { provider: string | undefined; model: string } {
  const whole = textOf(params.model) ?? ''
  const custom = textOf(params.custom_llm_provider)
  const slash = whole.indexOf('/')
  const first = whole.slice(0, Math.max(slash, 0))
  if (custom) return { provider: custom, model: first === custom ? whole.slice(slash + 1) : whole }
  if (slash > 0) return { provider: first, model: whole.slice(slash + 1) }
  if (/^(?:gpt-|o\d|chatgpt-|text-embedding-|omni-moderation|dall-e|whisper|tts-)/.test(whole))
    return { provider: 'openai', model: whole }
  if (/^claude-/.test(whole)) return { provider: 'anthropic', model: whole }
  if (/^gemini-/.test(whole)) return { provider: 'vertex_ai', model: whole }
  if (/^(?:command|embed-|rerank-)/.test(whole)) return { provider: 'cohere', model: whole }
  return { provider: params.api_base === undefined ? undefined : 'openai', model: whole }
}

/** Plans the connection of a deployment; `undefined` when it cannot be one, which is said. */
function deploymentOf(entry: JsonObject, place: string, plan: ImportPlan): Deployment | undefined {
  plan.leavesMistyped(`${place}.`, entry, { litellm_params: 'object', model_info: 'object' })
  const params = objectOf(entry.litellm_params)
  const info = objectOf(entry.model_info)
  const { provider, model } = namedModel(params)
  const account = accountOf(params, provider, plan)
  if (typeof account === 'string' || model === '') {
    plan.leaves(place, typeof account === 'string' ? account : `names no model behind "${provider}/"`)
    return undefined
  }
  const connection = plan.connection(account)
  const perToken = (name: string) => numberOf(params[name]) ?? numberOf(info[name])
  const perMillion = (name: string) => {
    const cost = perToken(name)
    return cost === undefined ? undefined : Number((cost * 1e6).toPrecision(12))
  }
  const price = {
    input: perMillion('input_cost_per_token'),
    output: perMillion('output_cost_per_token'),
    cacheRead: perMillion('cache_read_input_token_cost'),
    cacheWrite: perMillion('cache_creation_input_token_cost'),
  }
  if (Object.values(price).some((one) => one !== undefined)) plan.price(connection, model, price)
  const mode = textOf(info.mode)
  const set = entryParamsOf(mode === undefined || CHAT_MODES.includes(mode) ? params : {})
  const done = [...READ_PARAMS, ...set.done]
  plan.leavesRest(`${place}.litellm_params`, params, { done, reasons: PARAM_REASONS })
  for (const name of ['rpm', 'tpm'])
    if (entry[name] !== undefined) plan.leaves(`${place}.${name}`, PARAM_REASONS[name] ?? '')
  const share = (name: string) =>
    plan.share(`${place}.litellm_params.${name}`, params[name]) ?? plan.share(`${place}.${name}`, entry[name])
  return {
    place,
    connection,
    model,
    weight: share('weight') ?? share('rpm') ?? share('tpm'),
    mode,
    baseModel: textOf(info.base_model),
    params: set.params,
  }
}

/** The account of a deployment, or why there is none. */
function accountOf(params: JsonObject, named: string | undefined, plan: ImportPlan): PlannedAccount | string {
  if (named === undefined) return 'names no provider: write <provider>/<model> in LiteLLM first, or connect it by hand'
  const given = textOf(params.api_base) ?? textOf(params.base_url)
  const known = PROVIDERS[named] ?? (SAME.includes(named) ? named : undefined)
  const isOwnServer = known === undefined || (known === 'openai' && given !== undefined)
  if (known === undefined && given === undefined)
    return `Signalbox has no provider "${named}", and there is no api_base to ask it at`
  const wish = isOwnServer ? slug(named === 'openai' ? hostOf(given) : named) : known
  const keyOf = (value: unknown, holds = 'an API key') => secretOf(value, `${wish}_API_KEY`, holds, plan)
  const usual = usualVariable(named)
  const apiKey =
    keyOf(params.api_key) ?? (isOwnServer || KEYLESS.includes(known) ? undefined : plan.read(usual, 'an API key'))
  const base = (end = '') => (given === undefined ? undefined : baseUrl(given, { wish, end }, plan))

  if (isOwnServer) return { provider: `openai-compatible-${wish}`, id: wish, apiKey, data: { baseUrl: base() } }
  if (known === 'azure') {
    const resource = /^https:\/\/([\w-]+)\.openai\.azure\.com\/?$/.exec(given ?? '')?.[1]
    if (given === undefined) return 'has no api_base: which resource of Azure it is, is not known'
    const apiVersion = textOf(params.api_version)
    return { provider: known, apiKey, data: { ...(resource ? { resource } : { baseUrl: base() }), apiVersion } }
  }
  if (known === 'bedrock') {
    const id =
      secretOf(params.aws_access_key_id, 'AWS_ACCESS_KEY_ID', 'an access key of AWS', plan) ??
      plan.read('AWS_ACCESS_KEY_ID', 'an access key of AWS')
    const key =
      secretOf(params.aws_secret_access_key, 'AWS_SECRET_ACCESS_KEY', 'its secret', plan) ??
      plan.read('AWS_SECRET_ACCESS_KEY', 'its secret')
    const session = secretOf(params.aws_session_token, 'AWS_SESSION_TOKEN', 'its session token', plan)
    const region =
      referenceOr(params.aws_region_name, 'a region of AWS', plan) ?? plan.read('AWS_REGION', 'a region of AWS')
    return { provider: known, apiKey: together([id, key, ...(session ? [session] : [])]), data: { region } }
  }
  if (known === 'vertex') {
    const key = secretOf(
      params.vertex_credentials,
      'VERTEX_CREDENTIALS',
      'the content of a key file of a service account',
      plan,
    )
    return {
      provider: known,
      apiKey: key ?? plan.read('VERTEX_CREDENTIALS', 'the content of a key file of a service account'),
      data: {
        project: referenceOr(params.vertex_project, 'a project of Google Cloud', plan),
        region: referenceOr(params.vertex_location, 'a region of Google Cloud', plan),
      },
    }
  }
  return { provider: known, apiKey, data: { baseUrl: base(known === 'anthropic' || known === 'ollama' ? '/v1' : '') } }
}

const hostOf = (given = '') =>
  URL.canParse(given) ? new URL(given).hostname.replace(/\.(?:com|net|org|ai|io|local)$/, '') : 'server'

/** The name of the variable in `os.environ/NAME`. */
const environ = (value: unknown) => /^os\.environ\/([A-Za-z_]\w*)$/.exec(textOf(value) ?? '')?.[1]

/** A text that may be a variable, and is no secret. */
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

function baseUrl(given: string, { wish, end }: { wish: string; end: string }, plan: ImportPlan): PlannedValue {
  const name = environ(given)
  return name === undefined ? address(plan, given, { wish, end }) : plan.read(name, 'an address')
}

/** The parts of one credential, with colons between. */
function together(parts: readonly Reference[]): Reference {
  const names = parts.flatMap((part) => part.names)
  return new Reference(['', ...names.slice(1).map(() => ':'), ''], names)
}

/** The names under which the deployments of each `model_name` are asked, without its fallbacks. */
function planGroups(
  groups: ReadonlyMap<string, Deployment[]>,
  router: JsonObject,
  plan: ImportPlan,
): Map<string, string> {
  const fallbacks = fallbacksOf(router, groups, plan)
  const retries = numberOf(router.num_retries) ?? 0
  const bases = new Map<string, string>()
  for (const [name, deployments] of groups)
    bases.set(name, baseOf(name, deployments, { router, hasMore: fallbacks.has(name), plan }))
  for (const [name, others] of fallbacks) {
    const models = [bases.get(name), ...others.map((other) => bases.get(other))].filter((model) => model !== undefined)
    const size = [name, ...others].reduce((sum, one) => sum + (groups.get(one)?.length ?? 0), 0)
    const combo = plan.comboName(name)
    const maxAttempts = Math.min(100, Math.max(3, size + retries))
    plan.combos.set(combo, { models, maxAttempts })
    plan.maps(`fallbacks of ${name}`, `combo ${combo}: ${models.join(', ')}`)
    if (combo !== name) plan.aliases.set(name, combo)
  }
  return bases
}

/** The deployments of one `model_name`: a model where there is one, otherwise a combo. */
function baseOf(
  name: string,
  deployments: readonly Deployment[],
  { router, hasMore, plan }: { router: JsonObject; hasMore: boolean; plan: ImportPlan },
): string {
  const [first] = deployments
  if (!first) return name
  const shown = `${first.place}${deployments.length > 1 ? ` and ${deployments.length - 1} more` : ''}: ${name}`
  const model = plan.model(first.connection, first.model)
  if (deployments.length === 1 && !first.params) {
    plan.maps(shown, `model ${model}`)
    if (!hasMore && model !== name) plan.aliases.set(name, model)
    return model
  }
  const isEmbedding = deployments.some(({ mode }) => mode === 'embedding')
  const different = new Set(deployments.map(({ model: id, baseModel }) => baseModel ?? id)).size > 1
  if (isEmbedding && different) {
    plan.maps(shown, `model ${model}`)
    plan.leaves(
      name,
      'Other deployments are of other models, whose embeddings must not be mixed; the first one is taken.',
    )
    if (!hasMore) plan.aliases.set(name, model)
    return model
  }
  const given = textOf(router.routing_strategy) ?? 'simple-shuffle'
  const strategy = STRATEGIES[given] ?? 'weighted'
  const entries: PlannedEntry[] = deployments.map(({ connection, model: id, weight, params }) => ({
    model: plan.model(connection, id),
    weight: strategy === 'weighted' ? weight : undefined,
    params,
  }))
  const combo = plan.comboName(hasMore ? `${name}-deployments` : name)
  plan.combos.set(combo, {
    models: entriesOf(entries),
    strategy,
    ...(isEmbedding && { kind: 'embedding', sameVectors: true }),
  })
  if (!hasMore && combo !== name) plan.aliases.set(name, combo)
  plan.maps(shown, `combo ${combo} (${strategy}): ${entries.map((entry) => entry.model).join(', ')}`)
  for (const { place, params } of deployments)
    if (params) plan.maps(`${place}: ${Object.keys(params).join(', ')}`, ENTRY_PARAMS_WIN)
  return combo
}

/** The names that each `model_name` falls back to. */
function fallbacksOf(
  router: JsonObject,
  groups: ReadonlyMap<string, unknown>,
  plan: ImportPlan,
): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const add = (name: string, others: readonly string[], place: string) => {
    if (!groups.has(name)) {
      plan.leaves(`${place}: ${name}`, 'No deployment has this model_name.')
      return
    }
    for (const other of others) {
      if (!groups.has(other)) plan.leaves(`${place}: ${name} to ${other}`, 'No deployment has this model_name.')
      else if (other !== name && !found.get(name)?.includes(other)) found.set(name, [...(found.get(name) ?? []), other])
    }
  }
  const names = (value: unknown) => listOf(value).map((one) => textOf(one) ?? textOf(objectOf(one).model) ?? '')
  for (const list of ['fallbacks', 'context_window_fallbacks'])
    for (const one of listOf(router[list]))
      for (const [name, others] of Object.entries(objectOf(one))) {
        if (name === '*') for (const each of groups.keys()) add(each, names(others), list)
        else add(name, names(others), list)
      }
  for (const name of groups.keys()) add(name, names(router.default_fallbacks), 'default_fallbacks')
  if (listOf(router.context_window_fallbacks).length > 0)
    plan.leaves(
      'context_window_fallbacks',
      'They are entries of the same combos: they are tried after other failures as well, and targets that are too small are passed over.',
    )
  return found
}

function planWildcards(wildcards: readonly { name: string; deployment: Deployment }[], plan: ImportPlan): void {
  for (const { name, deployment } of wildcards) {
    const { place, connection, model } = deployment
    const target = plan.model(connection, '*')
    if (model === '*' && name === target) plan.maps(`${place}: ${name}`, `connection ${connection}: every ${name}`)
    else
      plan.leaves(
        `${place}: ${name}`,
        `Names with * are not translated. Connection ${connection} serves every model as ${plan.model(connection, '<model>')}.`,
      )
  }
}

function planAliases(router: JsonObject, bases: ReadonlyMap<string, string>, plan: ImportPlan): void {
  for (const [alias, value] of Object.entries(objectOf(router.model_group_alias))) {
    const group = textOf(value) ?? textOf(objectOf(value).model)
    if (group === undefined || !bases.has(group)) {
      plan.leaves(`model_group_alias.${alias}`, 'No deployment has this model_name.')
      continue
    }
    const target = plan.combos.has(group) ? group : (plan.aliases.get(group) ?? bases.get(group) ?? group)
    plan.aliases.set(alias, target)
    plan.maps(`model_group_alias.${alias}`, `alias ${alias} of ${target}`)
  }
}
