import type { JsonObject } from '../../lib/json.ts'
import { getEntry } from '../../lib/maps.ts'
import {
  isEmpty,
  readNumber,
  readString,
  splitWords,
  toAttempts,
  toList,
  toObject,
  toTimeoutMs,
} from './field-values.ts'
import type { ImportPlan, PlannedValue } from './plan.ts'

/** LiteLLM's routing strategies, and their equivalents. */
export const STRATEGY_NAMES: Readonly<Record<string, string>> = {
  'simple-shuffle': 'weighted',
  'least-busy': 'least-busy',
  'latency-based-routing': 'least-latency',
  'cost-based-routing': 'least-cost',
  'usage-based-routing': 'least-busy',
  'usage-based-routing-v2': 'least-busy',
}

const SECTION_LABELS = {
  fallbacks: 'list',
  context_window_fallbacks: 'list',
  content_policy_fallbacks: 'list',
  default_fallbacks: 'list',
  model_group_alias: 'object',
  default_team_settings: 'list',
  default_key_generate_params: 'object',
} as const

/** Plans the settings that apply to all requests: attempts, timeouts, cooldowns, limits, and budgets. */
export function planSettings(config: JsonObject, router: JsonObject, plan: ImportPlan): void {
  const litellm = toObject(config.litellm_settings)
  const general = toObject(config.general_settings)
  for (const section of ['litellm_settings', 'router_settings'])
    plan.reportMistyped(`${section}.`, toObject(config[section]), SECTION_LABELS)
  for (const section of ['litellm_settings', 'router_settings'])
    for (const name of NUMBER_FIELDS) reportNonNumber(`${section}.`, name, toObject(config[section]), plan)
  const retries = readNumber(router.num_retries)
  if (retries !== undefined) {
    plan.settings.maxAttempts = toAttempts(retries + 1)
    plan.reportMapped(
      'num_retries',
      `settings.maxAttempts ${plan.settings.maxAttempts}, counted across all targets of a request`,
    )
  }
  const timeout = readNumber(router.timeout) ?? readNumber(litellm.request_timeout)
  const timeouts = toTimeouts(timeout, readNumber(router.stream_timeout))
  if (timeouts) {
    plan.settings.timeouts = timeouts
    plan.reportMapped('timeout', 'settings.timeouts')
  }
  if (!isEmpty(router.stream_timeout))
    plan.reportUnmapped(
      'stream_timeout',
      `Signalbox has one timeout for the start of streaming and non-streaming responses. ${timeouts ? 'The longer of stream_timeout and timeout is used.' : 'Set settings.timeouts.headersMs.'}`,
    )
  const cooldown = readNumber(router.cooldown_time)
  const fails = readNumber(router.allowed_fails)
  if (cooldown !== undefined || fails !== undefined) {
    const cooldownMs = cooldown === undefined ? undefined : toTimeoutMs(cooldown * 1_000)
    plan.settings.health = {
      ...(cooldownMs !== undefined && { cooldownMs, maxCooldownMs: Math.max(300_000, cooldownMs) }),
      ...(fails !== undefined && { minCalls: Math.min(10_000, Math.max(1, Math.round(fails) + 1)) }),
    }
    plan.reportMapped('allowed_fails and cooldown_time', 'settings.health')
  }
  const strategy = readString(router.routing_strategy)
  if (strategy !== undefined) {
    const found = getEntry(STRATEGY_NAMES, strategy)
    if (found === undefined)
      plan.reportUnmapped('routing_strategy', `"${strategy}" has no equivalent; "weighted" is used.`)
    else
      plan.reportMapped(
        'routing_strategy',
        `${found} in each combo with several deployments${strategy.startsWith('usage') ? ' (the closest strategy)' : ''}`,
      )
  }
  planLimits(litellm, general, plan)
  planKey(config, plan)
  plan.reportOtherFields('litellm_settings', litellm, { known: READ_SETTINGS, reasons: SETTING_REASONS })
  plan.reportOtherFields('router_settings', toObject(config.router_settings), {
    known: READ_SETTINGS,
    reasons: SETTING_REASONS,
  })
  plan.reportOtherFields('general_settings', general, {
    known: ['master_key', 'max_parallel_requests', 'global_max_parallel_requests', 'default_key_generate_params'],
    reasons: SETTING_REASONS,
  })
}

