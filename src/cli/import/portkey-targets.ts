import { isObject, type JsonObject } from '../../lib/json.ts'
import { isEmpty, readString, splitWords, toList, toObject } from './field-values.ts'
import { readEntryParams } from './import-entry-params.ts'
import type { ImportPlan, PlannedValue } from './plan.ts'
import { ACCOUNT_FIELDS, type KnownNames, listAccountFields, planAccount } from './portkey-accounts.ts'

/* Reads the targets of a Portkey config, with the fields that each target inherits from the surrounding config. */

/** A target that calls one model, unlike a `StrategyTarget`, which chooses among other targets. */
export interface ModelTarget {
  place: string
  name: string | undefined
  weight: number | undefined
  fields: JsonObject
  connection: string | undefined
  model: string | undefined
  /** The combo entry's `params`. */
  params: Readonly<Record<string, PlannedValue>> | undefined
}
export interface StrategyTarget {
  place: string
  name: string | undefined
  weight: number | undefined
  fields: JsonObject
  targets: readonly TargetNode[]
}
export type TargetNode = ModelTarget | StrategyTarget
export const isBranch = (node: TargetNode): node is StrategyTarget => 'targets' in node

/** Counts the models below a strategy, including nested strategies. */
export const countModels = (node: TargetNode): number =>
  isBranch(node) ? node.targets.reduce((sum, target) => sum + countModels(target), 0) : 1

/** Returns the config itself. Responses from Portkey's API contain it as "config", either as an object or as a string. */
export function unwrapConfig(file: unknown): unknown {
  const { data, config } = toObject(file)
  const found = config ?? toObject(data).config
  if (isObject(found)) return found
  if (typeof found !== 'string') return file
  try {
    return JSON.parse(found)
  } catch {
    return file
  }
}

/** Renames fields such as `apiKey` to `api_key`. Doesn't change names in a `query`, because clients send them. */
export function toSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSnakeCase)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      return [name.startsWith('$') || name.includes('.') ? name : snake, snake === 'query' ? inner : toSnakeCase(inner)]
    }),
  )
}

interface TargetPlace {
  place: string
  model: string | undefined
  /** The fields that targets inherit from the surrounding config. */
  inherited: JsonObject
  knownNames: KnownNames
  plan: ImportPlan
}

const INHERITED_FIELDS = ['override_params', 'provider', 'api_key', 'virtual_key', 'custom_host']

export function planTarget(config: JsonObject, { place, model, inherited, knownNames, plan }: TargetPlace): TargetNode {
  const name = readString(config.name)
  const prefix = place && `${place}.`
  plan.reportMistyped(prefix, config, {
    strategy: 'object',
    targets: 'list',
    retry: 'object',
    override_params: 'object',
  })
  const weight = plan.readWeight(`${prefix}weight`, config.weight)
  const targetFields = Object.fromEntries(
    INHERITED_FIELDS.filter((member) => !isEmpty(config[member])).map((member) => [member, config[member]]),
  )
  // A target with its own provider doesn't inherit another provider's key.
  const inheritedFields = ['provider', 'virtual_key'].some((member) => member in targetFields)
    ? { ...inherited, provider: undefined, virtual_key: undefined, api_key: undefined }
    : inherited
  const params = { ...toObject(inherited.override_params), ...toObject(config.override_params) }
  const merged = { ...inheritedFields, ...targetFields, override_params: params }
  plan.reportOtherFields(place, config, { known: READ_FIELDS, reasons: TARGET_REASONS })
  reportStrategy(prefix, config, plan)
  const targets = toList(config.targets ?? config.options)
  if (Array.isArray(config.targets ?? config.options))
    return {
      place,
      name,
      weight,
      fields: config,
      targets: targets.map((target, index) =>
        planTarget(toObject(target), {
          place: `${prefix}targets[${index}]`,
          model,
          inherited: merged,
          knownNames,
          plan,
        }),
      ),
    }
  return planModelTarget({ ...config, ...merged }, { place, name, weight, model, params, knownNames, plan })
}

