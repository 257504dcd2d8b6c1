import { readdir, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Folder } from './folder.ts'
import { removeHolder } from './lock.ts'
import { isGone } from './owner.ts'

const ABANDONED_MS = 3_600_000

/**
 * Removes the locks of processes that have ended, including their temporary files. Locks of processes that may still be running are kept for an hour.
 */
export async function removeAbandonedLocks({ path, lock }: Folder): Promise<void> {
  const heldTokens = (await listNames(lock)).map((token) => ({ token, at: join(lock, token) }))
  const waiting = (await listNames(path)).filter((name) => name.startsWith('lock.'))
  const staged = waiting.map((name) => ({ token: name.slice('lock.'.length), at: join(path, name) }))
  for (const { token, at } of [...heldTokens, ...staged]) {
    if (isGone(token) || (await isAbandoned(at))) await removeHolder(at)
  }
  await rmdir(lock).catch(() => {}) // fails if there is no lock, or if it is held
}

const listNames = (path: string) => readdir(path).catch(() => [])

async function isAbandoned(path: string): Promise<boolean> {
  const touchedAt = await stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => Number.POSITIVE_INFINITY,
  )
  return Date.now() - touchedAt > ABANDONED_MS
}
