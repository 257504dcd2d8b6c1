import { isObject, type JsonObject } from '../../lib/json.ts'
import { ENTRY_PARAMS_WIN, entryParamsOf } from './entry-params.ts'
import {
  attemptsOf,
  entryOf,
  isNone,
  isNothing,
  listOf,
  milliseconds,
  numberOf,
  objectOf,
  textOf,
  words,
} from './given.ts'
import { entriesOf, type ImportPlan, type PlannedEntry, type PlannedValue } from './plan.ts'
import { ACCOUNT_MEMBERS, accountOf, variablesOf } from './portkey-accounts.ts'
import { conditionsOf } from './portkey-conditions.ts'

/* Portkey's config object, as portkey.ai/docs/api-reference/config-object describes it; its members are taken in both spellings, api_key and apiKey. */

/** A target: a connection and its model, or a strategy over others. */
interface ModelTarget {
  place: string
  name: string | undefined
  weight: number | undefined
  given: JsonObject
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

/** The models below a strategy, those of strategies within it included. */
const sizeOf = (node: TargetNode): number =>
  isBranch(node) ? node.targets.reduce((sum, target) => sum + sizeOf(target), 0) : 1

/** The strategies of Portkey. */
const STRATEGIES: Readonly<Record<string, string>> = {
  single: 'fallback',
  fallback: 'fallback',
  loadbalance: 'weighted',
  conditional: 'conditional',
}

const MEMBERS = words('targets options provider virtual_key strategy retry cache request_timeout override_params')

/** Plans what a config of Portkey is here. `model`: for targets that name none and take that of the request. Throws a problem when it is no config. */
export function planPortkey(config: unknown, plan: ImportPlan, { model }: { model?: string | undefined } = {}): void {
  const given = withSnakeCase(ownConfig(config))
  if (!isObject(given) || !MEMBERS.some((name) => name in given))
    isNone('a config of Portkey', 'It has a "strategy" and "targets", or a "provider".')
  for (const name of variablesOf(given)) plan.reserve(name)
  const root = nodeOf(given, { place: '', model, inherited: {}, plan })
  planCombo(isBranch(root) ? root : { ...root, targets: [root] }, 'portkey', plan)
}

/** The config itself, where the file has it as Portkey's API answers: in "config", as an object or as a text. */
function ownConfig(file: unknown): unknown {
  const { data, config } = objectOf(file)
  const found = config ?? objectOf(data).config
  if (isObject(found)) return found
  if (typeof found !== 'string') return file
  try {
    return JSON.parse(found)
  } catch {
    return file
  }
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
    INHERITED.filter((member) => !isNothing(given[member])).map((member) => [member, given[member]]),
  )
  // A provider of its own goes with a key of its own, or with none.
  const around = ['provider', 'virtual_key'].some((member) => member in own)
    ? { ...inherited, provider: undefined, virtual_key: undefined, api_key: undefined }
    : inherited
  const params = { ...objectOf(inherited.override_params), ...objectOf(given.override_params) }
  const whole = { ...around, ...own, override_params: params }
  plan.leavesRest(place, given, { done: READ, reasons: REASONS })
  leaveStrategy(within, given, plan)
  const targets = listOf(given.targets ?? given.options)
  if (Array.isArray(given.targets ?? given.options))
    return {
      place,
      name,
      weight,
      given,
      targets: targets.map((target, at) =>
        nodeOf(objectOf(target), { place: `${within}targets[${at}]`, model, inherited: whole, plan }),
      ),
    }
  return modelTarget({ ...given, ...whole }, { place, name, weight, model, params, plan })
}

/** A target that asks a provider. A model that is written as `@slug/model` names it. */
function modelTarget(
  given: JsonObject,
  {
    place,
    name,
    weight,
    model,
    params,
    plan,
  }: Pick<TargetNode, 'place' | 'name' | 'weight'> & Pick<TargetPlace, 'model' | 'plan'> & { params: JsonObject },
): ModelTarget {
  const shown = place || 'the config'
  const inCatalog = /^@([^/]+)\/(.+)$/.exec(textOf(params.model) ?? '')
  const hasProvider = !isNothing(given.provider) || !isNothing(given.virtual_key)
  const account = accountOf(inCatalog && !hasProvider ? { ...given, provider: `@${inCatalog[1]}` } : given, shown, plan)
  if (typeof account === 'string') plan.leaves(shown, account)
  const asked = textOf(given.deployment_id) ?? inCatalog?.[2] ?? textOf(params.model)
  const set = entryParamsOf(params)
  plan.leavesRest(`${shown}.override_params`, params, { done: ['model', ...set.done] })
  return {
    place,
    name,
    weight,
    given,
    connection: typeof account === 'string' ? undefined : plan.connection(account),
    model: asked ?? model,
    params: set.params,
  }
}

/** Says what of a strategy and of the repeats is not here. */
function leaveStrategy(within: string, given: JsonObject, plan: ImportPlan): void {
  plan.leavesRest(`${within}strategy`, objectOf(given.strategy), {
    done: ['mode', 'conditions', 'default', 'on_status_codes'],
    reasons: {
      sticky_session: STICKY,
      sticky: STICKY,
    },
  })
  plan.leavesRest(`${within}retry`, objectOf(given.retry), {
    done: ['attempts', 'count', 'on_status_codes'],
    reasons: { use_retry_after_header: 'What a provider asks to wait for is always kept.' },
  })
}