/** Plans a client key if LiteLLM requires keys, that is, if the file has a master key in any of the possible places. */
function planKey(config: JsonObject, plan: ImportPlan): void {
  const litellm = toObject(config.litellm_settings)
  const general = toObject(config.general_settings)
  const place = Object.entries({
    'general_settings.master_key': general.master_key,
    'litellm_settings.master_key': litellm.master_key,
    'environment_variables.LITELLM_MASTER_KEY': toObject(config.environment_variables).LITELLM_MASTER_KEY,
  }).find(([, value]) => !isEmpty(value))?.[0]
  if (place === undefined) {
    if (!isEmpty(general.max_parallel_requests))
      plan.reportUnmapped('general_settings.max_parallel_requests', EACH_KEY_REASON)
    for (const [section, { default_key_generate_params: params }] of [
      ['litellm_settings', litellm],
      ['general_settings', general],
    ] as const)
      if (!isEmpty(params)) plan.reportUnmapped(`${section}.default_key_generate_params`, EACH_KEY_REASON)
    return
  }
  plan.settings.requireApiKey = true
  const { max_parallel_requests } = general
  const keyDefaults = {
    ...toObject(general.default_key_generate_params),
    ...toObject(litellm.default_key_generate_params),
  }
  const limits = readLimits({ max_parallel_requests, ...keyDefaults }, 'default_key_generate_params', plan)
  plan.keys.set('imported', { ...(limits && { limits }) })
  const places = Object.entries({ default_key_generate_params: keyDefaults, max_parallel_requests })
  if (limits)
    plan.reportMapped(
      places.flatMap(([name, value]) => (isEmpty(value) ? [] : name)).join(', '),
      'limits of the key "imported", shared by everyone who uses it; create a key for each client',
    )
  plan.reportOtherFields('default_key_generate_params', keyDefaults, {
    known: [...LIMIT_FIELDS, 'budget_duration'],
    reasons: { models: 'Set "models" on keys.', duration: 'Set "expiresAt" on keys.' },
  })
  plan.reportMapped(place, 'settings.requireApiKey, and a key named "imported" with a new value')
  plan.reportUnmapped(
    place,
    'The value is not imported. Clients need the new key (npx signalbox keys list --json --values all), and SIGNALBOX_ADMIN_TOKEN sets the admin token.',
  )
}

/** Plans the limits for LiteLLM's proxy and its teams. */
function planLimits(litellm: JsonObject, general: JsonObject, plan: ImportPlan): void {
  const parallel = readNumber(general.global_max_parallel_requests) ?? readNumber(litellm.max_parallel_requests)
  const limits = readLimits(
    { ...litellm, ...(parallel !== undefined && { max_parallel_requests: parallel }) },
    'litellm_settings',
    plan,
  )
  if (limits) {
    plan.settings.limits = limits
    plan.reportMapped('max_budget, max_parallel_requests', 'settings.limits, for all requests together')
  }
  for (const [index, team] of toList(litellm.default_team_settings).entries()) {
    const id = readString(toObject(team).team_id)
    if (id === undefined) continue
    const place = `default_team_settings[${index}]`
    const teamLimits = readLimits(toObject(team), place, plan)
    const group = plan.findFreeGroupId(id)
    plan.groups.set(group, { name: id.slice(0, 200), ...(teamLimits && { limits: teamLimits }) })
    plan.reportMapped(place, `group ${group}; add the keys of the team to it`)
    plan.reportOtherFields(place, toObject(team), {
      known: ['team_id', 'max_budget', 'budget_duration', 'rpm_limit', 'tpm_limit', 'max_parallel_requests'],
      reasons: SETTING_REASONS,
    })
  }
}

/** Converts LiteLLM's budgets and rate limits. Returns `undefined` if there are none. */
function readLimits(params: JsonObject, place: string, plan: ImportPlan): PlannedValue | undefined {
  const usd = readNumber(params.max_budget)
  const parallel = readNumber(params.max_parallel_requests)
  const requests = readNumber(params.rpm_limit)
  const tokens = readNumber(params.tpm_limit)
  const window = toWindow(params.budget_duration)
  for (const name of LIMIT_FIELDS) reportNonNumber(`${place}.`, name, params, plan)
  if (usd !== undefined && window === undefined)
    plan.reportUnmapped(
      `${place}.budget_duration`,
      `"${params.budget_duration}" is not a supported time window (minute, hour, day, week, month, total). The budget is not imported.`,
    )
  const limits = {
    ...(usd !== undefined && usd > 0 && window !== undefined && { usd: { [window]: usd } }),
    ...(requests !== undefined && requests >= 1 && { requests: { minute: Math.round(requests) } }),
    ...(tokens !== undefined && tokens >= 1 && { tokens: { minute: Math.round(tokens) } }),
    ...(parallel !== undefined && parallel >= 1 && { parallel: Math.round(parallel) }),
  }
  if ('usd' in limits && plan.settings.whenPriceUnknown === undefined) {
    plan.settings.whenPriceUnknown = 'allow'
    plan.reportMapped(
      'max_budget',
      'settings.whenPriceUnknown allow, so a model without a price costs nothing, as in LiteLLM',
    )
  }
  return Object.keys(limits).length > 0 ? limits : undefined
}

function toWindow(duration: unknown): string | undefined {
  if (duration === undefined || duration === null) return 'total'
  const windows: Readonly<Record<string, string>> = {
    '1m': 'minute',
    '60s': 'minute',
    '1h': 'hour',
    '60m': 'hour',
    '1d': 'day',
    '24h': 'day',
    '7d': 'week',
    '1w': 'week',
    '30d': 'month',
    '31d': 'month',
    '1mo': 'month',
  }
  return getEntry(windows, String(duration).trim())
}

