import { once } from '../../lib/promises.ts'

/** Loads the translators, which happens with the first translated request. */
export const loadTranslators = once(() => import('./translators.ts'))
