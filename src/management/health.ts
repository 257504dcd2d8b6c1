import type { Health } from '../routing/health.ts'
import type { HealthEntry } from '../routing/health-entry.ts'
import type { Store } from '../store/store.ts'
import { findRecord } from './find.ts'

/** What is not well, and how to forget it. */
export interface HealthOperations {
  /** Providers, connections and models on connections that have failed lately; those that are well are not in it. */
  list(): Promise<{ health: HealthEntry[] }>
  /** The next request may use everything again; with an id, that connection with its models and its provider. */
  reset(connectionId?: string): Promise<{ success: true }>
}

export function createHealthOperations({ store, health }: { store: Store; health: Health }): HealthOperations {
  return {
    list: async () => ({ health: await health.list(await store.connections.all()) }),
    async reset(connectionId) {
      if (connectionId !== undefined) await findRecord(store.connections, 'Connection', ({ id }) => id === connectionId)
      health.reset(connectionId)
      return { success: true }
    },
  }
}
