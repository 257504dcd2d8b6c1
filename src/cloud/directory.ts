import type { JsonObject } from '../lib/json.ts'
import { evictOldest } from '../lib/maps.ts'
import { isClientKey } from '../store/client-key.ts'
import type { Vault } from '../store/vault.ts'
import { digestOfKey } from '../sync/cryptography.ts'
import type { Clock } from '../types.ts'
import type { Documents } from './documents.ts'

/**
 * Finds the tenant of a client key. The entry of a key is stored under the HMAC of its digest, so that a copy of the storage does not show to
 * which tenant a key belongs. The directory only names the tenant; whether the key is known and active is decided by the tenant's data.
 */
export interface Directory {
  /** The tenant of a credential. A tenant that was found is kept in memory until `forget`. */
  find(credential: string): Promise<string | undefined>
  forget(credential: string): void
  /** Assigns the key with this digest to the tenant; resolves to `false` when another tenant has it. Must be called before the key is written. */
  take(tenant: string, digest: string): Promise<boolean>
  /** Must be called after the key was deleted. */
  release(tenant: string, digest: string): Promise<void>
  releaseAll(tenant: string): Promise<void>
}

interface Claim {
  tenant: string
  /** Epoch ms, by the clock of the proxy. */
  at: number
}

const DIRECTORY = 'directory/'
/** The prefix of the names of a tenant's entries in the directory. A name is written before its entry. */
const claimsOf = (tenant: string) => `claims/${tenant}/`

/** When a key has not been written this long after its claim, in ms, the proxy that made the claim has ended: any tenant may take the key. */
const CLAIM_MS = 60_000

/** `hasKey`: has the tenant's mirror this key? */
export function createDirectory(deps: {
  documents: Documents
  vault(): Promise<Vault>
  clock: Clock
  hasKey(tenant: string, digest: string): Promise<boolean>
}): Directory {
  const { documents, vault, clock, hasKey } = deps
  const known = new Map<string, string>() // tenant by credential

  const nameOf = async (digest: string) => (await vault()).digestBySha256(digest)

  async function isHeld({ tenant, at }: Claim, digest: string): Promise<boolean> {
    return Math.abs(clock.now() - at) < CLAIM_MS || hasKey(tenant, digest)
  }

  async function releaseNamed(tenant: string, name: string): Promise<void> {
    const entry = await documents.read(DIRECTORY + name, parseClaim)
    if (entry?.value.tenant === tenant) await documents.remove(DIRECTORY + name, entry.version)
  }

  return {
    async find(credential) {
      const tenant = known.get(credential)
      if (tenant !== undefined || !isClientKey(credential)) return tenant
      const entry = await documents.read(DIRECTORY + (await nameOf(await digestOfKey(credential))), parseClaim)
      if (!entry) return undefined
      evictOldest(known, MAX_KNOWN)
      known.set(credential, entry.value.tenant)
      return entry.value.tenant
    },

    forget: (credential) => void known.delete(credential),

    async take(tenant, digest) {
      const name = await nameOf(digest)
      const own = claimsOf(tenant) + name
      let isListed = false
      for (;;) {
        const entry = await documents.read(DIRECTORY + name, parseClaim)
        const isOwn = entry?.value.tenant === tenant
        if (isOwn && Math.abs(clock.now() - entry.value.at) < CLAIM_MS / 2) return true
        if (entry && !isOwn && (await isHeld(entry.value, digest))) {
          if (isListed) await documents.remove(own)
          return false
        }
        if (!isListed) await documents.write(own, {}, {})
        isListed = true
        const claim: Claim = { tenant, at: clock.now() }
        if (await documents.write(DIRECTORY + name, claim, { ifVersion: entry?.version ?? null })) return true
      }
    },

    async release(tenant, digest) {
      const name = await nameOf(digest)
      await releaseNamed(tenant, name)
      await documents.remove(claimsOf(tenant) + name)
    },

    async releaseAll(tenant) {
      const prefix = claimsOf(tenant)
      await documents.removeAll(prefix, (key) => releaseNamed(tenant, key.slice(prefix.length)))
      for (const [credential, owner] of known) if (owner === tenant) known.delete(credential)
    },
  }
}

const parseClaim = ({ tenant, at }: JsonObject): Claim | undefined =>
  typeof tenant === 'string' && typeof at === 'number' ? { tenant, at } : undefined

const MAX_KNOWN = 20_000
