import { isObject, type JsonObject } from '../../lib/json.ts'
import { ENTRY_PARAMS_WIN, entryParamsOf } from './entry-params.ts'
import {
  address,
  entriesOf,
  type ImportPlan,
  isNone,
  keyVariable,
  listOf,
  milliseconds,
  numberOf,
  objectOf,
  type PlannedAccount,
  type PlannedEntry,
  type PlannedValue,
  Reference,
  slug,
  textOf,
} from './plan.ts'

/* Portkey's config object, as portkey.ai/docs/api-reference/config-object describes it; its members are taken in both spellings, api_key and apiKey. */

/** The providers of Portkey that are here under another name. */
const PROVIDERS: Readonly<Record<string, string>> = {
  'azure-openai': 'azure',
  'vertex-ai': 'vertex',
  'mistral-ai': 'mistral',
  'together-ai': 'together',
  'fireworks-ai': 'fireworks',
  'perplexity-ai': 'perplexity-agent',
  'x-ai': 'xai',
  'novita-ai': 'novita',
  dashscope: 'alibaba',
  zhipu: 'zai',
  nvidia: 'nvidia-nim',
}
const SAME = `
  openai anthropic bedrock google groq deepseek openrouter cohere cerebras ollama huggingface nebius sambanova siliconflow deepinfra moonshot
  voyage jina minimax mistral xai together fireworks azure vertex
`
  .trim()
  .split(/\s+/)

/** A target: a connection and its model, or a strategy over others. */
interface ModelTarget {
  place: string
  name: string | undefined
  weight: number | undefined
  connection: string | undefined
  model: string | undefined
  /** What it sets for its requests, as an entry of a combo here. */
  params: Readonly<Record<string, PlannedValue>> | undefined
}
interface StrategyTarget {
  place: string
  name: string | undefined
  weight: number | undefined
  given: JsonObject
  targets: readonly TargetNode[]
}
type TargetNode = ModelTarget | StrategyTarget
const isBranch = (node: TargetNode): node is StrategyTarget => 'targets' in node

/** Plans what a config of Portkey is here. `model`: for targets that name none and take that of the request. Throws a problem when it is no config. */
export function planPortkey(config: unknown, plan: ImportPlan, { model }: { model?: string | undefined } = {}): void {
  const given = withSnakeCase(config)
  if (!isObject(given) || !['targets', 'provider', 'virtual_key', 'strategy'].some((name) => name in given))
    isNone('a config of Portkey', 'It has a "strategy" and "targets", or a "provider".')
  const root = nodeOf(given, { place: '', model, inherited: {}, plan })
  const top: StrategyTarget = isBranch(root) ? root : { ...root, given: {}, targets: [root] }
  planCombo(top, 'portkey', plan)
}

/** The value with names such as `apiKey` as `api_key`; what the client is to send is left as it is. */
function withSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSnakeCase)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      return [
        name.startsWith('$') || name.includes('.') ? name : snake,
        snake === 'query' ? inner : withSnakeCase(inner),
      ]
    }),
  )
}

interface TargetPlace {
  place: string
  model: string | undefined
  /** What the targets have from the config around them. */
  inherited: JsonObject
  plan: ImportPlan
}

const INHERITED = ['override_params', 'provider', 'api_key', 'virtual_key', 'custom_host']

function nodeOf(given: JsonObject, { place, model, inherited, plan }: TargetPlace): TargetNode {
  const name = textOf(given.name)
  const within = place && `${place}.`
  plan.leavesMistyped(within, given, {
    strategy: 'object',
    targets: 'list',
    retry: 'object',
    override_params: 'object',
  })
  const weight = plan.share(`${within}weight`, given.weight)
  const own = Object.fromEntries(
    INHERITED.filter((member) => given[member] !== undefined).map((member) => [member, given[member]]),
  )
  const params = { ...objectOf(inherited.override_params), ...objectOf(given.override_params) }
  const whole = { ...inherited, ...own, override_params: params }
  plan.leavesRest(place, given, { done: READ, reasons: REASONS })
  if (Array.isArray(given.targets)) {
    const targets = given.targets.map((target, at) =>
      nodeOf(objectOf(target), { place: `${within}targets[${at}]`, model, inherited: whole, plan }),
    )
    return { place, name, weight, given, targets }
  }
  const shown = place || 'the config'
  const account = accountOf({ ...given, ...whole }, shown, plan)
  if (typeof account === 'string') plan.leaves(shown, account)
  const asked = textOf(given.deployment_id) ?? textOf(params.model)
  const set = entryParamsOf(params)
  plan.leavesRest(`${shown}.override_params`, params, { done: ['model', ...set.done] })
  return {
    place,
    name,
    weight,
    connection: typeof account === 'string' ? undefined : plan.connection(account),
    model: asked ?? model,
    params: set.params,
  }
}

