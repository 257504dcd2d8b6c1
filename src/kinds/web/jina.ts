import { embeddedError } from '../../formats/errors/embedded.ts'
import type { EmbeddedError } from '../../formats/format.ts'
import type { JsonObject } from '../../lib/json.ts'

/** The error in an answer of Jina of status 200: its own `code` is the status. */
export function jinaError({ code, data, readableMessage, message }: JsonObject): EmbeddedError | undefined {
  if (typeof code !== 'number' || code < 400 || (data !== undefined && data !== null)) return undefined
  return embeddedError({ message: readableMessage ?? message ?? 'Jina failed.', code, type: 'server_error' })
}
