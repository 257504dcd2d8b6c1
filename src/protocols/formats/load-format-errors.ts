import { once } from '../../lib/promises.ts'
import { loadErrorReaders } from './errors/load-error-readers.ts'

/** Lazy-loads the errors of all client formats. */
export const loadFormatErrors = once(async () => {
  const [errors] = await Promise.all([import('./format-errors.ts'), loadErrorReaders()])
  return errors
})
