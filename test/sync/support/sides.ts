import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { createMutex } from '../../../src/lib/promises.ts'
import { createComboOperations } from '../../../src/management/combos.ts'
import { createConnectionOperations } from '../../../src/management/connections.ts'
import { createKeyOperations } from '../../../src/management/keys.ts'
import { parseMirrored } from '../../../src/management/mirror-input.ts'
import { createAliasOperations, createCustomModelOperations } from '../../../src/management/models.ts'
import { createProviderOperations } from '../../../src/management/providers.ts'
import { createSettingsOperations } from '../../../src/management/settings.ts'
import { defaultLimits } from '../../../src/options.ts'
import type { Health } from '../../../src/routing/health.ts'
import type { RouteTable } from '../../../src/routing/route-table.ts'
import { createStore } from '../../../src/store/store.ts'
import { createWritableStore, type WritableStore } from '../../../src/store/writable-store.ts'
import { createReplica } from '../../../src/sync/replica.ts'
import type { Claims, Replica } from '../../../src/sync/types.ts'
import type { Clock, Storage } from '../../../src/types.ts'

/** A store with the operations of the management, as one side of a mirror has it. */
export interface Side {
  store: WritableStore
  api: Api
  replica(mirror: string): Replica
}

type Api = ReturnType<typeof operationsOf>

const catalog = { acme: { name: 'Acme', alias: 'acme' }, other: { name: 'Other', alias: 'other' } }

export interface SideOptions {
  storage?: Storage
  side: 'home' | 'cloud'
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
    filesBySha256: side === 'cloud',
    turnEnd,
    onError: () => {},
  })
  const store = createWritableStore(opened, clock)
  return {
    store,
    api: operationsOf(store, clock),
    replica: (mirror) =>
      createReplica({
        store,
        side,
        mirror,
        validate: parseMirrored,
        clock,
        keepsSecrets,
        ...(claims && { claims }),
      }),
  }
}

const turnEnd = async () => {}
const silent = { warn: () => {}, error: () => {} }

function operationsOf(store: WritableStore, clock: Clock) {
  const inTurn = createMutex()
  // What the operations ask of these two is here; records are all that is looked at.
  const table = { comboOf: () => undefined, resolutionOf: () => ({}) }
  const routes = async () => table as unknown as RouteTable
  const rotation = { reset: async () => {} }
  const health = { reset: () => {}, facts: { now: clock.now, records: { currentRecords: () => [] } } }
  return {
    keys: createKeyOperations({ store, clock, turnEnd, forgetLimits: async () => {} }),
    settings: createSettingsOperations({ store, limits: defaultLimits }),
    combos: createComboOperations({ store, clock, rotation, routes, inTurn }),
    connections: createConnectionOperations({
      store,
      catalog,
      clock,
      health: health as unknown as Health,
      fetch: () => Promise.reject(new TypeError('fetch failed')),
      limits: defaultLimits,
    }),
    customModels: createCustomModelOperations({ store }),
    aliases: createAliasOperations({ store, routes, inTurn }),
    providers: createProviderOperations({ store, catalog }),
  }
}
