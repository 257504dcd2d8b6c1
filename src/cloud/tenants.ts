import type { Gateway } from '../gateway.ts'
import type { Ledger } from '../limits/ledger.ts'
import type { Store } from '../store/store.ts'
import type { Storage } from '../types.ts'
import type { Mirrors } from './mirrors.ts'
import type { Scopes } from './scope.ts'

/** A tenant: its mirror, and the gateway that serves its keys. */
export interface Tenant {
  readonly id: string
  /** The id of the mirror. A new mirror of the tenant gets a new gateway. */
  readonly mirror: string
  readonly gateway: Gateway
  readonly store: Store
  /** The counters of its limits. */
  ledger(): Promise<Ledger>
}

/** The tenants in memory; others are opened when they are needed. */
export interface Tenants {
  /** `undefined` when there is no mirror. */
  open(id: string): Promise<Tenant | undefined>
  /** Runs work with a tenant, which stays in memory until the work is done. */
  use<T>(tenant: Tenant, work: () => Promise<T>): Promise<T>
  /** Closes the gateway of a mirror that is being removed, and ends its requests under way. */
  drop(id: string): Promise<void>
  close(options: { graceMs?: number }): Promise<void>
}

/** The prefix of a tenant's data, below which each mirror has a prefix of its own, so that no data outlives its mirror. */
export const dataOf = (tenant: string) => `tenants/${tenant}/`

/** How many gateways are kept; each has the records of its tenant in memory. */
const MAX_OPEN = 500
/** How long the gateway that was not used for the longest time may finish its requests when it is closed, in ms. */
const LAST_STREAM_MS = 60 * 60_000

/** `makeGateway` makes the gateway of a storage. */
export function createTenants(deps: {
  scopes: Scopes
  mirrors: Mirrors
  makeGateway(storage: Storage): Pick<Tenant, 'gateway' | 'store' | 'ledger'>
  maxOpen?: number
}): Tenants {
  const { scopes, mirrors, makeGateway, maxOpen = MAX_OPEN } = deps
  const tenants = new Map<string, Tenant>() // in the order of their last use
  const busy = new Map<Tenant, number>() // how many requests use each tenant now
  const closing = new Map<Tenant, Promise<void>>()

  function close(tenant: Tenant, graceMs: number): Promise<void> {
    if (tenants.get(tenant.id) === tenant) tenants.delete(tenant.id)
    const closed = tenant.gateway.close({ graceMs }).finally(() => closing.delete(tenant))
    closing.set(tenant, closed)
    return closed
  }

  function makeRoom(): void {
    if (tenants.size <= maxOpen) return
    for (const tenant of tenants.values())
      if (!busy.has(tenant)) {
        void close(tenant, LAST_STREAM_MS)
        return
      }
  }

  function make(id: string, mirror: string): Tenant {
    const tenant = { id, mirror, ...makeGateway(scopes.scope(`${dataOf(id)}${mirror}/`)) }
    tenants.set(id, tenant)
    makeRoom()
    return tenant
  }

  return {
    async open(id) {
      const mirror = await mirrors.current(id)
      const tenant = tenants.get(id)
      if (tenant && tenant.mirror !== mirror?.id) void close(tenant, 0)
      if (!mirror) return undefined
      if (tenant?.mirror !== mirror.id) return make(id, mirror.id)
      tenants.delete(id)
      tenants.set(id, tenant)
      return tenant
    },

    async use(tenant, work) {
      busy.set(tenant, (busy.get(tenant) ?? 0) + 1)
      try {
        return await work()
      } finally {
        const left = (busy.get(tenant) ?? 1) - 1
        if (left > 0) busy.set(tenant, left)
        else busy.delete(tenant)
      }
    },

    async drop(id) {
      const tenant = tenants.get(id)
      if (tenant) await close(tenant, 0)
    },

    async close({ graceMs }) {
      const all = [...tenants.values(), ...closing.keys()]
      await Promise.all(all.map(({ gateway }) => gateway.close(graceMs === undefined ? {} : { graceMs })))
      tenants.clear()
    },
  }
}
