import { once } from '../lib/promises.ts'

/** Loads the translators with the first request that is translated. */
export const loadTranslators = once(() => import('./translators.ts'))
