import type { Awaitable } from '../lib/awaitable.ts'
import { createMutex } from '../lib/mutex.ts'
import type { Explanation } from '../routing/explanation.ts'
import type { Health } from '../routing/health.ts'
import type { RuledLimits } from '../routing/request-rules.ts'
import type { Rotation } from '../routing/rotation.ts'
import type { RouteTable } from '../routing/table.ts'
import type { Store } from '../store/store.ts'
import type { Catalog, Clock } from '../types.ts'
import { type AliasOperations, createAliasOperations } from './aliases.ts'
import { type ComboOperations, createComboOperations } from './combos.ts'
import { type ConnectionOperations, createConnectionOperations } from './connections.ts'
import { type CustomModelOperations, createCustomModelOperations } from './custom-models.ts'
import { createDamagedRecordOperations, type DamagedRecordOperations } from './damaged-records.ts'
import { createExplain, type Explainable, type ExplainedRequest } from './explain.ts'
import { createHealthOperations, type HealthOperations } from './health.ts'
import { createKeyOperations, type KeyOperations } from './keys.ts'
import { createProviderOperations, type ProviderOperations } from './providers.ts'
import { createSettingsOperations, type SettingsOperations } from './settings.ts'

/**
 * The management operations: each resolves to the body that HTTP sends, validates its input in the same way, and rejects with a
 * `GatewayError` (`INVALID_REQUEST`, `NOT_FOUND`, `STORAGE_FAILED` and others). `Input` is accepted besides the typed input: nothing in
 * process, `unknown` for bodies over HTTP.
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
  /** The records of the storage that `health.list` names as damaged. */
  damagedRecords: DamagedRecordOperations<Input>
  /** What would become of a request: its targets and their order. Calls no provider and moves no turn. */
  explain(request: ExplainedRequest | Input): Promise<Explanation>
}

export interface ManagementDependencies {
  store: Store
  catalog: Catalog
  clock: Clock
  rotation: Rotation
  /** Where model names lead now. */
  routes(): Awaitable<RouteTable>
  health: Health
  limits: RuledLimits
  /** Lets others get their turn during long work. */
  turnEnd(): Promise<void>
  explain(request: Explainable): Promise<Explanation>
}

export function createManagement(deps: ManagementDependencies): Management<unknown> {
  const inTurn = createMutex() // combos and aliases: what the cycle check saw must still hold when it is written
  return {
    keys: createKeyOperations(deps),
    settings: createSettingsOperations(deps),
    combos: createComboOperations({ ...deps, inTurn }),
    connections: createConnectionOperations(deps),
    customModels: createCustomModelOperations(deps),
    aliases: createAliasOperations({ ...deps, inTurn }),
    providers: createProviderOperations(deps),
    health: createHealthOperations(deps),
    damagedRecords: createDamagedRecordOperations(deps),
    explain: createExplain(deps.explain),
  }
}
