import type { Exchange } from '../../../lib/exchange.ts'
import type { Store } from '../../../records/store.ts'
import type { Clock } from '../../../types.ts'
import type { Pushes } from './cloud-pushes.ts'

/** Starts cloud sync. Its code isn't loaded while cloud sync is off. */
export interface CloudStart {
  /** The automatic syncs. Absent until management is loaded. */
  pushes?: Pushes
  /** The time of the gateway's first request or call, in epoch ms. */
  startedAt?: number
  /** Starts cloud sync if it is on, or runs an overdue sync. Doesn't wait for the cloud and never rejects. */
  resume(exchange?: Exchange): Promise<void>
}

interface CloudStartDependencies {
  settings: Store['settings']
  clock: Clock
  /** Loads management, including the sync code. */
  load(): Promise<{ pushes: Pushes }>
}

export function createCloudStart({ settings, clock, load }: CloudStartDependencies): CloudStart {
  let hasResumed = false
  const cloudStart: CloudStart = {
    async resume(exchange) {
      if (hasResumed) {
        if (cloudStart.pushes?.wake()) exchange?.waitUntil?.(cloudStart.pushes.waitUntilIdle())
        return
      }
      hasResumed = true
      cloudStart.startedAt ??= clock.now()
      try {
        if (!(await settings.mayUseCloudSync()) || !(await settings.read()).cloudEnabled) return
        const { pushes } = await load()
        pushes.start()
        exchange?.waitUntil?.(pushes.waitUntilIdle())
      } catch {
        hasResumed = false // the storage is unavailable; a later request tries again
      }
    },
  }
  return cloudStart
}
