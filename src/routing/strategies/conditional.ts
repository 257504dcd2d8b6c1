import { fallback } from './fallback.ts'

/** As listed. Entries whose `when` does not hold are left out beforehand, under every strategy. */
export const conditional = fallback
