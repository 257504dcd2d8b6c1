import type { KeyRecord } from './collections.ts'
import { placeOfKey } from './proofs.ts'
import type { Vault } from './vault.ts'

/** The value of a client key; `undefined` when it cannot be opened. */
export const openKey = (vault: Vault, { id, sealedKey }: KeyRecord): Promise<string | undefined> =>
  vault.open(placeOfKey(id), sealedKey).catch(() => undefined)

/** What is said of such a key. It is found by its digest and never opened, so that it still works. */
export const UNREADABLE_KEY =
  'The key cannot be opened: it was changed, moved, or sealed with another secret. Whoever has it may still use it. Delete it and make a new one.'
