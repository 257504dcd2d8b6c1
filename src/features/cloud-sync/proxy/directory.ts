import type { JsonObject } from '../../../lib/json.ts'
import { evictOldest } from '../../../lib/maps.ts'
import { isClientKey } from '../../../records/key-format.ts'
import type { Keyring } from '../../../records/keyring.ts'
import type { Clock } from '../../../types.ts'
import { digestKey } from '../cryptography.ts'
import type { Documents } from './documents.ts'

/**
 * Finds an API key's tenant. Entries are stored under the HMAC of the key's digest, so a copy of the storage doesn't reveal which tenant owns a key.
 * The directory only identifies the tenant; the tenant's data decides whether the key is known and active.
 */
export interface Directory {
  /** Finds a credential's tenant. Results are cached until `forget` is called. */
  find(credential: string): Promise<string | undefined>
  forget(credential: string): void
  /** Assigns the key with this digest to the tenant. Resolves to `false` if another tenant has the key. Call this before writing the key. */
  acquire(tenant: string, digest: string): Promise<boolean>
  /** Releases a key. Call this after deleting the key. */
  release(tenant: string, digest: string): Promise<void>
  releaseAll(tenant: string): Promise<void>
}

interface KeyClaim {
  tenant: string
  /** Epoch ms, by the proxy's clock. */
  at: number
}

const DIRECTORY_PREFIX = 'directory/'
/** Returns the prefix for the list of a tenant's directory entries. An entry is listed before it is written. */
const getClaimPrefix = (tenant: string) => `claims/${tenant}/`

/**
 * How long a claim waits for its key to be written, in ms. After that, the claiming proxy is assumed to have stopped, so any tenant may take the key.
 */
const CLAIM_GRACE_MS = 60_000

/** Creates the directory. `hasKey` returns whether a tenant's replica has a key. */
export function createDirectory(deps: {
  documents: Documents
  keyring(): Promise<Keyring>
  clock: Clock
  hasKey(tenant: string, digest: string): Promise<boolean>
}): Directory {
  const { documents, keyring, clock, hasKey } = deps
  const tenantByCredential = new Map<string, string>()

  const getEntryName = async (digest: string) => (await keyring()).digestBySha256(digest)

  async function isActiveClaim({ tenant, at }: KeyClaim, digest: string): Promise<boolean> {
    return Math.abs(clock.now() - at) < CLAIM_GRACE_MS || hasKey(tenant, digest)
  }

  async function releaseEntry(tenant: string, name: string): Promise<void> {
    const entry = await documents.read(DIRECTORY_PREFIX + name, parseClaim)
    if (entry?.value.tenant === tenant) await documents.remove(DIRECTORY_PREFIX + name, entry.version)
  }

  return {
    async find(credential) {
      const tenant = tenantByCredential.get(credential)
      if (tenant !== undefined || !isClientKey(credential)) return tenant
      const entry = await documents.read(
        DIRECTORY_PREFIX + (await getEntryName(await digestKey(credential))),
        parseClaim,
      )
      if (!entry) return undefined
      evictOldest(tenantByCredential, MAX_CACHED_CREDENTIALS)
      tenantByCredential.set(credential, entry.value.tenant)
      return entry.value.tenant
    },

    forget: (credential) => void tenantByCredential.delete(credential),

    async acquire(tenant, digest) {
      const name = await getEntryName(digest)
      const claimKey = getClaimPrefix(tenant) + name
      let isClaimListed = false
      for (;;) {
        const entry = await documents.read(DIRECTORY_PREFIX + name, parseClaim)
        const isOwnEntry = entry?.value.tenant === tenant
        if (isOwnEntry && Math.abs(clock.now() - entry.value.at) < CLAIM_GRACE_MS / 2) return true
        if (entry && !isOwnEntry && (await isActiveClaim(entry.value, digest))) {
          if (isClaimListed) await documents.remove(claimKey)
          return false
        }
        if (!isClaimListed) await documents.write(claimKey, {}, {})
        isClaimListed = true
        const claim: KeyClaim = { tenant, at: clock.now() }
        if (await documents.write(DIRECTORY_PREFIX + name, claim, { ifVersion: entry?.version ?? null })) return true
      }
    },

    async release(tenant, digest) {
      const name = await getEntryName(digest)
      await releaseEntry(tenant, name)
      await documents.remove(getClaimPrefix(tenant) + name)
    },

    async releaseAll(tenant) {
      const prefix = getClaimPrefix(tenant)
      await documents.removeAll(prefix, (key) => releaseEntry(tenant, key.slice(prefix.length)))
      for (const [credential, owner] of tenantByCredential) if (owner === tenant) tenantByCredential.delete(credential)
    },
  }
}

const parseClaim = ({ tenant, at }: JsonObject): KeyClaim | undefined =>
  typeof tenant === 'string' && typeof at === 'number' ? { tenant, at } : undefined

const MAX_CACHED_CREDENTIALS = 20_000
