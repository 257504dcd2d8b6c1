import { once } from '../../lib/promises.ts'
import { loadErrorReaders } from './errors/load-error-readers.ts'

/** Loads the errors of all client formats, when the first request needs them. */
export const loadFormatErrors = once(async () => {
  const [errors] = await Promise.all([import('./format-errors.ts'), loadErrorReaders()])
  return errors
})
