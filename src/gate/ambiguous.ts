import { type GatewayError, gatewayError } from '../errors.ts'
import type { JsonObject } from '../lib/json.ts'
import { scanTopLevel } from '../lib/json-scan.ts'

/**
 * The error for a request whose model or worst case depends on how its provider reads it: it has a member twice, of which some parsers take the
 * first, or in other capitals besides, which servers in Go take for the same.
 */
export function ambiguityError({ body, text }: { body: JsonObject; text: string }): GatewayError | undefined {
  const variant = Object.keys(body).find((name) => !DECISIVE.has(name) && FOLDED.has(folded(name)))
  const member = variant ?? repeatedIn(text, body)
  if (member === undefined) return undefined
  const what =
    variant === undefined
      ? `"${member}" stands in the request twice`
      : `"${member}" differs from "${FOLDED.get(folded(member))}" by its capitals alone`
  return gatewayError('INVALID_REQUEST', {
    message: `${what}, and providers differ in what they read then. An API key with allowed models, or with limits on tokens or US dollars, may not send that: give each member once, and as its API writes it.`,
    data: { param: member },
  })
}

/** On what the model that answers depends, and how much it costs. All places of `model` are set for the provider. */
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
]
const DECISIVE: ReadonlySet<string> = new Set([...REPEATABLE, ...SINGLE])

/** As Go compares names: by simple folding, in which `ſ` is an `s` and the Kelvin sign a `k`. */
const folded = (name: string) => name.toUpperCase().toLowerCase()
const FOLDED: ReadonlyMap<string, string> = new Map(Array.from(DECISIVE, (name) => [folded(name), name]))

function repeatedIn(text: string, body: JsonObject): string | undefined {
  const given = SINGLE.filter((name) => Object.hasOwn(body, name))
  if (scanTopLevel(text, given).spans.length <= given.length) return undefined
  return given.find((name) => scanTopLevel(text, [name]).spans.length > 1)
}
