import type { Keyring } from './keyring.ts'
import { GUARDS_PREFIX, type StoredGuard } from './record-collections.ts'
import type { Store } from './store.ts'

/** A guard with its headers in plain text. */
export type DecryptedGuard = StoredGuard & { headers?: Record<string, string> }

/** Encrypts a guard's headers for the URL that they are sent to. */
export async function encryptHeaders(
  keyring: Store['keyring'],
  { headers = {}, sealedHeaders: _, ...guard }: DecryptedGuard,
): Promise<StoredGuard> {
  if (Object.keys(headers).length === 0) return guard
  const sealedHeaders = await (await keyring()).encrypt(getHeadersContext(guard), JSON.stringify(headers))
  return { ...guard, sealedHeaders }
}

/** Decrypts a guard's headers. Rejects with `STORAGE_FAILED` if they were changed or moved. */
export async function decryptHeaders(keyring: Store['keyring'], guard: StoredGuard): Promise<DecryptedGuard> {
  const { sealedHeaders } = guard
  if (sealedHeaders === undefined) return guard
  return { ...guard, headers: JSON.parse(await (await keyring()).decrypt(getHeadersContext(guard), sealedHeaders)) }
}

/** Returns the context of a guard's encrypted headers. */
export const getHeadersContext = ({ name, url }: Pick<StoredGuard, 'name' | 'url'>): string =>
  `guards/${name}/headers ${JSON.stringify({ url })}`

/** Signs all of a guard's fields, so a program that can only write to the storage can't weaken it. */
export async function signGuard(keyring: Keyring, name: string, record: StoredGuard): Promise<StoredGuard> {
  return { ...record, mac: await keyring.sign(`guards/${name}`, getSignedText(record)) }
}

export const isSignedGuard = (keyring: Keyring, name: string, record: StoredGuard): Promise<boolean> =>
  keyring.verify(`guards/${name}`, getSignedText(record), record.mac)

/** Resolves to whether a gateway with this secret wrote the record, or the guard is defined in code. */
export const isTrustedGuard = async (
  { code, keyring }: Pick<Store, 'code' | 'keyring'>,
  record: StoredGuard,
): Promise<boolean> =>
  code.records.values.has(GUARDS_PREFIX + encodeURIComponent(record.name)) ||
  isSignedGuard(await keyring(), record.name, record)

const getSignedText = ({ mac: _, ...fields }: StoredGuard): string =>
  JSON.stringify(Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1)))
