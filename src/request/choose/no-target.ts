import { once } from '../../lib/promises.ts'

/** Loads the errors for names without a usable target, when the first one is needed. */
export const loadNameErrors = once(() => import('./unknown-model.ts'))

/** Loads the choice of further targets, when the first request needs one. */
export const loadFurtherTargets = once(() => import('./further-targets.ts'))