/** Plans a target that calls a provider. A model such as `@slug/model` also names the provider. */
function planModelTarget(
  target: JsonObject,
  {
    place,
    name,
    weight,
    model,
    params,
    knownNames,
    plan,
  }: Pick<TargetNode, 'place' | 'name' | 'weight'> &
    Pick<TargetPlace, 'model' | 'knownNames' | 'plan'> & { params: JsonObject },
): ModelTarget {
  const locationLabel = place || 'the config'
  const inCatalog = /^@([^/]+)\/(.+)$/.exec(readString(params.model) ?? '')
  const hasProvider = !isEmpty(target.provider) || !isEmpty(target.virtual_key)
  const account = planAccount(
    inCatalog && !hasProvider ? { ...target, provider: `@${inCatalog[1]}` } : target,
    locationLabel,
    {
      known: knownNames,
      plan,
    },
  )
  if (typeof account === 'string') plan.reportUnmapped(locationLabel, account)
  else {
    const members = Object.fromEntries(ACCOUNT_FIELDS.map((member) => [member, target[member]]))
    plan.reportOtherFields(locationLabel, members, {
      known: listAccountFields(target, account.provider),
      reasons: ACCOUNT_REASONS,
    })
  }
  const deployment = readString(target.deployment_id) ?? inCatalog?.[2] ?? readString(params.model)
  const set = readEntryParams(params)
  plan.reportOtherFields(`${locationLabel}.override_params`, params, { known: ['model', ...set.names] })
  return {
    place,
    name,
    weight,
    fields: target,
    connection: typeof account === 'string' ? undefined : plan.connection(account),
    model: deployment ?? model,
    params: set.params,
  }
}

/** Reports the fields of a strategy and of `retry` that have no equivalent. */
function reportStrategy(prefix: string, target: JsonObject, plan: ImportPlan): void {
  plan.reportOtherFields(`${prefix}strategy`, toObject(target.strategy), {
    known: ['mode', 'conditions', 'default', 'on_status_codes', 'sticky', 'cb_config'],
  })
  plan.reportOtherFields(`${prefix}retry`, toObject(target.retry), {
    known: ['attempts', 'count', 'on_status_codes'],
    reasons: { use_retry_after_header: RETRY_REASON, use_retry_after_headers: RETRY_REASON },
  })
}

const READ_FIELDS = [
  ...splitWords('strategy targets options weight name override_params retry request_timeout mode'),
  ...ACCOUNT_FIELDS,
]
const ONE_KEY = 'A connection has one credential, and a different one is used.'
/** Why fields that a target's account doesn't use aren't imported. */
const ACCOUNT_REASONS: Readonly<Record<string, string>> = {
  api_key: ONE_KEY,
  aws_access_key_id: ONE_KEY,
  aws_secret_access_key: ONE_KEY,
  custom_host: "Signalbox uses the cloud's URL for the region.",
  resource_name: 'Signalbox uses custom_host.',
  huggingface_base_url: 'Rename it to custom_host, and run the import again.',
}
const RETRY_REASON = 'Signalbox always honors a wait that a provider requests.'
const HEADERS_REASON = "Connections can't add headers."
export const GUARDRAILS_REASON =
  'Guardrails are not imported. Define guards in the "guards" section of the config file.'
export const TARGET_REASONS: Readonly<Record<string, string>> = {
  cache: 'Signalbox has no response cache.',
  before_request_hooks: GUARDRAILS_REASON,
  after_request_hooks: GUARDRAILS_REASON,
  input_guardrails: GUARDRAILS_REASON,
  output_guardrails: GUARDRAILS_REASON,
  default_input_guardrails: GUARDRAILS_REASON,
  default_output_guardrails: GUARDRAILS_REASON,
  forward_headers: 'Signalbox forwards only allowlisted headers to providers.',
  strict_open_ai_compliance: 'Responses always follow the format of the client.',
  metadata: 'Set metadata on keys, or let clients send it.',
  prompt_id: "Prompts in Portkey's store are not imported. Clients send their own.",
  on_status_codes:
    "You can't choose statuses. Signalbox tries the next target after every failure not caused by the request itself.",
  openai_organization: HEADERS_REASON,
  openai_project: HEADERS_REASON,
  anthropic_beta: HEADERS_REASON,
  anthropic_version: HEADERS_REASON,
  sensitive_headers: HEADERS_REASON,
}
