import type { GenericSchema } from 'valibot'
import type { UpstreamFetch } from '../lib/exchange.ts'
import { createMutex } from '../lib/promises.ts'
import type { Explanation } from '../routing/explanation.ts'
import type { Health } from '../routing/health.ts'
import type { RuledLimits } from '../routing/request-rules.ts'
import type { RoundRobin } from '../routing/round-robin.ts'
import type { RouteTable } from '../routing/table.ts'
import type { Store } from '../store/store.ts'
import { createWritableStore } from '../store/writable-store.ts'
import type { Catalog, Clock } from '../types.ts'
import { type CloudOptions, cloudInputs, createCloudOperations } from './cloud.ts'
import { comboInputs } from './combo-input.ts'
import { createComboOperations } from './combos.ts'
import { connectionInputs } from './connection-input.ts'
import { createConnectionOperations } from './connections.ts'
import { createExplain, type Explainable, explainInput } from './explain.ts'
import { createDamagedRecordOperations, createHealthOperations, damagedRecordInputs } from './health.ts'
import { createKeyOperations, keyInputs } from './keys.ts'
import { aliasInputs, createAliasOperations, createCustomModelOperations, customModelInputs } from './models.ts'
import type { Management, OpenApiDocument, PerInput } from './operations.ts'
import { createProviderOperations, providerInputs } from './providers.ts'
import { createSettingsOperations, settingsInputs } from './settings.ts'

export interface ManagementDependencies {
  store: Store
  catalog: Catalog
  clock: Clock
  rotation: Pick<RoundRobin, 'reset'>
  /** Where model names lead now. */
  routes(): Promise<RouteTable>
  health: Health
  limits: RuledLimits
  /** Lets others get their turn during long work. */
  turnEnd(): Promise<void>
  explain(request: Explainable): Promise<Explanation>
  cloud: {
    /** Calls the proxy. */
    fetch: UpstreamFetch
    options: CloudOptions
  }
  /** Describes what is served over HTTP. */
  openapi(): Promise<OpenApiDocument>
}

/** Makes the functions of the operations. Each validates its own input, so that calls in process are checked as those over HTTP are. */
export function createManagement(given: ManagementDependencies): Management<unknown> {
  const deps = { ...given, store: createWritableStore(given.store, given.clock) }
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
    cloud: createCloudOperations({ ...deps, ...deps.cloud }),
    explain: createExplain(deps.explain),
    openapi: () => deps.openapi(),
  }
}

/** The schema that validates the input of each operation which has one. */
export const inputs: { readonly [Resource in keyof Management]: PerInput<Management[Resource], GenericSchema> } = {
  keys: keyInputs,
  settings: settingsInputs,
  combos: comboInputs,
  connections: connectionInputs,
  customModels: customModelInputs,
  aliases: aliasInputs,
  providers: providerInputs,
  health: {},
  damagedRecords: damagedRecordInputs,
  cloud: cloudInputs,
  explain: explainInput,
  openapi: {},
}
