import { assertNever } from '../../lib/assert-never.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { ClientFormat } from '../../types.ts'
import { readUserOption, USER_OPTION_SOURCES } from './end-user.ts'

/** Returns the body with `user` as its end user, replacing the client's value. Gemini has no field for an end user. */
export function withEndUser(format: ClientFormat, body: JsonObject, user: string): JsonObject {
  switch (format) {
    case 'openai-chat':
    case 'openai-responses': {
      const { user: _, safety_identifier, ...others } = body
      return { ...others, ...(safety_identifier === undefined ? { user } : { safety_identifier: user }) }
    }
    case 'anthropic-messages':
      return { ...body, metadata: { ...(isObject(body.metadata) && body.metadata), user_id: user } }
    case 'gemini':
      return body
    case 'ai-sdk': {
      const options = isObject(body.providerOptions) ? body.providerOptions : {}
      const userFields = USER_OPTION_SOURCES.filter(
        (name) => name === 'signalbox' || readUserOption(options, name) !== undefined,
      )
      const updatedOptions = userFields.map((name) => [name, { ...(isObject(options[name]) && options[name]), user }])
      return { ...body, providerOptions: { ...options, ...Object.fromEntries(updatedOptions) } }
    }
    default:
      return assertNever(format)
  }
}
