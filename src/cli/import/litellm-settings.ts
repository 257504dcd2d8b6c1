import type { JsonObject } from '../../lib/json.ts'
import { getEntry } from '../../lib/maps.ts'
import { attemptsOf, isNothing, listOf, milliseconds, numberOf, objectOf, textOf, words } from './given-fields.ts'
import type { ImportPlan, PlannedValue } from './plan.ts'

/** The strategies of LiteLLM's router. */
export const STRATEGIES: Readonly<Record<string, string>> = {
  'simple-shuffle': 'weighted',
  'least-busy': 'least-busy',
  'latency-based-routing': 'least-latency',
  'cost-based-routing': 'least-cost',
  'usage-based-routing': 'least-busy',
  'usage-based-routing-v2': 'least-busy',
}

const PARTS = {
  fallbacks: 'list',
  context_window_fallbacks: 'list',
  content_policy_fallbacks: 'list',
  default_fallbacks: 'list',
  model_group_alias: 'object',
  default_team_settings: 'list',
  default_key_generate_params: 'object',
} as const

/** Plans the settings that apply to all requests: attempts, time-outs, cooldowns, limits and budgets. */
export function planSettings(config: JsonObject, router: JsonObject, plan: ImportPlan): void {
  const litellm = objectOf(config.litellm_settings)
  const general = objectOf(config.general_settings)
  for (const section of ['litellm_settings', 'router_settings'])
    plan.leavesMistyped(`${section}.`, objectOf(config[section]), PARTS)
  for (const section of ['litellm_settings', 'router_settings'])
    for (const name of NUMBERS) leaveNoNumber(`${section}.`, name, objectOf(config[section]), plan)
  const retries = numberOf(router.num_retries)
  if (retries !== undefined) {
    plan.settings.maxAttempts = attemptsOf(retries + 1)
    plan.maps(
      'num_retries',
      `settings.maxAttempts ${plan.settings.maxAttempts}, counted across all targets of a request`,
    )
  }
  const timeout = numberOf(router.timeout) ?? numberOf(litellm.request_timeout)
  const timeouts = timeoutsOf(timeout, numberOf(router.stream_timeout))
  if (timeouts) {
    plan.settings.timeouts = timeouts
    plan.maps('timeout', 'settings.timeouts')
  }
  if (!isNothing(router.stream_timeout))
    plan.leaves(
      'stream_timeout',
      `Signalbox has one timeout for the start of streaming and non-streaming responses. ${timeouts ? 'The longer of stream_timeout and timeout is used.' : 'Set settings.timeouts.headersMs.'}`,
    )
  const cooldown = numberOf(router.cooldown_time)
  const fails = numberOf(router.allowed_fails)
  if (cooldown !== undefined || fails !== undefined) {
    const cooldownMs = cooldown === undefined ? undefined : milliseconds(cooldown * 1_000)
    plan.settings.health = {
      ...(cooldownMs !== undefined && { cooldownMs, maxCooldownMs: Math.max(300_000, cooldownMs) }),
      ...(fails !== undefined && { minCalls: Math.min(10_000, Math.max(1, Math.round(fails) + 1)) }),
    }
    plan.maps('allowed_fails and cooldown_time', 'settings.health')
  }
  const strategy = textOf(router.routing_strategy)
  if (strategy !== undefined) {
    const found = getEntry(STRATEGIES, strategy)
    if (found === undefined) plan.leaves('routing_strategy', `"${strategy}" has no equivalent; "weighted" is used.`)
    else
      plan.maps(
        'routing_strategy',
        `${found} in each combo with several deployments${strategy.startsWith('usage') ? ' (the closest strategy)' : ''}`,
      )
  }
  planLimits(litellm, general, plan)
  planKey(config, plan)
  plan.leavesRest('litellm_settings', litellm, { done: READ_SETTINGS, reasons: SETTING_REASONS })
  plan.leavesRest('router_settings', objectOf(config.router_settings), {
    done: READ_SETTINGS,
    reasons: SETTING_REASONS,
  })
  plan.leavesRest('general_settings', general, {
    done: ['master_key', 'max_parallel_requests', 'global_max_parallel_requests', 'default_key_generate_params'],
    reasons: SETTING_REASONS,
  })
}

