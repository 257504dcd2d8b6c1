import type { comboFields } from '../types/records/combos.ts'
import type { connectionFields } from '../types/records/connections.ts'
import type { StoredOf } from '../types/records/fields.ts'
import type { formerKeyFields } from '../types/records/former-keys.ts'
import type { groupFields } from '../types/records/groups.ts'
import type { keyFields } from '../types/records/keys.ts'
import type { aliasFields, providerFields } from '../types/records/models.ts'

/* The records of the gateway as they are stored, and the prefixes of their storage keys. */

export const SETTINGS = 'settings'
export const VAULT = 'vault'
export const KEYS = 'keys/'
export const FORMER_KEYS = 'former-keys/'
export const GROUPS = 'groups/'
export const CONNECTIONS = 'connections/'
export const COMBOS = 'combos/'
export const CUSTOM_MODELS = 'custom-models/'
export const ALIASES = 'aliases/'
export const PROVIDERS = 'providers/'
/** The identity of the gateway at each cloud proxy, sealed, by the address of the proxy. */
export const CLOUD_IDENTITIES = 'cloud/identity'

/** A stored client key, under the digest of its value; the value itself is encrypted. */
export interface KeyRecord extends StoredOf<typeof keyFields> {}

/** A value of a key that was replaced, under its digest. */
export interface FormerKeyRecord extends StoredOf<typeof formerKeyFields> {}

/** A stored group of keys, under its id. */
export interface GroupRecord extends StoredOf<typeof groupFields> {}

/** A stored connection, with its credential encrypted for where it is sent. */
export interface ConnectionRecord extends StoredOf<typeof connectionFields> {}

/**
 * A stored combo, under its name. During a rename there are two records: the new one names the old (`from`), and is valid once the old one
 * names the new (`movedTo`). So a single write decides, also against other writers and after a crash.
 */
export interface ComboRecord extends StoredOf<typeof comboFields> {}

/** One alias of the model alias map: `alias` stands for the model name `model`. */
export interface AliasRecord extends StoredOf<typeof aliasFields> {}

/** The strategy among a provider's connections. */
export interface ProviderRecord extends StoredOf<typeof providerFields> {}
