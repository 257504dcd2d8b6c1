import type { Clock } from '../types.ts'

/** Now, as ISO 8601. */
export const timestamp = (clock: Clock): string => new Date(clock.now()).toISOString()

/** Now, but always after `previous`, so that the newer of two versions can be told whatever the clocks say. */
export const timestampAfter = (clock: Clock, previous: string): string =>
  new Date(Math.max(clock.now(), Date.parse(previous) + 1)).toISOString()