/** Plans a client key where LiteLLM requires keys: when the file has a master key, in any of the places for it. */
function planKey(config: JsonObject, plan: ImportPlan): void {
  const litellm = objectOf(config.litellm_settings)
  const general = objectOf(config.general_settings)
  const place = Object.entries({
    'general_settings.master_key': general.master_key,
    'litellm_settings.master_key': litellm.master_key,
    'environment_variables.LITELLM_MASTER_KEY': objectOf(config.environment_variables).LITELLM_MASTER_KEY,
  }).find(([, value]) => !isNothing(value))?.[0]
  if (place === undefined) {
    if (!isNothing(general.max_parallel_requests)) plan.leaves('general_settings.max_parallel_requests', EACH_KEY)
    for (const [section, { default_key_generate_params: given }] of [
      ['litellm_settings', litellm],
      ['general_settings', general],
    ] as const)
      if (!isNothing(given)) plan.leaves(`${section}.default_key_generate_params`, EACH_KEY)
    return
  }
  plan.settings.requireApiKey = true
  const { max_parallel_requests } = general
  const ofKeys = { ...objectOf(general.default_key_generate_params), ...objectOf(litellm.default_key_generate_params) }
  const limits = limitsOf({ max_parallel_requests, ...ofKeys }, 'default_key_generate_params', plan)
  plan.keys.set('imported', { ...(limits && { limits }) })
  const places = Object.entries({ default_key_generate_params: ofKeys, max_parallel_requests })
  if (limits)
    plan.maps(
      places.flatMap(([name, value]) => (isNothing(value) ? [] : name)).join(', '),
      'limits of the key "imported", shared by everyone who uses it; create a key for each client',
    )
  plan.leavesRest('default_key_generate_params', ofKeys, {
    done: [...LIMITS, 'budget_duration'],
    reasons: { models: 'Set "models" on keys.', duration: 'Set "expiresAt" on keys.' },
  })
  plan.maps(place, 'settings.requireApiKey, and a key named "imported" with a new value')
  plan.leaves(
    place,
    'The value is not imported. Clients need the new key (npx signalbox keys list --json --values all), and SIGNALBOX_ADMIN_TOKEN sets the admin token.',
  )
}

/** Plans the limits of LiteLLM's proxy as a whole, and those of its teams. */
function planLimits(litellm: JsonObject, general: JsonObject, plan: ImportPlan): void {
  const parallel = numberOf(general.global_max_parallel_requests) ?? numberOf(litellm.max_parallel_requests)
  const limits = limitsOf(
    { ...litellm, ...(parallel !== undefined && { max_parallel_requests: parallel }) },
    'litellm_settings',
    plan,
  )
  if (limits) {
    plan.settings.limits = limits
    plan.maps('max_budget, max_parallel_requests', 'settings.limits, for all requests together')
  }
  for (const [at, team] of listOf(litellm.default_team_settings).entries()) {
    const id = textOf(objectOf(team).team_id)
    if (id === undefined) continue
    const place = `default_team_settings[${at}]`
    const own = limitsOf(objectOf(team), place, plan)
    const group = plan.groupId(id)
    plan.groups.set(group, { name: id.slice(0, 200), ...(own && { limits: own }) })
    plan.maps(place, `group ${group}; add the keys of the team to it`)
    plan.leavesRest(place, objectOf(team), {
      done: ['team_id', 'max_budget', 'budget_duration', 'rpm_limit', 'tpm_limit', 'max_parallel_requests'],
      reasons: SETTING_REASONS,
    })
  }
}

/** Budgets and rate limits of LiteLLM as limits; `undefined` when there are none. */
function limitsOf(given: JsonObject, place: string, plan: ImportPlan): PlannedValue | undefined {
  const usd = numberOf(given.max_budget)
  const parallel = numberOf(given.max_parallel_requests)
  const requests = numberOf(given.rpm_limit)
  const tokens = numberOf(given.tpm_limit)
  const window = windowOf(given.budget_duration)
  for (const name of LIMITS) leaveNoNumber(`${place}.`, name, given, plan)
  if (usd !== undefined && window === undefined)
    plan.leaves(
      `${place}.budget_duration`,
      `"${given.budget_duration}" is not a supported time window (minute, hour, day, week, month, total). The budget is not imported.`,
    )
  const limits = {
    ...(usd !== undefined && usd > 0 && window !== undefined && { usd: { [window]: usd } }),
    ...(requests !== undefined && requests >= 1 && { requests: { minute: Math.round(requests) } }),
    ...(tokens !== undefined && tokens >= 1 && { tokens: { minute: Math.round(tokens) } }),
    ...(parallel !== undefined && parallel >= 1 && { parallel: Math.round(parallel) }),
  }
  if ('usd' in limits && plan.settings.whenPriceUnknown === undefined) {
    plan.settings.whenPriceUnknown = 'allow'
    plan.maps('max_budget', 'settings.whenPriceUnknown allow, so a model without a price costs nothing, as in LiteLLM')
  }
  return Object.keys(limits).length > 0 ? limits : undefined
}