/** Plans a strategy and those below it; the names are those of the combos. */
function planCombo(node: StrategyTarget, wish: string, plan: ImportPlan): string {
  const { place, given, targets } = node
  const strategy = objectOf(given.strategy)
  const mode = textOf(strategy.mode) ?? textOf(given.mode) ?? (targets.length > 1 ? 'fallback' : 'single')
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
    if (!isBranch(target) && target.place !== place && !isNothing(target.given.retry))
      plan.leaves(`${target.place}: retry`, 'The next target is tried, not the same one again.')
  }
  const planned: readonly PlannedEntry[] = plan.entries(
    from,
    mode === 'conditional'
      ? conditional(strategy, { from, entries, plan })
      : [...entries].map(([{ weight }, entry]) => ({
          ...entry,
          weight: mode === 'loadbalance' ? (weight ?? 1) : undefined,
        })),
  )
  const kind = entryOf(STRATEGIES, mode)
  if (kind === undefined) plan.leaves(`${from}: strategy.mode`, `"${mode}" has no counterpart; fallback is taken.`)
  const retry = objectOf(given.retry)
  const attempts = numberOf(retry.attempts) ?? numberOf(retry.count)
  const size = [...entries.keys()].reduce((sum, target) => sum + sizeOf(target), 0)
  const timeout = timeoutOf(node, used, plan)
  plan.combos.set(name, {
    models: entriesOf(planned),
    strategy: kind ?? 'fallback',
    ...(attempts !== undefined && { maxAttempts: attemptsOf(size + attempts) }),
    ...(attempts === undefined && size > 3 && { maxAttempts: attemptsOf(size) }),
    ...(timeout !== undefined && { timeouts: { headersMs: milliseconds(timeout), totalMs: milliseconds(timeout) } }),
  })
  const shown = planned.map(({ model }) => model).join(', ') || 'without an entry yet'
  plan.maps(`${from}: ${mode}`, `combo ${name} (${kind ?? 'fallback'}): ${shown}`)
  if (attempts !== undefined)
    plan.maps(`${from}: retry`, `maxAttempts of ${name}: the next target is tried, not the same one again`)
  if (place !== '' && (attempts !== undefined || timeout !== undefined))
    plan.leaves(
      from,
      `The attempts and time-outs of ${name} hold for requests that name it, not for those to the combo around it.`,
    )
  if (strategy.on_status_codes !== undefined || retry.on_status_codes !== undefined)
    plan.leaves(
      `${from}: on_status_codes`,
      'Which failures go on is told by their kind: every failure but the fault of a client.',
    )
  return name
}

/** The time-out of a strategy, in ms: its own, else the longest of its targets' where each has one, as it holds for all of them. */
function timeoutOf(
  { place, given }: StrategyTarget,
  used: readonly TargetNode[],
  plan: ImportPlan,
): number | undefined {
  const from = place || 'the config'
  const own = numberOf(given.request_timeout)
  const shorter = used.filter(
    (target) => !isBranch(target) && target.place !== place && !isNothing(target.given.request_timeout),
  )
  const times = used.map((target) => numberOf(target.given.request_timeout))
  const all =
    own === undefined && times.length > 0 && times.every((time) => time !== undefined) ? Math.max(...times) : own
  if (own !== undefined) plan.maps(`${from}: request_timeout`, 'timeouts of its combo')
  for (const target of shorter) {
    if (own === undefined && all !== undefined)
      plan.maps(`${target.place}: request_timeout`, 'timeouts of the combo around it: the longest of its targets')
    else
      plan.leaves(
        `${target.place}: request_timeout`,
        'Time-outs hold for all targets of a combo: give each of them one, or the config.',
      )
  }
  return all
}

function modelOf({ place, connection, model }: ModelTarget, plan: ImportPlan): string | undefined {
  if (connection === undefined) return undefined
  const shown = place || 'the config'
  if (model === undefined) {
    plan.leaves(
      shown,
      `has no override_params.model and takes that of the request: run it again with --model and its name, or ask for ${plan.prefixOf(connection)}/<model>.`,
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
    if (entry === undefined) plan.leaves(place, 'leads to no target that could be made')
    else if (whens === undefined)
      plan.leaves(
        place,
        'Only $eq and $in on metadata and on params.model, with $and and $or around them, have a counterpart.',
      )
    else for (const when of whens) planned.push({ ...entry, when })
  }
  const asked = textOf(strategy.default)
  const other = named(asked)
  if (other !== undefined) planned.push(other)
  else
    plan.leaves(
      `${from}: default`,
      asked === undefined
        ? 'There is none: a request that meets no condition is refused.'
        : 'leads to no target that could be made',
    )
  return planned
}

const READ = [
  ...words('strategy targets options weight name override_params retry request_timeout mode'),
  ...ACCOUNT_MEMBERS,
]
const GUARDRAILS = 'Signalbox looks into no prompts and answers.'
const STICKY = 'See the strategy "sticky": it keeps the requests of a session at one target.'
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
  metadata: 'Clients send metadata, and keys have some.',
}
