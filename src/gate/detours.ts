import { type GatewayError, gatewayError } from '../errors.ts'
import { isObject, type JsonObject } from '../lib/json.ts'

/**
 * The error for a request that makes some providers answer with models other than the requested one, or add paid services. Lists of allowed models
 * and the worst case of the request do not cover these. The rule applies to every target, since any connection may lead to such a provider.
 */
export function detourError(body: JsonObject): GatewayError | undefined {
  const member = MEMBERS.find((name) => isGiven(body[name])) ?? vercelFallbacksIn(body) ?? openrouterToolIn(body)
  if (member === undefined) return undefined
  return gatewayError('INVALID_REQUEST', {
    message: `"${member}" can lead to models or paid services beside the model of the request. An API key with allowed models, or with limits on tokens or US dollars, may not send it: leave it out, or ask for a combo of this gateway in place of several models.`,
    data: { param: member },
  })
}

/** OpenRouter reads the first three, LiteLLM the last. */
const MEMBERS = ['models', 'plugins', 'preset', 'fallbacks']

const isGiven = (value: unknown) => (value ?? undefined) !== undefined && !(Array.isArray(value) && value.length === 0)

/** The models that Vercel's gateway tries next. */
function vercelFallbacksIn({ providerOptions }: JsonObject): string | undefined {
  const gateway = isObject(providerOptions) ? providerOptions.gateway : undefined
  return isObject(gateway) && isGiven(gateway.models) ? 'providerOptions.gateway.models' : undefined
}

/** Tools of OpenRouter's own search, make images, or ask other models. */
function openrouterToolIn({ tools }: JsonObject): string | undefined {
  if (!Array.isArray(tools)) return undefined
  const at = tools.findIndex((tool) => isObject(tool) && String(tool.type).startsWith('openrouter:'))
  return at < 0 ? undefined : `tools[${at}]`
}
