import type { LimitScope } from '../types/limits.ts'
import type { comboFields } from '../types/records/combo-fields.ts'
import type { connectionFields } from '../types/records/connection-fields.ts'
import type { groupFields } from '../types/records/group-fields.ts'
import type { guardFields } from '../types/records/guard-fields.ts'
import type { keyFields } from '../types/records/key-fields.ts'
import type { aliasFields, providerFields } from '../types/records/model-fields.ts'
import type { previousKeyFields } from '../types/records/previous-keys.ts'
import type { StoredOf } from '../types/records/record-fields.ts'

/* The gateway's records as stored, and the prefixes of their storage keys. */

export const SETTINGS_KEY = 'settings'
export const KEYRING_KEY = 'vault'
export const KEYS_PREFIX = 'keys/'
export const PREVIOUS_KEYS_PREFIX = 'former-keys/'
export const GROUPS_PREFIX = 'groups/'
export const GUARDS_PREFIX = 'guards/'
export const CONNECTIONS_PREFIX = 'connections/'
export const COMBOS_PREFIX = 'combos/'
export const CUSTOM_MODELS_PREFIX = 'custom-models/'
export const ALIASES_PREFIX = 'aliases/'
export const PROVIDERS_PREFIX = 'providers/'
export const ACCOUNTS_PREFIX = 'accounts/'
/** The revoked tokens of all accounts. */
export const REVOKED_KEY = 'tokens/revoked'
/** The storage keys of each caller's records (reading-lists.ts). */
export const READING_LISTS_PREFIX = 'reading-lists/'
/** The limit counters, by scope and ID. */
export const LIMITS_PREFIX = 'limits/'
/**
 * The storage key after which the counters of keys, groups, and the gateway are listed. Account counters come before it. There can be millions of
 * account counters, and they aren't synced with a replica.
 */
export const ACCOUNT_LIMITS_END = 'limits/account0'
/** The gateway's encrypted identity at each cloud proxy, by the proxy's URL. */
export const CLOUD_IDENTITIES_KEY = 'cloud/identity'

/** A client key with its encrypted value, under the digest of the value. */
export interface KeyRecord extends StoredOf<typeof keyFields> {}

/** A key's previous value, under its digest. */
export interface PreviousKeyRecord extends StoredOf<typeof previousKeyFields> {}

/** A group of keys, under its ID. */
export interface GroupRecord extends StoredOf<typeof groupFields> {}

/** A guard, under its name. */
export interface StoredGuard extends StoredOf<typeof guardFields> {}

/** A connection, with its credential encrypted for its destination. */
export interface ConnectionRecord extends StoredOf<typeof connectionFields> {}

/**
 * A combo, under its name. During a rename, there are two records: the new record has the old name in `from`, and becomes valid when the old record's
 * `movedTo` is set to the new name. A single write therefore commits the rename, even with concurrent writers and after a crash.
 */
export interface ComboRecord extends StoredOf<typeof comboFields> {}

/** An alias: `alias` points to the model name `model`. */
export interface AliasRecord extends StoredOf<typeof aliasFields> {}

/** The strategy for choosing among a provider's connections. */
export interface ProviderRecord extends StoredOf<typeof providerFields> {}

/** Returns the storage key of a scope's counters. */
export const getCountersKey = (scope: LimitScope, id: string): string =>
  `${LIMITS_PREFIX}${scope}${id && `/${encodeURIComponent(id)}`}`

/** Returns the ID of a custom model's record. */
export const getCustomModelId = (model: { providerAlias: string; id: string }): string =>
  JSON.stringify([model.providerAlias, model.id])
