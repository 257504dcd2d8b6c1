import { configSections } from './config/check-records.ts'
import type { CodeConfig } from './config/code-config.ts'
import type { RouteOptions } from './config/route-option.ts'
import { checkFeatures } from './extend.ts'
import type { Feature } from './feature.ts'
import type { AccountOptions } from './features/accounts/accounts.ts'
import { isCatalogOptions } from './features/catalog/catalog-options.ts'
import type { CatalogOptions } from './features/catalog/live-types.ts'
import type { CloudOptions } from './features/cloud-sync/gateway/cloud-operations.ts'
import { listCodeGuards } from './features/guards/guards-feature.ts'
import type { Hooks } from './features/observe/hooks.ts'
import type { GatewayObserver } from './features/observe/observer.ts'
import type { TokenOptions } from './features/tokens/tokens.ts'
import type { UpstreamFetch } from './lib/exchange.ts'
import { isObject } from './lib/json.ts'
import { rejectUnknownOptions } from './lib/renamed-options.ts'
import { isOrigin } from './lib/urls.ts'
import { checkCatalog } from './protocols/providers/catalog.ts'
import { MIN_SECRET_LENGTH, type Secret } from './records/open-keyring.ts'
import type { PipelineLimits } from './request/context.ts'
import type { AllowedOrigin } from './request/door/allowed-origins.ts'
import { checkManagement, type ManagementOptions } from './request/door/management-options.ts'
import type { MountedPage } from './request/door/pages.ts'
import type { CachedIdentify, Identify } from './request/identity.ts'
import type { Catalog, Clock, Logger, Storage } from './types.ts'

/** Size limits in bytes and timeouts in ms, all above 0. Defaults: `defaultLimits`. */
export interface Limits extends PipelineLimits {
  /** Maximum size of a management request body, in bytes. Default: 1 MiB. Larger bodies get a 413. */
  maxManagementBodyBytes: number
  /** How long to wait for a provider's model list, in the listing and for `discover`, in ms. Default: 5,000. */
  lookupTimeoutMs: number
  /** How long `identify` may take, in ms. Default: 5,000. After that, requests get a 503. */
  identifyTimeoutMs: number
  /** How long to cache data from a store without `watch`, in ms. Default: 1,000. */
  storeMaxAgeMs: number
}

/** The default limits. */
export const defaultLimits: Limits = {
  maxBodyBytes: 20 * 1024 * 1024,
  maxAudioBytes: 26 * 1024 * 1024,
  maxImageBytes: 64 * 1024 * 1024,
  bodyTimeoutMs: 300_000,
  maxResponseBytes: 64 * 1024 * 1024,
  maxStreamBytes: 64 * 1024 * 1024,
  maxParallelRequests: Number.POSITIVE_INFINITY,
  headersTimeoutMs: 120_000,
  idleTimeoutMs: 60_000,
  totalTimeoutMs: 600_000,
  maxAttempts: 3,
  maxManagementBodyBytes: 1024 * 1024,
  lookupTimeoutMs: 5_000,
  identifyTimeoutMs: 5_000,
  storeMaxAgeMs: 1_000,
}

