import { once } from '../../lib/promises.ts'

/** Loads the errors for names without a usable target, when the first one is needed. */
export const loadNameErrors = once(() => import('./unknown-model.ts'))

/** Loads the search for another target, when the first request has none left. */
export const loadLastResort = once(() => import('./last-resort.ts'))
