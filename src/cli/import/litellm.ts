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

/** Plans what a LiteLLM configuration is here. Throws a problem when it is none. */
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
      'No price is known of these, or of a deployment of theirs: no budget counts them until their connections have "prices".',
    )
  plan.leavesRest('', config, { done: [...Object.keys(SECTIONS), 'include'], reasons: REASONS })
}

/** The settings of the router, where it has none those of the library. */
function routerOf(config: JsonObject): JsonObject {
  const own = Object.entries(objectOf(config.router_settings)).filter(
    ([, value]) => !isNothing(value) || value === false,
  )
  return { ...objectOf(config.litellm_settings), ...Object.fromEntries(own) }
}

const REASONS: Readonly<Record<string, string>> = {
  environment_variables: 'Set the variables in the environment: the file of records holds none.',
  guardrails: 'Signalbox looks into no prompts.',
  mcp_servers: 'Signalbox serves no MCP.',
  mcp_tools: 'Signalbox serves no MCP.',
  finetune_settings: 'Fine-tuning and files go to the provider itself.',
  files_settings: 'Fine-tuning and files go to the provider itself.',
  callback_settings: 'See hooks, and observe: spans, metrics, one line a request.',
  search_tools: 'Connect a provider of web search: see "Search and pages".',
}
