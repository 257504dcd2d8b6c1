import type { JsonObject } from '../../../lib/json.ts'
import { readEmbeddedError } from '../../formats/errors/embedded-errors.ts'
import type { EmbeddedError } from '../../formats/format.ts'

/** Finds the error in Firecrawl responses with status 200. */
export const findFirecrawlError = ({ success, error, code }: JsonObject): EmbeddedError | undefined =>
  success === false
    ? readEmbeddedError({
        message: typeof error === 'string' ? error : 'Firecrawl failed.',
        code,
        type: 'server_error',
      })
    : undefined
