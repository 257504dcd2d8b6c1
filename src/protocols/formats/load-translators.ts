import { once } from '../../lib/promises.ts'
import { loadErrorReaders } from './errors/load-error-readers.ts'

/** Lazy-loads the translators. */
export const loadTranslators = once(async () => {
  const [translators] = await Promise.all([import('./translators.ts'), loadErrorReaders()])
  return translators
})