function accountOf(given: JsonObject, place: string, plan: ImportPlan): PlannedAccount | string {
  const vaulted =
    textOf(given.virtual_key) ??
    (textOf(given.provider)?.startsWith('@') ? textOf(given.provider)?.slice(1) : undefined)
  const named = vaulted === undefined ? textOf(given.provider) : undefined
  const host = textOf(given.custom_host)
  const names = [...SAME, ...Object.keys(PROVIDERS)].sort((one, other) => other.length - one.length)
  const known = (name: string) => PROVIDERS[name] ?? (SAME.includes(name) ? name : undefined)
  const guessed =
    vaulted === undefined
      ? undefined
      : names.find((name) => slug(vaulted) === name || slug(vaulted).startsWith(`${name}-`))
  const provider = known(named ?? guessed ?? '')
  if (named === undefined && vaulted === undefined) return 'has no provider'
  if (vaulted !== undefined && provider === undefined)
    return `"${vaulted}" is a name in Portkey's own store, which does not tell the provider: write "provider" and "api_key" into the config`
  if (provider === undefined && host === undefined)
    return `Signalbox has no provider "${named}", and there is no custom_host to ask it at`
  const isOwnServer = provider === undefined || (host !== undefined && provider !== 'ollama')
  const wish = isOwnServer ? slug(host && URL.canParse(host) ? new URL(host).hostname : (named ?? 'server')) : provider
  if (vaulted !== undefined)
    plan.maps(`${place}: ${vaulted}`, `provider ${provider}, as the name says; its key is in Portkey's store`)
  const literal = textOf(given.api_key)
  const key = literal !== undefined ? secretOf(literal, `${wish}_API_KEY`, 'an API key', plan) : undefined
  const vaultKey = vaulted === undefined ? undefined : plan.read(keyVariable(vaulted), 'an API key')
  const apiKey =
    key ??
    vaultKey ??
    (isOwnServer || provider === 'ollama' ? undefined : plan.read(keyVariable(provider), 'an API key'))
  const baseUrl =
    host === undefined ? undefined : address(plan, host, { wish, end: provider === 'ollama' ? '/v1' : '' })
  if (isOwnServer) return { provider: `openai-compatible-${wish}`, id: wish, apiKey, data: { baseUrl } }
  if (provider === 'azure') {
    const resource = textOf(given.resource_name)
    if (resource === undefined) return 'has no resource_name: which resource of Azure it is, is not known'
    return { provider, apiKey, data: { resource, apiVersion: textOf(given.api_version) } }
  }
  if (provider === 'bedrock') {
    const of = (name: string, holds: string) => {
      const value = textOf(given[name])
      return value === undefined ? undefined : secretOf(value, name, holds, plan)
    }
    const id = of('aws_access_key_id', 'an access key of AWS') ?? plan.read('AWS_ACCESS_KEY_ID', 'an access key of AWS')
    const secret = of('aws_secret_access_key', 'its secret') ?? plan.read('AWS_SECRET_ACCESS_KEY', 'its secret')
    const session = of('aws_session_token', 'its session token')
    const all = [id, secret, ...(session ? [session] : [])].flatMap(({ names }) => names)
    const region = textOf(given.aws_region) ?? plan.read('AWS_REGION', 'a region of AWS')
    return { provider, apiKey: new Reference(['', ...all.slice(1).map(() => ':'), ''], all), data: { region } }
  }
  if (provider === 'vertex') {
    const account = given.vertex_service_account_json
    const credential = isObject(account)
      ? plan.secret(JSON.stringify(account), 'VERTEX_CREDENTIALS', 'the content of a key file of a service account')
      : apiKey
    return {
      provider,
      apiKey: credential,
      data: { project: textOf(given.vertex_project_id), region: textOf(given.vertex_region) },
    }
  }
  return { provider, apiKey, data: { baseUrl } }
}

