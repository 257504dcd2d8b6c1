import type { JsonObject } from '../../lib/json.ts'
import { type ImportPlan, listOf, milliseconds, numberOf, objectOf, type PlannedValue, slug, textOf } from './plan.ts'

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
  default_fallbacks: 'list',
  model_group_alias: 'object',
  default_team_settings: 'list',
  default_key_generate_params: 'object',
} as const

/** Plans what holds for all requests: attempts, time-outs, cooldowns, limits and budgets. */
export function planSettings(config: JsonObject, router: JsonObject, plan: ImportPlan): void {
  const litellm = objectOf(config.litellm_settings)
  const general = objectOf(config.general_settings)
  for (const section of ['litellm_settings', 'router_settings'])
    plan.leavesMistyped(`${section}.`, objectOf(config[section]), PARTS)
  const retries = numberOf(router.num_retries)
  if (retries !== undefined) {
    plan.settings.maxAttempts = Math.min(100, Math.max(1, Math.round(retries) + 1))
    plan.maps('num_retries', `settings.maxAttempts ${plan.settings.maxAttempts}: all targets of a request together`)
  }
  const timeout = numberOf(router.timeout) ?? numberOf(litellm.request_timeout)
  const streamTimeout = numberOf(router.stream_timeout)
  if (timeout !== undefined || streamTimeout !== undefined) {
    plan.settings.timeouts = {
      ...(timeout !== undefined && { totalMs: milliseconds(timeout * 1_000) }),
      ...(streamTimeout !== undefined && { headersMs: milliseconds(streamTimeout * 1_000) }),
    }
    plan.maps('timeout', 'settings.timeouts')
  }
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
    if (STRATEGIES[strategy] === undefined)
      plan.leaves('routing_strategy', `"${strategy}" has no counterpart; weighted is taken.`)
    else
      plan.maps(
        'routing_strategy',
        `${STRATEGIES[strategy]} in each combo of several deployments${strategy.startsWith('usage') ? ', the nearest there is' : ''}`,
      )
  }
  planLimits(litellm, general, plan)
  if (general.master_key !== undefined) {
    plan.settings.requireApiKey = true
    const limits = limitsOf(objectOf(litellm.default_key_generate_params), 'default_key_generate_params', plan)
    plan.keys.set('imported', { ...(limits && { limits }) })
    plan.maps('general_settings.master_key', 'settings.requireApiKey, and a key "imported" with a value of its own')
    plan.leaves(
      'general_settings.master_key',
      "Its value: clients need the new key (signalbox keys list), and the admin token is SIGNALBOX_ADMIN_TOKEN's.",
    )
  }
  plan.leavesRest('litellm_settings', litellm, { done: READ_SETTINGS, reasons: SETTING_REASONS })
  plan.leavesRest('router_settings', objectOf(config.router_settings), {
    done: READ_SETTINGS,
    reasons: SETTING_REASONS,
  })
  plan.leavesRest('general_settings', general, {
    done: ['master_key', 'max_parallel_requests', 'global_max_parallel_requests'],
    reasons: SETTING_REASONS,
  })
}

/** What LiteLLM allows the proxy as a whole, and its teams. */
function planLimits(litellm: JsonObject, general: JsonObject, plan: ImportPlan): void {
  const parallel = numberOf(general.global_max_parallel_requests) ?? numberOf(litellm.max_parallel_requests)
  const limits = limitsOf(
    { ...litellm, ...(parallel !== undefined && { max_parallel_requests: parallel }) },
    'litellm_settings',
    plan,
  )
  if (limits) {
    plan.settings.limits = limits
    plan.maps('max_budget, max_parallel_requests', 'settings.limits: of all requests together')
  }
  for (const [at, team] of listOf(litellm.default_team_settings).entries()) {
    const id = textOf(objectOf(team).team_id)
    if (id === undefined) continue
    const place = `default_team_settings[${at}]`
    const own = limitsOf(objectOf(team), place, plan)
    plan.groups.set(slug(id), { name: id, ...(own && { limits: own }) })
    plan.maps(place, `group ${slug(id)}: put its keys into it`)
    plan.leavesRest(place, objectOf(team), {
      done: ['team_id', 'max_budget', 'budget_duration', 'rpm_limit', 'tpm_limit', 'max_parallel_requests'],
      reasons: SETTING_REASONS,
    })
  }
}

/** A budget and its like as limits; `undefined` when there is none. */
function limitsOf(given: JsonObject, place: string, plan: ImportPlan): PlannedValue | undefined {
  const usd = numberOf(given.max_budget)
  const parallel = numberOf(given.max_parallel_requests)
  const requests = numberOf(given.rpm_limit)
  const tokens = numberOf(given.tpm_limit)
  const window = windowOf(textOf(given.budget_duration))
  if (usd !== undefined && window === undefined)
    plan.leaves(
      `${place}.budget_duration`,
      `"${textOf(given.budget_duration)}" is no window here: minute, hour, day, week, month or total.`,
    )
  const limits = {
    ...(usd !== undefined && usd > 0 && window !== undefined && { usd: { [window]: usd } }),
    ...(requests !== undefined && requests >= 1 && { requests: { minute: Math.round(requests) } }),
    ...(tokens !== undefined && tokens >= 1 && { tokens: { minute: Math.round(tokens) } }),
    ...(parallel !== undefined && parallel >= 1 && { parallel: Math.round(parallel) }),
  }
  return Object.keys(limits).length > 0 ? limits : undefined
}

function windowOf(duration: string | undefined): string | undefined {
  if (duration === undefined) return 'total'
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
  return Object.hasOwn(windows, duration) ? windows[duration] : undefined
}

const READ_SETTINGS = `
  fallbacks context_window_fallbacks default_fallbacks num_retries timeout request_timeout stream_timeout cooldown_time allowed_fails
  routing_strategy model_group_alias max_budget budget_duration max_parallel_requests default_team_settings default_key_generate_params
  telemetry set_verbose
`
  .trim()
  .split(/\s+/)
const SETTING_REASONS: Readonly<Record<string, string>> = {
  drop_params: 'What a target cannot take is left out by itself, and named in x-signalbox-warning.',
  cache: 'Signalbox keeps no answers.',
  cache_params: 'Signalbox keeps no answers.',
  success_callback: 'See hooks, and observe: spans, metrics, one line a request.',
  failure_callback: 'See hooks, and observe: spans, metrics, one line a request.',
  callbacks: 'See hooks, and observe: spans, metrics, one line a request.',
  content_policy_fallbacks: 'A refusal is an answer here.',
  redis_host: 'Instances share their state through the storage.',
  redis_port: 'Instances share their state through the storage.',
  redis_password: 'Instances share their state through the storage.',
  provider_budget_config: 'Limits are of keys, groups and the gateway, not of providers.',
  enable_pre_call_checks: 'Targets that are too small for a request are passed over by themselves.',
  database_url: 'Keys and teams that LiteLLM has in its database are not read: make them with signalbox keys create.',
  store_model_in_db: 'Models that LiteLLM has in its database are not read.',
  pass_through_endpoints: 'Only the endpoints of model APIs are served.',
  port: 'Give --port at the start.',
  host: 'Give --host at the start.',
}
