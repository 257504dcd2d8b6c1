import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileStorage } from '../../adapters/storage/file.ts'
import { openVault } from '../store/open-vault.ts'
import type { Logger, Storage } from '../types.ts'
import { checkKeys } from './check-keys.ts'
import { problem } from './problem.ts'

/** Opens the data folder, made when missing, its vault and its keys: what cannot be read, or was sealed with another secret, throws now. */
export async function openData(folder: string, secret: string | undefined, logger: Logger): Promise<Storage> {
  const storage = fileStorage({ path: folder, logger })
  if (secret === undefined) await refuseForeignSeal(storage, folder)
  await checkKeys(storage, await openVault({ storage, secret, logger }), logger)
  return storage
}

/** Asked for its own secret, the storage would make one, also for data that was sealed with one of the environment. */
async function refuseForeignSeal(storage: Storage, folder: string): Promise<void> {
  if (existsSync(join(folder, 'secret')) || !(await storage.get('vault'))) return
  throw problem(
    `The data in ${folder} was sealed with a secret that is not there: set SIGNALBOX_SECRET to the one it was made with, or restore ${join(folder, 'secret')} from a backup.`,
  )
}
