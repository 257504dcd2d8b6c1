import type { ComboOperations } from '../admin/combos.ts'
import { comboTable } from '../admin/combos-table.ts'
import type { ConnectionOperations } from '../admin/connections.ts'
import { connectionTable } from '../admin/connections-table.ts'
import type { GroupOperations } from '../admin/groups.ts'
import { groupTable } from '../admin/groups-table.ts'
import type { DamagedRecordOperations, HealthOperations } from '../admin/health-operations.ts'
import { damagedRecordTable, healthTable } from '../admin/health-table.ts'
import type { KeyOperations } from '../admin/keys.ts'
import { keyTable } from '../admin/keys-table.ts'
import type { AliasOperations, CustomModelOperations } from '../admin/models.ts'
import { aliasTable, customModelTable, modelTable } from '../admin/models-table.ts'
import type { OpenApiDocument } from '../admin/openapi-document.ts'
import { listOperations, type NamedOperation, type OperationEntries } from '../admin/operation-table.ts'
import type { ProviderOperations } from '../admin/providers.ts'
import { providerTable } from '../admin/providers-table.ts'
import type { ModelOperations } from '../admin/published-models.ts'
import type { SettingsOperations } from '../admin/settings.ts'
import { settingsTable } from '../admin/settings-table.ts'
import type { AccountOperations } from '../features/accounts/account-operations.ts'
import { accountTable } from '../features/accounts/accounts-table.ts'
import { catalogTable } from '../features/catalog/catalog-table.ts'
import type { CatalogOperations } from '../features/catalog/live-types.ts'
import type { CloudOperations } from '../features/cloud-sync/gateway/cloud-operations.ts'
import { cloudTable } from '../features/cloud-sync/gateway/cloud-table.ts'
import type { ExplainedRequest } from '../features/explain/explain.ts'
import { explainEntry } from '../features/explain/explain-table.ts'
import type { GuardOperations } from '../features/guards/operations/guard-operations.ts'
import { guardTable } from '../features/guards/operations/guards-table.ts'
import type { GatewayLimitOperations, LimitOperations } from '../features/limits/limit-operations.ts'
import {
  accountLimitTable,
  gatewayLimitTable,
  groupLimitTable,
  keyLimitTable,
} from '../features/limits/limits-table.ts'
import type { TokenOperations } from '../features/tokens/token-input.ts'
import { tokenTable } from '../features/tokens/tokens-table.ts'
import type { UsageOperations } from '../features/usage/operations/usage-operations.ts'
import { usageTable } from '../features/usage/operations/usage-table.ts'
import type { Explanation } from '../request/routing/explanation.ts'
import { gatewayTable } from './gateway-table.ts'
import type { GatewayInfo } from './info.ts'
import type { Overview } from './overview.ts'

/**
 * The management operations. Each resolves to the body that HTTP returns, validates its input the same way, and rejects with a `GatewayError` such as
 * `INVALID_REQUEST`, `NOT_FOUND`, or `STORAGE_FAILED`. Methods take the typed input or `Input`, which is `never` for in-process calls and `unknown`
 * for HTTP bodies.
 */
export interface Management<Input = never> {
  keys: KeyOperations<Input> & {
    /** The current state of a key's limits. */
    limits: LimitOperations<Input>
  }
  /** Groups of keys. */
  groups: GroupOperations<Input> & {
    /** The current state of a group's limits. */
    limits: LimitOperations<Input>
  }
  /** The accounts of your app's users and customers. */
  accounts: AccountOperations<Input> & {
    /** The current state of an account's limits. */
    limits: LimitOperations<Input>
  }
  /** Tokens for browsers and devices. */
  tokens: TokenOperations<Input>
  settings: SettingsOperations<Input> & {
    /** The current state of the limits in the settings. */
    limits: GatewayLimitOperations<Input>
  }
  /** Guards that read, change, or reject the content of requests and responses. */
  guards: GuardOperations<Input>
  combos: ComboOperations<Input>
  connections: ConnectionOperations<Input>
  models: ModelOperations<Input>
  customModels: CustomModelOperations<Input>
  aliases: AliasOperations<Input>
  providers: ProviderOperations<Input>
  health: HealthOperations
  /** The stored records that `health.list` reports as damaged. */
  damagedRecords: DamagedRecordOperations<Input>
  /** The catalog of models and prices, and its refreshes. */
  catalog: CatalogOperations<Input>
  /** Cloud sync with the proxy at the `cloudUrl` setting. */
  cloud: CloudOperations<Input>
  /** Usage: request records and aggregates (docs/src/content/docs/reference/usage-records.md). */
  usage: UsageOperations<Input>
  /** Explains how a request would be routed: its targets and their order. Calls no provider and doesn't change round-robin positions. */
  explain(request: ExplainedRequest | Input): Promise<Explanation>
  /** Returns a summary for operators: usage in the last 24 hours, current failures, and missing configuration. */
  overview(): Promise<Overview>
  /** Returns facts about the gateway: its version, its runtime and storage, and the number of in-flight requests. */
  info(): Promise<GatewayInfo>
  /** Returns the OpenAPI description of everything the gateway serves over HTTP. */
  openapi(): Promise<OpenApiDocument>
}

/**
 * All management operations, in route order: the first route that matches a path serves it. `gateway.api`, the routes under `/api`, the client, the
 * OpenAPI document, and the CLI commands come from this table.
 */
export const operations = {
  keys: { ...keyTable, limits: keyLimitTable },
  groups: { ...groupTable, limits: groupLimitTable },
  accounts: { ...accountTable, limits: accountLimitTable },
  tokens: tokenTable,
  settings: { limits: gatewayLimitTable, ...settingsTable },
  guards: guardTable,
  combos: comboTable,
  connections: connectionTable,
  models: modelTable,
  customModels: customModelTable,
  aliases: aliasTable,
  providers: providerTable,
  catalog: catalogTable,
  cloud: cloudTable,
  usage: usageTable,
  explain: explainEntry,
  ...gatewayTable,
  damagedRecords: damagedRecordTable,
  health: healthTable,
} satisfies OperationEntries<Management>

/** Lists all operations with their names, in table order. */
export const listServedOperations = (): NamedOperation[] => listOperations(operations)
