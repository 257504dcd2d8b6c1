import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileStorage } from '../../adapters/storage/file.ts'
import { toGatewayError } from '../errors.ts'
import { createGateway } from '../gateway.ts'
import type { Management } from '../management/operations.ts'
import type { GatewayOptions } from '../options.ts'
import { decryptKey, type Keyring, UNREADABLE_KEY } from '../records/keyring.ts'
import { openKeyring } from '../records/open-keyring.ts'
import { recordKinds } from '../records/readings.ts'
import type { KeyRecord } from '../records/record-collections.ts'
import { createDamageLog, createStoredRecords } from '../records/stored-records.ts'
import type { Catalog, Logger, Storage } from '../types.ts'
import { createProblem } from './problem.ts'

/** Opens the data folder with its keyring and keys, creating it if needed. Throws if something can't be read or was encrypted with another secret. */
export async function openData(folder: string, secret: string | undefined, logger: Logger): Promise<Storage> {
  const storage = fileStorage({ path: folder, logger })
  if (secret === undefined) await rejectForeignSecret(storage, folder)
  await checkKeys(storage, await openKeyring({ storage, secret, logger }), logger)
  return storage
}

/**
 * Rejects data that was encrypted with a secret from the environment if that secret is missing now. Otherwise, the storage would create a new secret.
 */
async function rejectForeignSecret(storage: Storage, folder: string): Promise<void> {
  if (existsSync(join(folder, 'secret')) || !(await storage.get('vault'))) return
  throw createProblem(
    `The secret for the data in ${folder} is missing. Set SIGNALBOX_SECRET to the secret it was encrypted with, or restore ${join(folder, 'secret')} from a backup.`,
  )
}

/**
 * Reads every client key's record, and warns about damaged ones. Decrypts only some of the values. Requests don't need the values, the keyring has
 * already verified the secret, and decrypting 100,000 values takes seconds. Reports and keeps values that can't be decrypted.
 */
export async function checkKeys(storage: Storage, keyring: Keyring, logger: Logger): Promise<void> {
  const damage = createDamageLog((error) => logger.warn(toGatewayError(error).message))
  const sample: KeyRecord[] = []
  for await (const page of createStoredRecords<KeyRecord>(storage, recordKinds.keys, { damage }).pages())
    sample.push(...page.slice(0, SAMPLE_SIZE - sample.length).map(({ record }) => record)) // keys are ordered by digest, so this is a random sample
  const values = await Promise.all(sample.map((record) => decryptKey(keyring, record)))
  for (const [index, { id, name }] of sample.entries())
    if (values[index] === undefined) logger.warn(`${name}: ${UNREADABLE_KEY}`, { id })
}

/** The number of keys to decrypt. Almost all gateways have fewer. */
const SAMPLE_SIZE = 500

/** Dependencies for writing data the way a gateway does. */
export interface DataAccess {
  storage: Storage
  catalog: Catalog
  secret: string | undefined
  /** Used to query servers for their models. Default: the platform's `fetch`. */
  fetch?: GatewayOptions['fetch']
}

/** Runs management operations on the data before a gateway starts serving it. */
export async function withManagement<T>(
  { storage, catalog, secret, fetch }: DataAccess,
  work: (api: Management) => Promise<T>,
): Promise<T> {
  const options = { ...(secret !== undefined && { secret }), ...(fetch && { fetch }) }
  const gateway = createGateway({ storage, catalog, logger: false, ...options })
  try {
    return await work(gateway.api)
  } finally {
    await gateway.close()
  }
}
