import { createComboOperations } from '../admin/combos.ts'
import { createConnectionTester } from '../admin/connection-test.ts'
import { createConnectionOperations } from '../admin/connections.ts'
import { createGroupOperations } from '../admin/groups.ts'
import { createDamagedRecordOperations, createHealthOperations } from '../admin/health-operations.ts'
import { createKeyOperations } from '../admin/keys.ts'
import { createAliasOperations, createCustomModelOperations } from '../admin/models.ts'
import type { OpenApiDocument } from '../admin/openapi-document.ts'
import { createProviderOperations } from '../admin/providers.ts'
import { createModelOperations } from '../admin/published-models.ts'
import { createSettingsOperations } from '../admin/settings.ts'
import { createAccountOperations } from '../features/accounts/account-operations.ts'
import type { Accounts } from '../features/accounts/accounts.ts'
import { createCatalogOperations } from '../features/catalog/catalog-operations.ts'
import type { LiveCatalog } from '../features/catalog/live-catalog.ts'
import { createCloudOperations } from '../features/cloud-sync/gateway/cloud-actions.ts'
import { type PushDependencies, Pushes } from '../features/cloud-sync/gateway/cloud-pushes.ts'
import { type CloudReplicaDependencies, createCloudReplica } from '../features/cloud-sync/gateway/cloud-replica.ts'
import { createExplain, type ExplainDependencies } from '../features/explain/explain.ts'
import { createGuardOperations } from '../features/guards/operations/guard-operations.ts'
import type { Ledger, ScopeName } from '../features/limits/ledger/ledger.ts'
import { createLimitOperations } from '../features/limits/limit-operations.ts'
import type { LookupCache } from '../features/listing/model-lookup.ts'
import type { PromptCachingFeature } from '../features/prompt-caching/prompt-caching-feature.ts'
import type { TokenService } from '../features/tokens/tokens.ts'
import { createKeyUsageReader } from '../features/usage/operations/key-usage.ts'
import { addFilterWarnings } from '../features/usage/operations/usage-filters.ts'
import { createUsageOperations } from '../features/usage/operations/usage-operations.ts'
import type { UsageStore } from '../features/usage/usage.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import { createMutex } from '../lib/promises.ts'
import type { Store } from '../records/store.ts'
import { getWritableStore } from '../records/writable-store.ts'
import type { Authenticator } from '../request/identity.ts'
import type { OverridableLimits } from '../request/routing/request-rules.ts'
import type { RoundRobin } from '../request/routing/round-robin.ts'
import type { RouteTable } from '../request/routing/route-table.ts'
import type { Health } from '../request/routing/target-health.ts'
import type { Catalog, Clock, Kind, ModelEntry } from '../types.ts'
import { createInfoReader, type InfoSources } from './info.ts'
import type { Management } from './operations.ts'
import { createOverviewReader } from './overview.ts'

export interface ManagementDependencies extends Omit<ExplainDependencies, 'store'> {
  promptCaching: PromptCachingFeature
  store: Store
  catalog: Catalog
  clock: Clock
  rotation: Pick<RoundRobin, 'reset'>
  /** Returns the current routing table, which resolves model names. */
  routes(): Promise<RouteTable>
  /** Lists the models of the given kinds that clients can request. Lists that share `cache` query each provider once. */
  published(kinds: readonly Kind[], cache?: LookupCache): Promise<ModelEntry[]>
  health: Health
  limits: OverridableLimits & { lookupTimeoutMs: number }
  /** Lets other tasks run during a long operation. */
  nextTurn(): Promise<void>
  /** Returns the counters of all limits. */
  ledger(): Promise<Ledger>
  cloud: Pick<CloudReplicaDependencies, 'fetch' | 'options'> &
    Pick<PushDependencies, 'random' | 'startTimer' | 'onError'>
  /** Returns the accounts of the app's users. */
  accounts(): Promise<Accounts>
  /** The usage records, or `undefined` if none are stored. */
  usage: UsageStore | undefined
  /** Serves a model request from this process. Resolves to `undefined` if the path isn't the gateway's. Never rejects. */
  serve(exchange: Exchange, authenticator?: Authenticator): Promise<Reply | undefined>
  /** Called after each operation that may have changed records, with the resource and the ID from the operation's arguments. */
  changed(collection: string, id?: string): void
  /** Facts about the gateway itself. */
  infoSources: InfoSources
  /** Tokens for browsers and devices. */
  tokens: Pick<TokenService, 'mint' | 'revoke'>
  /** Opens the refreshed catalog. Absent if the catalog isn't refreshed. */
  liveCatalog?: (() => Promise<LiveCatalog>) | undefined
  /** Creates the OpenAPI document. */
  openapi(): Promise<OpenApiDocument>
}

