import type { JsonObject } from '../../../lib/json.ts'
import type { OutputFormat } from '../request.ts'
import { WRAPPER } from '../unwrap-output.ts'

/** An answer that is to be a list, say, as the one member of an object, which is all that most targets take; undefined: it is an object. */
export function objectOutput(output: OutputFormat): OutputFormat | undefined {
  if (output.type !== 'json-schema') return undefined
  const { type } = output.schema
  if (typeof type !== 'string' || type === 'object') return undefined
  return { ...output, schema: wrapped(output.schema) }
}

/** References go on being those of the root. */
function wrapped({ $schema, $defs, definitions, ...schema }: JsonObject): JsonObject {
  return {
    type: 'object',
    properties: { [WRAPPER]: schema },
    required: [WRAPPER],
    additionalProperties: false,
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  }
}
