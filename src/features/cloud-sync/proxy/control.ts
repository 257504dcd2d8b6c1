import { gatewayError } from '../../../errors.ts'
import type { Exchange, Reply } from '../../../lib/exchange.ts'
import type { BodyTiming } from '../../../lib/timed-body.ts'
import type { Management } from '../../../management/operations.ts'
import type { Keyring } from '../../../records/keyring.ts'
import type { Clock } from '../../../types.ts'
import type { Directory } from './directory.ts'
import type { Documents } from './documents.ts'
import { createProtocol } from './proxy-protocol.ts'
import type { ReplicaRecords } from './replica-records.ts'
import { createReplicaService } from './replica-service.ts'
import { createSessions } from './sessions.ts'
import { createTenantApi } from './tenant-api.ts'
import type { Tenant, Tenants } from './tenants.ts'

/** The protocol and your app's in-process operations, which change replicas. The code loads on first use, because model requests don't need it. */
export interface Control {
  serve(exchange: Exchange): Promise<Reply>
  /** Returns the operations on a tenant's data. Rejects with `NOT_FOUND`. */
  getApi(tenant: string): Promise<Management<unknown>>
  /** Deletes all of a tenant's data. Rejects with `NOT_FOUND`. */
  forget(tenant: string): Promise<void>
}

export function createControl(deps: {
  documents: Documents
  replicas: ReplicaRecords
  tenants: Tenants
  directory: Directory
  keyring(): Promise<Keyring>
  clock: Clock
  enrollmentToken: string | undefined
  keepsSecrets: boolean
  time: BodyTiming
  assertOpen(): void
  onError(error: unknown): void
}): Control {
  const { tenants, directory } = deps
  const sessions = createSessions(deps)
  const service = createReplicaService({ ...deps, sessions })
  const apiByTenant = new WeakMap<Tenant, Management<unknown>>()

  return {
    serve: createProtocol({ ...deps, sessions, actions: service }),

    async getApi(id) {
      const tenant = await tenants.open(id)
      if (!tenant) throw createTenantNotFoundError()
      const api =
        apiByTenant.get(tenant) ??
        createTenantApi(tenant, {
          directory,
          runExclusive: (work) => service.runExclusive(id, () => tenants.use(tenant, work)),
        })
      apiByTenant.set(tenant, api)
      return api
    },

    async forget(id) {
      if (!(await service.forget(id))) throw createTenantNotFoundError()
    },
  }
}

const createTenantNotFoundError = () => gatewayError('NOT_FOUND', { message: 'Tenant not found' })
