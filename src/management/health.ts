import type { Health } from '../routing/health.ts'
import type { HealthEntry, TargetState } from '../routing/health-entry.ts'
import type { DamagedRecord } from '../store/damage.ts'
import type { Store } from '../store/store.ts'
import { findRecord } from './find.ts'

/** The health of providers, connections and models. */
export interface HealthOperations {
  /**
   * `health`: all that have failed lately, where what is healthy has no entry; `targets`: what is known of each target; `damaged`: the records
   * of the storage that are damaged.
   */
  list(): Promise<{ health: HealthEntry[]; targets: TargetState[]; damaged: DamagedRecord[] }>
  /** Forgets all failures, or those of one connection with its models and its provider. Rejects with `NOT_FOUND` for an unknown id. */
  reset(connectionId?: string): Promise<{ success: true }>
}

export function createHealthOperations({ store, health }: { store: Store; health: Health }): HealthOperations {
  return {
    async list() {
      const damaged = await store.repair.inspect()
      const connections = await store.connections.all()
      return { health: await health.list(connections), targets: await health.targets(connections), damaged }
    },
    async reset(connectionId) {
      if (connectionId !== undefined) await findRecord(store.connections, 'Connection', ({ id }) => id === connectionId)
      health.reset(connectionId)
      return { success: true }
    },
  }
}
