import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import { memoizeByName } from '../lib/maps.ts'
import { findPremiumTier } from '../protocols/formats/canonical/tiers.ts'

/** A request as sent to a provider. */
interface SentRequest {
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** A field that requests a tier at another price, and the tier's name in lowercase. */
export interface Surcharge {
  field: string
  tier: string
}

/**
 * Finds the field that requests faster processing or a specific region at a higher price. Checks the request as sent, except that
 * for forms and passed-through bodies, it checks `clientBody` instead of the sent body. Skips fields that select `pricedTier`.
 */
export function findSurcharge(
  { request, isPassThrough }: { request: SentRequest; isPassThrough: boolean },
  clientBody: JsonObject,
  pricedTier?: string,
): Surcharge | undefined {
  const { query, headers, body } = request
  const outer = [...Object.entries(headers), ...(query.length > 1 ? new URLSearchParams(query) : [])]
  for (const [field, value] of outer) {
    const tier = readSurcharge(field, value)
    if (tier !== undefined && tier !== pricedTier) return { field, tier }
  }
  if (isPassThrough || typeof body !== 'string') return findBodySurcharge(clientBody, { pricedTier })
  const requestBody = SURCHARGE_FIELD_PATTERN.test(body) ? tryParseJson(body) : undefined
  return isObject(requestBody) ? findBodySurcharge(requestBody, { pricedTier }) : undefined
}

/** Reliable for bodies that the gateway wrote, because it doesn't escape letters in them. */
const SURCHARGE_FIELD_PATTERN = /"[\w.-]*(?:tier|speed|geo|latency|request[_-]type)"/i

/** Finds a surcharge field in a client's body, including wrappers such as `extra_body` and `providerOptions`, but not in content or schemas. */
export function findBodySurcharge(
  body: JsonObject,
  { pricedTier, depth = 0 }: { pricedTier?: string | undefined; depth?: number } = {},
): Surcharge | undefined {
  for (const name in body) {
    const value = body[name]
    const tier = readSurcharge(name, value)
    if (tier !== undefined && tier !== pricedTier) return { field: name, tier }
    if (depth >= MAX_DEPTH || !isObject(value) || CONTENT_FIELD_PATTERN.test(name)) continue
    const innerSurcharge = findBodySurcharge(value, { pricedTier, depth: depth + 1 })
    if (innerSurcharge) return { ...innerSurcharge, field: `${name}.${innerSurcharge.field}` }
  }
  return undefined
}

const MAX_DEPTH = 4
const CONTENT_FIELD_PATTERN =
  /^(?:messages|input|contents?|prompt|system.*|instructions|tools?|tool_?config|functions|metadata|labels|documents|variables|arguments|args)$|schema|format|voice|speech|audio|image|video|^text$/i

/** For speech, `speed` is a number or a numeric string. Anthropic's is a word. */
function readSurcharge(name: string, value: unknown): string | undefined {
  const valueType = classifyName(name)
  if (valueType === 'nothing' || value === undefined || value === null || value === '') return undefined
  if (valueType === 'word' && (typeof value !== 'string' || Number.isFinite(Number(value)))) return undefined
  return findPremiumTier(value)
}

const classifyName = memoizeByName((name) =>
  TIER_PATTERN.test(name) ? 'tier' : WORD_PATTERN.test(name) ? 'word' : 'nothing',
)

/** `service_tier` in every spelling, including in headers, and Vertex AI's `X-Vertex-AI-LLM-Shared-Request-Type`. */
const TIER_PATTERN = /service[_-]?tier$|shared[_-]request[_-]type$/i
/** `latency` is Bedrock's, in `performanceConfig`; `inference_geo` and `speed` are Anthropic's. */
const WORD_PATTERN = /^speed$|inference[_-]?geo$|^latency$|performance[_-]?config[_-]latency$/i
