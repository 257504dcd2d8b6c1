import { gatewayError } from '../errors.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import type { BodyTime } from '../lib/timed-body.ts'
import type { Management } from '../management/operations.ts'
import type { Vault } from '../store/vault.ts'
import type { Clock } from '../types.ts'
import type { Directory } from './directory.ts'
import type { Documents } from './documents.ts'
import { createMirroring } from './mirroring.ts'
import type { Mirrors } from './mirrors.ts'
import { createProtocol } from './protocol.ts'
import { createSessions } from './sessions.ts'
import { createTenantApi } from './tenant-api.ts'
import type { Tenant, Tenants } from './tenants.ts'

/**
 * The parts that change mirrors: the protocol, and the operations of the host in process. Loaded with their first use, since model requests
 * do not need them.
 */
export interface Control {
  serve(exchange: Exchange): Promise<Reply>
  /** The operations on the data of a tenant. Rejects with `NOT_FOUND`. */
  api(tenant: string): Promise<Management<unknown>>
  /** Rejects with `NOT_FOUND`. */
  forget(tenant: string): Promise<void>
}

export function createControl(deps: {
  documents: Documents
  mirrors: Mirrors
  tenants: Tenants
  directory: Directory
  vault(): Promise<Vault>
  clock: Clock
  enrolment: string | undefined
  keepsSecrets: boolean
  time: BodyTime
  admit(): void
  onError(error: unknown): void
}): Control {
  const { tenants, directory } = deps
  const sessions = createSessions(deps)
  const mirroring = createMirroring({ ...deps, sessions })
  const apis = new WeakMap<Tenant, Management<unknown>>()

  return {
    serve: createProtocol({ ...deps, sessions, actions: mirroring }),

    async api(id) {
      const tenant = await tenants.open(id)
      if (!tenant) throw noTenant()
      const api =
        apis.get(tenant) ??
        createTenantApi(tenant, { directory, alone: (work) => mirroring.inTurn(id, () => tenants.use(tenant, work)) })
      apis.set(tenant, api)
      return api
    },

    async forget(id) {
      if (!(await mirroring.forget(id))) throw noTenant()
    },
  }
}

const noTenant = () => gatewayError('NOT_FOUND', { message: 'Tenant not found' })
