import type { ApiKey, Combo, Connection, Strategy } from '../types.ts'

/* The records of the gateway as they are stored, and the prefixes of their storage keys. */

export const SETTINGS = 'settings'
export const VAULT = 'vault'
export const KEYS = 'keys/'
export const CONNECTIONS = 'connections/'
export const COMBOS = 'combos/'
export const CUSTOM_MODELS = 'custom-models/'
export const ALIASES = 'aliases/'
export const PROVIDERS = 'providers/'
/** The identity of the gateway at each cloud proxy, sealed, by the address of the proxy. */
export const CLOUD_IDENTITIES = 'cloud/identity'

/** A stored client key, under the digest of its value; the value itself is encrypted. */
export interface KeyRecord extends Omit<ApiKey, 'key'> {
  /** Empty when the value is not here. */
  sealedKey: string
  /** The SHA-256 of the value, in hex, where the value is not here: in the mirror at a cloud, which needs no more. */
  sha256?: string
  /** The proof of the fields that decide whether the key is let in (vault.ts). */
  mac?: string
  /** Of the last call that set `isActive`: another one for each. */
  edit?: string
}

/** A stored connection, with its credential encrypted for where it is sent. */
export interface ConnectionRecord extends Omit<Connection, 'apiKey'> {
  sealedApiKey?: string
  /** Of the last call that set `isActive`: another one for each. */
  edit?: string
}

/**
 * A stored combo, under its name. During a rename there are two records: the new one names the old (`from`), and is valid once the old one
 * names the new (`movedTo`). So a single write decides, also against other writers and after a crash.
 */
export interface ComboRecord extends Combo {
  from?: string
  movedTo?: string
  /** Changes with each write. */
  revision?: string
}

/** One alias of the model alias map: `alias` stands for the model name `model`. */
export interface AliasRecord {
  alias: string
  model: string
}

/** The strategy among a provider's connections. */
export interface ProviderRecord {
  provider: string
  strategy: Strategy
  /** Under `round-robin`: how many requests in a row each connection gets; default 1. */
  stickyLimit?: number
}
