import { checkManagement, type ManagementOptions } from './http/management-options.ts'
import type { MountedPage } from './http/pages.ts'
import type { UpstreamFetch } from './lib/exchange.ts'
import { isObject } from './lib/json.ts'
import { refuseUnknownOptions } from './lib/spelling.ts'
import { isOrigin } from './lib/urls.ts'
import type { CloudOptions } from './management/cloud.ts'
import type { PipelineLimits } from './pipeline/context.ts'
import type { Hooks } from './pipeline/hooks.ts'
import type { GatewayObserver } from './pipeline/observing.ts'
import { checkCatalog } from './providers/catalog.ts'
import type { Secret } from './store/open-vault.ts'
import type { Catalog, Clock, Logger, Storage } from './types.ts'

/** The limits of a gateway: sizes in bytes, times in ms, all above 0. Defaults: `defaultLimits`. */
export interface Limits extends PipelineLimits {
  /** Largest body of a management request; default 1 MiB. A larger one gets 413. */
  maxManagementBodyBytes: number
  /** How long a server may take to list its models, for the listing and for `discover`; default 5,000. */
  lookupTimeoutMs: number
  /** How old data from a storage without `watch` may be before it is read again; default 1,000. */
  storeMaxAgeMs: number
}

/** The limits that hold unless the host sets others. */
export const defaultLimits: Limits = {
  maxBodyBytes: 20 * 1024 * 1024,
  maxAudioBytes: 26 * 1024 * 1024,
  maxImageBytes: 64 * 1024 * 1024,
  bodyTimeoutMs: 300_000,
  maxAnswerBytes: 64 * 1024 * 1024,
  maxStreamBytes: 64 * 1024 * 1024,
  maxConcurrent: Number.POSITIVE_INFINITY,
  headersTimeoutMs: 120_000,
  silenceTimeoutMs: 60_000,
  totalTimeoutMs: 600_000,
  maxAttempts: 3,
  maxManagementBodyBytes: 1024 * 1024,
  lookupTimeoutMs: 5_000,
  storeMaxAgeMs: 1_000,
}

/** The options of `createGateway`; only `storage` is required. */
export interface GatewayOptions {
  /** Where all data is kept. The host makes it and closes it. */
  storage: Storage
  /** Calls providers, and fetches media; default: the runtime's own `fetch`, on Node the mount's, which is built on undici. A provider's redirects are never followed. */
  fetch?: UpstreamFetch | typeof fetch
  /** Default: the platform's time. */
  clock?: Clock
  /** The path that the gateway is mounted at, such as `/ai`; default: the root. */
  basePath?: string
  /**
   * The origins of pages that may call `/v1` and `/v1beta` across origins, such as `https://app.example.com`; default: none, but that every
   * page may list the models. They need a client key wherever others do, and `/api` stays closed to them.
   */
  allowedOrigins?: readonly string[]
  /** Who may call `/api`; default: nobody. `gateway.api` is open regardless. */
  management?: ManagementOptions
  /** The page for operators at `{basePath}/admin/`: `dashboard()` of `signalbox/dashboard`. Default: none. */
  dashboard?: MountedPage
  /** How the gateway mirrors its data to a cloud proxy, once it is told to by `POST /api/sync/cloud`; default: by https, with no enrolment credential. */
  cloud?: CloudOptions
  /**
   * Are the turns of `round-robin`, the sessions that `sticky` has moved, and the load and latency that `least-busy` and `least-latency`
   * choose by kept in the storage, so that all gateways on it share them? Costs one write for each turn, and up to ten reads and writes a
   * second for load and latency. Default: yes when the storage is `atomic`; otherwise they are kept in memory.
   */
  sharedState?: boolean
  /**
   * Is a request refused with 400 when its translation would lose something? Default `false`: the loss is named in the header
   * `x-signalbox-warning`. What is lost of an answer, which is paid for, is only named.
   */
  strict?: boolean
  /**
   * Does the gateway fetch images, sound, video and documents that a client names by their address, for providers that take only bytes?
   * Default `true`: by https from public host names only, with the limits of SECURITY.md; `false` answers such requests with 400.
   */
  fetchMedia?: boolean
  /**
   * Are providers of Chat Completions asked for the usage of streams whose clients do not ask, so that it is counted? Default
   * `true`: the event that holds nothing else is kept from those clients, and a target that refuses the question is asked again without it. With `false`
   * the usage of such streams is estimated.
   */
  askForUsage?: boolean
  /**
   * Do the requests under way of a key end when it is paused or deleted? Default `true`: within a second, streams with an error event.
   * `false` lets them finish; new requests are refused either way.
   */
  endRequestsOfPausedKeys?: boolean
  /**
   * Is a record of each request kept in the storage, and what was used summed up (src/usage/KEPT.md)? Default: yes, unless the storage says
   * that it does not carry so many writes, as Workers KV does.
   */
  usage?: boolean
  /**
   * Encrypts keys and credentials at rest; 32 characters or more. Default: the storage's `ownSecret`, if it has one; otherwise they are
   * stored in clear.
   */
  secret?: Secret
  /** The provider definitions; default: `defaultCatalog`. `{ ...defaultCatalog, mine }` extends it. */
  catalog?: Catalog
  /** Sizes and times; those that are absent keep their defaults. */
  limits?: Partial<Limits>
  /** Functions that are called with each request, attempt, usage and error; default: none. */
  hooks?: Hooks
  /**
   * What is told of each model request while it happens: `otel(api)` of `signalbox/otel`, `prometheus()` of `signalbox/prometheus`, `jsonLog(write)`
   * of `signalbox/log`, or one of the host's own. Default: none.
   */
  observe?: readonly GatewayObserver[]
  /** Default: the console; `false` drops all messages. */
  logger?: Logger | false
}

