import { createHash, randomBytes } from 'node:crypto'
import { link, readFile, stat } from 'node:fs/promises'
import process from 'node:process'
import type { Logger } from '../../../src/index.ts'
import { storageError } from '../lib/error.ts'
import { syncFolder, writeDurably } from './commit.ts'
import { type Folder, folderError, hasCode } from './folder.ts'
import type { Lock } from './lock.ts'
import { move } from './move.ts'
import type { View } from './view.ts'

/**
 * The secret beside the data, made on first use. The store keeps a mark of it: a secret that is missing or was exchanged is an error with a
 * code. It is never replaced by a new one, with which no stored secret could be opened.
 */
export async function ownSecret(place: { folder: Folder; view: View; logger: Logger }): Promise<string> {
  const { folder, view, logger } = place
  const found = await readSecret(folder, logger)
  if (found !== undefined && (await view.fresh()).secretMark === markOf(found)) return found

  return view.locked(async (lock, snapshot) => {
    const write = async (changes: { secretMark?: string }) => {
      snapshot = await view.commit(lock, snapshot, changes)
    }
    let secret = await readSecret(folder, logger)
    if (snapshot.secretMark && secret === undefined) throw missingError(folder)
    if (snapshot.secretMark && secret !== undefined && snapshot.secretMark !== markOf(secret))
      throw foreignError(folder)
    if (snapshot.revision === 0) await write({}) // the store is written first, since a secret without a store means that the store was lost
    if (secret === undefined) {
      secret = await makeSecret(folder, lock)
      logger.info?.('Made a secret for this store. Whoever has it and the store can read the credentials in it.', {
        path: folder.secret,
      })
    }
    if (!snapshot.secretMark) await write({ secretMark: markOf(secret) })
    return secret
  })
}

/**
 * Writes the secret that this process has in memory to its file again, when that file is missing: without it nothing that was encrypted with
 * it could be opened.
 */
export async function restoreSecret(
  secret: string,
  place: { folder: Folder; lock: Lock; logger: Logger },
): Promise<void> {
  const { folder, logger } = place
  const isThere = await stat(folder.secret).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error
  })
  if (isThere) return
  await writeSecret(secret, place)
  logger.error(`The secret ${folder.secret} is missing. It was restored from what this process held in memory.`, {
    path: folder.path,
  })
}

const SECRET = /^([A-Za-z0-9_-]{43})\n$/

async function readSecret({ secret: path }: Folder, logger: Logger): Promise<string | undefined> {
  const text = await readFile(path, 'latin1').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined
    throw folderError('STORAGE_UNREADABLE', path, error)
  })
  if (text === undefined) return undefined
  const [, secret] = SECRET.exec(text) ?? []
  if (!secret)
    throw storageError('STORAGE_SECRET_INVALID', `${path} is damaged. Restore it from a backup; it is never replaced.`)
  if (process.platform !== 'win32' && ((await stat(path)).mode & 0o077) !== 0) {
    logger.warn('Others on this machine may read the secret of this store: set its mode to 0600.', { path })
  }
  return secret
}

async function makeSecret(folder: Folder, lock: Lock): Promise<string> {
  const secret = randomBytes(32).toString('base64url')
  await writeSecret(secret, { folder, lock })
  return secret
}

async function writeSecret(secret: string, { folder, lock }: { folder: Folder; lock: Lock }): Promise<void> {
  const temporary = lock.inside('secret')
  await writeDurably(temporary, Buffer.from(`${secret}\n`))
  await link(temporary, folder.secret).catch((error: unknown) => {
    if (hasCode(error, 'EEXIST', 'ENOENT')) throw error
    return move(temporary, folder.secret) // a file system without hard links; the lock excludes other processes
  })
  await syncFolder(folder)
}

const markOf = (secret: string) =>
  createHash('sha256').update(`signalbox secret mark ${secret}`).digest('hex').slice(0, 16)

function missingError({ secret, path }: Folder): Error {
  return storageError(
    'STORAGE_SECRET_MISSING',
    `${secret} is missing, and the store in ${path} was written with it. Restore it from a backup: no other can take its place.`,
  )
}

function foreignError({ secret, path }: Folder): Error {
  return storageError(
    'STORAGE_SECRET_INVALID',
    `${secret} is not the one that belongs to the store in ${path}. Restore it from a backup.`,
  )
}
