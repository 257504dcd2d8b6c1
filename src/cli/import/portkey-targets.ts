import { isObject, type JsonObject } from '../../lib/json.ts'
import { isNothing, listOf, objectOf, textOf, words } from './given-fields.ts'
import { entryParamsOf } from './import-entry-params.ts'
import type { ImportPlan, PlannedValue } from './plan.ts'
import { ACCOUNT_MEMBERS, accountMembersTaken, accountOf, type KnownNames } from './portkey-accounts.ts'

/* The targets of a config of Portkey, with the members that each inherits from the config around it. */

/** A target: a connection and its model, or a strategy over others. */
export interface ModelTarget {
  place: string
  name: string | undefined
  weight: number | undefined
  given: JsonObject
  connection: string | undefined
  model: string | undefined
  /** The `params` that the target has as an entry of a combo. */
  params: Readonly<Record<string, PlannedValue>> | undefined
}
export interface StrategyTarget {
  place: string
  name: string | undefined
  weight: number | undefined
  given: JsonObject
  targets: readonly TargetNode[]
}
export type TargetNode = ModelTarget | StrategyTarget
export const isBranch = (node: TargetNode): node is StrategyTarget => 'targets' in node

/** The models below a strategy, those of strategies within it included. */
export const sizeOf = (node: TargetNode): number =>
  isBranch(node) ? node.targets.reduce((sum, target) => sum + sizeOf(target), 0) : 1

/** The config itself. An answer of Portkey's API has it in "config", as an object or as a text. */
export function ownConfig(file: unknown): unknown {
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

/** The value with names such as `apiKey` as `api_key`. Names in a `query` are left as they are, since they are those that clients send. */
export function withSnakeCase(value: unknown): unknown {
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
  /** The members that the targets inherit from the config around them. */
  inherited: JsonObject
  known: KnownNames
  plan: ImportPlan
}

const INHERITED = ['override_params', 'provider', 'api_key', 'virtual_key', 'custom_host']

export function nodeOf(given: JsonObject, { place, model, inherited, known, plan }: TargetPlace): TargetNode {
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
  // A target that names a provider does not inherit the key of another one.
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
        nodeOf(objectOf(target), { place: `${within}targets[${at}]`, model, inherited: whole, known, plan }),
      ),
    }
  return modelTarget({ ...given, ...whole }, { place, name, weight, model, params, known, plan })
}

/** A target that asks a provider. A model that is written as `@slug/model` names the provider, too. */
function modelTarget(
  given: JsonObject,
  {
    place,
    name,
    weight,
    model,
    params,
    known,
    plan,
  }: Pick<TargetNode, 'place' | 'name' | 'weight'> &
    Pick<TargetPlace, 'model' | 'known' | 'plan'> & { params: JsonObject },
): ModelTarget {
  const shown = place || 'the config'
  const inCatalog = /^@([^/]+)\/(.+)$/.exec(textOf(params.model) ?? '')
  const hasProvider = !isNothing(given.provider) || !isNothing(given.virtual_key)
  const account = accountOf(inCatalog && !hasProvider ? { ...given, provider: `@${inCatalog[1]}` } : given, shown, {
    known,
    plan,
  })
  if (typeof account === 'string') plan.leaves(shown, account)
  else {
    const members = Object.fromEntries(ACCOUNT_MEMBERS.map((member) => [member, given[member]]))
    plan.leavesRest(shown, members, { done: accountMembersTaken(given, account.provider), reasons: ACCOUNT_REASONS })
  }
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

/** Reports the members of a strategy and of `retry` that have no counterpart. */
function leaveStrategy(within: string, given: JsonObject, plan: ImportPlan): void {
  plan.leavesRest(`${within}strategy`, objectOf(given.strategy), {
    done: ['mode', 'conditions', 'default', 'on_status_codes', 'sticky', 'cb_config'],
  })
  plan.leavesRest(`${within}retry`, objectOf(given.retry), {
    done: ['attempts', 'count', 'on_status_codes'],
    reasons: { use_retry_after_header: WAITS, use_retry_after_headers: WAITS },
  })
}

const READ = [
  ...words('strategy targets options weight name override_params retry request_timeout mode'),
  ...ACCOUNT_MEMBERS,
]
const ONE_KEY = 'A connection has one credential, and a different one is used.'
/** Why members are left out that the account of a target is not made of. */
const ACCOUNT_REASONS: Readonly<Record<string, string>> = {
  api_key: ONE_KEY,
  aws_access_key_id: ONE_KEY,
  aws_secret_access_key: ONE_KEY,
  custom_host: "Signalbox uses the cloud's URL for the region.",
  resource_name: 'Signalbox uses custom_host.',
  huggingface_base_url: 'Rename it to custom_host, and run the import again.',
}
const WAITS = 'Signalbox always honors a wait that a provider requests.'
const HEADERS = "Connections can't add headers."
export const GUARDRAILS = "Signalbox doesn't inspect prompts and responses."
export const REASONS: Readonly<Record<string, string>> = {
  cache: 'Signalbox has no response cache.',
  before_request_hooks: GUARDRAILS,
  after_request_hooks: GUARDRAILS,
  input_guardrails: GUARDRAILS,
  output_guardrails: GUARDRAILS,
  default_input_guardrails: GUARDRAILS,
  default_output_guardrails: GUARDRAILS,
  forward_headers: 'Signalbox forwards only allowlisted headers to providers.',
  strict_open_ai_compliance: 'Responses always follow the format of the client.',
  metadata: 'Set metadata on keys, or let clients send it.',
  prompt_id: "Prompts in Portkey's store are not imported. Clients send their own.",
  on_status_codes:
    "You can't choose statuses. Signalbox tries the next target after every failure not caused by the request itself.",
  openai_organization: HEADERS,
  openai_project: HEADERS,
  anthropic_beta: HEADERS,
  anthropic_version: HEADERS,
  sensitive_headers: HEADERS,
}
