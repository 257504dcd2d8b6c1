import { link, open, readFile } from 'node:fs/promises'
import process from 'node:process'
import type { Row } from '../lib/row-operations.ts'
import { liveRow } from '../lib/row-table.ts'
import { type Folder, folderError, hasCode } from './folder.ts'
import { encodeStore } from './format.ts'
import type { Lock } from './lock.ts'
import { move } from './move.ts'
import { changePages, type RowChanges } from './pages.ts'
import { type FileStamp, type Snapshot, stampOf } from './snapshot.ts'

/** What a commit changes in a snapshot. */
export interface Changes {
  rows?: RowChanges
  secretMark?: string
}

/**
 * Writes the next version of the store: temporary file, fsync, rename; the current version becomes the previous one. When it resolves, every
 * process sees the new version; it is durable after `syncFolder`. `base` must not be used afterwards. Throws what the file system throws.
 */
export async function commit(
  place: { folder: Folder; lock: Lock; now: number },
  base: Snapshot,
  changes: Changes,
): Promise<Snapshot> {
  const { folder, lock, now } = place
  const { table } = base
  const revision = base.revision + 1
  const secretMark = changes.secretMark ?? base.secretMark
  const rows = new Map<string, Row | undefined>()
  for (const [key, row] of table.entries()) if (!liveRow(row, now)) rows.set(key, undefined)
  for (const [key, row] of changes.rows ?? []) rows.set(key, row)
  const pages = changePages(base.pages, rows, (key) => table.get(key, now))
  const { parts, header } = await encodeStore({ revision, secretMark, pages })

  const temporary = lock.inside('store')
  const stamp = await writeDurably(temporary, parts)
  if (base.stamp) await keepPrevious(folder, lock)
  await move(temporary, folder.store) // the commit: fails with ENOENT when the lock was lost
  for (const [key, row] of rows) row ? table.put(key, row) : table.remove(key)
  return { revision, table, pages, secretMark, header, stamp }
}

/** Creates a file (0600) and flushes its bytes to the disk. Throws when the file exists already. */
export async function writeDurably(path: string, bytes: Uint8Array | readonly Uint8Array[]): Promise<FileStamp> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
    return stampOf(await file.stat({ bigint: true }))
  } finally {
    await file.close()
  }
}

/** Flushes the folder to the disk, so that renames in it are durable. Throws `STORAGE_UNWRITABLE`. */
export async function syncFolder({ path }: Folder): Promise<void> {
  if (process.platform === 'win32') return // Windows cannot open folders
  try {
    const folder = await open(path, 'r')
    await folder.sync().finally(() => folder.close())
  } catch (error) {
    throw folderError('STORAGE_UNWRITABLE', path, error)
  }
}

/** Gives a file a second name by a hard link; makes a copy where links are not allowed. */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EEXIST')) throw error
    await writeDurably(to, await readFile(from))
  }
}

async function keepPrevious(folder: Folder, lock: Lock): Promise<void> {
  const second = lock.inside('previous')
  await linkOrCopy(folder.store, second)
  await move(second, folder.previous)
}
