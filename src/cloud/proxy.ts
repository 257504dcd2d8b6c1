import { gatewayError } from '../errors.ts'
import { createGatewayWith, type Gateway, NO_STEPS } from '../gateway.ts'
import { createFetchHandlers } from '../http/fetch.ts'
import { createHealthCheck } from '../http/health-check.ts'
import { settlesWithin } from '../lib/deadline.ts'
import { createBackground, once } from '../lib/promises.ts'
import { deferredManagement } from '../management/deferred.ts'
import type { Management } from '../management/operations.ts'
import { checkOptions, defaultLimits, type GatewayOptions } from '../options.ts'
import { createObserver } from '../pipeline/hooks.ts'
import {
  holdsRefusedBodies,
  isWorkers,
  lingerBeforeClose,
  loggerFor,
  platformClock,
  platformCrypto,
  requestTurn,
  turnEnd,
} from '../platform.ts'
import { VAULT } from '../store/collections.ts'
import { openVault } from '../store/open-vault.ts'
import { failedTo, timedStorage } from '../store/storage-access.ts'
import { createDirectory } from './directory.ts'
import { createDocuments } from './documents.ts'
import { createFront, elsewhereOfProxy, isOfProxy, KEY_REQUIRED, requireKey } from './front.ts'
import { createMirrors } from './mirrors.ts'
import { repeatingStorage } from './repeating-storage.ts'
import { createScopes } from './scope.ts'
import { createTenants } from './tenants.ts'

/**
 * The options of `createCloudProxy`; only `storage` is required. All but `enrolment` are as those of `createGateway`: `limits` hold for each
 * tenant, `hooks` get the requests of all tenants. Without `secret`, on a storage without a secret of its own, states with credentials are
 * refused.
 */
export interface CloudProxyOptions
  extends Pick<GatewayOptions, 'storage' | 'fetch' | 'clock' | 'secret' | 'catalog' | 'limits' | 'hooks' | 'logger'> {
  /**
   * The credential with which a gateway enrols, once; 32 characters or more. Every gateway that has it may keep a mirror here. Without this
   * option no gateway can enrol; gateways that have enrolled before go on working.
   */
  enrolment?: string
}

/**
 * A cloud proxy: the same request handler as a gateway, over the mirrors of many gateways. It serves `/v1` and `/v1beta` with the keys of all of
 * them, `/health`, and `/cloud`, the protocol of its gateways; never `/api`. On Cloudflare Workers it is a plain object instead of a function.
 */
export interface CloudProxy
  extends Pick<Gateway, 'handle' | 'matches' | 'close' | 'basePath' | 'exchange' | 'elsewhere'> {
  /** Calling the proxy is the same as `fetch`. */
  (request: Request | URL | string, ...platform: unknown[]): Promise<Response>
  /** Answers every request and never rejects; a path outside the proxy gets a 404. Needs no `this`. */
  readonly fetch: CloudProxy
  /** The gateways that have a mirror here. */
  readonly tenants: {
    /** In the order of their ids. */
    list(): Promise<{ tenants: ShownTenant[] }>
    /**
     * Removes all data of a gateway, its enrolment and sessions included, and ends its requests under way. Call it again when it has failed.
     * Rejects with `NOT_FOUND` for an id that is not known.
     */
    delete(id: string): Promise<{ success: true }>
  }
  /** The data of one tenant. */
  tenant(id: string): {
    /**
     * The operations of `gateway.api` on the mirror, in process; the gateway takes over what they change with its next exchange. They reject
     * with `NOT_FOUND` while the tenant has no mirror, and with `CLOUD_CONFLICT` for the value of a key that another tenant has.
     */
    readonly api: Omit<Management, 'cloud'>
  }
}

/** A gateway that has a mirror at the proxy. */
export interface ShownTenant {
  /** The SHA-256 of the gateway's public key, in hex. */
  id: string
  /** When its mirror was made, in ISO 8601. */
  createdAt: string
  /** When the gateway last exchanged data, or asked whether there is data to exchange, in ISO 8601. */
  lastSyncAt: string
}

