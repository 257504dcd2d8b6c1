import { gatewayError } from '../../../errors.ts'
import { createGatewayWith, type Gateway } from '../../../gateway.ts'
import { settlesWithin } from '../../../lib/deadline.ts'
import { createBackground, once } from '../../../lib/promises.ts'
import { deferManagement } from '../../../management/deferred-management.ts'
import type { Management } from '../../../management/operations.ts'
import { checkOptions, defaultLimits, type GatewayOptions } from '../../../options.ts'
import {
  getLogger,
  holdsRejectedBodies,
  isWorkers,
  lingerBeforeClose,
  nextTurn,
  platformClock,
  platformCrypto,
  waitForBatch,
} from '../../../platform.ts'
import { openKeyring } from '../../../records/open-keyring.ts'
import { KEYRING_KEY } from '../../../records/record-collections.ts'
import { handleStorageError, withTimeouts } from '../../../records/storage-access.ts'
import { createFetchHandlers } from '../../../request/door/fetch-bridge.ts'
import { createHealthCheck } from '../../../request/door/health-check.ts'
import { createReportError } from '../../observe/hooks.ts'
import { createDirectory } from './directory.ts'
import { createDocuments } from './documents.ts'
import { createNotFoundReply, createProxyApp, isProxyPath, KEY_REQUIRED_SETTINGS, requireKey } from './front.ts'
import { createReplicaRecords } from './replica-records.ts'
import { createRetryingStorage } from './retrying-storage.ts'
import { createScopes } from './tenant-scope.ts'
import { createTenants } from './tenants.ts'

/**
 * Options for `createCloudProxy`; only `storage` is required. Except for `enrollmentToken`, they work as in `createGateway`: `limits` apply to each
 * tenant, and `hooks` receive all tenants' requests. Credentials are rejected unless `secret` is set or the storage has a secret.
 */
export interface CloudProxyOptions
  extends Required<Pick<GatewayOptions, 'storage'>>,
    Pick<GatewayOptions, 'fetch' | 'clock' | 'secret' | 'catalog' | 'limits' | 'hooks' | 'logger'> {
  /**
   * The token that a gateway sends once to enroll; at least 32 characters. Any gateway with the token may sync its data to this proxy. Without this
   * option, no new gateways can enroll; enrolled gateways keep working.
   */
  enrollmentToken?: string
}

/**
 * A cloud proxy: a request handler like a gateway's, for the synced data of many gateways. It serves `/v1` and `/v1beta` for the keys of all
 * gateways, `/health`, and the sync protocol at `/cloud`. It never serves `/api`. On Cloudflare Workers, the proxy is a plain object instead of a
 * function.
 */
export interface CloudProxy
  extends Pick<Gateway, 'handle' | 'matches' | 'close' | 'basePath' | 'exchange' | 'notFound'> {
  /** Calling the proxy is the same as calling `fetch`. */
  (request: Request | URL | string, ...platform: unknown[]): Promise<Response>
  /** Responds to every request and never rejects. Returns 404 for a path outside the proxy. Can be called without `this`. */
  readonly fetch: CloudProxy
  /** The gateways that sync their data to this proxy. */
  readonly tenants: {
    /** Lists the gateways, sorted by ID. */
    list(): Promise<{ tenants: TenantView[] }>
    /**
     * Deletes all of a gateway's data, including its enrollment and sessions, and ends its in-flight requests. If it fails, call it again. Rejects
     * with `NOT_FOUND` for an unknown ID.
     */
    delete(id: string): Promise<{ success: true }>
  }
  /** One tenant's data. */
  tenant(id: string): {
    /**
     * The `gateway.api` operations on the tenant's data, in process. The operations reject with `NOT_FOUND` while the tenant has no data here, and
     * with `CLOUD_CONFLICT` for a key value that belongs to another tenant. The gateway receives the changes with its next sync.
     */
    readonly api: Omit<Management, 'cloud'>
  }
}

/** A gateway that syncs its data to the proxy. */
export interface TenantView {
  /** The SHA-256 of the gateway's public key, in hex. */
  id: string
  /** When the gateway first synced, in ISO 8601. */
  createdAt: string
  /** When the gateway last synced or checked for changes, in ISO 8601. */
  lastSyncAt: string
}

