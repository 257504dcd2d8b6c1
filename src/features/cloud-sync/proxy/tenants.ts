import type { Gateway } from '../../../gateway.ts'
import type { Store } from '../../../records/store.ts'
import type { Storage } from '../../../types.ts'
import type { Ledger } from '../../limits/ledger/ledger.ts'
import type { ReplicaRecords } from './replica-records.ts'
import type { Scopes } from './tenant-scope.ts'

/** A tenant with its replica and the gateway that serves its keys. */
export interface Tenant {
  readonly id: string
  /** The replica's ID. A new replica gets a new gateway. */
  readonly replicaId: string
  readonly gateway: Gateway
  readonly store: Store
  /** The counters for the tenant's limits. */
  ledger(): Promise<Ledger>
}

/** The tenants in memory. Other tenants are opened on demand. */
export interface Tenants {
  /** Opens a tenant. Resolves to `undefined` if it has no replica. */
  open(id: string): Promise<Tenant | undefined>
  /** Runs work with a tenant. The tenant stays in memory until the work is done. */
  use<T>(tenant: Tenant, work: () => Promise<T>): Promise<T>
  /** Closes a replica's gateway while the replica is being removed, and ends in-flight requests. */
  drop(id: string): Promise<void>
  close(options: { graceMs?: number }): Promise<void>
}

/** Returns the prefix of a tenant's data. Each replica has its own prefix under it, so no data outlives its replica. */
export const getDataPrefix = (tenant: string) => `tenants/${tenant}/`

/** Maximum number of open gateways. Each keeps its tenant's records in memory. */
const MAX_OPEN_TENANTS = 500
/** How long an evicted gateway may take to finish its requests, in ms. The least recently used gateway is evicted first. */
const STREAM_GRACE_MS = 60 * 60_000

/** Creates the tenants. `createGateway` creates a gateway for a store. */
export function createTenants(deps: {
  scopes: Scopes
  replicas: ReplicaRecords
  createGateway(storage: Storage): Pick<Tenant, 'gateway' | 'store' | 'ledger'>
  maxOpen?: number
}): Tenants {
  const { scopes, replicas, createGateway, maxOpen = MAX_OPEN_TENANTS } = deps
  const tenants = new Map<string, Tenant>() // least recently used first
  const inFlightCounts = new Map<Tenant, number>() // in-flight requests by tenant
  const closingTenants = new Map<Tenant, Promise<void>>()

  function close(tenant: Tenant, graceMs: number): Promise<void> {
    if (tenants.get(tenant.id) === tenant) tenants.delete(tenant.id)
    const closePromise = tenant.gateway.close({ graceMs }).finally(() => closingTenants.delete(tenant))
    closingTenants.set(tenant, closePromise)
    return closePromise
  }

  function evictIdleTenants(): void {
    if (tenants.size <= maxOpen) return
    for (const tenant of tenants.values())
      if (!inFlightCounts.has(tenant)) {
        void close(tenant, STREAM_GRACE_MS)
        return
      }
  }

  function createTenant(id: string, replicaId: string): Tenant {
    const tenant = { id, replicaId, ...createGateway(scopes.scope(`${getDataPrefix(id)}${replicaId}/`)) }
    tenants.set(id, tenant)
    evictIdleTenants()
    return tenant
  }

  return {
    async open(id) {
      const replica = await replicas.getCurrent(id)
      const tenant = tenants.get(id)
      if (tenant && tenant.replicaId !== replica?.id) void close(tenant, 0)
      if (!replica) return undefined
      if (tenant?.replicaId !== replica.id) return createTenant(id, replica.id)
      tenants.delete(id)
      tenants.set(id, tenant)
      return tenant
    },

    async use(tenant, work) {
      inFlightCounts.set(tenant, (inFlightCounts.get(tenant) ?? 0) + 1)
      try {
        return await work()
      } finally {
        const remainingCount = (inFlightCounts.get(tenant) ?? 1) - 1
        if (remainingCount > 0) inFlightCounts.set(tenant, remainingCount)
        else inFlightCounts.delete(tenant)
      }
    },

    async drop(id) {
      const tenant = tenants.get(id)
      if (tenant) await close(tenant, 0)
    },

    async close({ graceMs }) {
      const allTenants = [...tenants.values(), ...closingTenants.keys()]
      await Promise.all(allTenants.map(({ gateway }) => gateway.close(graceMs === undefined ? {} : { graceMs })))
      tenants.clear()
    },
  }
}