/** Creates the operations, which validate their input. `pushes` sends their changes to the cloud proxy. */
export function createManagement(dependencies: ManagementDependencies): { api: Management<unknown>; pushes: Pushes } {
  const deps = {
    ...dependencies,
    ...dependencies.cloud,
    store: getWritableStore(dependencies.store, dependencies.clock),
  }
  const runInOrder = createMutex() // combos and aliases must not change between the cycle check and the write
  const replica = createCloudReplica(deps)
  const pushes = new Pushes({ ...deps, replica })
  const limits = createLimitOperations(deps)
  const forgetLimits = async (scope: ScopeName) =>
    deps
      .ledger()
      .then((ledger) => ledger.forget(scope))
      .catch(deps.onError) // the key or group is deleted either way
  const accounts = createAccountOperations({ ...deps, forgetLimits, revokeTokens: deps.tokens.revoke })
  const { names, resolveAccount, hasAccounts } = accounts
  const keys = createKeyOperations({ ...deps, forgetLimits, resolveAccount, findAccountRef: names.findRef })
  const withNotifications = <Resource extends object>(name: string, resource: Resource) =>
    notifyAfter(resource, async (id) => deps.changed(name, id))
  const withCloudNotifications = <Resource extends object>(name: string, resource: Resource) =>
    withNotifications(
      name,
      notifyAfter(resource, () => pushes.recordChange()),
    )
  const usage = {
    ...addFilterWarnings(createUsageOperations({ ...deps, accounts: names }), { ...deps, accounts: names }),
    keys: createKeyUsageReader({ ...deps, getLimits: limits.keys.get }),
  }
  const health = createHealthOperations(deps)
  const guards = createGuardOperations(deps)
  const cloud = createCloudOperations({ ...deps, replica, pushes, keys })
  const api = {
    keys: { ...withCloudNotifications('keys', keys), limits: limits.keys },
    groups: {
      ...withCloudNotifications('groups', createGroupOperations({ ...deps, forgetLimits, hasAccounts })),
      limits: limits.groups,
    },
    accounts: { ...withNotifications('accounts', accounts.operations), limits: limits.accounts },
    tokens: { mint: deps.tokens.mint },
    settings: { ...withCloudNotifications('settings', createSettingsOperations(deps)), limits: limits.gateway },
    guards: { ...withCloudNotifications('guards', guards), test: guards.test },
    combos: withCloudNotifications('combos', createComboOperations({ ...deps, runInOrder })),
    connections: {
      ...withCloudNotifications('connections', createConnectionOperations(deps)),
      test: createConnectionTester({ ...deps, basePath: deps.infoSources.basePath }),
    },
    models: createModelOperations(deps),
    customModels: withCloudNotifications('customModels', createCustomModelOperations(deps)),
    aliases: withCloudNotifications('aliases', createAliasOperations({ ...deps, runInOrder })),
    providers: withCloudNotifications('providers', createProviderOperations(deps)),
    health: withNotifications('health', health),
    damagedRecords: withCloudNotifications('damagedRecords', createDamagedRecordOperations(deps)),
    catalog: createCatalogOperations(deps.liveCatalog),
    cloud,
    usage,
    explain: createExplain(deps),
    overview: createOverviewReader({ ...deps, usageStore: deps.usage, usage, health, cloud }),
    info: createInfoReader(deps),
    openapi: () => deps.openapi(),
  }
  return { api, pushes }
}

/** Calls `changed` after each operation that isn't read-only, even if it failed, because it may have changed something first. */
function notifyAfter<Resource extends object>(resource: Resource, notify: (id?: string) => Promise<void>): Resource {
  const notifyingEntries = Object.entries(resource).map(([name, call]) => [
    name,
    READ_ONLY_OPERATIONS.has(name)
      ? call
      : (...args: unknown[]) => call(...args).finally(() => notify(typeof args[0] === 'string' ? args[0] : undefined)),
  ])
  return Object.fromEntries(notifyingEntries) as Resource // the copy has the same methods
}

const READ_ONLY_OPERATIONS: ReadonlySet<string> = new Set(['list', 'get'])