/** Portkey's own files write `{{NAME}}` or `$NAME` where a variable is meant. */
function secretOf(value: string, wish: string, holds: string, plan: ImportPlan): Reference {
  const name = /^(?:\{\{\s*([A-Za-z_]\w*)\s*\}\}|\$\{?([A-Z_][A-Z0-9_]*)\}?)$/.exec(value)
  const found = name?.[1] ?? name?.[2]
  return found === undefined ? plan.secret(value, wish, holds) : plan.read(found, holds)
}

/** Plans a strategy and those below it; the names are those of the combos. */
function planCombo({ place, given, targets }: StrategyTarget, wish: string, plan: ImportPlan): string {
  const strategy = objectOf(given.strategy)
  const mode = textOf(strategy.mode) ?? (targets.length > 1 ? 'fallback' : 'single')
  const name = plan.comboName(wish)
  plan.combos.set(name, {}) // the name is taken while those below it get theirs
  const from = place || 'the config'
  if (mode === 'single' && targets.length > 1) plan.leaves(`${from}: mode single`, 'Only the first target is used.')
  const used = mode === 'single' ? targets.slice(0, 1) : targets
  const entries = new Map<TargetNode, PlannedEntry>()
  for (const [at, target] of used.entries()) {
    const model = isBranch(target) ? planCombo(target, target.name ?? `${wish}-${at + 1}`, plan) : modelOf(target, plan)
    if (model === undefined) continue
    const params = isBranch(target) ? undefined : target.params
    entries.set(target, { model, params })
    if (params)
      plan.maps(`${target.place || 'the config'}.override_params: ${Object.keys(params).join(', ')}`, ENTRY_PARAMS_WIN)
  }
  const planned: readonly PlannedEntry[] =
    mode === 'conditional'
      ? conditional(strategy, { from, entries, plan })
      : [...entries].map(([{ weight }, entry]) => ({
          ...entry,
          weight: mode === 'loadbalance' ? (weight ?? 1) : undefined,
        }))
  const kind = { single: 'fallback', fallback: 'fallback', loadbalance: 'weighted', conditional: 'conditional' }[mode]
  if (kind === undefined) plan.leaves(`${from}: strategy.mode`, `"${mode}" has no counterpart; fallback is taken.`)
  const timeout = numberOf(given.request_timeout)
  const retry = objectOf(given.retry)
  const attempts = numberOf(retry.attempts) ?? numberOf(retry.count)
  plan.combos.set(name, {
    models: entriesOf(planned),
    strategy: kind ?? 'fallback',
    ...(attempts !== undefined && { maxAttempts: Math.min(100, Math.max(1, planned.length + Math.round(attempts))) }),
    ...(attempts === undefined && planned.length > 3 && { maxAttempts: Math.min(100, planned.length) }),
    ...(timeout !== undefined && { timeouts: { headersMs: milliseconds(timeout), totalMs: milliseconds(timeout) } }),
  })
  const shown = planned.map(({ model }) => model).join(', ') || 'without an entry yet'
  plan.maps(`${from}: ${mode}`, `combo ${name} (${kind ?? 'fallback'}): ${shown}`)
  if (attempts !== undefined)
    plan.maps(`${from}: retry`, `maxAttempts of ${name}: the next target is tried, not the same one again`)
  if (timeout !== undefined) plan.maps(`${from}: request_timeout`, `timeouts of ${name}`)
  if (strategy.on_status_codes !== undefined || retry.on_status_codes !== undefined)
    plan.leaves(
      `${from}: on_status_codes`,
      'Which failures go on is told by their kind: every failure but the fault of a client.',
    )
  return name
}

function modelOf({ place, connection, model }: ModelTarget, plan: ImportPlan): string | undefined {
  if (connection === undefined) return undefined
  const shown = place || 'the config'
  if (model === undefined) {
    plan.leaves(
      shown,
      `has no override_params.model and takes that of the request: run it again with --model and its name. Connection ${connection} is there all the same.`,
    )
    return undefined
  }
  const name = plan.model(connection, model)
  plan.maps(shown, `model ${name}`)
  return name
}

