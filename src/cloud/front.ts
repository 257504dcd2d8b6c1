import { gatewayError } from '../errors.ts'
import { type App, createApp, isOurs, type Step } from '../http/app.ts'
import type { AnswerHealth } from '../http/health-check.ts'
import { modelsRoutes } from '../http/listing-routes.ts'
import { modelRoutes } from '../http/model-routes.ts'
import { jsonReply } from '../http/reply.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import type { PresentedKey } from '../store/keyring.ts'
import type { StoredSettings } from '../store/settings.ts'
import type { Clock } from '../types.ts'
import type { Directory } from './directory.ts'
import type { Tenants } from './tenants.ts'

/** The path of the protocol, which serves everything below it. */
const CLOUD = '/cloud'
const isProtocol = (path: string) => path === CLOUD || path.startsWith(`${CLOUD}/`)

/** Does the proxy serve the path: the protocol, `/health`, `/v1` or `/v1beta`? It never serves `/api`. */
export const isOfProxy = (path: string): boolean =>
  isProtocol(path) || (isOurs(path, '') && path !== '/api' && !path.startsWith('/api/'))

/** The reply to any other path. */
export function elsewhereOfProxy({ method, path }: Exchange): Reply {
  if (path === '/' && method === 'OPTIONS') return { status: 204, headers: { allow: 'GET, HEAD, OPTIONS' } }
  const reply =
    path === '/' && (method === 'GET' || method === 'HEAD')
      ? jsonReply(200, { name: 'signalbox-cloud', baseUrl: '/v1', models: '/v1/models' })
      : jsonReply(404, {
          error: `There is nothing at ${path}. This is a cloud proxy: model clients use /v1, gateways use /cloud, and keys and connections are managed at the gateway.`,
        })
  return method === 'HEAD' ? { status: reply.status, headers: reply.headers } : reply
}

/** A step of each tenant's gateway: refuses requests without a known key, whatever the tenant's setting `requireApiKey` is. */
export const requireKey: Step = ({ exchange, key }, next) => {
  if (key || exchange.method === 'OPTIONS') return next()
  throw unknownKey()
}

const unknownKey = () => gatewayError('KEY_UNKNOWN', { headers: { 'www-authenticate': 'Bearer' } })

/** The settings of the proxy itself: every request needs a known key. */
export const KEY_REQUIRED: StoredSettings = { cloudEnabled: false, requireApiKey: true, cloudUrl: '' }

/**
 * The proxy over HTTP. Model requests go to the gateway of the tenant that has their key; those without a known key are answered here, in the
 * caller's format. Never rejects.
 */
export function createFront(deps: {
  directory: Pick<Directory, 'find' | 'forget'>
  tenants: Tenants
  protocol(exchange: Exchange): Promise<Reply>
  health: AnswerHealth
  clock: Clock
  admit(): void
  onError(error: unknown): void
}): App {
  const { directory, tenants, protocol, health, clock, admit, onError } = deps
  /** What the keys of requests lead to. */
  const found = new WeakMap<PresentedKey, { credential: string; tenant: string }>()

  /** Finds the tenant of a credential; whether the key is accepted is decided by the tenant's gateway. */
  async function find(credential: string): Promise<PresentedKey | undefined> {
    const tenant = await directory.find(credential)
    if (tenant === undefined) return undefined
    if (!(await tenants.open(tenant))) {
      directory.forget(credential) // the key may belong to another tenant now
      const now = await directory.find(credential)
      if (now === undefined || now === tenant || !(await tenants.open(now))) return undefined
      return presented(credential, now)
    }
    return presented(credential, tenant)
  }

  function presented(credential: string, tenant: string): PresentedKey {
    const key = { id: '', name: '', digest: '' }
    found.set(key, { credential, tenant })
    return key
  }

  async function serve(exchange: Exchange, tenantId: string): Promise<Reply | undefined> {
    const tenant = await tenants.open(tenantId)
    return tenant && tenants.use(tenant, () => tenant.gateway.exchange(exchange))
  }

  /**
   * Serves a request by the tenant of its key. When that tenant does not know the key, it may have released it, and another tenant may have
   * taken it.
   */
  async function serveKey(exchange: Exchange, key: PresentedKey): Promise<Reply | undefined> {
    const { credential, tenant } = found.get(key) ?? {}
    if (credential === undefined || tenant === undefined) return undefined
    const reply = await serve(exchange, tenant)
    if (reply && !isUnknownKey(reply)) return reply
    directory.forget(credential)
    const now = await directory.find(credential)
    return now === undefined || now === tenant ? reply : serve(exchange, now)
  }

  const isUnknownKey = ({ status, headers }: Reply) => status === 401 && headers['www-authenticate'] === 'Bearer'

  const models = createApp({
    basePath: '',
    store: { clock, settings: { read: async () => KEY_REQUIRED }, keyring: { find } },
    allowedOrigins: [],
    modelRoutes: [
      ...modelsRoutes({ listing: unserved, readerOf: unserved, upstream: () => unserved }),
      ...modelRoutes(unserved),
    ],
    afterKey: [
      async ({ exchange, key }, next) => {
        if (!key) return next() // only OPTIONS requests have no key here
        const reply = await serveKey(exchange, key)
        if (reply) return reply
        throw unknownKey()
      },
    ],
    manage: unserved,
    health,
    admit,
    onError,
  })

  return async (exchange) => {
    const { method, path } = exchange
    if (!isOfProxy(path)) return undefined
    if (!isProtocol(path)) return models(exchange)
    const reply = await protocol(exchange)
    return method === 'HEAD' ? { status: reply.status, headers: reply.headers } : reply
  }
}

/** Stands in for all routes, which here only tell the methods of a path: requests with a key go to the gateway of a tenant. */
const unserved = async (): Promise<never> => {
  throw unknownKey()
}
