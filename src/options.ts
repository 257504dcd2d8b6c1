import { checkManagement, type ManagementOptions } from './http/management-options.ts'
import type { UpstreamFetch } from './lib/exchange.ts'
import { isObject } from './lib/json.ts'
import { refuseUnknownOptions } from './lib/unknown-options.ts'
import type { PipelineLimits } from './pipeline/context.ts'
import type { Hooks } from './pipeline/observer.ts'
import { checkCatalog } from './providers/catalog.ts'
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

/** What holds for each limit that the host does not set. */
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

/** What a gateway is made of; only `storage` is required. */
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
  /**
   * Are turns of round-robin combos and moved sessions kept in the storage, for all instances on it? Costs a write a turn. Default: yes
   * when the storage is `atomic`, else each instance keeps them for itself.
   */
  sharedState?: boolean
  /** Is a request refused whenever its translation would lose something? Default: it is told in `x-signalbox-warning`. */
  strict?: boolean
  /** Seals credentials at rest, 32 characters or more; default: the one that the storage keeps beside its data, if it does. */
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
  if (!isObject(options)) throw new TypeError(`createGateway takes an object of options. ${STORAGE_HINT}`)
  refuseUnknownOptions(options, names)
  const { storage, limits, hooks, catalog, clock, logger, secret, basePath, sharedState } = options
  if (storage === undefined) throw new TypeError(`storage is missing. ${STORAGE_HINT}`)
  if (!hasFunctions(storage, ['get', 'set', 'delete', 'list']))
    throw new TypeError(`storage must have get(), set(), delete() and list(). ${STORAGE_HINT}`)
  if (options.fetch !== undefined && typeof options.fetch !== 'function')
    throw new TypeError('fetch must be a function.')
  if (clock !== undefined && !hasFunctions(clock, ['now', 'sleep']))
    throw new TypeError('clock must have now() and sleep(ms, signal).')
  if (logger !== undefined && logger !== false && !hasFunctions(logger, ['warn', 'error'])) {
    throw new TypeError('logger must have warn() and error(), or be false.')
  }
  if (basePath !== undefined && typeof basePath !== 'string')
    throw new TypeError('basePath must be text such as "/ai".')
  if (catalog !== undefined && !isObject(catalog)) {
    throw new TypeError('catalog must be an object of provider definitions by provider id.')
  }
  if (catalog) checkCatalog(catalog)
  if (sharedState !== undefined && typeof sharedState !== 'boolean')
    throw new TypeError('sharedState must be true or false.')
  if (sharedState && !storage.atomic)
    throw new TypeError('sharedState needs a storage whose conditional writes hold (`atomic: true`). Leave it out.')
  if (options.strict !== undefined && typeof options.strict !== 'boolean')
    throw new TypeError('strict must be true or false.')
  checkManagement(options.management)
  checkSecret(secret)
  checkHooks(hooks)
  checkLimits(limits)
}

function checkSecret(secret: unknown): void {
  if (secret === undefined) return
  const isNamed = (one: unknown) =>
    isObject(one) && isVersion(one.version) && typeof one.value === 'string' && one.value !== ''
  const isList = Array.isArray(secret) && secret.length > 0 && secret.every(isNamed)
  const sealing: unknown = isList ? secret[0].value : secret
  if (typeof sealing !== 'string' || sealing === '') {
    throw new TypeError(
      'secret must be text that is not empty, or a list of { version, value }, the first of which seals.',
    )
  }
  if (sealing.length >= MIN_SECRET_LENGTH) return
  const way = isList
    ? ''
    : ' Data sealed with it opens with [{ version: "new", value }, { version: "default", value }].'
  throw new TypeError(
    `A secret that seals must have ${MIN_SECRET_LENGTH} characters or more, such as 32 random bytes in hex; this one has ${sealing.length}.${way}`,
  )
}

const isVersion = (version: unknown) => (typeof version === 'string' ? version.trim() !== '' : Number.isFinite(version))

function checkHooks(hooks: unknown): void {
  if (hooks === undefined) return
  if (!isObject(hooks)) throw new TypeError(`hooks must be an object of functions: ${hookNames.join(', ')}.`)
  refuseUnknownOptions(hooks, hookNames, 'hooks.')
  for (const [name, hook] of Object.entries(hooks))
    if (hook !== undefined && typeof hook !== 'function') throw new TypeError(`hooks.${name} must be a function.`)
}

function checkLimits(limits: unknown): void {
  if (limits === undefined) return
  if (!isObject(limits)) throw new TypeError('limits must be an object of numbers.')
  refuseUnknownOptions(limits, Object.keys(defaultLimits), 'limits.')
  for (const [name, value] of Object.entries(limits)) {
    const isCount = name.startsWith('max')
    if (typeof value !== 'number' || !(value > 0) || (isCount && value % 1 > 0))
      throw new TypeError(`limits.${name} must be a ${isCount ? 'whole ' : ''}number above 0.`)
  }
}

/** It is stretched by nothing: whoever has the storage may try secrets as fast as a machine can. */
const MIN_SECRET_LENGTH = 32

const names = [
  'storage',
  'fetch',
  'clock',
  'basePath',
  'management',
  'sharedState',
  'strict',
  'secret',
  'catalog',
  'limits',
  'hooks',
  'logger',
]
const hookNames = ['onRequest', 'onAttempt', 'onUsage', 'onError']
const STORAGE_HINT = 'Call createGateway({ storage: memoryStorage() }), or pick another one of signalbox/storage/*.'

const hasFunctions = (value: unknown, members: readonly string[]) =>
  (isObject(value) || typeof value === 'function') &&
  members.every((member) => typeof Reflect.get(value, member) === 'function')
