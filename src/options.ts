import type { ManagementOptions } from './http/management-guard.ts'
import type { UpstreamFetch } from './lib/exchange.ts'
import type { PipelineLimits } from './pipeline/context.ts'
import type { Hooks } from './pipeline/observer.ts'
import type { Secret } from './store/vault.ts'
import type { Catalog, Clock, Logger, Storage } from './types.ts'

/** Sizes in bytes, times in ms. */
export interface Limits extends PipelineLimits {
  /** Bodies of the management API. */
  maxManagementBodyBytes: number
  /** How long a compatible provider may take to list its models. */
  lookupTimeoutMs: number
  /** How long what was read from a storage without `watch` is used before it is read again. */
  storeMaxAgeMs: number
}

export const defaultLimits: Limits = {
  maxBodyBytes: 20 * 1024 * 1024,
  maxAnswerBytes: 64 * 1024 * 1024,
  headersTimeoutMs: 120_000,
  silenceTimeoutMs: 60_000,
  totalTimeoutMs: 600_000,
  maxAttempts: 3,
  maxManagementBodyBytes: 1024 * 1024,
  lookupTimeoutMs: 5_000,
  storeMaxAgeMs: 1_000,
}

export interface GatewayOptions {
  /** Where everything is kept. The host made it, the host closes it. */
  storage: Storage
  /** How providers are called; default: what fits the runtime. */
  fetch?: UpstreamFetch | typeof fetch
  /** Default: the platform's time. */
  clock?: Clock
  /** The path that the gateway is mounted below, such as `/ai`; default: none. */
  basePath?: string
  /** Who may call `/api`; default: nobody. `gateway.api` needs none of this. */
  management?: ManagementOptions
  /** Seals credentials at rest; default: the one that the storage keeps beside its data, if it does. */
  secret?: Secret
  /** Replaces the built-in catalog; `{ ...defaultCatalog, mine }` extends it. */
  catalog?: Catalog
  limits?: Partial<Limits>
  hooks?: Hooks
  /** Default: the console; `false` is silent. */
  logger?: Logger | false
}

/** Throws a TypeError that says what to pass, before anything else can go wrong with it. */
export function checkOptions(options: GatewayOptions): void {
  const { storage, limits = {} } = options
  if (typeof storage?.get !== 'function' || typeof storage.set !== 'function' || typeof storage.list !== 'function') {
    throw new TypeError(
      'createGateway needs a storage: createGateway({ storage: memoryStorage() }), see signalbox/storage/*.',
    )
  }
  for (const [name, value] of Object.entries(limits)) {
    if (!Object.hasOwn(defaultLimits, name))
      throw new TypeError(`limits.${name} is not a limit; there are ${Object.keys(defaultLimits).join(', ')}.`)
    if (typeof value !== 'number' || !(value > 0)) throw new TypeError(`limits.${name} must be a number above 0.`)
  }
}
