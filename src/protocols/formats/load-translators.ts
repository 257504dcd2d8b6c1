import { once } from '../../lib/promises.ts'
import { loadErrorReaders } from './errors/load-error-readers.ts'

/** Loads the translators when the first request needs them. */
export const loadTranslators = once(async () => {
  const [translators] = await Promise.all([import('./translators.ts'), loadErrorReaders()])
  return translators
})
