import { embeddedError } from '../../formats/errors/embedded.ts'
import type { EmbeddedError } from '../../formats/format.ts'
import type { JsonObject } from '../../lib/json.ts'

/** The error in an answer of Firecrawl of status 200. */
export const firecrawlError = ({ success, error, code }: JsonObject): EmbeddedError | undefined =>
  success === false
    ? embeddedError({ message: typeof error === 'string' ? error : 'Firecrawl failed.', code, type: 'server_error' })
    : undefined
