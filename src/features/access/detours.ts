import { type GatewayError, gatewayError } from '../../errors.ts'
import { formatScalar, isObject, type JsonObject } from '../../lib/json.ts'
import type { ClientFormat } from '../../types.ts'

/** A model call by a restricted caller. */
export interface RestrictedCall {
  body: JsonObject
  text: string
  endpoint: { format: ClientFormat }
}

/**
 * Returns an error if the request could make some providers use models other than the requested one or add paid services. Model allowlists and the
 * worst-case estimate don't cover these models and services. The rule applies to every target, because any connection may lead to one of these
 * providers.
 */
export function createDetourError({ body, endpoint }: RestrictedCall): GatewayError | undefined {
  const isAiSdk = endpoint.format === 'ai-sdk' // the gateway reads these options itself and checks the models
  const fallbacks = isAiSdk ? undefined : findVercelFallbacks(body)
  const field = DETOUR_FIELDS.find((name) => isSet(body[name])) ?? fallbacks ?? findOpenRouterTool(body)
  if (field === undefined) return undefined
  return gatewayError('INVALID_REQUEST', {
    message: `"${field}" can reach models or paid services other than the requested model. API keys with model restrictions or token or dollar limits cannot send it. Remove it; to use several models, request a combo of this gateway.`,
    data: { param: field },
  })
}

/** OpenRouter reads the first three fields; LiteLLM reads the last. */
const DETOUR_FIELDS = ['models', 'plugins', 'preset', 'fallbacks']

const isSet = (value: unknown) => (value ?? undefined) !== undefined && !(Array.isArray(value) && value.length === 0)

/** Finds the fallback models that Vercel's gateway would try next. */
function findVercelFallbacks({ providerOptions }: JsonObject): string | undefined {
  const gatewayOptions = isObject(providerOptions) ? providerOptions.gateway : undefined
  return isObject(gatewayOptions) && isSet(gatewayOptions.models) ? 'providerOptions.gateway.models' : undefined
}

/** Finds OpenRouter's own tools, which search, create images, or call other models. */
function findOpenRouterTool({ tools }: JsonObject): string | undefined {
  if (!Array.isArray(tools)) return undefined
  const index = tools.findIndex((tool) => isObject(tool) && formatScalar(tool.type).startsWith('openrouter:'))
  return index < 0 ? undefined : `tools[${index}]`
}
