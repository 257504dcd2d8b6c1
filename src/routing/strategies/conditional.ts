import { fallback } from './fallback.ts'

/** As listed: those whose `when` a request does not meet are left out before, whatever the strategy. */
export const conditional = fallback
