import type { Awaitable } from '../lib/awaitable.ts'
import type { TargetStats } from './target-stats.ts'

/** The speed and the load of targets that strategies choose by. */
export interface Measures extends Pick<TargetStats, 'begin' | 'averageOf' | 'loadOf'> {
  /** Brings what others have measured up to date, before a choice. Never rejects. */
  refresh(): Awaitable<void>
  /** The others hear no more of this instance. */
  close(): Promise<void>
}

/** What this instance has measured alone. */
export const ownMeasures = (stats: TargetStats): Measures => ({ ...stats, refresh() {}, async close() {} })
