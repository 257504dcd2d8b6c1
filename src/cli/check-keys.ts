import { toGatewayError } from '../errors.ts'
import type { KeyRecord } from '../store/collections.ts'
import { createDamageLog } from '../store/damage.ts'
import { openKey, UNREADABLE_KEY } from '../store/open-key.ts'
import { recordKinds } from '../store/readings.ts'
import { createStoredRecords } from '../store/stored-records.ts'
import type { Vault } from '../store/vault.ts'
import type { Logger, Storage } from '../types.ts'

/**
 * Reads the record of every client key, and warns of each that is damaged. Of their values, which no request needs, some are opened: that
 * the secret is the right one the vault has proven, and to open 100,000 takes seconds. One that cannot be opened is told and stays.
 */
export async function checkKeys(storage: Storage, vault: Vault, logger: Logger): Promise<void> {
  const damage = createDamageLog((error) => logger.warn(toGatewayError(error).message))
  const some: KeyRecord[] = []
  for await (const page of createStoredRecords<KeyRecord>(storage, recordKinds.keys, { damage }).pages())
    some.push(...page.slice(0, SOME - some.length).map(({ record }) => record)) // by their digests, which is no order
  const values = await Promise.all(some.map((record) => openKey(vault, record)))
  for (const [at, { id, name }] of some.entries())
    if (values[at] === undefined) logger.warn(`${name}: ${UNREADABLE_KEY}`, { id })
}

/** All keys of nearly everybody. */
const SOME = 500