/** Makes a cloud proxy. Throws a TypeError on options that cannot work; nothing is read or called before the first request. */
export function createCloudProxy(options: CloudProxyOptions): CloudProxy {
  checkOptions(options, 'createCloudProxy', names)
  checkEnrolment(options.enrolment)
  const { storage, secret, clock = platformClock } = options
  const { enrolment, ...gatewayOptions } = options
  const limits = { ...defaultLimits, ...options.limits }
  const logger = loggerFor(options.logger)
  const background = createBackground((error) => onError(error))
  const { onError } = createObserver(options.hooks ?? {}, logger, background)
  let isClosed = false
  const admit = () => {
    if (isClosed) throw gatewayError('CLOSED')
  }

  const kept = storage.atomic ? storage : repeatingStorage(storage, clock)
  const scopes = createScopes(kept)
  const timed = timedStorage(kept, clock)
  const documents = createDocuments(timed)
  const vault = once(() => openVault({ storage: timed, secret, logger, cryptoInPlace: platformCrypto }))
  const mirrors = createMirrors({ documents, scopes, clock, maxAgeMs: limits.storeMaxAgeMs })
  const tenants = createTenants({
    scopes,
    mirrors,
    makeGateway: (scope) => createGatewayWith({ ...gatewayOptions, storage: scope }, STEPS, { filesBySha256: true }),
  })
  const directory = createDirectory({
    documents,
    vault,
    clock,
    async hasKey(id, digest) {
      const tenant = await tenants.open(id)
      if (!tenant) return false
      const { keys, vault } = tenant.store
      return (await keys.get(await (await vault()).digestBySha256(digest))) !== undefined
    },
  })
  const control = once(async () => {
    const { createControl } = await import('./control.ts')
    return createControl({
      documents,
      mirrors,
      tenants,
      directory,
      vault,
      clock,
      enrolment,
      keepsSecrets: secret !== undefined || storage.ownSecret !== undefined,
      time: { clock, timeoutMs: limits.bodyTimeoutMs, turnEnd },
      admit,
      onError,
    })
  })
  const underWay = createBackground(onError)

  const app = createFront({
    directory,
    tenants,
    async protocol(exchange) {
      const answering = control().then(({ serve }) => serve(exchange))
      underWay.run(answering)
      return answering
    },
    health: createHealthCheck({
      settings: {
        reread: async () => {
          await timed.get(VAULT).catch(failedTo('read', VAULT))
          return KEY_REQUIRED
        },
      },
      clock,
      isClosed: () => isClosed,
      onError,
    }),
    clock,
    admit,
    onError,
  })
  const { gateway, handle, matches } = createFetchHandlers(app, {
    isOwnPath: isOfProxy,
    elsewhere: elsewhereOfProxy,
    begin: requestTurn,
    holdsRefused: holdsRefusedBodies,
    linger: lingerBeforeClose,
    onError,
  })

  const members: Omit<CloudProxy, 'fetch'> & { fetch: typeof gateway } = {
    fetch: gateway,
    handle,
    matches,
    basePath: '',
    exchange: app,
    elsewhere: elsewhereOfProxy,
    tenants: {
      async list() {
        const all: ShownTenant[] = []
        for await (const { tenant, mirror } of mirrors.list())
          all.push({ id: tenant, createdAt: mirror.createdAt, lastSyncAt: mirror.lastSyncAt })
        return { tenants: all }
      },
      async delete(id) {
        await (await control()).forget(id)
        return { success: true }
      },
    },
    tenant(id) {
      const { cloud, ...api } = deferredManagement(async () => (await control()).api(id))
      return { api }
    },
    async close({ graceMs } = {}) {
      isClosed = true
      await settlesWithin(underWay.settled(), LAST_WORK_MS, clock)
      await tenants.close(graceMs === undefined ? {} : { graceMs })
      await settlesWithin(background.settled(), LAST_WORK_MS, clock)
      mirrors.close()
    },
  }
  const callable = Object.assign(gateway, members) as CloudProxy // `fetch` is the proxy itself, whose members are complete only now
  return isWorkers() ? ({ ...members, fetch: callable } as CloudProxy) : callable
}

/** The steps of each tenant's gateway. */
const STEPS = { ...NO_STEPS, afterKey: [requireKey] }

/** How long closing waits for work under way, in ms: a message that never ends, or a hook, must not keep the process alive. */
const LAST_WORK_MS = 10_000

const names = ['storage', 'fetch', 'clock', 'secret', 'enrolment', 'catalog', 'limits', 'hooks', 'logger']

/** The least length of the enrolment credential, as of secrets, since nothing limits attempts to guess it. */
const MIN_ENROLMENT_LENGTH = 32

function checkEnrolment(enrolment: unknown): void {
  if (enrolment === undefined) return
  if (typeof enrolment !== 'string' || enrolment.length < MIN_ENROLMENT_LENGTH)
    throw new TypeError(
      `enrolment must be text of ${MIN_ENROLMENT_LENGTH} characters or more, such as 32 random bytes in hex. Leave it out to enrol no gateway.`,
    )
}
