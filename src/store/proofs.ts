import type { Settings } from '../types.ts'
import type { KeyRecord } from './collections.ts'
import type { Vault } from './vault.ts'

/*
 * Some fields decide which clients are let in, and where a credential is sent. Each is bound to the secret, so that a program which can only
 * write to the storage cannot change it: keys and settings carry a proof (`mac`), a credential is sealed for its place. An earlier record with
 * its proof can be put back: see SECURITY.md.
 */

/** A key's record with the proof that it lies under this digest, with this id, and is paused or not. */
export async function provenKey(vault: Vault, digest: string, record: KeyRecord): Promise<KeyRecord> {
  return { ...record, mac: await vault.sign(placeOf('keys', digest), guardedOfKey(record)) }
}

export const isProvenKey = (vault: Vault, digest: string, record: KeyRecord): Promise<boolean> =>
  vault.verify(placeOf('keys', digest), guardedOfKey(record), record.mac)

const guardedOfKey = ({ id, isActive }: KeyRecord) => JSON.stringify({ id, isActive: isActive !== false })

/** The settings that guard something, as they are read. */
export type GuardedSettings = Pick<Settings, 'requireApiKey' | 'cloudEnabled' | 'cloudUrl'>

/** The proof of these settings. */
export const proofOfSettings = (vault: Vault, settings: GuardedSettings): Promise<string> =>
  vault.sign('settings', guardedOfSettings(settings))

export const areProvenSettings = (vault: Vault, settings: GuardedSettings, mac: unknown): Promise<boolean> =>
  vault.verify('settings', guardedOfSettings(settings), mac)

const guardedOfSettings = ({ requireApiKey, cloudEnabled, cloudUrl }: GuardedSettings) =>
  JSON.stringify({ requireApiKey, cloudEnabled, cloudUrl })

/** What a connection's credential is sealed for: the connection, and where it is sent. */
export interface Destination {
  id: string
  provider: string
  providerSpecificData?: { baseUrl?: string; format?: string; resource?: string; region?: string }
}

/** The members of `providerSpecificData` that say where a credential is sent. */
export const destinationFields = ['baseUrl', 'format', 'resource', 'region'] as const

/** The place that a connection's credential is bound to. */
export function placeOfApiKey({ id, provider, providerSpecificData = {} }: Destination): string {
  const { baseUrl, format, resource, region } = providerSpecificData
  return `${formerPlaceOfApiKey(id)} ${JSON.stringify({ provider, baseUrl, format, resource, region })}`
}

/** The same before credentials were bound to where they are sent. */
export const formerPlaceOfApiKey = (connectionId: string): string => `connections/${connectionId}/apiKey`

/** The place that a client key's value is bound to. */
export const placeOfKey = (keyId: string): string => `keys/${keyId}/key`

const placeOf = (collection: string, id: string) => `${collection}/${id}`
