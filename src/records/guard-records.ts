import type { Keyring } from './keyring.ts'
import { GUARDS, type StoredGuard } from './record-collections.ts'
import type { Store } from './store.ts'

/** Signs all fields of a guard, so a program that can only write to the storage can't weaken it. */
export async function signGuard(keyring: Keyring, name: string, record: StoredGuard): Promise<StoredGuard> {
  return { ...record, mac: await keyring.sign(`guards/${name}`, getSignedText(record)) }
}

export const isSignedGuard = (keyring: Keyring, name: string, record: StoredGuard): Promise<boolean> =>
  keyring.verify(`guards/${name}`, getSignedText(record), record.mac)

/** Whether a gateway with this secret wrote the record, or it is defined in code. */
export const isTrustedGuard = async (
  { code, keyring }: Pick<Store, 'code' | 'keyring'>,
  record: StoredGuard,
): Promise<boolean> =>
  code.records.values.has(GUARDS + encodeURIComponent(record.name)) ||
  isSignedGuard(await keyring(), record.name, record)

const getSignedText = ({ mac: _, ...fields }: StoredGuard): string =>
  JSON.stringify(Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1)))