/** Creates a cloud proxy. Throws a TypeError for invalid options. Reads nothing and makes no calls before the first request. */
export function createCloudProxy(options: CloudProxyOptions): CloudProxy {
  checkOptions(options, 'createCloudProxy', OPTION_NAMES)
  checkEnrollmentToken(options.enrollmentToken)
  const { storage, secret, clock = platformClock } = options
  const { enrollmentToken, ...gatewayOptions } = options
  const limits = { ...defaultLimits, ...options.limits }
  const logger = getLogger(options.logger)
  const background = createBackground((error) => onError(error))
  const onError = createReportError(options.hooks ?? {}, logger, background)
  let isClosed = false
  const assertOpen = () => {
    if (isClosed) throw gatewayError('CLOSED')
  }

  const proxyStorage = storage.atomic ? storage : createRetryingStorage(storage, clock)
  const scopes = createScopes(proxyStorage)
  const timedStorage = withTimeouts(proxyStorage, clock)
  const documents = createDocuments(timedStorage)
  const keyring = once(() => openKeyring({ storage: timedStorage, secret, logger, syncCrypto: platformCrypto }))
  const replicas = createReplicaRecords({ documents, scopes, clock, maxAgeMs: limits.storeMaxAgeMs })
  const tenants = createTenants({
    scopes,
    replicas,
    createGateway: (scope) =>
      createGatewayWith({ ...gatewayOptions, storage: scope }, { digestsSha256: true, onCallerIdentified: requireKey }),
  })
  const directory = createDirectory({
    documents,
    keyring,
    clock,
    async hasKey(id, digest) {
      const tenant = await tenants.open(id)
      if (!tenant) return false
      const { keys, keyring } = tenant.store
      return (await keys.get(await (await keyring()).digestBySha256(digest))) !== undefined
    },
  })
  const control = once(async () => {
    const { createControl } = await import('./control.ts')
    return createControl({
      documents,
      replicas,
      tenants,
      directory,
      keyring,
      clock,
      enrollmentToken,
      keepsSecrets: secret !== undefined || storage.ownSecret !== undefined,
      time: { clock, timeoutMs: limits.bodyTimeoutMs, nextTurn },
      assertOpen,
      onError,
    })
  })
  const inFlight = createBackground(onError)

  const app = createProxyApp({
    directory,
    tenants,
    async protocol(exchange) {
      const replyPromise = control().then(({ serve }) => serve(exchange))
      inFlight.run(replyPromise)
      return replyPromise
    },
    health: createHealthCheck({
      settings: {
        reread: async () => {
          await timedStorage.get(KEYRING_KEY).catch(handleStorageError('read', KEYRING_KEY))
          return KEY_REQUIRED_SETTINGS
        },
      },
      clock,
      isClosed: () => isClosed,
      onError,
    }),
    clock,
    assertOpen,
    onError,
  })
  const { fetch, handle, matches } = createFetchHandlers(app, {
    isGatewayPath: isProxyPath,
    notFound: createNotFoundReply,
    beforeRequest: waitForBatch,
    holdsRejectedBodies,
    linger: lingerBeforeClose,
    onError,
  })

  const proxyMembers: Omit<CloudProxy, 'fetch'> & { fetch: typeof fetch } = {
    fetch,
    handle,
    matches,
    basePath: '',
    exchange: app,
    notFound: createNotFoundReply,
    tenants: {
      async list() {
        const tenantViews: TenantView[] = []
        for await (const { tenant, record } of replicas.list())
          tenantViews.push({ id: tenant, createdAt: record.createdAt, lastSyncAt: record.lastSyncAt })
        return { tenants: tenantViews }
      },
      async delete(id) {
        await (await control()).forget(id)
        return { success: true }
      },
    },
    tenant(id) {
      const { cloud, ...api } = deferManagement(async () => (await control()).getApi(id))
      return { api }
    },
    async close({ graceMs } = {}) {
      isClosed = true
      await settlesWithin(inFlight.waitUntilIdle(), SHUTDOWN_GRACE_MS, clock)
      await tenants.close(graceMs === undefined ? {} : { graceMs })
      await settlesWithin(background.waitUntilIdle(), SHUTDOWN_GRACE_MS, clock)
      replicas.close()
    },
  }
  const callable = Object.assign(fetch, proxyMembers) as CloudProxy // `fetch` is the proxy itself, which is complete only now
  return isWorkers() ? ({ ...proxyMembers, fetch: callable } as CloudProxy) : callable
}

/** How long `close` waits for in-flight work, in ms, so a hook or an endless message can't keep the process alive. */
const SHUTDOWN_GRACE_MS = 10_000

const OPTION_NAMES = ['storage', 'fetch', 'clock', 'secret', 'enrollmentToken', 'catalog', 'limits', 'hooks', 'logger']

/** Minimum length of the enrollment token. The same minimum applies to secrets, because guesses aren't rate-limited. */
const MIN_ENROLLMENT_TOKEN_LENGTH = 32

function checkEnrollmentToken(enrollmentToken: unknown): void {
  if (enrollmentToken === undefined) return
  if (typeof enrollmentToken !== 'string' || enrollmentToken.length < MIN_ENROLLMENT_TOKEN_LENGTH)
    throw new TypeError(
      `enrollmentToken must be a string of at least ${MIN_ENROLLMENT_TOKEN_LENGTH} characters, such as 32 random bytes in hex. Omit it to disable enrollment.`,
    )
}