/** The entries of a conditional strategy: Portkey takes the first condition that holds. */
function conditional(
  strategy: JsonObject,
  { from, entries, plan }: { from: string; entries: ReadonlyMap<TargetNode, PlannedEntry>; plan: ImportPlan },
): PlannedEntry[] {
  const named = (name: string | undefined) => [...entries].find(([target]) => target.name === name)?.[1]
  const planned: PlannedEntry[] = []
  for (const [at, condition] of listOf(strategy.conditions).entries()) {
    const { query, then } = objectOf(condition)
    const place = `${from}: conditions[${at}]`
    const entry = named(textOf(then))
    const whens = conditionsOf(query)
    if (entry === undefined) plan.leaves(place, `leads to no target that could be made`)
    else if (whens === undefined)
      plan.leaves(
        place,
        'Only $eq and $in on metadata and on params.model, with $and and $or around them, have a counterpart.',
      )
    else for (const when of whens) planned.push({ ...entry, when })
  }
  const other = named(textOf(strategy.default))
  if (other !== undefined) planned.push(other)
  return planned
}

/** The conditions of which one must hold, as `when` of an entry each; `undefined` when they cannot be said. */
function conditionsOf(query: unknown): PlannedValue[] | undefined {
  let all: { metadata: Record<string, PlannedValue>; model?: PlannedValue }[] = [{ metadata: {} }]
  for (const [name, test] of Object.entries(objectOf(query))) {
    if (name === '$and' || name === '$or') {
      const parts = listOf(test).map(conditionsOf)
      if (parts.some((part) => part === undefined)) return undefined
      const found = parts.map((part) => (part ?? []).map((one) => ({ metadata: {}, ...objectOf(one) })))
      const options =
        name === '$or'
          ? found.flat()
          : found.reduce((some, more) => some.flatMap((one) => more.map((other) => merged(one, other))))
      all = all.flatMap((one) => options.map((option) => merged(one, option)))
      continue
    }
    const value = valueOfTest(test)
    if (value === undefined) return undefined
    const member = /^metadata\.(.+)$/.exec(name)?.[1]
    if (member === undefined && name !== 'params.model') return undefined
    all = all.map((one) =>
      merged(one, member === undefined ? { metadata: {}, model: value } : { metadata: { [member]: value } }),
    )
  }
  const whens = all.map(({ metadata, model }) => ({
    ...(model !== undefined && { model }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }))
  return whens.every((when) => Object.keys(when).length > 0) ? whens : undefined
}

interface EntryCondition {
  metadata: Record<string, PlannedValue>
  model?: PlannedValue
}

const merged = (one: EntryCondition, other: EntryCondition): EntryCondition => ({
  ...one,
  ...other,
  metadata: { ...one.metadata, ...other.metadata },
})

function valueOfTest(test: unknown): PlannedValue | undefined {
  const { $eq, $in, ...others } = isObject(test) ? test : { $eq: test }
  const text = (value: unknown) => (['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined)
  if (Object.keys(others).length > 0) return undefined
  if ($in === undefined) return text($eq)
  const texts = listOf($in).map(text)
  return texts.length > 0 && texts.every((one) => one !== undefined)
    ? texts.filter((one) => one !== undefined)
    : undefined
}

const READ = `
  strategy targets provider api_key virtual_key weight name override_params custom_host retry request_timeout resource_name deployment_id
  api_version aws_access_key_id aws_secret_access_key aws_session_token aws_region vertex_project_id vertex_region vertex_service_account_json
  mode
`
  .trim()
  .split(/\s+/)
const GUARDRAILS = 'Signalbox looks into no prompts and answers.'
const REASONS: Readonly<Record<string, string>> = {
  cache: 'Signalbox keeps no answers.',
  before_request_hooks: GUARDRAILS,
  after_request_hooks: GUARDRAILS,
  input_guardrails: GUARDRAILS,
  output_guardrails: GUARDRAILS,
  default_input_guardrails: GUARDRAILS,
  default_output_guardrails: GUARDRAILS,
  forward_headers: 'Only an allow-list of headers reaches a provider.',
  strict_open_ai_compliance: 'Answers have the form of their format.',
}