/** Throws a TypeError that says what to pass instead, for the first option that cannot work. */
export function checkOptions(options: GatewayOptions, maker = 'createGateway', known: readonly string[] = names): void {
  const hint = `Call ${maker}({ storage: memoryStorage() }), or pick another one of signalbox/storage/*.`
  if (!isObject(options)) throw new TypeError(`${maker} takes an object of options. ${hint}`)
  refuseUnknownOptions(options, known)
  const { storage, limits, hooks, catalog, clock, logger, secret, basePath, sharedState } = options
  if (storage === undefined) throw new TypeError(`storage is missing. ${hint}`)
  if (!hasFunctions(storage, ['get', 'set', 'delete', 'list']))
    throw new TypeError(`storage must have get(), set(), delete() and list(). ${hint}`)
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
  for (const name of switches)
    if (options[name] !== undefined && typeof options[name] !== 'boolean')
      throw new TypeError(`${name} must be true or false.`)
  if (sharedState && !storage.atomic)
    throw new TypeError('sharedState needs a storage whose conditional writes hold (`atomic: true`). Leave it out.')
  checkOrigins(options.allowedOrigins)
  checkManagement(options.management)
  checkObservers(options.observe)
  if (options.dashboard !== undefined && !hasFunctions(options.dashboard, ['serve']))
    throw new TypeError('dashboard must be dashboard() of signalbox/dashboard.')
  checkCloud(options.cloud)
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

function checkCloud(cloud: unknown): void {
  if (cloud === undefined) return
  if (!isObject(cloud)) throw new TypeError('cloud must be an object of options: enrolment, allowHttp.')
  refuseUnknownOptions(cloud, ['enrolment', 'allowHttp'], 'cloud.')
  const { enrolment, allowHttp } = cloud
  if (enrolment !== undefined && (typeof enrolment !== 'string' || enrolment.length < MIN_SECRET_LENGTH))
    throw new TypeError(
      `cloud.enrolment must be the enrolment credential of the proxy, ${MIN_SECRET_LENGTH} characters or more.`,
    )
  if (allowHttp !== undefined && typeof allowHttp !== 'boolean')
    throw new TypeError('cloud.allowHttp must be true or false.')
}

function checkOrigins(origins: unknown): void {
  if (origins === undefined) return
  if (!Array.isArray(origins)) throw new TypeError(`allowedOrigins must be a list of origins. ${ORIGIN_HINT}`)
  for (const origin of origins)
    if (!isOrigin(origin))
      throw new TypeError(`allowedOrigins: ${JSON.stringify(origin)} is not an origin. ${ORIGIN_HINT}`)
}

function checkHooks(hooks: unknown): void {
  if (hooks === undefined) return
  if (!isObject(hooks)) throw new TypeError(`hooks must be an object of functions: ${hookNames.join(', ')}.`)
  refuseUnknownOptions(hooks, hookNames, 'hooks.')
  for (const [name, hook] of Object.entries(hooks))
    if (hook !== undefined && typeof hook !== 'function') throw new TypeError(`hooks.${name} must be a function.`)
}

function checkObservers(observe: unknown): void {
  if (observe === undefined) return
  const isObserver = (one: unknown) => hasFunctions(one, ['request']) || (isObject(one) && isObject(one.page))
  if (!Array.isArray(observe) || !observe.every(isObserver))
    throw new TypeError(
      'observe must be a list of observers, such as [otel(api)] of signalbox/otel or [prometheus()] of signalbox/prometheus.',
    )
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

/** No key stretching slows down an attacker who has the storage and tries secrets. */
const MIN_SECRET_LENGTH = 32

const switches = ['sharedState', 'strict', 'fetchMedia', 'askForUsage', 'endRequestsOfPausedKeys', 'usage'] as const
const names = [
  'storage',
  'fetch',
  'clock',
  'basePath',
  'allowedOrigins',
  'management',
  'dashboard',
  'cloud',
  ...switches,
  'secret',
  'catalog',
  'limits',
  'hooks',
  'observe',
  'logger',
]
const hookNames = ['onRequest', 'onAttempt', 'onUsage', 'onError']
const ORIGIN_HINT = 'Name each page\'s own as its browser sends it: "https://app.example.com", "http://localhost:5173".'

const hasFunctions = (value: unknown, members: readonly string[]) =>
  (isObject(value) || typeof value === 'function') &&
  members.every((member) => typeof Reflect.get(value, member) === 'function')
