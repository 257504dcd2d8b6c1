import { assertNever } from '../lib/assert-never.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import type { WireFormat } from '../types.ts'

const LONGEST = 200

/** The end user that a request names, in the member that its format has for that; at most 200 characters. */
export function endUserOf(format: WireFormat, body: JsonObject): string | undefined {
  const named = memberOf(format, body)
  return typeof named === 'string' && named !== '' ? named.slice(0, LONGEST) : undefined
}

function memberOf(format: WireFormat, body: JsonObject): unknown {
  switch (format) {
    case 'openai-chat':
    case 'openai-responses':
      return body.safety_identifier ?? body.user
    case 'anthropic-messages':
      return isObject(body.metadata) ? body.metadata.user_id : undefined
    case 'gemini':
      return undefined
    default:
      return assertNever(format)
  }
}
