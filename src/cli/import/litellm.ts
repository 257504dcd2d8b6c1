import { isObject, type JsonObject } from '../../lib/json.ts'
import { isNone, isNothing, objectOf } from './given-fields.ts'
import { deploymentsOf } from './litellm-deployments.ts'
import { planRoutes } from './litellm-routes.ts'
import { planSettings } from './litellm-settings.ts'
import type { ImportPlan } from './plan.ts'

/* LiteLLM's config.yaml, as docs.litellm.ai/docs/proxy/config_settings describes it. */

const SECTIONS = {
  model_list: 'list',
  litellm_settings: 'object',
  router_settings: 'object',
  general_settings: 'object',
  credential_list: 'list',
} as const

/** Plans the import of a LiteLLM configuration. Throws a problem when it is not one. */
export function planLiteLlm(config: unknown, plan: ImportPlan): void {
  if (!isObject(config) || !Object.keys(SECTIONS).some((name) => name in config))
    isNone('a LiteLLM configuration', 'A LiteLLM configuration has a "model_list".')
  plan.leavesMistyped('', config, SECTIONS)
  const router = routerOf(config)
  const { groups, wildcards } = deploymentsOf(config, router, plan)
  planRoutes({ groups, wildcards, router, plan })
  planSettings(config, router, plan)
  const unpriced = [...groups].filter(([, deployments]) => deployments.some(({ isPriced }) => !isPriced))
  if (plan.settings.whenPriceUnknown === 'allow' && unpriced.length > 0)
    plan.leaves(
      `max_budget: ${unpriced.map(([name]) => name).join(', ')}`,
      'These models, or some of their deployments, have no known price. Budgets don\'t count them until you set "prices" on their connections.',
    )
  plan.leavesRest('', config, { done: [...Object.keys(SECTIONS), 'include'], reasons: REASONS })
}

/** The settings of the router, and those of the library that the router does not have. */
function routerOf(config: JsonObject): JsonObject {
  const own = Object.entries(objectOf(config.router_settings)).filter(
    ([, value]) => !isNothing(value) || value === false,
  )
  return { ...objectOf(config.litellm_settings), ...Object.fromEntries(own) }
}

const REASONS: Readonly<Record<string, string>> = {
  environment_variables: 'Set the variables in the environment. The config file contains none.',
  guardrails: "Signalbox doesn't inspect prompts.",
  mcp_servers: 'Signalbox has no MCP server.',
  mcp_tools: 'Signalbox has no MCP server.',
  finetune_settings: 'Signalbox has no endpoints for fine-tuning and files. Send such requests to the provider.',
  files_settings: 'Signalbox has no endpoints for fine-tuning and files. Send such requests to the provider.',
  callback_settings: 'Use hooks, or the "observe" option for traces, metrics, and a log line per request.',
  search_tools: 'Connect a web search provider; see "Search and pages" in the docs.',
}
