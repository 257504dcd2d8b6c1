import { type GatewayError, gatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { scanTopLevel } from '../../lib/json-scan.ts'

/**
 * Creates the error for a body that providers may parse differently, so that its model and its worst case are uncertain. Either a field occurs twice
 * (some parsers use the first occurrence), or a field differs from a known one only in case (servers in Go ignore case).
 */
export function createAmbiguityError({ body, text }: { body: JsonObject; text: string }): GatewayError | undefined {
  const variant = Object.keys(body).find((name) => !DECISIVE.has(name) && FOLDED.has(foldCase(name)))
  const member = variant ?? findRepeatedMember(text, body)
  if (member === undefined) return undefined
  const what =
    variant === undefined
      ? `"${member}" appears twice in the request`
      : `"${member}" differs from "${FOLDED.get(foldCase(member))}" only in letter case`
  return gatewayError('INVALID_REQUEST', {
    message: `${what}, and providers disagree on which value to use. API keys with model restrictions or token or dollar limits cannot send this. Send each field once, spelled as in the API.`,
    data: { param: member },
  })
}

/**
 * The fields that decide which model responds and how much it costs. `model` may occur several times, because the gateway sets every occurrence for
 * the provider.
 */
const REPEATABLE = ['model']
const SINGLE = [
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
const DECISIVE: ReadonlySet<string> = new Set([...REPEATABLE, ...SINGLE])

/** Folds a name's case as Go does when it compares names: simple case folding, where `ſ` equals `s` and the Kelvin sign equals `k`. */
const foldCase = (name: string) => name.toUpperCase().toLowerCase()
const FOLDED: ReadonlyMap<string, string> = new Map(Array.from(DECISIVE, (name) => [foldCase(name), name]))

function findRepeatedMember(text: string, body: JsonObject): string | undefined {
  const given = SINGLE.filter((name) => Object.hasOwn(body, name))
  if (scanTopLevel(text, given).spans.length <= given.length) return undefined
  return given.find((name) => scanTopLevel(text, [name]).spans.length > 1)
}
