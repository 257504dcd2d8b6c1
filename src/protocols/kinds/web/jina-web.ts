import type { JsonObject } from '../../../lib/json.ts'
import { readEmbeddedError } from '../../formats/errors/embedded-errors.ts'
import type { EmbeddedError } from '../../formats/format.ts'

/** Finds the error in Jina responses with status 200. Their `code` is the actual status. */
export function findJinaError({ code, data, readableMessage, message }: JsonObject): EmbeddedError | undefined {
  if (typeof code !== 'number' || code < 400 || (data !== undefined && data !== null)) return undefined
  return readEmbeddedError({ message: readableMessage ?? message ?? 'Jina failed.', code, type: 'server_error' })
}
