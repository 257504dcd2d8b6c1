import { isAccountRef } from '../../lib/account-ids.ts'
import { evictOldest } from '../../lib/maps.ts'
import { createResolvedPromise } from '../../lib/promises.ts'
import type { Keyring } from '../../records/keyring.ts'

/*
 * An account's ref is a pseudonym for its ID. Storage keys, records, aggregates, and URLs contain only refs, so IDs can contain any characters, and
 * nobody can read them from storage.
 */

/** Computes account refs. */
export interface AccountRefs {
  /** Returns the ref for an account's ID: `a_` and 26 base32 characters. The ref stays the same as long as the storage has the same keyring. */
  find(id: string): Promise<string>
  /** Returns the ref of the account with this ID or ref. */
  resolve(idOrRef: string): Promise<string>
}

/** Creates the account refs. Caches the refs for the 20,000 most recently used IDs. */
export function createAccountRefs(keyring: () => Promise<Pick<Keyring, 'hashForLookup'>>): AccountRefs {
  const refsById = new Map<string, Promise<string>>()

  async function computeRef(id: string): Promise<string> {
    const ref = encodeRef(await (await keyring()).hashForLookup(`account ${id}`))
    evictOldest(refsById, MAX_CACHED_REFS)
    refsById.set(id, createResolvedPromise(ref))
    return ref
  }

  const find = (id: string) => refsById.get(id) ?? computeRef(id)
  return { find, resolve: (idOrRef) => (isAccountRef(idOrRef) ? createResolvedPromise(idOrRef) : find(idOrRef)) }
}

const MAX_CACHED_REFS = 20_000
const REF_LENGTH = 26
const BASE32_ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

/** Encodes the first 130 bits of a hash, five per character. */
function encodeRef(hash: Uint8Array): string {
  let text = 'a_'
  let bits = 0
  let value = 0
  for (const byte of hash) {
    value = ((value << 8) | byte) & 0xfff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += BASE32_ALPHABET[(value >> bits) & 31]
      if (text.length === REF_LENGTH + 2) return text
    }
  }
  return text
}