function windowOf(duration: unknown): string | undefined {
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

/** Time-outs of LiteLLM, in seconds, as those of a combo or of the settings. `headersMs` is the longer one, as it applies to streams and whole answers. */
export function timeoutsOf(
  timeout: number | undefined,
  streamTimeout: number | undefined,
): Record<string, PlannedValue> | undefined {
  if (timeout === undefined || timeout <= 0) return undefined
  return {
    headersMs: milliseconds(Math.max(timeout, streamTimeout ?? 0) * 1_000),
    totalMs: milliseconds(timeout * 1_000),
  }
}

const LIMITS = ['max_budget', 'max_parallel_requests', 'rpm_limit', 'tpm_limit']
const NUMBERS = words('num_retries timeout request_timeout stream_timeout cooldown_time allowed_fails')

/** Reports a member that is not a number, such as one that is read from a variable. */
function leaveNoNumber(place: string, name: string, given: JsonObject, plan: ImportPlan): void {
  const value = given[name]
  if (isNothing(value) || numberOf(value) !== undefined) return
  plan.leaves(`${place}${name}`, 'Must be a number, not a variable or other text; not imported.')
}

const READ_SETTINGS = words(`
  fallbacks context_window_fallbacks content_policy_fallbacks default_fallbacks max_fallbacks num_retries timeout request_timeout stream_timeout cooldown_time
  allowed_fails routing_strategy model_group_alias max_budget budget_duration max_parallel_requests default_team_settings
  default_key_generate_params master_key vertex_project vertex_location telemetry set_verbose
`)
const EACH_KEY = 'LiteLLM applies this to each key. Set "limits" on keys.'
const NO_CACHE = 'Signalbox has no response cache.'
const OBSERVE = 'Start with --log json or --metrics, or use hooks and "observe" in your own app.'
const STORAGE =
  'The CLI runs a single instance. To share a store between several, embed the gateway in your own app; see examples/redis.'
const USERS = 'Signalbox has no users. Set limits on keys and groups.'
const FAILURES =
  'Signalbox decides by the type of failure, without configurable policies; see "When a provider fails" in the docs.'
const SIGN_IN = 'Use the admin token for the dashboard and management, and API keys for clients.'
const SETTING_REASONS: Readonly<Record<string, string>> = {
  drop_params: "Signalbox always drops parameters a target doesn't support, and lists them in x-signalbox-warning.",
  cache: NO_CACHE,
  cache_params: NO_CACHE,
  success_callback: OBSERVE,
  failure_callback: OBSERVE,
  callbacks: OBSERVE,
  service_callback: OBSERVE,
  service_callbacks: OBSERVE,
  json_logs: 'Start with --log json.',
  alerting: OBSERVE,
  alerting_threshold: OBSERVE,
  alert_to_webhook_url: OBSERVE,
  background_health_checks: FAILURES,
  health_check_interval: FAILURES,
  litellm_jwtauth: SIGN_IN,
  key_management_system: 'Have your secret manager set the environment variables.',
  forward_client_headers_to_llm_api: 'Signalbox forwards only allowlisted headers to providers.',
  optional_pre_call_checks: 'Use the strategy "sticky", which keeps the requests of a session on one target.',
  redis_url: STORAGE,
  redis_host: STORAGE,
  redis_port: STORAGE,
  redis_password: STORAGE,
  provider_budget_config: "Keys, groups, and the gateway can have limits; providers can't.",
  enable_pre_call_checks: 'Signalbox always skips targets whose context window is too small for a request.',
  enable_tag_filtering: 'Use "when" on combo entries, with conditions on request metadata and headers.',
  retry_policy: FAILURES,
  model_group_retry_policy: FAILURES,
  allowed_fails_policy: FAILURES,
  retry_after:
    'After a failure, Signalbox tries the next target immediately. It always honors a wait that a provider requests.',
  disable_cooldowns: 'Failing targets always go into cooldown; see settings.health.',
  routing_strategy_args: 'Strategies have no arguments.',
  max_user_budget: USERS,
  max_end_user_budget: USERS,
  max_internal_user_budget: USERS,
  internal_user_budget_duration: USERS,
  default_internal_user_params: USERS,
  upperbound_key_generate_params: 'Only the admin token can create keys.',
  database_url: "Keys and teams in LiteLLM's database are not imported. Create them with npx signalbox keys create.",
  store_model_in_db: "Models in LiteLLM's database are not imported.",
  pass_through_endpoints: 'Signalbox serves only model APIs.',
  ui_username: SIGN_IN,
  ui_password: SIGN_IN,
  enable_jwt_auth: SIGN_IN,
  custom_auth: SIGN_IN,
  port: 'Start with --port.',
  host: 'Start with --host.',
}
