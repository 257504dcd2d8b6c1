import { assertNever } from '../../lib/assert-never.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { ClientFormat } from '../../types.ts'

const MAX_END_USER_LENGTH = 200

/** Returns the end user from the request's user field, truncated to 200 characters. */
export function getEndUser(format: ClientFormat, body: JsonObject): string | undefined {
  const user = readUser(format, body)
  return typeof user === 'string' && user !== '' ? user.slice(0, MAX_END_USER_LENGTH) : undefined
}

/** The provider options that may name the user, in order of precedence. */
export const USER_OPTION_SOURCES = ['signalbox', 'gateway', 'openai']

export function readUserOption(options: unknown, provider: string): unknown {
  const providerOptions = isObject(options) ? options[provider] : undefined
  return isObject(providerOptions) ? providerOptions.user : undefined
}

function readUser(format: ClientFormat, body: JsonObject): unknown {
  switch (format) {
    case 'openai-chat':
    case 'openai-responses':
      return body.safety_identifier ?? body.user
    case 'anthropic-messages':
      return isObject(body.metadata) ? body.metadata.user_id : undefined
    case 'gemini':
      return undefined
    case 'ai-sdk':
      return USER_OPTION_SOURCES.map((name) => readUserOption(body.providerOptions, name)).find(
        (user) => user !== undefined,
      )
    default:
      return assertNever(format)
  }
}
