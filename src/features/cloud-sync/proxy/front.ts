import { gatewayError } from '../../../errors.ts'
import type { Exchange, Reply } from '../../../lib/exchange.ts'
import { once } from '../../../lib/promises.ts'
import type { ClientKey } from '../../../records/key-lookup.ts'
import type { StoredSettings } from '../../../records/stored-settings.ts'
import { type App, createApp } from '../../../request/door/app.ts'
import { findArea } from '../../../request/door/area.ts'
import { createHealthArea, createModelAreas } from '../../../request/door/areas.ts'
import { authenticateClient, type KeyStore } from '../../../request/door/authenticate-client.ts'
import type { HealthResponder } from '../../../request/door/health-check.ts'
import { type KeyAreaOptions, serveWithKeys } from '../../../request/door/key-area.ts'
import { createModelRoutes } from '../../../request/door/model-routes.ts'
import { createJsonReply } from '../../../request/door/reply.ts'
import type { Clock } from '../../../types.ts'
import { accountRoutes } from '../../limits/account-routes.ts'
import { createListingRoutes } from '../../listing/listing-routes.ts'
import type { Directory } from './directory.ts'
import type { Tenants } from './tenants.ts'

/** The protocol's root path. */
const CLOUD_PATH = '/cloud'
const isProtocolPath = (path: string) => path === CLOUD_PATH || path.startsWith(`${CLOUD_PATH}/`)

/** The proxy's areas, used only for looking up paths; their handlers reject every request. The proxy never serves `/api`. */
const AREAS = [...createModelAreas(rejectPlaceholder), createHealthArea(rejectPlaceholder)]

/** Returns whether the proxy serves a path: the protocol, `/health`, or an API path for clients. */
export const isProxyPath = (path: string): boolean => isProtocolPath(path) || findArea(AREAS, path) !== undefined

/** Creates the reply to a request for any other path. */
export function createNotFoundReply({ method, path }: Exchange): Reply {
  if (path === '/' && method === 'OPTIONS') return { status: 204, headers: { allow: 'GET, HEAD, OPTIONS' } }
  const reply =
    path === '/' && (method === 'GET' || method === 'HEAD')
      ? createJsonReply(200, { name: 'signalbox-cloud', baseUrl: '/v1', models: '/v1/models' })
      : createJsonReply(404, {
          error: `Nothing is served at ${path}. This is a cloud proxy: model clients use /v1, gateways use /cloud, and keys and connections are managed on the gateway.`,
        })
  return method === 'HEAD' ? { status: reply.status, headers: reply.headers } : reply
}

/** Used by each tenant's gateway to reject requests without a known key, even if `requireApiKey` is off. */
export const requireKey: NonNullable<KeyAreaOptions['onCallerIdentified']> = async (_, { key }) => {
  if (!key) throw createUnknownKeyError()
  return undefined
}

const createUnknownKeyError = () => gatewayError('KEY_UNKNOWN', { headers: { 'www-authenticate': 'Bearer' } })

/** The proxy's own settings, which require a key for every request. */
export const KEY_REQUIRED_SETTINGS: StoredSettings = { cloudEnabled: false, requireApiKey: true, cloudUrl: '' }

/**
 * Creates the proxy's HTTP app. It forwards model requests to the gateway of the tenant that owns the key. It rejects requests without a known key,
 * in the caller's format. Never rejects itself.
 */
export function createProxyApp(deps: {
  directory: Pick<Directory, 'find' | 'forget'>
  tenants: Tenants
  protocol(exchange: Exchange): Promise<Reply>
  health: HealthResponder
  clock: Clock
  assertOpen(): void
  onError(error: unknown): void
}): App {
  const { directory, tenants, protocol, health, clock, assertOpen, onError } = deps
  /** The credential and tenant of each request's key. */
  const tenantByKey = new WeakMap<ClientKey, { credential: string; tenant: string }>()

  /** Finds a credential's tenant. That tenant's gateway then decides whether to accept the key. */
  async function findKey(credential: string): Promise<ClientKey | undefined> {
    const tenant = await directory.find(credential)
    if (tenant === undefined) return undefined
    if (!(await tenants.open(tenant))) {
      directory.forget(credential) // the key may belong to another tenant now
      const currentTenant = await directory.find(credential)
      if (currentTenant === undefined || currentTenant === tenant || !(await tenants.open(currentTenant)))
        return undefined
      return createPresentedKey(credential, currentTenant)
    }
    return createPresentedKey(credential, tenant)
  }

  function createPresentedKey(credential: string, tenant: string): ClientKey {
    const key = { id: '', name: '', digest: '' }
    tenantByKey.set(key, { credential, tenant })
    return key
  }

  async function forwardToTenant(exchange: Exchange, tenantId: string): Promise<Reply | undefined> {
    const tenant = await tenants.open(tenantId)
    return tenant && tenants.use(tenant, () => tenant.gateway.exchange(exchange))
  }

  /**
   * Forwards a request to its key's tenant. If that tenant doesn't know the key, looks the key up again, because it may have moved to another tenant.
   */
  async function forwardForKey(exchange: Exchange, key: ClientKey): Promise<Reply | undefined> {
    const { credential, tenant } = tenantByKey.get(key) ?? {}
    if (credential === undefined || tenant === undefined) return undefined
    const reply = await forwardToTenant(exchange, tenant)
    if (reply && !isUnknownKeyReply(reply)) return reply
    directory.forget(credential)
    const currentTenant = await directory.find(credential)
    return currentTenant === undefined || currentTenant === tenant ? reply : forwardToTenant(exchange, currentTenant)
  }

  const isUnknownKeyReply = ({ status, headers }: Reply) => status === 401 && headers['www-authenticate'] === 'Bearer'

  const keyStore: KeyStore = {
    clock,
    settings: { read: async () => KEY_REQUIRED_SETTINGS },
    loadKeyAccess: once(async () => ({ lookup: { find: findKey } })),
  }
  const serveTenant = serveWithKeys(
    [
      ...nonModelRoutes.map(({ method, path }) => ({ method, path, run: rejectPlaceholder })),
      ...createModelRoutes(rejectPlaceholder),
    ],
    {
      authenticate: (exchange, client) => authenticateClient(exchange, keyStore, client),
      async onCallerIdentified(exchange, { key }) {
        const reply = key && (await forwardForKey(exchange, key))
        if (reply) return reply
        throw createUnknownKeyError()
      },
      assertOpen,
      onError,
    },
  )
  const modelsApp = createApp({
    basePath: '',
    areas: [...createModelAreas(serveTenant), createHealthArea(health)],
    allowedOrigins: [],
  })

  return async (exchange) => {
    const { method, path } = exchange
    if (!isProxyPath(path)) return undefined
    if (!isProtocolPath(path)) return modelsApp(exchange)
    const reply = await protocol(exchange)
    return method === 'HEAD' ? { status: reply.status, headers: reply.headers } : reply
  }
}

/** A tenant gateway's routes, except the model endpoints. */
const nonModelRoutes = [
  ...accountRoutes(rejectPlaceholder),
  ...createListingRoutes({
    listing: rejectPlaceholder,
    getReader: rejectPlaceholder,
    upstream: () => rejectPlaceholder,
  }),
]

/**
 * A placeholder handler, because these routes are only used to find out which methods a path supports. Requests with a key go to a tenant's gateway.
 */
async function rejectPlaceholder(): Promise<never> {
  throw createUnknownKeyError()
}
