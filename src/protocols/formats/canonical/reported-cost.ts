import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import { memoizeByName } from '../../../lib/maps.ts'
import type { TokenUsage } from './canonical-response.ts'
import { readServedTier } from './tiers.ts'

type Charge = Pick<TokenUsage, 'costUsd'>

/**
 * Reads the provider's charge in US dollars from a response's `usage`. Returns no field if it isn't reported. Amounts may be numbers or strings:
 * `cost` at OpenRouter, `cost.total_cost` at Perplexity, `cost_in_usd_ticks` or `cost_in_nano_usd` at xAI, `estimated_cost` at DeepInfra,
 * `cost_usd_total` at LLM Gateway.
 */
export function readCost(usage: JsonObject): Charge {
  if (!hasCostName(usage)) return {}
  if (isForeignCurrency(usage.currency)) return {}
  const ticks = readAmount(usage.cost_in_usd_ticks, MAX_USD * TICKS_PER_USD)
  if (ticks !== undefined) return { costUsd: ticks / TICKS_PER_USD }
  const nanos = readAmount(usage.cost_in_nano_usd, MAX_USD * NANOS_PER_USD)
  if (nanos !== undefined) return { costUsd: nanos / NANOS_PER_USD }
  if (isObject(usage.cost)) return readTotal(usage.cost)
  const cost = readAmount(usage.cost)
  return cost === undefined ? readFirstAmount(usage, COST_FIELDS) : addUpstreamCost(cost, usage)
}

/**
 * Adds OpenRouter's fee for using your own key to the vendor's charge for that key. If `is_byok` is missing, a vendor charge that exceeds the fee
 * shows that it was your key. The fee alone isn't the cost.
 */
function addUpstreamCost(cost: number, { is_byok: isByok, cost_details: details }: JsonObject): Charge {
  const upstreamCost = isObject(details) ? readUpstreamCost(details) : undefined
  const isFeeOnly = isByok === true || (isByok !== false && upstreamCost !== undefined && upstreamCost > cost)
  if (!isFeeOnly) return { costUsd: cost }
  return upstreamCost === undefined ? {} : { costUsd: cost + upstreamCost }
}

/** Reads the vendor's charge. OpenRouter may only report its components. */
function readUpstreamCost(details: JsonObject): number | undefined {
  const total = readAmount(details.upstream_inference_cost)
  if (total !== undefined) return total
  const input = readAmount(details.upstream_inference_prompt_cost ?? details.upstream_inference_input_cost)
  const output = readAmount(details.upstream_inference_completions_cost ?? details.upstream_inference_output_cost)
  return input === undefined || output === undefined ? undefined : input + output
}

function readTotal(cost: JsonObject, depth = 0): Charge {
  if (isForeignCurrency(cost.currency) || depth > MAX_DEPTH) return {}
  return readFirstAmount(cost, ['total_cost', 'total', 'total_usd', 'amount', 'usd'], depth)
}

/** No vendor nests a cost deeper than this, but responses may be nested up to 10,000 levels deep (lib/json.ts). */
const MAX_DEPTH = 4

/** Returns whether the usage may contain a cost. It usually doesn't, and this check avoids searching for each name. */
function hasCostName(usage: JsonObject): boolean {
  for (const name in usage) if (isCostName(name)) return true
  return false
}

const isCostName = memoizeByName(
  (name) =>
    name === 'cost' || name === 'cost_in_usd_ticks' || name === 'cost_in_nano_usd' || COST_FIELDS.includes(name),
)

function readFirstAmount(object: JsonObject, names: readonly string[], depth = 0): Charge {
  for (const name of names) {
    const value = object[name]
    const costUsd = readAmount(value)
    if (costUsd !== undefined) return { costUsd }
    if (isObject(value)) return readTotal(value, depth + 1)
  }
  return {}
}

const COST_FIELDS = [
  ...['cost_usd', 'costUsd', 'cost_in_usd', 'cost_usd_total', 'total_cost', 'totalCost', 'total_cost_usd'],
  ...['estimated_cost', 'search_cost_usd', 'fetch_cost_usd', 'usd_spent', 'cost_details'],
]

/** Adds the cost that is reported outside the usage, and the response's service tier, to the usage. `getHeader` reads the response headers. */
export function addCharges(
  usage: TokenUsage | undefined,
  response: unknown,
  getHeader?: (name: string) => string | undefined,
): TokenUsage | undefined {
  if (!usage || !isObject(response)) return usage
  const tier =
    getHeader && usage.serviceTier === undefined
      ? readServedTier({ service_tier: getHeader('x-gemini-service-tier') })
      : {}
  const charge = usage.costUsd === undefined ? readOuterCost(response, getHeader) : {}
  return { ...usage, ...tier, ...readServedTier(response), ...charge }
}

/** Adds a stream event's cost and tier to its usage. Parses the event only if it may contain either, because it can be large. */
export const addEventCharges = (usage: TokenUsage, data: string): TokenUsage =>
  (/tier"|cost/i.test(data) && addCharges(usage, tryParseJson(data))) || usage

/** Reads a cost outside the usage. Vercel's gateway and AI/ML API have their own fields, and LiteLLM and other gateways send a header. */
function readOuterCost(response: JsonObject, getHeader: ((name: string) => string | undefined) | undefined): Charge {
  const { usage, usageMetadata, costDollars, meta, choices } = response
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  const sources: unknown[] = [usage, usageMetadata, isObject(meta) && meta.usage, readGatewayMetadata(response)]
  if (isObject(choice))
    sources.push(readGatewayMetadata(choice.message), readGatewayMetadata(choice.delta), readGatewayMetadata(choice))
  for (const source of sources) {
    const charge = isObject(source) ? readCost(source) : {}
    if (charge.costUsd !== undefined) return charge
  }
  const cost = isObject(costDollars) ? readTotal(costDollars) : readCost(response)
  if (cost.costUsd !== undefined) return cost
  for (const name of getHeader ? COST_HEADERS : []) {
    const costUsd = readAmount(getHeader?.(name))
    if (costUsd) return { costUsd } // a cost of 0 means that it isn't known yet
  }
  return {}
}

/** Gets the metadata that Vercel's gateway adds to each message: `{ gateway: { cost: "0.0012" } }`. */
function readGatewayMetadata(message: unknown): unknown {
  if (!isObject(message)) return undefined
  const metadata = message.provider_metadata ?? message.providerMetadata
  return isObject(metadata) ? metadata.gateway : undefined
}

const COST_HEADERS = ['x-litellm-response-cost', 'x-signalbox-cost', 'x-response-cost', 'x-cost-usd']

const TICKS_PER_USD = 10_000_000_000
const NANOS_PER_USD = 1_000_000_000

/** Amounts of at least this many US dollars are treated as wrong, because no call costs that much. */
const MAX_USD = 1_000_000

/** Reads an amount from a number or a string such as `$0.01`. Returns `undefined` if it is negative, at least `max`, or not an amount. */
function readAmount(value: unknown, max = MAX_USD): number | undefined {
  const amount =
    typeof value === 'string' && DECIMAL_PATTERN.test(value) ? Number(value.trim().replace(/^\$/, '')) : value
  return typeof amount === 'number' && amount >= 0 && amount < max ? amount : undefined
}

const DECIMAL_PATTERN = /^\s*\$?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i

const isForeignCurrency = (currency: unknown) => typeof currency === 'string' && !/^(?:usd|us\$|\$|)$/i.test(currency)
