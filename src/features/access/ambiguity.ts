import { type GatewayError, gatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { scanTopLevel } from '../../lib/json-scan.ts'

/**
 * Returns an error if providers might parse the body differently, which makes the model and the worst-case usage uncertain. Either a field occurs
 * twice (some parsers use the first occurrence), or a field differs from a known one only in case (Go servers ignore case).
 */
export function createAmbiguityError({ body, text }: { body: JsonObject; text: string }): GatewayError | undefined {
  const miscasedField = Object.keys(body).find(
    (name) => !DECISIVE_FIELDS.has(name) && FIELDS_BY_FOLDED_NAME.has(foldCase(name)),
  )
  const field = miscasedField ?? findRepeatedField(text, body)
  if (field === undefined) return undefined
  const problem =
    miscasedField === undefined
      ? `"${field}" appears twice in the request`
      : `"${field}" differs from "${FIELDS_BY_FOLDED_NAME.get(foldCase(field))}" only in letter case`
  return gatewayError('INVALID_REQUEST', {
    message: `${problem}, and providers disagree on which value to use. API keys with model restrictions or token or dollar limits cannot send this. Send each field once, spelled as in the API.`,
    data: { param: field },
  })
}

/**
 * The fields that decide which model responds and how much it costs. `model` may occur several times, because the gateway sets every occurrence for
 * the provider.
 */
const REPEATABLE_FIELDS = ['model']
const UNIQUE_FIELDS = [
  ...['messages', 'input', 'prompt', 'contents', 'system', 'tools', 'models', 'plugins', 'preset', 'fallbacks'],
  ...[
    'max_tokens',
    'max_completion_tokens',
    'max_output_tokens',
    'n',
    'best_of',
    'generationConfig',
    'generation_config',
  ],
  ...['service_tier', 'serviceTier', 'speed', 'inference_geo'],
]
const DECISIVE_FIELDS: ReadonlySet<string> = new Set([...REPEATABLE_FIELDS, ...UNIQUE_FIELDS])

/** Folds a name's case the way Go's JSON decoder does: simple case folding, where `ſ` equals `s` and the Kelvin sign equals `k`. */
const foldCase = (name: string) => name.toUpperCase().toLowerCase()
const FIELDS_BY_FOLDED_NAME: ReadonlyMap<string, string> = new Map(
  Array.from(DECISIVE_FIELDS, (name) => [foldCase(name), name]),
)

function findRepeatedField(text: string, body: JsonObject): string | undefined {
  const presentFields = UNIQUE_FIELDS.filter((name) => Object.hasOwn(body, name))
  if (scanTopLevel(text, presentFields).spans.length <= presentFields.length) return undefined
  return presentFields.find((name) => scanTopLevel(text, [name]).spans.length > 1)
}