/** Options for `createGateway`; all are optional. */
export interface GatewayOptions<Extend extends readonly Feature[] = readonly Feature[]>
  extends CodeConfig,
    RouteOptions {
  /**
   * Where all data is stored. You create it, and you close it. Default: memory, with a warning, because keys, limits, and usage are then lost when
   * the process ends.
   */
  storage?: Storage
  /**
   * Calls providers and fetches media. Default: the runtime's `fetch`; on Node, a client built on undici. Redirects from providers are
   * never followed.
   */
  fetch?: UpstreamFetch
  /** The clock. Default: system time. Inject a fake clock for tests. */
  clock?: Clock
  /** The path the gateway is mounted at, such as `/ai`. Default: the root. */
  basePath?: string
  /**
   * Origins whose pages may call `/v1` and `/v1beta`, such as `https://app.example.com`. Default: none, but any page may list the models. Client keys
   * are still required as usual, and `/api` stays closed to these origins. Requests from these pages don't include cookies for `identify`, unless the
   * origin is listed as `{ origin, credentials: true }`.
   */
  allowedOrigins?: readonly AllowedOrigin[]
  /** The origin at which browsers reach the gateway behind a proxy that changes `Host`, such as `https://app.example`. Default: taken from `Host`. */
  publicOrigin?: string
  /**
   * Identifies which of your users or customers is calling: a function, or `{ resolve, cacheBy, ttlMs }` to cache its results briefly
   * (docs/src/content/docs/guides/users-of-your-app.md). With it, a request without an identity needs an API key, even if `requireApiKey` is off. Default: none.
   */
  identify?: Identify | CachedIdentify
  /** Options for the accounts that `identify` and `gateway.as` identify. */
  accounts?: AccountOptions
  /** Who may call `/api`. Default: no one. `gateway.api` is always available in process. */
  management?: ManagementOptions
  /** The dashboard at `{basePath}/admin/`: `dashboard()` from `signalbox/dashboard`. Default: none. */
  dashboard?: MountedPage
  /** Options for cloud sync, which `POST /api/sync/cloud` turns on. Default: HTTPS only, without an enrollment token. */
  cloud?: CloudOptions
  /**
   * Stores round-robin positions, re-pinned `sticky` sessions, and the load and latency data for `least-busy` and `least-latency`, so all instances
   * share them. Costs one write per round-robin step, and up to ten reads and writes a second for load and latency. Default: `true` if the storage is
   * `atomic`; otherwise this state stays in memory.
   */
  sharedState?: boolean
  /**
   * Rejects a request with a 400 if translating it would drop something. Default: `false`, which lists dropped fields in the `x-signalbox-warning`
   * header. Anything dropped from a response, which is already paid for, is only listed.
   */
  strict?: boolean
  /**
   * Fetches images, audio, video, and documents that a request links to when the provider accepts only bytes. Default: `true`, but only over HTTPS,
   * from public hosts, and within limits (docs/src/content/docs/concepts/security-model.md). With `false`, such requests get a 400.
   */
  fetchMedia?: boolean
  /**
   * Requests the token usage of Chat Completions streams even when the client doesn't, so it can be recorded. Default: `true`. Those clients don't
   * see the extra event, and a target that rejects the field is called again without it. With `false`, the usage of such streams is estimated.
   */
  includeStreamUsage?: boolean
  /**
   * Ends a key's in-flight requests within a second when the key is paused or deleted; streams end with an error event. Default: `true`. With
   * `false`, they may finish; new requests are rejected either way.
   */
  endRequestsOfPausedKeys?: boolean
  /**
   * Stores a record of each request and aggregates usage (docs/src/content/docs/reference/usage-records.md). Default: `true`, unless the storage
   * can't handle that many writes, as with Workers KV.
   */
  usage?: boolean
  /**
   * Encrypts keys and credentials at rest; at least 32 characters. Default: the storage's `ownSecret`, if it has one; otherwise they are
   * stored unencrypted.
   */
  secret?: Secret
  /** Options for the tokens that `gateway.api.tokens.mint` creates for browsers and devices. */
  tokens?: TokenOptions
  /**
   * The provider definitions. Default: `defaultCatalog`. Extend it with `{ ...defaultCatalog, mine }`. With `{ refresh: 'models.dev' }`, or a
   * function in place of `'models.dev'`, models and prices are refreshed while the gateway runs.
   */
  catalog?: Catalog | CatalogOptions
  /** Size limits and timeouts; omitted ones keep their defaults. */
  limits?: Partial<Limits>
  /** Functions to call for each request, attempt, usage record, and error. Default: none. */
  hooks?: Hooks
  /** Your features: steps around requests, model calls, and attempts, routes, and listeners. Default: none. */
  extend?: Extend
  /**
   * Observers that follow each model request while it runs: `otel(api)` from `signalbox/otel`, `prometheus()` from `signalbox/prometheus`,
   * `jsonLog(write)` from `signalbox/log`, or your own. Default: none.
   */
  observe?: readonly GatewayObserver[]
  /** Where log messages go. Default: the console. `false` disables logging. */
  logger?: Logger | false
}