/**
 * Converts LiteLLM's timeouts, which are in seconds. `headersMs` is the longer one, because it applies to both streaming and non-streaming responses.
 */
export function toTimeouts(
  timeout: number | undefined,
  streamTimeout: number | undefined,
): Record<string, PlannedValue> | undefined {
  if (timeout === undefined || timeout <= 0) return undefined
  return {
    headersMs: toTimeoutMs(Math.max(timeout, streamTimeout ?? 0) * 1_000),
    totalMs: toTimeoutMs(timeout * 1_000),
  }
}

const LIMIT_FIELDS = ['max_budget', 'max_parallel_requests', 'rpm_limit', 'tpm_limit']
const NUMBER_FIELDS = splitWords('num_retries timeout request_timeout stream_timeout cooldown_time allowed_fails')

/** Reports a field that isn't a number, such as one that is read from a variable. */
function reportNonNumber(place: string, name: string, params: JsonObject, plan: ImportPlan): void {
  const value = params[name]
  if (isEmpty(value) || readNumber(value) !== undefined) return
  plan.reportUnmapped(`${place}${name}`, 'Must be a number, not a variable or other text; not imported.')
}

const READ_SETTINGS = splitWords(`
  fallbacks context_window_fallbacks content_policy_fallbacks default_fallbacks max_fallbacks num_retries timeout request_timeout stream_timeout cooldown_time
  allowed_fails routing_strategy model_group_alias max_budget budget_duration max_parallel_requests default_team_settings
  default_key_generate_params master_key vertex_project vertex_location telemetry set_verbose
`)
const EACH_KEY_REASON = 'LiteLLM applies this to each key. Set "limits" on keys.'
const CACHE_REASON = 'Signalbox has no response cache.'
const OBSERVABILITY_REASON = 'Start with --log json or --metrics, or use hooks and "observe" in your own app.'
const STORAGE_REASON =
  'The CLI runs a single instance. To share a store between several, embed the gateway in your own app; see examples/redis.'
const USERS_REASON = 'Signalbox has no users. Set limits on keys and groups.'
const FAILURES_REASON =
  'Signalbox decides by the type of failure, without configurable policies; see "When a provider fails" in the docs.'
const SIGN_IN_REASON = 'Use the admin token for the dashboard and management, and API keys for clients.'
const SETTING_REASONS: Readonly<Record<string, string>> = {
  drop_params: "Signalbox always drops parameters a target doesn't support, and lists them in x-signalbox-warning.",
  cache: CACHE_REASON,
  cache_params: CACHE_REASON,
  success_callback: OBSERVABILITY_REASON,
  failure_callback: OBSERVABILITY_REASON,
  callbacks: OBSERVABILITY_REASON,
  service_callback: OBSERVABILITY_REASON,
  service_callbacks: OBSERVABILITY_REASON,
  json_logs: 'Start with --log json.',
  alerting: OBSERVABILITY_REASON,
  alerting_threshold: OBSERVABILITY_REASON,
  alert_to_webhook_url: OBSERVABILITY_REASON,
  background_health_checks: FAILURES_REASON,
  health_check_interval: FAILURES_REASON,
  litellm_jwtauth: SIGN_IN_REASON,
  key_management_system: 'Have your secret manager set the environment variables.',
  forward_client_headers_to_llm_api: 'Signalbox forwards only allowlisted headers to providers.',
  optional_pre_call_checks: 'Use the strategy "sticky", which keeps the requests of a session on one target.',
  redis_url: STORAGE_REASON,
  redis_host: STORAGE_REASON,
  redis_port: STORAGE_REASON,
  redis_password: STORAGE_REASON,
  provider_budget_config: "Keys, groups, and the gateway can have limits; providers can't.",
  enable_pre_call_checks: 'Signalbox always skips targets whose context window is too small for a request.',
  enable_tag_filtering: 'Use "when" on combo entries, with conditions on request metadata and headers.',
  retry_policy: FAILURES_REASON,
  model_group_retry_policy: FAILURES_REASON,
  allowed_fails_policy: FAILURES_REASON,
  retry_after:
    'After a failure, Signalbox tries the next target immediately. It always honors a wait that a provider requests.',
  disable_cooldowns: 'Failing targets always go into cooldown; see settings.health.',
  routing_strategy_args: 'Strategies have no arguments.',
  max_user_budget: USERS_REASON,
  max_end_user_budget: USERS_REASON,
  max_internal_user_budget: USERS_REASON,
  internal_user_budget_duration: USERS_REASON,
  default_internal_user_params: USERS_REASON,
  upperbound_key_generate_params: 'Only the admin token can create keys.',
  database_url: "Keys and teams in LiteLLM's database are not imported. Create them with npx signalbox keys create.",
  store_model_in_db: "Models in LiteLLM's database are not imported.",
  pass_through_endpoints: 'Signalbox serves only model APIs.',
  ui_username: SIGN_IN_REASON,
  ui_password: SIGN_IN_REASON,
  enable_jwt_auth: SIGN_IN_REASON,
  custom_auth: SIGN_IN_REASON,
  port: 'Start with --port.',
  host: 'Start with --host.',
}
