import type { ApiKey, Connection, Strategy } from '../types.ts'

/* The records of the gateway as they are stored, and the prefixes of their storage keys. */

export const SETTINGS = 'settings'
export const VAULT = 'vault'
export const KEYS = 'keys/'
export const CONNECTIONS = 'connections/'
export const COMBOS = 'combos/'
export const CUSTOM_MODELS = 'custom-models/'
export const ALIASES = 'aliases/'
export const PROVIDERS = 'providers/'

/** A stored client key, under the digest of its value; the value itself is encrypted. */
export interface KeyRecord extends Omit<ApiKey, 'key'> {
  sealedKey: string
  /** The proof of what guards the gate (proofs.ts). */
  mac?: string
}

/** A stored connection, with its credential encrypted for where it is sent. */
export interface ConnectionRecord extends Omit<Connection, 'apiKey'> {
  sealedApiKey?: string
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
