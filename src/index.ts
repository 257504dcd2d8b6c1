export type { ComboChange, ComboPut, NewCombo } from './admin/combos.ts'
export type { ConnectionChange, ConnectionPut, ConnectionView, NewConnection } from './admin/connections.ts'
export type { DamagedRecordView } from './admin/health-operations.ts'
export type { CreatedKey, KeyView } from './admin/keys.ts'
export type { OpenApiDocument } from './admin/openapi-document.ts'
export type { Provider, ProviderChange } from './admin/providers.ts'
export { defineConfig, type GatewayConfig } from './config/define-config.ts'
export type { RouteModels, RouteResult } from './config/route-option.ts'
export { type ErrorCode, type GatewayError, isGatewayError } from './errors.ts'
export type {
  Feature,
  FeatureApi,
  FeatureArea,
  FeatureEvents,
  FeatureRoute,
  FeatureRouteRequest,
  FollowedAttempt,
  FollowedRequest,
  GatewayAttempt,
  GatewayCall,
  GatewayCallChange,
  GatewayRequest,
  ManagementOperation,
  RecordedRoute,
  ServedArea,
  ServedAreaRequest,
  UnrecordedRequest,
  UnrecordedRoute,
} from './feature.ts'
export type { AccountOptions } from './features/accounts/accounts.ts'
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
} from './features/cloud-sync/gateway/cloud-operations.ts'
export type { CloudSession } from './features/cloud-sync/protocol.ts'
export type { ExplainedRequest } from './features/explain/explain.ts'
export type {
  Guard,
  GuardChange,
  GuardContext,
  GuardedRequest,
  GuardPart,
  GuardPartKind,
  GuardRole,
  GuardTexts,
  GuardVerdict,
} from './features/guards/guard.ts'
export type { Hooks } from './features/observe/hooks.ts'
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
} from './features/observe/observer.ts'
export type { MintedToken, NewToken, TokenOperations } from './features/tokens/token-input.ts'
export type { TokenOptions } from './features/tokens/tokens.ts'
export { createGateway, type Gateway } from './gateway.ts'
export type {
  ByteStream,
  Exchange,
  PendingResponse,
  Reply,
  UpstreamCall,
  UpstreamFetch,
  UpstreamResponse,
} from './lib/exchange.ts'
export type { Management } from './management/operations.ts'
export type { GatewayOptions, Limits } from './options.ts'
export type { CostSource } from './pricing/cost.ts'
export type { UsageRecord } from './pricing/usage-record.ts'
export type { TokenUsage } from './protocols/formats/format.ts'
export type { Secret } from './records/open-keyring.ts'
export type { DamagedRecord } from './records/stored-records.ts'
export type { AccountGateway } from './request/door/account-gateway.ts'
export type { AllowedOrigin } from './request/door/allowed-origins.ts'
export type { ManagementOptions } from './request/door/management-options.ts'
export type { MountedPage, PageGuards } from './request/door/pages.ts'
export type { AttemptRecord, RequestRecord, ServedBy } from './request/hook-records.ts'
export type { Authenticator, CachedIdentify, Identify, IdentifyContext, Identity, Refusal } from './request/identity.ts'
export type {
  RouteAccount,
  RouteCall,
  RouteCandidate,
  RouteContext,
  RouteKey,
  RouteResponse,
} from './request/route-call.ts'
export type { Explanation, RouteDecision } from './request/routing/explanation.ts'
export type { FailureClass } from './request/routing/failure-class.ts'
export type { HealthEntry, TargetState } from './request/routing/health-entry.ts'
export type * from './types.ts'
