import { isObject, type JsonObject } from '../../lib/json.ts'
import { isNone, isNothing, objectOf } from './given.ts'
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
    isNone('a configuration of LiteLLM', 'It has a "model_list".')
  plan.leavesMistyped('', config, SECTIONS)
  const router = routerOf(config)
  const { groups, wildcards } = deploymentsOf(config, router, plan)
  planRoutes({ groups, wildcards, router, plan })
  planSettings(config, router, plan)
  const unpriced = [...groups].filter(([, deployments]) => deployments.some(({ isPriced }) => !isPriced))
  if (plan.settings.unpriced === 'allow' && unpriced.length > 0)
    plan.leaves(
      `max_budget: ${unpriced.map(([name]) => name).join(', ')}`,
      'No price of these models, or of one of their deployments, is known: no budget counts them until their connections have "prices".',
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
  environment_variables: 'Set the variables in the environment: the file of records holds none.',
  guardrails: 'Signalbox does not inspect prompts.',
  mcp_servers: 'Signalbox serves no MCP.',
  mcp_tools: 'Signalbox serves no MCP.',
  finetune_settings: 'Signalbox has no endpoints for fine-tuning and files: send such requests to the provider.',
  files_settings: 'Signalbox has no endpoints for fine-tuning and files: send such requests to the provider.',
  callback_settings: 'Use hooks, or the option "observe": spans, metrics, and a log line for each request.',
  search_tools: 'Connect a provider of web search: see "Search and pages".',
}
