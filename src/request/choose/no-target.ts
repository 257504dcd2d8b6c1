import { once } from '../../lib/promises.ts'

/** Lazy-loads the errors for names without a usable target. */
export const loadNameErrors = once(() => import('./unknown-model.ts'))

/** Lazy-loads the code that chooses further targets. */
export const loadFurtherTargets = once(() => import('./further-targets.ts'))
