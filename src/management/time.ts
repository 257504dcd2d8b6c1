import type { Clock } from '../types.ts'

/** Now, as ISO 8601. */
export const timestamp = (clock: Clock): string => new Date(clock.now()).toISOString()

/** The same, but later than an earlier one, as other instances know by it that there was a change. */
export const timestampAfter = (earlier: string, clock: Clock): string =>
  new Date(Math.max(clock.now(), (Date.parse(earlier) || 0) + 1)).toISOString()
