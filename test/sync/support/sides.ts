import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { createComboOperations } from '../../../src/admin/combos.ts'
import { createConnectionOperations } from '../../../src/admin/connections.ts'
import { createKeyOperations } from '../../../src/admin/keys.ts'
import { createAliasOperations, createCustomModelOperations } from '../../../src/admin/models.ts'
import { createProviderOperations } from '../../../src/admin/providers.ts'
import { createSettingsOperations } from '../../../src/admin/settings.ts'
import { parseReplicatedRecord } from '../../../src/features/cloud-sync/gateway/replica-input.ts'
import { createReplica } from '../../../src/features/cloud-sync/replica.ts'
import type { Claims, Replica } from '../../../src/features/cloud-sync/sync-types.ts'
import { createMutex } from '../../../src/lib/promises.ts'
import { defaultLimits } from '../../../src/options.ts'
import { createStore } from '../../../src/records/store.ts'
import { getWritableStore, type WritableStore } from '../../../src/records/writable-store.ts'
import type { RouteTable } from '../../../src/request/routing/route-table.ts'
import type { Health } from '../../../src/request/routing/target-health.ts'
import type { Clock, Storage } from '../../../src/types.ts'

/** A store with its management operations, as one side of a replica. */
export interface Side {
  store: WritableStore
  api: Api
  replica(mirror: string): Replica
}

type Api = ReturnType<typeof createOperations>

const catalog = { acme: { name: 'Acme', alias: 'acme' }, other: { name: 'Other', alias: 'other' } }

export interface SideOptions {
  storage?: Storage
  side: 'gateway' | 'cloud'
  clock: Clock
  claims?: Claims
  keepsSecrets?: boolean
}

export function openSide({ storage = memoryStorage(), side, clock, claims, keepsSecrets = true }: SideOptions): Side {
  const opened = createStore({
    storage,
    clock,
    logger: silent,
    secret: `secret of ${side} `.repeat(4),
    digestsSha256: side === 'cloud',
    nextTurn,
    onError: () => {},
  })
  const store = getWritableStore(opened, clock)
  return {
    store,
    api: createOperations(store, clock),
    replica: (replicaId) =>
      createReplica({
        store,
        side,
        replicaId,
        validate: parseReplicatedRecord,
        clock,
        keepsSecrets,
        ...(claims && { claims }),
      }),
  }
}

const nextTurn = async () => {}
const silent = { warn: () => {}, error: () => {} }

function createOperations(store: WritableStore, clock: Clock) {
  const runInOrder = createMutex()
  // only contains what the operations use
  const table = {
    findCombo: () => undefined,
    resolveModel: () => ({}),
  } satisfies { [Name in keyof RouteTable]?: unknown }
  const routes = async () => table as unknown as RouteTable
  const rotation = { reset: async () => {} }
  const health = { reset: () => {}, facts: { now: clock.now, records: { listCurrentRecords: () => [] } } }
  return {
    keys: createKeyOperations({
      store,
      clock,
      routes,
      nextTurn,
      forgetLimits: async () => {},
      resolveAccount: async (ref) => ref,
      findAccountRef: async (ref) => ref,
    }),
    settings: createSettingsOperations({ store, limits: defaultLimits }),
    combos: createComboOperations({ store, clock, rotation, routes, runInOrder }),
    connections: createConnectionOperations({
      store,
      catalog,
      clock,
      health: health as unknown as Health,
      fetch: () => Promise.reject(new TypeError('fetch failed')),
      limits: defaultLimits,
    }),
    customModels: createCustomModelOperations({ store, routes }),
    aliases: createAliasOperations({ store, routes, runInOrder }),
    providers: createProviderOperations({ store, catalog }),
  }
}
