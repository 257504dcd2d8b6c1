import { once } from '../../../lib/promises.ts'
import type { EmbeddedError } from '../canonical/canonical-errors.ts'
import { hasReason, NO_REASON_MESSAGE } from '../canonical/late-reason.ts'

/** The readers for provider errors, once they are loaded. */
export let errorReaders: typeof import('./error-readers.ts') | undefined

/** Lazy-loads the readers for provider errors. */
export const loadErrorReaders = once(async () => {
  errorReaders = await import('./error-readers.ts')
  return errorReaders
})

/**
 * Converts a provider's error object or text from a response with status 200 or from a stream. Until the readers are loaded, the error is only marked
 * as unparsed: load them, and read the response again.
 */
export function toEmbeddedError(error: unknown): EmbeddedError | undefined {
  if (errorReaders) return errorReaders.readEmbeddedError(error)
  return error
    ? { message: NO_REASON_MESSAGE, status: 502, error, isUnparsed: true, ...(!hasReason(error) && VAGUE_ERROR) }
    : undefined
}

const VAGUE_ERROR = { isVague: true } as const
