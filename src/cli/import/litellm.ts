import { isObject, type JsonObject } from '../../lib/json.ts'
import { isEmpty, rejectFile, toObject } from './field-values.ts'
import { readDeployments } from './litellm-deployments.ts'
import { planRoutes } from './litellm-routes.ts'
import { planSettings } from './litellm-settings.ts'
import type { ImportPlan } from './plan.ts'

/* Imports LiteLLM's config.yaml, as described at docs.litellm.ai/docs/proxy/config_settings. */

const SECTION_LABELS = {
  model_list: 'list',
  litellm_settings: 'object',
  router_settings: 'object',
  general_settings: 'object',
  credential_list: 'list',
} as const

/** Plans the import of a LiteLLM configuration. Throws a problem if `config` isn't a LiteLLM configuration. */
export function planLiteLlm(config: unknown, plan: ImportPlan): void {
  if (!isObject(config) || !Object.keys(SECTION_LABELS).some((name) => name in config))
    rejectFile('a LiteLLM configuration', 'A LiteLLM configuration has a "model_list".')
  plan.reportMistyped('', config, SECTION_LABELS)
  const router = readRouterSettings(config)
  const { groups, wildcards } = readDeployments(config, router, plan)
  planRoutes({ groups, wildcards, router, plan })
  planSettings(config, router, plan)
  const unpriced = [...groups].filter(([, deployments]) => deployments.some(({ isPriced }) => !isPriced))
  if (plan.settings.whenPriceUnknown === 'allow' && unpriced.length > 0)
    plan.reportUnmapped(
      `max_budget: ${unpriced.map(([name]) => name).join(', ')}`,
      'These models, or some of their deployments, have no known price. Budgets don\'t count them until you set "prices" on their connections.',
    )
  plan.reportOtherFields('', config, { known: [...Object.keys(SECTION_LABELS), 'include'], reasons: SECTION_REASONS })
}

/** Returns the router's settings, and the library's settings that the router doesn't override. */
function readRouterSettings(config: JsonObject): JsonObject {
  const routerSettings = Object.entries(toObject(config.router_settings)).filter(
    ([, value]) => !isEmpty(value) || value === false,
  )
  return { ...toObject(config.litellm_settings), ...Object.fromEntries(routerSettings) }
}

const SECTION_REASONS: Readonly<Record<string, string>> = {
  environment_variables: 'Set the variables in the environment. The config file contains none.',
  guardrails: 'Not imported. Define guards in the "guards" section of the config file.',
  mcp_servers: 'Signalbox has no MCP server.',
  mcp_tools: 'Signalbox has no MCP server.',
  finetune_settings: 'Signalbox has no endpoints for fine-tuning and files. Send such requests to the provider.',
  files_settings: 'Signalbox has no endpoints for fine-tuning and files. Send such requests to the provider.',
  callback_settings: 'Use hooks, or the "observe" option for traces, metrics, and a log line per request.',
  search_tools: 'Connect a web search provider; see "Search and pages" in the docs.',
}
