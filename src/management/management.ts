import { createMutex } from '../lib/mutex.ts'
import type { Health } from '../routing/health.ts'
import type { Rotation } from '../routing/rotation.ts'
import type { Store } from '../store/store.ts'
import type { Catalog, Clock } from '../types.ts'
import { type AliasOperations, createAliases } from './aliases.ts'
import { type ComboOperations, createCombos } from './combos.ts'
import { type ConnectionOperations, createConnections } from './connections.ts'
import { type CustomModelOperations, createCustomModels } from './custom-models.ts'
import { createHealthOperations, type HealthOperations } from './health.ts'
import { createKeys, type KeyOperations } from './keys.ts'
import { createProviders, type ProviderOperations } from './providers.ts'
import { createSettings, type SettingsOperations } from './settings.ts'

/**
 * The management operations, under HTTP as in process: each answers the body that HTTP sends and validates its input in the same way.
 * All throw gateway errors. `Input` is what they take besides the typed input: nothing, or `unknown` for what comes in from outside.
 */
export interface Management<Input = never> {
  keys: KeyOperations<Input>
  settings: SettingsOperations<Input>
  combos: ComboOperations<Input>
  connections: ConnectionOperations<Input>
  customModels: CustomModelOperations<Input>
  aliases: AliasOperations<Input>
  providers: ProviderOperations<Input>
  health: HealthOperations
}

export interface ManagementDependencies {
  store: Store
  catalog: Catalog
  clock: Clock
  rotation: Rotation
  health: Health
}

export function createManagement(deps: ManagementDependencies): Management<unknown> {
  const inTurn = createMutex() // combos and aliases: what the cycle check saw must still hold when it is written
  return {
    keys: createKeys(deps),
    settings: createSettings(deps),
    combos: createCombos({ ...deps, inTurn }),
    connections: createConnections(deps),
    customModels: createCustomModels(deps),
    aliases: createAliases({ ...deps, inTurn }),
    providers: createProviders(deps),
    health: createHealthOperations(deps),
  }
}
