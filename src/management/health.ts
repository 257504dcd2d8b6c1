import type { Health } from '../routing/health.ts'
import type { HealthEntry } from '../routing/health-entry.ts'
import type { DamagedRecord } from '../store/damage.ts'
import type { Store } from '../store/store.ts'
import { findRecord } from './find.ts'

/** The health of providers, connections and models. */
export interface HealthOperations {
  /** All that have failed lately, where what is healthy has no entry, and the records of the storage that are damaged. */
  list(): Promise<{ health: HealthEntry[]; damaged: DamagedRecord[] }>
  /** Forgets all failures, or those of one connection with its models and its provider. Rejects with `NOT_FOUND` for an unknown id. */
  reset(connectionId?: string): Promise<{ success: true }>
}

export function createHealthOperations({ store, health }: { store: Store; health: Health }): HealthOperations {
  return {
    async list() {
      const damaged = await store.repair.inspect()
      return { health: await health.list(await store.connections.all()), damaged }
    },
    async reset(connectionId) {
      if (connectionId !== undefined) await findRecord(store.connections, 'Connection', ({ id }) => id === connectionId)
      health.reset(connectionId)
      return { success: true }
    },
  }
}
