import type { Clock } from '../types.ts'

/** Now, as ISO 8601. */
export const timestamp = (clock: Clock): string => new Date(clock.now()).toISOString()
