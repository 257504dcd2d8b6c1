/* The public types that all layers share; `src/index.ts` exports them all. */

export type * from './types/catalog.ts'
export type * from './types/combo.ts'
export type * from './types/host.ts'
export type * from './types/model-entry.ts'
export type { Combo } from './types/records/combos.ts'
export type { Connection, ProviderSpecificData } from './types/records/connections.ts'
export type { GroupChange, GroupPut, KeyGroup, NewGroup } from './types/records/groups.ts'
export type { ApiKey, KeyChange, KeyPut, NewKey } from './types/records/keys.ts'
export type { CustomModel } from './types/records/models.ts'
export type { EffectiveRules, HealthTerms, RequestRules, Timeouts } from './types/records/rules.ts'
export type { Settings, SettingsChange } from './types/records/settings.ts'
export type * from './types/storage.ts'
