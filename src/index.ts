export { type ErrorCode, type GatewayError, isGatewayError } from './errors.ts'
export type { TokenUsage } from './formats/format.ts'
export { createGateway, type Gateway } from './gateway.ts'
export type { ManagementOptions } from './http/management-options.ts'
export type { MountedPage } from './http/pages.ts'
export type {
  ByteStream,
  Exchange,
  PendingAnswer,
  Reply,
  UpstreamAnswer,
  UpstreamCall,
  UpstreamFetch,
} from './lib/exchange.ts'
export type {
  CloudConflict,
  CloudOperations,
  CloudOptions,
  CloudSessionOperations,
  CloudState,
  DisableCloud,
  EnableCloud,
  EnabledCloud,
  SyncedCloud,
} from './management/cloud.ts'
export type { ComboChange, ComboPut, NewCombo } from './management/combos.ts'
export type { ConnectionChange, ConnectionPut, NewConnection, ShownConnection } from './management/connections.ts'
export type { ExplainedRequest } from './management/explain.ts'
export type { ShownDamage } from './management/health.ts'
export type { CreatedKey, ShownKey } from './management/keys.ts'
export type { Management, OpenApiDocument } from './management/operations.ts'
export type { Provider, ProviderChange } from './management/providers.ts'
export type { GatewayOptions, Limits } from './options.ts'
export type { Hooks } from './pipeline/hooks.ts'
export type {
  AttemptEnd,
  AttemptFollower,
  GatewayFacts,
  GatewayObserver,
  ObservedAttempt,
  ObservedRequest,
  ObserverPage,
  RequestFollower,
  TargetFact,
} from './pipeline/observing.ts'
export type { AttemptRecord, RequestRecord } from './pipeline/records.ts'
export type { Explanation } from './routing/explanation.ts'
export type { FailureClass } from './routing/failure-class.ts'
export type { HealthEntry, TargetState } from './routing/health-entry.ts'
export type { Secret } from './store/open-vault.ts'
export type { DamagedRecord } from './store/stored-records.ts'
export type { CloudSession } from './sync/protocol.ts'
export type * from './types.ts'
export type { CostSource } from './usage/cost.ts'
export type { UsageRecord } from './usage/record.ts'