/** Throws a TypeError for the first invalid option; the message explains what to pass instead. */
export function checkOptions(
  options: GatewayOptions,
  maker = 'createGateway',
  knownNames: readonly string[] = optionNames,
): void {
  const hint = `Call ${maker}({ storage: memoryStorage() }), or choose another storage from signalbox/storage/*.`
  const value: unknown = options
  if (!isObject(value)) throw new TypeError(`${maker} takes an options object. ${hint}`)
  rejectUnknownOptions(options, knownNames)
  const { storage, catalog, sharedState, identify } = options
  if (storage === undefined && ('storage' in options || maker !== 'createGateway'))
    throw new TypeError(`storage is undefined. ${hint}`)
  if (storage !== undefined && !hasFunctions(storage, ['get', 'set', 'delete', 'list']))
    throw new TypeError(`storage must have get(), set(), delete(), and list(). ${hint}`)
  checkRules(options, optionRules)
  const isLive = catalog && isCatalogOptions(catalog)
  if (isLive) checkMembers('catalog', catalog, catalogRules)
  const base = isLive ? catalog.base : catalog
  if (base) checkCatalog(base)
  if (sharedState && storage?.atomic === false)
    throw new TypeError(
      'sharedState needs a storage with reliable conditional writes (`atomic: true`). Remove it or use another storage.',
    )
  checkOrigins(options)
  if (isObject(identify)) checkMembers('identify', identify, identifyRules)
  for (const [name, rules] of Object.entries(memberRules)) checkMembers(name, Reflect.get(options, name), rules)
  checkManagement(options.management)
  checkSecret(options.secret)
  listCodeGuards(options.guards)
  checkFeatures(options.extend)
}

/** A requirement, worded to follow "must", and its check. */
type Rule = readonly [requirement: string, isMet: (value: unknown) => boolean]
type Rules = Readonly<Record<string, Rule>>

/** Checks an option that is an object. */
function checkMembers(option: string, value: unknown, rules: Rules): void {
  if (value === undefined) return
  const ruleNames = Object.keys(rules)
  if (!isObject(value)) throw new TypeError(`${option} must be an object with ${ruleNames.join(', ')}.`)
  rejectUnknownOptions(value, ruleNames, `${option}.`)
  checkRules(value, rules, `${option}.`)
}

function checkRules(optionValues: object, rules: Rules, path = ''): void {
  for (const [name, [requirement, isMet]] of Object.entries(rules)) {
    const value: unknown = Reflect.get(optionValues, name)
    if (value !== undefined && !isMet(value)) throw new TypeError(`${path}${name} must ${requirement}.`)
  }
}

function checkSecret(secret: unknown): void {
  if (secret === undefined) return
  const isNamed = (value: unknown) =>
    isObject(value) && isVersion(value.version) && typeof value.value === 'string' && value.value !== ''
  const isList = Array.isArray(secret) && secret.length > 0 && secret.every(isNamed)
  const sealing: unknown = isList ? secret[0].value : secret
  if (typeof sealing !== 'string' || sealing === '') {
    throw new TypeError(
      'secret must be a non-empty string or an array of { version, value }, the first of which encrypts new data.',
    )
  }
  if (sealing.length >= MIN_SECRET_LENGTH) return
  const rotationAdvice = isList
    ? ''
    : ' To keep reading data encrypted with it, pass [{ version: "new", value }, { version: "default", value }].'
  throw new TypeError(
    `The secret that encrypts new data must have at least ${MIN_SECRET_LENGTH} characters, such as 32 random bytes in hex. This one has ${sealing.length}.${rotationAdvice}`,
  )
}

const isVersion = (version: unknown) => (typeof version === 'string' ? version.trim() !== '' : Number.isFinite(version))

function checkOrigins({
  allowedOrigins = [],
  publicOrigin,
}: {
  allowedOrigins?: unknown
  publicOrigin?: unknown
}): void {
  if (!Array.isArray(allowedOrigins)) throw new TypeError(`allowedOrigins must be an array of origins. ${ORIGIN_HINT}`)
  for (const entry of allowedOrigins) {
    const { origin = entry, credentials } = isObject(entry) ? entry : {}
    if (isObject(entry)) rejectUnknownOptions(entry, ['origin', 'credentials'], 'allowedOrigins: ')
    if (!isOrigin(origin))
      throw new TypeError(`allowedOrigins: ${JSON.stringify(origin)} is not an origin. ${ORIGIN_HINT}`)
    checkRules({ credentials }, { credentials: flag }, 'allowedOrigins: ')
  }
  if (publicOrigin !== undefined && !isOrigin(publicOrigin))
    throw new TypeError(
      `publicOrigin: ${JSON.stringify(publicOrigin)} is not an origin, such as "https://app.example".`,
    )
}

