import { once } from '../../lib/promises.ts'

/** Loads the translators when the first request needs them. */
export const loadTranslators = once(() => import('./translators.ts'))
