import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import { memoizeByName } from '../lib/maps.ts'
import { isPremiumTier } from '../protocols/formats/canonical/tiers.ts'

/** A request as sent to a provider. */
interface SentRequest {
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/**
 * Finds the field that requests faster processing or a specific region at a price that isn't in the catalog. Checks the request as sent, except that
 * for forms and passed-through bodies, it checks `clientBody` instead of the sent body.
 */
export function findSurchargeField(
  { request, isPassThrough }: { request: SentRequest; isPassThrough: boolean },
  clientBody: JsonObject,
): string | undefined {
  const { query, headers, body } = request
  for (const name in headers) if (hasSurcharge(name, headers[name])) return name
  if (query.length > 1)
    for (const [name, value] of new URLSearchParams(query)) if (hasSurcharge(name, value)) return name
  if (isPassThrough || typeof body !== 'string') return findSurchargeBodyField(clientBody)
  const sent = SURCHARGE_FIELD.test(body) ? tryParseJson(body) : undefined
  return isObject(sent) ? findSurchargeBodyField(sent) : undefined
}

/** Matches bodies that the gateway wrote, because it doesn't escape letters. */
const SURCHARGE_FIELD = /"[\w.-]*(?:tier|speed|geo|latency|request[_-]type)"/i

/** Finds such a field in a client's body, including wrappers such as `extra_body` and `providerOptions`, but not in content or schemas. */
export function findSurchargeBodyField(body: JsonObject, depth = 0): string | undefined {
  for (const name in body) {
    const value = body[name]
    if (hasSurcharge(name, value)) return name
    if (depth >= MAX_DEPTH || !isObject(value) || CONTENT.test(name)) continue
    const inner = findSurchargeBodyField(value, depth + 1)
    if (inner !== undefined) return `${name}.${inner}`
  }
  return undefined
}

const MAX_DEPTH = 4
const CONTENT =
  /^(?:messages|input|contents?|prompt|system.*|instructions|tools?|tool_?config|functions|metadata|labels|documents|variables|arguments|args)$|schema|format|voice|speech|audio|image|video|^text$/i

/** For speech, `speed` is a number or a numeric string. Anthropic's is a word. */
function hasSurcharge(name: string, value: unknown): boolean {
  const meaning = classifyName(name)
  if (meaning === 'nothing' || value === undefined || value === null || value === '') return false
  if (meaning === 'tier') return isPremiumTier(value)
  return typeof value === 'string' && !Number.isFinite(Number(value)) && isPremiumTier(value)
}

const classifyName = memoizeByName((name) => (TIER.test(name) ? 'tier' : WORD.test(name) ? 'word' : 'nothing'))

/** `service_tier` in every spelling, including in headers, and Vertex AI's `X-Vertex-AI-LLM-Shared-Request-Type`. */
const TIER = /service[_-]?tier$|shared[_-]request[_-]type$/i
/** `latency` is Bedrock's, in `performanceConfig`; `inference_geo` and `speed` are Anthropic's. */
const WORD = /^speed$|inference[_-]?geo$|^latency$|performance[_-]?config[_-]latency$/i
