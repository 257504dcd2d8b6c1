import { createHash, randomBytes } from 'node:crypto'
import { link, readFile, stat } from 'node:fs/promises'
import process from 'node:process'
import type { Logger } from '../../../src/index.ts'
import { createStorageError } from '../lib/storage-error.ts'
import { createFolderError, type Folder, fileExists, hasCode, syncFolder, writeDurably } from './folder.ts'
import type { Lock } from './lock.ts'
import { move } from './move.ts'

/** Reads and writes the fingerprint of a store's secret. */
export interface FingerprintStore {
  read(): Promise<string | undefined>
  write(fingerprint: string): Promise<void>
}

/** The dependencies of `ownSecret` and `restoreSecret`. */
export interface SecretContext {
  folder: Folder
  logger: Logger
  fingerprint: FingerprintStore
  runLocked<T>(work: (lock: Lock) => Promise<T>): Promise<T>
}

/**
 * Returns the secret in the folder, created on first use. The store contains its fingerprint, so a missing or replaced secret is detected: throws
 * `STORAGE_SECRET_MISSING` or `STORAGE_SECRET_INVALID`, because a new secret couldn't decrypt the stored data.
 */
export async function ownSecret({ folder, logger, fingerprint, runLocked }: SecretContext): Promise<string> {
  const found = await readSecret(folder, logger)
  if (found !== undefined && (await fingerprint.read()) === createFingerprint(found)) return found

  return runLocked(async (lock) => {
    let secret = await readSecret(folder, logger)
    const storedFingerprint = await fingerprint.read()
    if (storedFingerprint !== undefined && secret === undefined) throw createMissingError(folder)
    if (storedFingerprint !== undefined && secret !== undefined && storedFingerprint !== createFingerprint(secret))
      throw createForeignSecretError(folder)
    if (secret === undefined) {
      secret = randomBytes(32).toString('base64url')
      await writeSecret(secret, { folder, lock })
      logger.info?.(
        'Created a secret that encrypts the credentials in this store. Anyone who has both can read them.',
        {
          path: folder.secret,
        },
      )
    }
    if (storedFingerprint === undefined) await fingerprint.write(createFingerprint(secret))
    return secret
  })
}

/** Writes this process's secret from memory back to its file if the file is missing, because nothing stored can be decrypted without it. */
export async function restoreSecret(secret: string, { folder, logger, runLocked }: SecretContext): Promise<void> {
  if (await fileExists(folder.secret)) return
  await runLocked(async (lock) => {
    if (await fileExists(folder.secret)) return
    await writeSecret(secret, { folder, lock })
    logger.error(`The secret ${folder.secret} was missing. It was restored from this process's memory.`, {
      path: folder.path,
    })
  })
}

const SECRET_PATTERN = /^([A-Za-z0-9_-]{43})\n$/

async function readSecret({ secret: path }: Folder, logger: Logger): Promise<string | undefined> {
  const text = await readFile(path, 'latin1').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined
    throw createFolderError('STORAGE_UNREADABLE', path, error)
  })
  if (text === undefined) return undefined
  const [, secret] = SECRET_PATTERN.exec(text) ?? []
  if (!secret)
    throw createStorageError(
      'STORAGE_SECRET_INVALID',
      `${path} is damaged. Restore it from a backup, because it is never replaced.`,
    )
  if (process.platform !== 'win32' && ((await stat(path)).mode & 0o077) !== 0) {
    logger.warn("Other users of this machine can read this store's secret. Set its mode to 0600.", { path })
  }
  return secret
}

async function writeSecret(secret: string, { folder, lock }: { folder: Folder; lock: Lock }): Promise<void> {
  const temporary = lock.getTemporaryPath('secret')
  await writeDurably(temporary, Buffer.from(`${secret}\n`))
  await link(temporary, folder.secret).catch((error: unknown) => {
    if (hasCode(error, 'EEXIST', 'ENOENT')) throw error
    return move(temporary, folder.secret) // for file systems without hard links; the lock keeps other processes out
  })
  await syncFolder(folder)
}

const createFingerprint = (secret: string) =>
  createHash('sha256').update(`signalbox secret mark ${secret}`).digest('hex').slice(0, 16)

function createMissingError({ secret, path }: Folder): Error {
  return createStorageError(
    'STORAGE_SECRET_MISSING',
    `${secret} is missing, and the store in ${path} was written with it. Restore it from a backup. No other secret can replace it.`,
  )
}

function createForeignSecretError({ secret, path }: Folder): Error {
  return createStorageError(
    'STORAGE_SECRET_INVALID',
    `${secret} is not the one that belongs to the store in ${path}. Restore it from a backup.`,
  )
}
