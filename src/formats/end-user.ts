import { assertNever } from '../lib/assert-never.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import type { ClientFormat } from '../types.ts'

const LONGEST = 200

/** The end user that a request names, in the member that its format has for that; at most 200 characters. */
export function endUserOf(format: ClientFormat, body: JsonObject): string | undefined {
  const named = memberOf(format, body)
  return typeof named === 'string' && named !== '' ? named.slice(0, LONGEST) : undefined
}

/** The options of a call that may name the user, in the order in which they count. */
const USERS = ['signalbox', 'gateway', 'openai']

function memberIn(options: unknown, provider: string): unknown {
  const own = isObject(options) ? options[provider] : undefined
  return isObject(own) ? own.user : undefined
}

function memberOf(format: ClientFormat, body: JsonObject): unknown {
  switch (format) {
    case 'openai-chat':
    case 'openai-responses':
      return body.safety_identifier ?? body.user
    case 'anthropic-messages':
      return isObject(body.metadata) ? body.metadata.user_id : undefined
    case 'gemini':
      return undefined
    case 'ai-sdk':
      return USERS.map((name) => memberIn(body.providerOptions, name)).find((user) => user !== undefined)
    default:
      return assertNever(format)
  }
}