const flagNames = [
  'sharedState',
  'strict',
  'fetchMedia',
  'includeStreamUsage',
  'endRequestsOfPausedKeys',
  'usage',
] as const
const ORIGIN_HINT =
  'List each page\'s origin as its browser sends it: "https://app.example.com", "http://localhost:5173".'

const hasFunctions = (value: unknown, members: readonly string[]) =>
  (isObject(value) || typeof value === 'function') &&
  members.every((member) => typeof Reflect.get(value, member) === 'function')

const MAX_IDENTITY_TTL_MS = 60_000

const flag: Rule = ['be true or false', (value) => typeof value === 'boolean']
const callable: Rule = ['be a function', (value) => typeof value === 'function']
const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
const isAmount = (value: unknown): value is number => typeof value === 'number' && value > 0
const count: Rule = ['be a whole number above 0', (value) => isAmount(value) && !(value % 1 > 0)]
const amount: Rule = ['be a number above 0', isAmount]

const providerMap: Rule = ['be an object that maps provider IDs to provider definitions', isObject]

const optionRules: Rules = {
  route: callable,
  onRouteError: ['be "fail" or "ignore"', (value) => value === 'fail' || value === 'ignore'],
  fetch: callable,
  clock: ['have now() and sleep(ms, signal)', (value) => hasFunctions(value, ['now', 'sleep'])],
  logger: ['be false or have warn() and error()', (value) => value === false || hasFunctions(value, ['warn', 'error'])],
  basePath: ['be a string such as "/ai"', (value) => typeof value === 'string'],
  catalog: providerMap,
  ...Object.fromEntries(flagNames.map((name) => [name, flag])),
  identify: [
    'be a function, or have resolve(), cacheBy(), and ttlMs',
    (value) => typeof value === 'function' || hasFunctions(value, ['resolve', 'cacheBy']),
  ],
  observe: [
    'be an array of observers, such as [otel(api)] from signalbox/otel or [prometheus()] from signalbox/prometheus',
    (value) => Array.isArray(value) && value.every(isObserver),
  ],
  dashboard: ['be dashboard() from signalbox/dashboard', (value) => hasFunctions(value, ['serve'])],
}

const isObserver = (value: unknown) => hasFunctions(value, ['request']) || (isObject(value) && isObject(value.page))

const catalogRules: Rules = {
  base: providerMap,
  refresh: ['be "models.dev" or a function', (value) => value === 'models.dev' || typeof value === 'function'],
  every: ['be a period such as "1d" or "12h"', (value) => /^[1-9]\d{0,3}[dh]$/.test(String(value))],
  accept: callable,
}

const identifyRules: Rules = {
  resolve: callable,
  cacheBy: callable,
  ttlMs: [
    `be a number of milliseconds above 0, at most ${MAX_IDENTITY_TTL_MS}`,
    (value) => isAmount(value) && value <= MAX_IDENTITY_TTL_MS,
  ],
}

/** The rules for options that are objects. */
const memberRules: Readonly<Record<string, Rules>> = {
  accounts: {
    defaultPlan: ['be the ID or the name of a group', isText],
    newPerMinute: count,
    idleDays: count,
    forwardRef: flag,
  },
  cloud: {
    enrollmentToken: [
      `be the enrollment token of the proxy, at least ${MIN_SECRET_LENGTH} characters`,
      (value) => typeof value === 'string' && value.length >= MIN_SECRET_LENGTH,
    ],
    allowHttp: flag,
  },
  tokens: {
    audience: ['be a non-empty string of at most 200 characters', (value) => isText(value) && value.length <= 200],
  },
  hooks: { onRequest: callable, onAttempt: callable, onUsage: callable, onError: callable },
  limits: Object.fromEntries(Object.keys(defaultLimits).map((name) => [name, name.startsWith('max') ? count : amount])),
}

const optionNames = [
  'storage',
  ...configSections,
  ...Object.keys(optionRules),
  ...Object.keys(memberRules),
  'allowedOrigins',
  'publicOrigin',
  'management',
  'secret',
  'extend',
]
