import type { GenericSchema } from 'valibot'
import type { Exchange, Reply } from '../lib/exchange.ts'
import { createMutex } from '../lib/promises.ts'
import type { AccountName, Ledger } from '../limits/ledger.ts'
import type { LookUpCache } from '../listing/look-up.ts'
import type { Explanation } from '../routing/explanation.ts'
import type { Health } from '../routing/health.ts'
import type { RuledLimits } from '../routing/request-rules.ts'
import type { RoundRobin } from '../routing/round-robin.ts'
import type { RouteTable } from '../routing/route-table.ts'
import type { Store } from '../store/store.ts'
import { createWritableStore } from '../store/writable-store.ts'
import type { Catalog, Clock, Kind, ModelEntry } from '../types.ts'
import type { KeptUsage } from '../usage/kept/usage.ts'
import { cloudInputs } from './cloud.ts'
import { createCloudOperations } from './cloud-actions.ts'
import { createMirror, type MirrorDependencies } from './cloud-mirror.ts'
import { createPushes, type PushDependencies, type Pushes } from './cloud-pushes.ts'
import { comboInputs, createComboOperations } from './combos.ts'
import { connectionInputs } from './connection-input.ts'
import { connectionTestInput, createConnectionTest } from './connection-test.ts'
import { createConnectionOperations } from './connections.ts'
import { createExplain, type Explainable, explainInput } from './explain.ts'
import { createGroupOperations, groupInputs } from './groups.ts'
import { createDamagedRecordOperations, createHealthOperations, damagedRecordInputs } from './health.ts'
import { createInfo, type OwnFacts } from './info.ts'
import { createKeyOperations, keyInputs } from './keys.ts'
import { createLimitOperations, limitInputs } from './limits.ts'
import { aliasInputs, createAliasOperations, createCustomModelOperations, customModelInputs } from './models.ts'
import type { Management, OpenApiDocument, PerInput } from './operations.ts'
import { createOverview } from './overview.ts'
import { createProviderOperations, providerInputs } from './providers.ts'
import { createModelOperations, modelInputs } from './published-models.ts'
import { createSettingsOperations, settingsInputs } from './settings.ts'
import { createUsageOperations, usageInputs } from './usage.ts'

export interface ManagementDependencies {
  store: Store
  catalog: Catalog
  clock: Clock
  rotation: Pick<RoundRobin, 'reset'>
  /** Where model names lead now. */
  routes(): Promise<RouteTable>
  /** The models of some kinds that clients can ask for; those of providers that are asked come once for all lists that share `cache`. */
  published(kinds: readonly Kind[], cache?: LookUpCache): Promise<ModelEntry[]>
  health: Health
  limits: RuledLimits & { lookupTimeoutMs: number }
  /** Lets others get their turn during long work. */
  turnEnd(): Promise<void>
  explain(request: Explainable): Promise<Explanation>
  /** The counters of all limits. */
  ledger(): Promise<Ledger>
  cloud: Pick<MirrorDependencies, 'fetch' | 'options'> & Pick<PushDependencies, 'random' | 'startTimer' | 'onError'>
  /** What is kept of requests; absent where nothing is. */
  usage: KeptUsage | undefined
  /** Serves a model request of this process; `undefined` for a path that is not the gateway's. Never rejects. */
  serve(exchange: Exchange): Promise<Reply | undefined>
  /** Called after each operation that may have changed records, with the name of the resource and the id that the operation was called with. */
  changed(collection: string, id?: string): void
  /** What the gateway knows of itself. */
  own: OwnFacts
  /** Describes what is served over HTTP. */
  openapi(): Promise<OpenApiDocument>
}

/**
 * Makes the functions of the operations. Each validates its own input, so that calls in process are checked as those over HTTP are. `pushes` mirrors
 * what they change.
 */
export function createManagement(given: ManagementDependencies): { api: Management<unknown>; pushes: Pushes } {
  const deps = { ...given, ...given.cloud, store: createWritableStore(given.store, given.clock) }
  const inTurn = createMutex() // combos and aliases: what the cycle check saw must still hold when it is written
  const mirror = createMirror(deps)
  const pushes = createPushes({ ...deps, mirror })
  const limits = createLimitOperations(deps)
  const forgetLimits = async (scope: AccountName) =>
    deps
      .ledger()
      .then((ledger) => ledger.forget(scope))
      .catch(deps.onError) // the key or group is deleted all the same
  const keys = createKeyOperations({ ...deps, forgetLimits })
  const told = <Resource extends object>(name: string, resource: Resource) =>
    telling(resource, async (id) => deps.changed(name, id))
  const mirrored = <Resource extends object>(name: string, resource: Resource) =>
    told(name, telling(resource, pushes.changed))
  const usage = createUsageOperations(deps)
  const health = createHealthOperations(deps)
  const cloud = createCloudOperations({ ...deps, mirror, pushes, keys })
  const api = {
    keys: { ...mirrored('keys', keys), limits: limits.keys },
    groups: { ...mirrored('groups', createGroupOperations({ ...deps, forgetLimits })), limits: limits.groups },
    settings: { ...mirrored('settings', createSettingsOperations(deps)), limits: limits.gateway },
    combos: mirrored('combos', createComboOperations({ ...deps, inTurn })),
    connections: {
      ...mirrored('connections', createConnectionOperations(deps)),
      test: createConnectionTest({ ...deps, basePath: deps.own.basePath }),
    },
    models: createModelOperations(deps),
    customModels: mirrored('customModels', createCustomModelOperations(deps)),
    aliases: mirrored('aliases', createAliasOperations({ ...deps, inTurn })),
    providers: mirrored('providers', createProviderOperations(deps)),
    health: told('health', health),
    damagedRecords: mirrored('damagedRecords', createDamagedRecordOperations(deps)),
    cloud,
    usage,
    explain: createExplain({ ...deps, limitsOf: limits.keys.get }),
    overview: createOverview({ ...deps, kept: deps.usage, usage, health, cloud }),
    info: createInfo(deps),
    openapi: () => deps.openapi(),
  }
  return { api, pushes }
}

/**
 * The operations of a resource. All but the reading ones report to `changed` when they end, also when they fail, since a failed one may have changed
 * something.
 */
function telling<Resource extends object>(resource: Resource, changed: (id?: string) => Promise<void>): Resource {
  const told = Object.entries(resource).map(([name, call]) => [
    name,
    READS.has(name)
      ? call
      : (...args: unknown[]) => call(...args).finally(() => changed(typeof args[0] === 'string' ? args[0] : undefined)),
  ])
  return Object.fromEntries(told) as Resource // with the same members
}

const READS: ReadonlySet<string> = new Set(['list', 'get'])

/** The schema that validates the input of each operation which has one. */
export const inputs: { readonly [Resource in keyof Management]: PerInput<Management[Resource], GenericSchema> } = {
  keys: { ...keyInputs, limits: limitInputs },
  groups: { ...groupInputs, limits: limitInputs },
  settings: { ...settingsInputs, limits: limitInputs },
  combos: comboInputs,
  connections: { ...connectionInputs, test: connectionTestInput },
  models: modelInputs,
  customModels: customModelInputs,
  aliases: aliasInputs,
  providers: providerInputs,
  health: {},
  damagedRecords: damagedRecordInputs,
  cloud: cloudInputs,
  usage: usageInputs,
  explain: explainInput,
  overview: {},
  info: {},
  openapi: {},
}
